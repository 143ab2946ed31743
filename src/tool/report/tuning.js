// ------------------------------------------------------------------- what searches came to

const point = (p) => `${text(p.variant)} ${constants(p)}`.trim();

function tunedSection() {
  const found = tuned.map((c) => ({ c, t: c.tuned, before: object(c.tuned.before),
    gain: number(c.tuned.faster) }));
  if (!found.length) return;
  const card = section("tuned", "Tuned",
    "What the search found against what wavefit chose before it: "
    + "how many times as fast. Where there is no bar nothing faster was found.");
  const bars = found.filter((row) => row.gain > 1);
  const owners = devices.filter((device) => bars.some(({ c }) => c.owner === device));
  const names = [...new Set(bars.map(({ c }) => problem(c)))];
  const gain = (device, name) => { const row = bars.find(({ c }) => c.owner === device
    && problem(c) === name); return row ? row.gain : null; };
  const first = (name) => bars.find(({ c }) => problem(c) === name).c;
  if (names.length)
    plot(card, "Gain of tuning", () => ({ type: "bar", data: {
      labels: names.map((name) => { const c = first(name);
        return lines(`${c.family} ${c.type}`, c.label); }),
      datasets: owners.map((device) => ({
        label: device.label, backgroundColor: device.color, base: 1,
        data: names.map((name) => gain(device, name)) })) },
    options: { indexAxis: "y", plugins: { legend, tooltip: { callbacks: { label: (item) =>
      `${item.dataset.label}: ${digits(item.parsed.x)} times as fast` } } },
    scales: { x: axis("times as fast", { min: 1, suggestedMax: 1.1 }),
      y: { ticks: { autoSkip: false } } } } }), false,
    barHeight(names.length, owners.length));
  card.append(table([
    ...deviceColumn(found, ({ c }) => c.owner),
    { title: "problem", cell: ({ c }) => problem(c) },
    { title: "before", number: true, cell: ({ before }) => time(number(before.us)),
      value: ({ before }) => number(before.us) },
    { title: "tuned", number: true, cell: ({ c }) => time(c.median), value: ({ c }) => c.median },
    { title: "gain", number: true, cell: (row) => (row.gain === null ? "" : `×${digits(row.gain)}`),
      value: (row) => row.gain },
    { title: "points", number: true, cell: ({ t }) => text(t.tried),
      value: ({ t }) => number(t.tried) },
    { title: "wrong", number: true, cell: ({ t }) => text(t.bad), value: ({ t }) => number(t.bad) },
    { title: "status", cell: ({ c }) => text(c.status) },
    { title: "found", cell: ({ c }) => point(c) },
    { title: "was", cell: ({ before }) => `${point(before)} (${text(before.chosen_by)})` },
  ], found, "Searches").node);
}

// Files of `tune --compare`: each way of choosing, in percent over the best of all on the problem.
const ways = ["tuned", "model", "shipped", "exhaustive", "tuned again", "left out"];
const hiddenAtFirst = ["exhaustive", "tuned again", "left out"];

function comparisonRows(file) {
  return list(file.results.comparisons).map(object).map((item) => {
    const rivals = object(item.rivals); // none where the problem could not run
    return { family: text(item.family), type: text(item.type), label: text(item.problem),
      error: text(item.error), rivals, loss: (way) => number(object(rivals[way]).loss_percent),
      best: Math.min(...Object.values(rivals).map((rival) =>
        number(object(rival).us) ?? Infinity)) };
  });
}

function comparisonPlot(card, name, rows) {
  const there = ways.filter((way) => rows.some((row) => row.loss(way) !== null));
  if (!there.length) return;
  plot(card, name, () => ({ type: "bar", data: {
    labels: rows.map((row) => lines(row.type, row.label)),
    datasets: there.map((way) => ({ label: way, hidden: hiddenAtFirst.includes(way),
      backgroundColor: colors[ways.indexOf(way)], data: rows.map((row) => row.loss(way)),
      minBarLength: 2 })) },
  options: { indexAxis: "y", plugins: { legend, tooltip: { callbacks: { label: (item) => {
    const rival = object(rows[item.dataIndex].rivals[item.dataset.label]);
    return `${item.dataset.label}: ${digits(item.parsed.x)} % over the best, ${
      time(number(rival.us))}, ${text(rival.point)}`; } } } },
  scales: { x: axis("% over the best", { beginAtZero: true, suggestedMax: 5 }),
    y: { ticks: { autoSkip: false } } } } }), false, barHeight(rows.length, 3));
}

function comparisonSection() {
  if (!comparisons.length) return;
  const card = section("choosing", "Ways of choosing",
    "How much longer each way's choice takes than "
    + "the best of all, in percent: the shorter the bar, the better. More ways are in the legend.");
  const title = (file) => [file.name, text(file.device.driver).trim()].filter(Boolean).join(", ");
  for (const device of new Set(comparisons.map(title))) {
    const rows = comparisons.filter((file) => title(file) === device).flatMap(comparisonRows);
    const ran = rows.filter((row) => row.best < Infinity);
    card.append(element("h3", {}, device));
    for (const family of new Set(ran.map((row) => row.family))) {
      card.append(element("p", { class: "family" }, family));
      comparisonPlot(card, `Choosing, ${family} on ${device}`,
        ran.filter((row) => row.family === family));
    }
    card.append(table([
      { title: "family", cell: (row) => row.family },
      { title: "problem", cell: (row) => `${row.label} ${row.type}` },
      { title: "best", number: true,
        cell: (row) => (row.best < Infinity ? time(row.best) : row.error),
        value: (row) => (row.best < Infinity ? row.best : null) },
      ...ways.map((way) => ({ title: way, number: true, cell: (row) => (row.loss(way) === null ? ""
        : `${row.loss(way).toFixed(1)} %`), value: (row) => row.loss(way) })),
    ], rows, `Ways of choosing on ${device}`).node);
  }
}

const targetTitle = (file) => ["family", "problem", "type"].map((key) => text(file.results[key]))
  .filter(Boolean).join(" ");

function targetsTable(rows, name) {
  const kernel = (row) => object(row.kernel), predicted = (row) => object(row.predicted);
  const count = (title, of) => ({ title, number: true, cell: (row) => text(of(row)),
    value: (row) => number(of(row)) });
  return table([
    { title: "target", pin: true, cell: (row) => text(row.target) },
    { title: "registers", number: true, cell: (row) => text(kernel(row).registers
      ?? (kernel(row).live_registers ? `${kernel(row).live_registers} live` : undefined)),
      value: (row) => number(kernel(row).registers ?? kernel(row).live_registers) },
    count("spilled", (row) => kernel(row).spilled),
    count("instructions", (row) => kernel(row).instructions),
    { title: "occupancy", number: true, cell: (row) => (number(kernel(row).occupancy) === null ? ""
      : percent(kernel(row).occupancy * 100)), value: (row) => number(kernel(row).occupancy) },
    { title: "bytes of work-groups", number: true,
      cell: (row) => (number(object(row.bytes).work_groups) > 0 ? bytes(row.bytes.work_groups)
        : ""), value: (row) => number(object(row.bytes).work_groups) },
    { title: "predicted", number: true, cell: (row) => time(number(predicted(row).us)),
      value: (row) => number(predicted(row).us) },
    { title: "set by", cell: (row) => text(predicted(row).set_by) },
    { title: "for", cell: (row) => text(predicted(row).product) },
    { title: "variant", wide: rows.some((row) => row.refused),
      cell: (row) => text(row.refused) || text(row.variant) },
  ], rows, name).node;
}

// Below the table, whose rows they would make many lines high.
function targetChoices(rows) {
  return rows.filter((row) => !row.refused).map((row) => element("p", { class: "files" },
    `${text(row.target)}: ${text(row.variant)} ${text(row.constants)}`));
}

function targetsSection() {
  if (!targetFiles.length) return;
  const card = section("targets", "GPUs that are not here",
    "What their compilers make of a kernel; nothing ran. A predicted time is the longer of "
    + "memory's and of the units' multiply-adds and loads, by a product's data sheet: it orders "
    + "kernels of one GPU, and is right to a factor of two and a half where it was checked.");
  for (const file of targetFiles) {
    const rows = list(file.results.targets).map(object), name = targetTitle(file);
    const timed = rows.filter((row) => number(object(row.predicted).us) > 0);
    card.append(element("h3", {}, name));
    if (timed.length)
      plot(card, `Predicted times, ${name}`, () => ({ type: "bar",
        data: { labels: timed.map((row) => text(row.target)),
          datasets: [{ label: "predicted", backgroundColor: colors[0],
            data: timed.map((row) => row.predicted.us) }] },
        options: { indexAxis: "y", plugins: { legend: { display: false }, tooltip: { callbacks: {
          label: (item) => time(item.parsed.x) } } },
        scales: { x: spanning("µs", timed.map((row) => row.predicted.us)),
          y: { ticks: { autoSkip: false } } } } }),
      false, barHeight(timed.length, 1));
    card.append(targetsTable(rows, `Targets, ${name}`), ...targetChoices(rows));
  }
}
