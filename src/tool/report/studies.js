// Points that could not run may not say of which variant they are.
function groupsOf(kind) {
  const groups = new Map();
  for (const c of cases.filter((item) => item.study.kind === kind
    && (kind !== "sweep" || text(item.variant)))) {
    const key = kind === "sweep" ? `${c.family} ${text(c.variant)}: ${c.label} ${c.type}, over ${
      text(c.study.over)}` : `${c.family}: ${c.label} ${c.type}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(c);
  }
  return groups;
}

function ladderSection() {
  const groups = groupsOf("ladder");
  if (!groups.size) return;
  const card = section("ladder", "Ladders", "The steps of the texts that wavefit retells, in their "
    + "order and with their constants, then every other algorithm of the family. A step gains over "
    + "the one named beside it; the range is of the quartiles of both times. With ? a gain may be "
    + "noise, since these overlap; with * it is between the device's clock and the host's.");
  for (const [name, steps] of groups) {
    card.append(element("h3", {}, name));
    const timed = steps.filter((c) => gflops(c) !== null);
    const labels = [...new Set(timed.map(stepName))];
    const owners = devices.filter((device) => steps.some((c) => c.owner === device));
    plot(card, `Ladder, ${name}`, () => ({ type: "bar",
      data: { labels, datasets: owners
        .map((device) => ({ label: device.label, backgroundColor: device.color,
          data: labels.map((label) => { const c = steps.find((step) => step.owner === device
            && stepName(step) === label); return c ? gflops(c) : null; }) })) },
      options: { indexAxis: "y", plugins: { legend, tooltip: { callbacks: { label: (item) =>
        `${item.dataset.label}: ${rate(item.parsed.x, "GFLOPS")}` } } },
      scales: { x: spanning("GFLOPS", steps.map(gflops)),
        y: { ticks: { autoSkip: false } } } } }), false,
    barHeight(labels.length, owners.length));
    card.append(owners.length > 1 ? laddersTable(steps, owners, name)
      : ladderTable(steps, name));
  }
}

// Files of before have no names of steps.
const stepName = (c) => text(c.study.rung) || text(c.variant);
const gainOf = (c) => { const g = number(c.study.gain), low = number(c.study.gain_low),
    high = number(c.study.gain_high);
  return g === null ? "" : `×${digits(g)}${low > 0 && high > low ? ` (${low.toPrecision(3)}–${
    high.toPrecision(3)})` : ""}${c.study.unsure === true ? " ?" : ""}${
    c.study.other_clock === true ? " *" : ""}${text(c.study.compared_with)
    ? ` over ${text(c.study.compared_with)}` : ""}`; };
const spreadOf = (c) => { const s = number(object(c.time_us).spread);
  return s === null || !(number(object(c.time_us).count) > 1) ? "" : percent(s * 100); };
const stepTime = (c) => (c.median === null ? text(c.status)
  : time(c.median) + (c.clock === "host" ? " (host)" : ""));
const whatChanges = { title: "what changes", wide: true, cell: (c) => text(c.study.summary)
  + (text(c.study.source) ? ` (${text(c.study.source)})` : "")
  + (text(c.study.parts) ? `; ${text(c.study.parts)}` : "")
  + (text(c.study.lanes) ? `; ${text(c.study.lanes)}` : "")
  + (c.study.smaller === true ? "; smaller than in the text, whose constants do not fit" : "")
  + (c.status === "ok" ? "" : `: ${text(c.reason)}`) };

function ladderTable(steps, name) {
  return table([
    { title: "step", number: true, cell: (c) => text(c.study.step),
      value: (c) => number(c.study.step) },
    { title: "name", cell: stepName },
    { title: "variant", cell: (c) => `${text(c.variant)} ${constants(c)}` },
    { title: "in the text", cell: (c) => text(c.study.figure) },
    { title: "time", number: true, cell: stepTime, value: (c) => c.median },
    { title: "spread", number: true, cell: spreadOf,
      value: (c) => number(object(c.time_us).spread) },
    { title: "rate", number: true, cell: (c) => rate(number(object(c.rate).value),
      text(object(c.rate).unit)), value: gflops },
    { title: "gain", number: true, cell: gainOf, value: (c) => number(c.study.gain) },
    { title: "of roofline", number: true, cell: (c) => percent(number(object(c.floor).percent)),
      value: (c) => number(object(c.floor).percent) },
    whatChanges,
  ], steps, `Ladder, ${name}`).node;
}

// One row a step, the devices side by side, and how many times as fast as the first each other is.
function laddersTable(steps, owners, name) {
  const rows = [...new Map(steps.map((c) => [stepName(c), c])).values()].sort((a, b) =>
    (number(a.study.step) ?? 0) - (number(b.study.step) ?? 0));
  const brief = owners.map((owner) => owner.label.replace(/ \(.*$/, ""));
  const short = (owner) => (new Set(brief).size === owners.length ? brief[owners.indexOf(owner)]
    : owner.label);
  const of = (row, owner) => steps.find((c) => c.owner === owner && stepName(c) === stepName(row));
  const ratio = (row, owner) => { const a = of(row, owners[0]), b = of(row, owner);
    return a && b && a.median > 0 && b.median > 0 ? a.median / b.median : null; };
  return table([
    { title: "step", number: true, cell: (c) => text(c.study.step),
      value: (c) => number(c.study.step) },
    { title: "name", pin: true, cell: stepName },
    { title: "in the text", cell: (c) => text(c.study.figure) },
    ...owners.map((owner) => ({ title: short(owner), number: true, cell: (row) => {
      const c = of(row, owner);
      return c ? stepTime(c) : ""; }, value: (row) => of(row, owner)?.median ?? null })),
    ...owners.slice(1).map((owner) => ({ title: owners.length > 2 ? `${short(owner)} over ${
      short(owners[0])}` : `times as fast as ${short(owners[0])}`, number: true,
    cell: (row) => digits(ratio(row, owner)), value: (row) => ratio(row, owner) })),
    ...owners.flatMap((owner) => [
      { title: `gain, ${short(owner)}`, number: true, cell: (row) => { const c = of(row, owner);
        return c ? gainOf(c) : ""; }, value: (row) => number(of(row, owner)?.study.gain) },
      { title: "spread", number: true, cell: (row) => { const c = of(row, owner);
        return c ? spreadOf(c) : ""; }, value: (row) => { const c = of(row, owner);
        return c ? number(object(c.time_us).spread) : null; } },
    ]),
    whatChanges,
  ], rows, `Ladder, ${name}`).node;
}

function sweepSection() {
  const groups = groupsOf("sweep");
  if (!groups.size) return;
  const card = section("sweeps", "Sweeps", "Time against one parameter; the dashed line is the "
    + "estimated occupancy, the ring marks the best.");
  const grid = element("div", { class: "plots" });
  card.append(grid);
  for (const [name, all] of groups) {
    const box = element("div", {}, element("h3", {}, name));
    grid.append(box);
    const ran = all.filter((c) => c.median > 0 && number(c.study.value) > 0);
    const owners = devices.filter((device) => ran.some((c) => c.owner === device));
    if (!ran.length) { box.append(element("p", {}, "No value could run.")); continue; }
    const best = new Map(owners.map((device) => [device, ran.filter((c) => c.owner === device)
      .reduce((a, b) => (b.median < a.median ? b : a))]));
    plot(box, `Sweep, ${name}`, () => {
      const sets = [];
      for (const device of owners) {
        const own = ran.filter((c) => c.owner === device).sort((a, b) => a.study.value
          - b.study.value || a.median - b.median);
        // The fastest at each value makes the line; the others are dots.
        const front = own.filter((c, i) => i === 0 || own[i - 1].study.value !== c.study.value);
        const at = (c) => ({ x: c.study.value, y: c.median, c });
        sets.push({ type: "line", label: device.label, data: front.map(at),
          borderColor: device.color, backgroundColor: device.color, pointRadius: 3 });
        if (own.length > front.length)
          sets.push({ type: "scatter", label: "other shapes", data: own.map(at),
            backgroundColor: `${device.color}66`, pointRadius: 3 });
        sets.push({ type: "scatter", label: "best", data: [at(best.get(device))],
          pointRadius: 9, borderWidth: 3, borderColor: device.color,
          backgroundColor: "transparent" });
        const known = front.filter((c) => number(object(c.kernel).occupancy) !== null);
        if (known.length)
          sets.push({ type: "line", label: "occupancy", yAxisID: "y1", borderDash: [6, 4],
            borderColor: css("--muted"), backgroundColor: css("--muted"), pointRadius: 0,
            data: known.map((c) => ({ x: c.study.value, y: c.kernel.occupancy * 100, c })) });
      }
      const over = text(all[0].study.over);
      const scales = { x: doubling(over === "work-group" ? "work-items a work-group"
        : over === "subgroups" ? "subgroups a work-group" : over, ran.map((c) => c.study.value),
      (value) => text(value)), y: logarithmic("µs", { ticks: { callback: whole },
        min: Math.min(...ran.map((c) => c.median)) * 0.8,
        max: Math.max(...ran.map((c) => c.median)) * 1.25 }) };
      if (sets.some((set) => set.yAxisID))
        scales.y1 = axis("occupancy %", { position: "right", min: 0, max: 105,
          ticks: { includeBounds: false },
          grid: { display: false } });
      return { data: { datasets: sets }, options: { parsing: false, scales,
        plugins: { legend, tooltip: { callbacks: { label: (item) => { const c = item.raw.c;
          return `${constants(c)}: ${time(c.median)}`; } } } } } };
    });
    for (const [device, c] of best)
      box.append(element("p", { class: "muted" }, `Best on ${device.label}: ${constants(c)}, ${
        time(c.median)}.`));
    const sources = ran.map((c) => text(object(c.kernel).occupancy_source));
    for (const source of new Set(sources.filter(Boolean)))
      box.append(element("p", { class: "muted files" }, `Occupancy is an estimate by: ${source}.`));
  }
}

function sparseSection() {
  const products = plain.filter((c) => c.family === "spmv" && c.median > 0);
  if (products.length < 2) return;
  const key = (c) => `${c.label} ${c.type}`;
  const every = [...new Set(products.map(key))];
  const find = (device, name) => products.find((c) => c.owner === device && key(c) === name);
  const first = devices.find((device) => products.some((c) => c.owner === device));
  const others = devices.filter((device) => device !== first
    && every.some((name) => find(device, name) && find(first, name)));
  const names = others.length ? every.filter((name) => find(first, name)
    && others.some((device) => find(device, name))) : every;
  const ratio = (device, name) => { const a = find(first, name), b = find(device, name);
    return a && b ? a.median / b.median : null; };
  const card = section("sparse", "Sparse matrices", others.length
    ? `Time on ${first.label} over the time on the other: above 1 the other is faster.`
    : "Effective bandwidth of each matrix over the measured copy.");
  plot(card, "Sparse matrices", () => ({ type: "bar",
    data: { labels: names, datasets: others.length
      ? others.map((device) => ({ label: device.label, backgroundColor: device.color, base: 1,
        data: names.map((name) => ratio(device, name)) }))
      : [{ label: first.label, backgroundColor: first.color, data: names.map((name) => {
        const c = find(first, name); return c ? number(object(c.percent).value) : null; }) }] },
    options: { indexAxis: "y", plugins: { legend }, scales: { x: others.length
      ? ratios("ratio", others.flatMap((device) => names.map((name) => ratio(device, name)))
        .filter((value) => value > 0)) : axis("% of copy", { beginAtZero: true }),
    y: { ticks: { autoSkip: false } } } } }), false, barHeight(names.length, others.length));
}

function solverSection() {
  const solves = cases.filter((c) => list(c.history).filter((r) => number(r) > 0).length > 1);
  if (!solves.length) return;
  const card = section("solver", "Solvers", "The relative residual on its way down.");
  const styles = lineStyles(solves, (c) => c.owner);
  plot(card, "Residuals", () => ({ type: "line",
    data: { datasets: solves.map((c, i) => ({ label: `${c.label} ${c.type}, ${c.owner.label}`,
      ...styles[i],
      pointRadius: 0, borderWidth: 2, data: list(c.history).map((r, n) => ({
        x: (n + 1) * (number(c.check_every) || 1), y: number(r) }))
        .filter((point) => point.y > 0) })) },
    options: { parsing: false, plugins: { legend: lineLegend }, scales: {
      x: axis("iteration", { type: "linear", min: 1 }),
      y: logarithmic("|r| / |b|", { ticks: { autoSkip: false, callback: (value) => (
        Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6
          ? value.toExponential(0) : "") } }) } } }));
}

// Points of a curve [[start, seconds, rate] …], in percent of `whole`; a pause breaks the line.
function sustainedPoints(sustained, whole) {
  const points = [];
  let end = null;
  for (const row of list(sustained.curve).map(list)) {
    const [start, seconds, value] = row.map(number);
    if (start === null || !(seconds > 0) || !(value > 0)) continue;
    if (end !== null && start > end + 0.5) points.push({ x: end, y: NaN });
    points.push({ x: start + seconds / 2, y: value / whole * 100, value });
    end = start + seconds;
  }
  return points;
}

function sustainedSection() {
  const runs = plain.map((c) => ({ c, s: object(c.sustained) }))
    .filter(({ s }) => number(s.best) > 0 && list(s.curve).length > 1);
  if (!runs.length) return;
  const card = section("sustained", "Sustained", "One load without end, in percent of its own best "
    + "second: what falls is a device that slows down as it warms up. Gaps are rests.");
  const name = ({ c }) => `${c.family} ${c.label}, ${c.owner.label}`;
  const styles = lineStyles(runs, ({ c }) => c.owner);
  plot(card, "Rate of sustained runs", () => ({ type: "line",
    data: { datasets: runs.map((run, i) => ({ label: name(run), ...styles[i],
      pointRadius: 0, borderWidth: 2, spanGaps: false,
      data: sustainedPoints(run.s, run.s.best) })) },
    options: { parsing: false, plugins: { legend: lineLegend, tooltip: { callbacks: {
      label: (item) => `${item.dataset.label}: ${rate(item.raw.value, "GFLOPS")} at ${
        digits(item.parsed.x)} s` } } },
    scales: { x: axis("seconds", { type: "linear", min: 0 }),
      y: axis("% of its best", { min: 0, max: 105,
        ticks: { includeBounds: false } }) } } }));
  const value = (field, unit) => ({ number: true, cell: ({ s }) => rate(number(s[field]), unit),
    value: ({ s }) => number(s[field]) });
  const share = ({ s }) => (number(s.settled) && number(s.first_second)
    ? s.settled / s.first_second * 100 : null);
  card.append(table([
    ...deviceColumn(runs, ({ c }) => c.owner),
    { title: "load", cell: ({ c }) => `${c.family} ${c.label} ${c.type}` },
    { title: "first second", ...value("first_second", "GFLOPS") },
    { title: "best", ...value("best", "GFLOPS") },
    { title: "settled", ...value("settled", "GFLOPS") },
    { title: "of the first second", number: true,
      cell: (run) => percent(share(run)), value: share },
    { title: "slower from", number: true, cell: ({ s }) => (number(s.slower_at_seconds) === null
      ? "never" : `${digits(s.slower_at_seconds)} s`), value: ({ s }) =>
      number(s.slower_at_seconds) },
    { title: "rests", cell: ({ s }) => (number(s.pause_seconds) ? `${digits(s.pause_seconds)
    } s after ${digits(number(s.work_seconds))} s` : "none") },
    { title: "status", cell: ({ c }) => text(c.status) },
  ], runs, "Sustained runs").node);
}

function timelinePlot(card, c) {
  const parts = Object.entries(object(c.timeline)).filter(([, value]) => number(value) > 0);
  const all = parts.reduce((sum, [, value]) => sum + value, 0);
  const [unit, scale] = all < 5e3 ? ["µs", 1] : all < 5e6 ? ["ms", 1e3] : ["s", 1e6];
  if (!parts.length) return;
  plot(card, `Timeline, ${c.label}`, () => ({ type: "bar", data: { labels: ["one call"],
    datasets: parts.map(([name, value], i) => ({
      label: name.replace("_us", ""), data: [value / scale],
      backgroundColor: colors[i % colors.length] })) },
  options: { indexAxis: "y", plugins: { legend, tooltip: { callbacks: { label: (item) =>
    `${item.dataset.label}: ${time(item.parsed.x * scale)}, ${percent(item.parsed.x * scale / all
    * 100)}` } } },
  scales: { x: axis(unit, { stacked: true, max: all / scale, ticks: { includeBounds: false } }),
    y: { stacked: true, ticks: { display: false } } } } }), false, 150);
}

function floorLine(c) {
  const floor = object(c.floor), us = number(floor.us);
  if (number(c.median) === null)
    return element("p", {}, "Compiled for a device that is not there; nothing ran.");
  return element("p", {}, `Time ${time(c.median)}`, us === null ? "."
    : `; the floor is ${time(us)}, set by ${text(floor.by)}: ${
      percent(number(floor.percent))} of it reached.`);
}

// What each level has passed on: counted, at least and at most.
function levelsTable(c) {
  const b = object(c.bytes), least = number(b.memory_least);
  if (!(least > 0)) return [];
  const levels = [
    ["memory, at least", least, "each input and output once"],
    ["requested by work-items", number(b.requested),
      "each load and store, counted from the algorithm"],
    ["passed to work-groups", number(b.work_groups_least),
      "each byte once a work-group; less where groups share a cache"],
    ["passed to waves", number(b.waves_least), `each byte once a wave of ${
      digits(number(b.wave_groups) ?? 0)} work-groups, all that are resident together`],
    ["requested in shared memory", number(b.shared_requested), "counted likewise"],
    ["memory, at most", number(b.memory_most), "in this time, by the measured copy"],
    ["caches, at most", number(b.cache_most), "in this time, by the measured reads"],
    ["shared memory, at most", number(b.shared_most), "in this time, by its ceiling"],
  ].filter(([, value]) => value > 0);
  return [table([
    { title: "bytes", pin: true, cell: ([name]) => name },
    { title: "amount", number: true, cell: ([, value]) => bytes(value),
      value: ([, value]) => value },
    { title: "times the least", number: true, cell: ([, value]) => digits(value / least),
      value: ([, value]) => value },
    { title: "what it is", wide: true, cell: ([, , what]) => what },
  ], levels, `Bytes, ${c.label}`).node,
  ...(number(b.requested) > 0 ? [] : [element("p", { class: "muted" },
    "What this variant's work-items request is not counted.")])];
}

function kernelsTable(c) {
  const kernels = list(c.kernels).map(object);
  if (kernels.length < 2) return [];
  const all = kernels.reduce((sum, kernel) => sum + (number(kernel.us) ?? 0), 0);
  return [table([
    { title: "kernel", pin: true, cell: (kernel) => text(kernel.name) },
    { title: "dispatches", number: true, cell: (kernel) => text(kernel.dispatches),
      value: (kernel) => number(kernel.dispatches) },
    { title: "time", number: true, cell: (kernel) => time(number(kernel.us)),
      value: (kernel) => number(kernel.us) },
    { title: "share", number: true, cell: (kernel) => percent(all > 0 && number(kernel.us) !== null
      ? kernel.us / all * 100 : null), value: (kernel) => number(kernel.us) },
    { title: "registers", number: true, cell: (kernel) => text(kernel.registers),
      value: (kernel) => number(kernel.registers) },
    { title: "occupancy", number: true, cell: (kernel) => { const share = number(kernel.occupancy);
      return share === null ? "" : `${percent(share * 100)}, ${text(kernel.occupancy_limit)}`; },
    value: (kernel) => number(kernel.occupancy) },
  ], kernels, `Kernels, ${c.label}`).node];
}

function occupancyLine(c) {
  const kernel = object(c.kernel), share = number(kernel.occupancy), size = list(kernel.group_size);
  return element("p", { class: "muted" }, size.length === 3 ? `Work-groups of ${size.map(text).join(
    " × ")}${number(kernel.groups) ? `, ${kernel.groups} of them` : ""}, ${
    bytes(number(kernel.shared_bytes) ?? 0)} of shared memory each. ` : "", share === null
    ? "Occupancy is not known: nothing is published about this device."
    : `Occupancy ${percent(share * 100)}, limited by ${
      text(kernel.occupancy_limit)}: an estimate by ${text(kernel.occupancy_source)}.`);
}

function adviceSection() {
  const explained = cases.filter((c) => list(c.advice).length || object(c.timeline).execute_us);
  if (!explained.length) return;
  const card = section("advice", "Explained");
  for (const c of explained) {
    card.append(element("h3", {}, `${problem(c)} ${text(c.variant)} on ${c.owner.label}`));
    timelinePlot(card, c);
    card.append(floorLine(c), ...levelsTable(c), ...kernelsTable(c), occupancyLine(c));
    const items = list(c.advice).map(object);
    card.append(items.length ? element("ol", { class: "advice" }, items.map((item) =>
      element("li", {}, text(item.text), number(item.gain) ? element("b", {}, ` At most ×${
        digits(item.gain)}.`) : "", element("br"), element("code", {}, text(item.command)))))
      : element("p", {}, "Nothing to advise: no rule found anything to gain."));
  }
}
