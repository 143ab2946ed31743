// --------------------------------------------------------------------------- many ranks, by MPI

// Of how many ranks a case is. bench/peers writes the number alone.
const ranksOf = (c) => list(c.ranks).length || number(object(c.problem).ranks) || 0;
// What all ranks work on, so that problems of several sizes can be told to be alike.
function workOf(c) {
  const p = object(c.problem), inner = (name) => number(p[name]) - 2;
  return c.family === "himeno" ? inner("ni") * inner("nj") * inner("nk")
    : number(p.entries) ?? (number(p.nx) ?? 0) * (number(p.ny) ?? 0) * (number(p.nz) ?? 1);
}
// Other programs than wavefit are told apart by what they call their variant.
const programOf = (c) => (text(c.file.results.wavefit) ? "wavefit" : text(c.variant));
const formOf = (c) => `${programOf(c)}|${c.owner.name}|${c.family}|${c.type}|${
  text(object(c.problem).pipelined)}`;

// The fastest of each number of ranks, by that number.
function byRanks(members) {
  const best = new Map();
  for (const c of members)
    if (!best.has(ranksOf(c)) || c.median < best.get(ranksOf(c)).median) best.set(ranksOf(c), c);
  return [...best.keys()].sort((a, b) => a - b).map((ranks) => best.get(ranks));
}

// The same problem on several numbers of ranks.
function strongSeries(ran) {
  const groups = new Map();
  for (const c of ran) {
    const key = `${formOf(c)}|${c.label}|${workOf(c)}`;
    groups.set(key, [...groups.get(key) || [], c]);
  }
  return [...groups.values()].map(byRanks).filter((series) => series.length > 1);
}

// Problems that grow with the ranks: the work of a rank is the same within 5 %.
function weakSeries(ran) {
  const groups = new Map();
  for (const c of [...ran].sort((a, b) => ranksOf(a) - ranksOf(b))) {
    const share = workOf(c) / ranksOf(c);
    if (!(share > 0)) continue;
    const key = [...groups.keys()].find((other) => other.form === formOf(c)
      && Math.abs(share / other.share - 1) < 0.05) ?? { form: formOf(c), share };
    groups.set(key, [...groups.get(key) || [], c]);
  }
  return [...groups.values()].map(byRanks).filter((series) => series.length > 1);
}

const gain = (series, c) => series[0].median / c.median; // over the fewest ranks
const seriesName = (series) => `${problem(series[0])}${programOf(series[0]) === "wavefit" ? ""
  : `, ${programOf(series[0])}`}${object(series[0].problem).pipelined ? ", pipelined" : ""}`;

function scalingPlot(card, name, all, title, value, ideal) {
  if (!all.length) return;
  const counts = all.flatMap((series) => series.map(ranksOf));
  plot(card, name, () => ({ type: "line", data: { datasets: [
    ...all.map((series, i) => ({ label: seriesName(series),
      borderColor: colors[i % colors.length], backgroundColor: colors[i % colors.length],
      borderDash: dashes[Math.floor(i / colors.length) % dashes.length], pointRadius: 4,
      data: series.map((c) => ({ x: ranksOf(c), y: value(series, c) })) })),
    { label: "ideal", borderColor: css("--muted"), backgroundColor: css("--muted"),
      borderDash: [2, 3], pointRadius: 0,
      data: [...new Set(counts)].sort((a, b) => a - b).map((x) => ({ x, y: ideal(x) })) }] },
  options: { parsing: false, plugins: { legend: lineLegend, tooltip: { callbacks: {
    label: (item) => `${item.dataset.label}: ${digits(item.parsed.y)} on ${item.parsed.x} ranks` } }
  }, scales: { x: doubling("ranks", counts, (x) => String(x)),
    y: axis(title, { beginAtZero: true }) } } }));
}

const slowestOf = (c, stage) => Math.max(0, ...list(c.ranks).map((rank) =>
  number(object(rank)[`${stage}_us`]) ?? 0)) || null;
const stageColumns = (of) => ["inside", "halo", "wait", "reduction"].map((stage) => ({
  title: stage, number: true, cell: (row) => time(of(row, stage)),
  value: (row) => of(row, stage) }));

function scalingTable(card, series, name, weak) {
  const rows = series.flatMap((one) => one.map((c) => ({ c, one })));
  const efficiency = ({ c, one }) => gain(one, c) * (weak ? 1 : ranksOf(one[0]) / ranksOf(c));
  card.append(table([
    { title: "case", pin: true, cell: ({ c, one }) => (weak ? problem(c)
      : seriesName(one)), value: ({ one }) => seriesName(one) },
    { title: "ranks", number: true, cell: ({ c }) => String(ranksOf(c)),
      value: ({ c }) => ranksOf(c) },
    { title: "time", number: true, cell: ({ c }) => time(c.median), value: ({ c }) => c.median },
    ...(weak ? [] : [{ title: "times as fast", number: true,
      cell: ({ c, one }) => digits(gain(one, c)), value: ({ c, one }) => gain(one, c) }]),
    { title: "efficiency", number: true, cell: (row) => percent(efficiency(row) * 100),
      value: efficiency },
    ...stageColumns(({ c }, stage) => slowestOf(c, stage)),
  ], rows, name).node);
}

function scalingSection() {
  const ran = plain.filter((c) => ranksOf(c) > 0 && c.median > 0 && c.status === "ok");
  const strong = strongSeries(ran), weak = weakSeries(ran);
  if (!strong.length && !weak.length) return;
  const card = section("scaling", "Scaling", "Results of several numbers of ranks. Strong: the "
    + "same problem, how many times as fast as on the fewest ranks. Weak: problems of the same "
    + "work a rank, the time on the fewest ranks over the time. Stages are of the rank that they "
    + "take longest.");
  if (strong.length) {
    card.append(element("h3", {}, "Strong"));
    const least = Math.min(...strong.map((series) => ranksOf(series[0])));
    scalingPlot(card, "Strong scaling", strong, "times as fast",
      (series, c) => gain(series, c) * ranksOf(series[0]) / least, (x) => x / least);
    scalingTable(card, strong, "Strong scaling", false);
  }
  if (weak.length) {
    card.append(element("h3", {}, "Weak"));
    scalingPlot(card, "Weak scaling", weak, "efficiency", gain, () => 1);
    scalingTable(card, weak, "Weak scaling", true);
  }
}

// ------------------------------------------------------------------------------------- timeline

const TIMELINE_RANKS = 16;
const timelineStages = { halo: 4, wait: 5, inside: 0, reduction: 3, device: 2 }; // their colours
const spansOf = (c) => list(c.ranks).map(object).slice(0, TIMELINE_RANKS).flatMap((rank, i) =>
  list(rank.spans).map(object).filter((span) => text(span.stage) in timelineStages
    && number(span.begin_us) !== null && number(span.end_us) !== null)
    .map((span) => ({ stage: text(span.stage), x: [span.begin_us, span.end_us],
      y: `rank ${i}${text(span.stage) === "device" ? ", device" : ""}` })));

function timelineSection() {
  const shown = cases.filter((c) => spansOf(c).length)
    .sort((a, b) => ranksOf(b) - ranksOf(a));
  if (!shown.length) return;
  const card = section("timeline", "Timeline", "One iteration, or one pass of several, on all "
    + "ranks and on one clock: until the device had what neighbours need (halo), until theirs had "
    + "come (wait), until the device was done (inside), and sums over all ranks (reduction); the "
    + "device at work, where its clock tells: up to when its host learned that it was done, which "
    + "is in the pass behind where passes are given ahead.");
  const choice = element("select", { id: "timeline-case", "aria-label": "case" },
    shown.map((c, i) => element("option", { value: i }, `${problem(c)}, ${ranksOf(c)} rank${
      ranksOf(c) > 1 ? "s" : ""}, ${c.file.path}`)));
  card.append(element("div", { class: "controls" },
    element("label", { for: "timeline-case" }, "Of "), choice));
  const most = Math.max(...shown.map((c) => new Set(spansOf(c).map((span) => span.y)).size));
  plot(card, "Timeline", () => {
    const spans = spansOf(shown[Number(choice.value)]);
    const order = (label) => Number(label.split(" ")[1].replace(",", "")) * 2
      + (label.endsWith("device") ? 1 : 0);
    const labels = [...new Set(spans.map((span) => span.y))].sort((a, b) => order(a) - order(b));
    return { type: "bar", data: { labels, datasets: Object.keys(timelineStages)
      .filter((stage) => spans.some((span) => span.stage === stage))
      .map((stage) => ({ label: stage, grouped: false, minBarLength: 1,
        backgroundColor: colors[timelineStages[stage]],
        data: spans.filter((span) => span.stage === stage) })) },
    options: { indexAxis: "y", plugins: { legend, tooltip: { callbacks: { label: (item) =>
      `${item.dataset.label}: ${time(item.raw.x[1] - item.raw.x[0])}, from ${
        time(item.raw.x[0])} on` } } },
    scales: { x: axis("µs", { beginAtZero: true }), y: { ticks: { autoSkip: false } } } } };
  }, false, barHeight(most, 1));
  choice.addEventListener("change", draw);
  const rows = shown.flatMap((c) => list(c.ranks).map((rank, i) => ({ c, rank: object(rank), i })));
  card.append(element("details", {}, element("summary", {}, "All ranks"), table([
    { title: "case", pin: true, cell: ({ c }) => `${problem(c)}, ${ranksOf(c)}` },
    { title: "rank", number: true, cell: ({ i }) => String(i), value: ({ i }) => i },
    { title: "host", cell: ({ rank }) => text(rank.host) },
    { title: "device", cell: ({ rank }) => text(rank.device) },
    { title: "has", number: true, cell: ({ rank }) => `${text(rank.count)} ${text(rank.what)}`,
      value: ({ rank }) => number(rank.count) },
    ...stageColumns(({ rank }, stage) => number(rank[`${stage}_us`])),
  ], rows, "Ranks").node));
}
