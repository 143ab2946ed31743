// -------------------------------------------------------------- many problems against the base

const BINS_AN_OCTAVE = 4, MOST_BIN = 6 * BINS_AN_OCTAVE; // 1 is where a bin begins
const ratioOf = (c) => number(object(c.compare).base_us) / c.median;
const binOf = (ratio) => Math.max(-MOST_BIN, Math.min(MOST_BIN - 1,
  Math.floor(Math.log2(ratio) * BINS_AN_OCTAVE)));
const edge = (bin) => digits(Number((2 ** (bin / BINS_AN_OCTAVE)).toPrecision(3)));

// What one execution computes, whatever its rate is counted in; null where the file has no rate.
function operationsOf(c) {
  const value = number(object(c.rate).value), unit = text(object(c.rate).unit);
  const scale = { MFLOPS: 1, GFLOPS: 1e3, GOPS: 1e3 }[unit];
  return value > 0 && scale ? value * scale * c.median : null;
}

function histogram(card, name, rows) {
  const bins = rows.map((c) => binOf(ratioOf(c)));
  const first = Math.min(0, ...bins), last = Math.max(0, ...bins);
  const shown = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const open = (bin) => (bin === -MOST_BIN ? "less" : bin === MOST_BIN - 1 ? "more" : "");
  plot(card, `Ratios, ${name}`, () => ({ type: "bar", data: {
    labels: shown.map((bin) => open(bin) || `${edge(bin)} to ${edge(bin + 1)}`),
    datasets: [{ label: name, categoryPercentage: 1, barPercentage: 0.96,
      backgroundColor: shown.map((bin) => css(bin < 0 ? "--bad" : "--good")),
      data: shown.map((bin) => bins.filter((other) => other === bin).length) }] },
  options: { plugins: { legend: { display: false }, tooltip: { callbacks: { label: (item) =>
    `${item.parsed.y} problem${item.parsed.y === 1 ? "" : "s"}` } } },
  scales: { x: axis("times as fast as the base", { ticks: { maxRotation: 60 } }),
    y: axis("problems", { beginAtZero: true, ticks: { precision: 0 } }) } } }), true);
}

function ratioScatter(card, groups) {
  const sets = groups.map((group, i) => ({ label: group.name, backgroundColor: colors[i
    % colors.length], pointStyle: ["circle", "triangle", "rect", "rectRot"][Math.floor(i
    / colors.length) % 4], pointRadius: 4, data: group.rows.filter((c) => operationsOf(c))
    .map((c) => ({ x: operationsOf(c), y: ratioOf(c), name: c.label })) }))
    .filter((set) => set.data.length);
  if (!sets.length) return;
  const all = sets.flatMap((set) => set.data.map((point) => point.y));
  const low = Math.min(0.5, ...all) / 1.1, high = Math.max(2, ...all) * 1.1;
  card.append(element("h3", {}, "Over the size of the problem"));
  plot(card, "Ratios over size", () => ({ type: "scatter", data: { datasets: sets },
    options: { plugins: { legend, tooltip: { callbacks: { label: (item) =>
      `${item.dataset.label} ${item.raw.name}: ${digits(item.parsed.y)} times as fast` } } },
    scales: { x: logarithmic("operations of one execution"),
      y: axis("times as fast as the base", { type: "logarithmic", min: low, max: high,
        ticks: { callback: whole, autoSkip: false }, grid: { color: (context) =>
          css(context.tick && context.tick.value === 1 ? "--ink" : "--line") } }) } } }));
}

function ratiosSection() {
  const groups = list(object(data.compare).groups).map(object).map((group) => ({ ...group,
    name: `${text(group.family)} ${text(group.type)}`.trim(),
    rows: plain.filter((c) => c.family === text(group.family) && c.type === text(group.type)
      && c.median > 0 && ratioOf(c) > 0 && Number.isFinite(ratioOf(c))) }))
    .filter((group) => group.rows.length);
  if (!groups.length) return;
  const card = section("ratios", "Ratios to the base", "How many times as fast as in "
    + `${text(object(data.compare).path)} the problems of a family and type are: the base's time `
    + "over this one's, so that more than 1 is faster.");
  const end = (group, least) => [...group.rows].sort((a, b) => (ratioOf(a) - ratioOf(b))
    * (least ? 1 : -1))[0].label;
  card.append(table([
    { title: "family", pin: true, cell: (group) => group.name },
    ...[["problems", "count"], ["geometric mean", "geometric_mean"], ["worst", "worst"],
      ["best", "best"], ["under 1", "under_1"]].map(([title, field]) => ({ title, number: true,
      cell: (group) => digits(number(group[field])), value: (group) => number(group[field]) })),
    { title: "the worst", cell: (group) => end(group, true) },
    { title: "the best", cell: (group) => end(group, false) },
  ], groups, "Ratios to the base").node);
  const grid = element("div", { class: "plots" });
  for (const group of groups) {
    const box = element("div", {}, element("h3", {}, group.name));
    histogram(box, group.name, group.rows);
    grid.append(box);
  }
  card.append(grid);
  ratioScatter(card, groups);
}
