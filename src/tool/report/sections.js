// ------------------------------------------------------------------------------------- sections

// Of the device's own heaps: the host's, which it can use too, may be larger.
const memoryOf = (info) => Math.max(0, ...list(info.heaps).map(object)
  .filter((heap) => heap.device_local === true).map((heap) => number(heap.bytes) ?? 0));

function devicesSection() {
  if (!devices.length) return;
  const card = section("devices", devices.length > 1 ? "Devices" : "Device");
  const grid = element("div", { class: "grid" });
  for (const device of devices) {
    const info = device.files[0].device, subgroup = object(info.subgroup);
    const facts = [
      ["driver", [text(object(info.driver).name), text(object(info.driver).info)].filter(Boolean)
        .join(" ")],
      ["kind", text(info.type)],
      ["best copy", device.copy === null ? "" : rate(device.copy, "GB/s")],
      ["f32 multiply-add", device.fma === null ? "" : rate(device.fma, "GFLOPS")],
      ["memory", memoryOf(info) ? bytes(memoryOf(info)) : ""],
      ["compute units", text(info.compute_units)],
      ["subgroup", text(subgroup.size)],
      ["Vulkan", text(info.api_version)],
    ].filter(([, value]) => value !== "");
    grid.append(element("div", { class: "device", color: device.color },
      element("b", {}, device.label),
      element("dl", {}, facts.flatMap(([name, value]) =>
        [element("dt", {}, name), element("dd", {}, value)])),
      element("p", { class: "muted files" }, device.files.map((file) => file.path).join(", "))));
  }
  card.append(grid);
  const cut = cases.filter((c) => c.status === "cancelled").length
    + devices.reduce((sum, device) => sum + [...device.peaks.values()].flat()
      .filter((peak) => peak.status === "cancelled").length, 0);
  if (cut)
    card.append(element("p", { class: "notice" }, `A run was interrupted: ${cut} measurement${
      cut > 1 ? "s are" : " is"} missing, marked cancelled.`));
}

function compareSection() {
  const compared = cases.flatMap((c) => [
    { c, compare: object(c.compare), now: c.median, of: "" },
    { c, compare: object(c.compare_whole), now: number(c.whole_us), of: ", whole" },
  ]).filter((row) => text(row.compare.verdict));
  if (!compared.length) return;
  const card = section("compare", "Against the base",
    `${text(object(data.compare).path)}: a case is slower or faster when its quartiles part and `
    + "the medians differ by more than the noise of both.");
  const shown = [...compared].sort((a, b) => (number(b.compare.ratio) ?? 9e9)
    - (number(a.compare.ratio) ?? 9e9));
  const style = { slower: "bad", broken: "bad", faster: "good" };
  const baseVariant = (row) => text(row.compare.base_variant);
  card.append(table([
    { title: "verdict", cell: (row) => element("span", { class: style[row.compare.verdict] || "" },
      row.compare.verdict), value: (row) => text(row.compare.verdict) },
    { title: "case", cell: (row) => problem(row.c) + row.of },
    { title: "variant", cell: (row) => text(row.c.variant) },
    { title: "base", number: true, cell: (row) => time(number(row.compare.base_us)),
      value: (row) => number(row.compare.base_us) },
    { title: "now", number: true, cell: (row) => time(row.now), value: (row) => row.now },
    { title: "ratio", number: true, cell: (row) => digits(number(row.compare.ratio)),
      value: (row) => number(row.compare.ratio) },
    ...(shown.some((row) => baseVariant(row) !== text(row.c.variant)) ? [
      { title: "variant of the base", cell: baseVariant }] : []),
    { title: "noise", number: true, cell: (row) => { const n = number(row.compare.noise);
      return n === null ? "" : percent(n * 100); }, value: (row) => number(row.compare.noise) },
  ], shown, "Comparison with the base").node);
}

// By working set, where several files have the same the last of them.
function peaksOf(device, name) {
  const bySet = new Map();
  for (const peak of device.peaks.get(name) || [])
    if (number(peak.value) !== null) bySet.set(number(peak.bytes) ?? 0, peak);
  return [...bySet.keys()].sort((a, b) => a - b).map((set) => bySet.get(set));
}

// That of the largest working set, which no cache holds.
const peakOf = (device, name) => peaksOf(device, name).pop() ?? null;

function ceilingsSection() {
  const measured = devices.filter((device) => device.peaks.size);
  if (!measured.length) return;
  const card = section("ceilings", "Ceilings",
    "What each device does at best, by micro-benchmarks: "
    + "the steps of the bandwidth curve are its caches.");
  const controls = element("div", { class: "controls" });
  const choice = element("select", { id: "direction", "aria-label": "direction" },
    ["read", "copy", "write"].map((name) => element("option", { value: name }, name)));
  controls.append(element("label", { for: "direction" }, "Bandwidth of "), choice);
  card.append(controls);
  const points = (device, name) => peaksOf(device, name)
    .map((peak) => ({ x: number(peak.bytes), y: number(peak.value) }))
    .filter((point) => point.x && point.y);
  plot(card, "Bandwidth against working set", () => ({
    type: "line",
    data: { datasets: measured.map((device) => ({ label: device.label,
      data: points(device, choice.value), borderColor: device.color,
      backgroundColor: device.color, pointRadius: 3 })) },
    options: { plugins: { legend, tooltip: { callbacks: { label: (item) => `${
      item.dataset.label}: ${rate(item.parsed.y, "GB/s")} at ${bytes(item.parsed.x)}` } } },
    parsing: false,
    scales: { x: doubling("working set", measured.flatMap((device) => points(device, choice.value)
      .map((point) => point.x)), bytes), y: logarithmic("GB/s") } } }));
  choice.addEventListener("change", draw);
  const names = ["best copy", ...new Set(measured.flatMap((device) => [...device.peaks.keys()]))];
  // The three that other parts of the page show too.
  const best = (device, name) => ({ "best copy": device.copy, copy: device.shaderCopy,
    fma_f32: device.fma })[name] ?? null;
  card.append(table([
    { title: "ceiling", pin: true, cell: (name) => name },
    ...measured.map((device) => ({ title: device.label, number: true,
      cell: (name) => { if (name === "best copy") return rate(device.copy, "GB/s");
        const peak = peakOf(device, name), any = (device.peaks.get(name) || [])[0];
        if (peak) return rate(best(device, name) ?? number(peak.value), text(peak.unit));
        return any ? element("span", { class: "muted", title: text(any.reason) },
          text(any.status)) : ""; },
      value: (name) => { const peak = peakOf(device, name);
        return best(device, name) ?? (peak ? number(peak.value) : null); } })),
  ], names, "Ceilings of each device").node);
  card.append(element("p", { class: "muted" }, "The best copy, which the card and the roofline "
    + "take, is the better of a shader and the driver's own buffer copy; copy, read and write are "
    + "a shader's over the largest working set."));
  for (const device of measured)
    for (const [name, unit] of [["copy", "GB/s"], ["fma_f32", "GFLOPS"]]) {
      const low = Math.min(...device.runs[name]), high = Math.max(...device.runs[name]);
      if (high > 1.25 * low)
        card.append(element("p", { class: "notice" }, `${device.label}: ${name} was measured ${
          device.runs[name].length} times, at ${rate(low, unit)} to ${rate(high, unit)}. `
          + "The best is taken; what a file says in percent is of its own measurement."));
    }
}

function rooflineSection() {
  const dots = cases.map((c) => ({ c, x: number(c.flops) !== null && number(c.least_bytes) > 0
    ? c.flops / c.least_bytes : null, y: gflops(c) })).filter((dot) => dot.x > 0 && dot.y > 0);
  const roofs = devices.filter((device) => device.copy && device.fma);
  if (!dots.length || !roofs.length) return;
  const card = section("roofline", "Roofline", "Each dot is a kernel: to the right it does more "
    + "arithmetic for each byte it must move. Dots over the slope read fewer bytes than the plain "
    + "algorithm would, or work from a cache; dots over the level use other instructions than f32 "
    + "multiply-adds.");
  const style = { himeno: "triangle", spmv: "circle", matmul: "rect", stencil: "rectRot" };
  const short = (c) => `${c.label}${c.type === "f32" || !c.type ? "" : ` ${c.type}`}`
    + (text(c.study.kind) ? ` ${text(c.variant)}` : "");
  plot(card, "Roofline", () => {
    const low = Math.min(...dots.map((dot) => dot.x), 0.1) / 2;
    const high = Math.max(...dots.map((dot) => dot.x), 100) * 2;
    const lines = roofs.map((device) => {
      const ridge = device.fma / device.copy;
      return { type: "line", label: device.label, borderColor: device.color, device,
        backgroundColor: device.color, pointRadius: 0, borderWidth: 2, pointStyle: "line",
        data: [low, Math.min(Math.max(ridge, low), high), high].map((x) => ({ x,
          y: Math.min(device.fma, x * device.copy) })) };
    });
    const families = [...new Set(dots.map((dot) => dot.c.family))];
    const groups = roofs.flatMap((device) => families.map((family) => ({ type: "scatter",
      label: `${family}, ${device.label}`, device, family,
      pointStyle: style[family] || "rectRounded", radius: 5, hoverRadius: 7,
      borderColor: css("--card"),
      borderWidth: 1, backgroundColor: device.color,
      data: dots.filter((dot) => dot.c.owner === device && dot.c.family === family)
        .map((dot) => ({ x: dot.x, y: dot.y, c: dot.c, name: short(dot.c) })) }))
      .filter((set) => set.data.length));
    return { data: { datasets: [...lines, ...groups] }, plugins: [dotNames],
      options: { parsing: false, plugins: { legend: coloursAndShapes, tooltip: { callbacks: {
        label: (item) => { const c = item.raw.c;
          return c ? `${problem(c)} ${text(c.variant)}: ${rate(item.parsed.y, "GFLOPS")}`
            : item.dataset.label; } } } },
      scales: { x: logarithmic("operations a byte", { min: low, max: high }),
        y: logarithmic("GFLOPS") } } };
  }, false, narrow() ? 0 : 520);
  const roof = ({ c, x }) => (c.owner.copy && c.owner.fma
    ? Math.min(c.owner.fma, x * c.owner.copy) : null);
  const share = (dot) => (roof(dot) ? dot.y / roof(dot) * 100 : null);
  card.append(element("details", {}, element("summary", {}, `All ${dots.length} dots`), table([
    ...deviceColumn(dots, (dot) => dot.c.owner),
    { title: "kernel", pin: true, cell: ({ c }) => `${problem(c)} ${text(c.variant)}` },
    { title: "operations a byte", number: true, cell: (dot) => digits(dot.x),
      value: (dot) => dot.x },
    { title: "rate", number: true, cell: (dot) => rate(dot.y, "GFLOPS"), value: (dot) => dot.y },
    { title: "of the roof", number: true, cell: (dot) => percent(share(dot)), value: share },
  ], dots, "Dots of the roofline").node));
}

// Names beside dots, the fastest first, each where no other dot or name is in its way.
const dotNames = { id: "dotNames", afterDatasetsDraw: (chart) => {
  const { ctx, chartArea: area } = chart, dots = [], taken = [];
  const named = chart.$names = [];
  chart.data.datasets.forEach((set, i) => { if (set.family && chart.isDatasetVisible(i))
    chart.getDatasetMeta(i).data.forEach((point, n) => dots.push({ x: point.x, y: point.y,
      name: set.data[n].name,
      key: `${set.label} ${set.data[n].name} ${Math.round(point.x)}` })); });
  for (const dot of dots) taken.push([dot.x - 5, dot.y - 5, dot.x + 5, dot.y + 5]);
  ctx.save();
  ctx.font = `11px ${Chart.defaults.font.family}`;
  ctx.fillStyle = css("--ink");
  ctx.textBaseline = "middle";
  const seen = new Set();
  for (const dot of dots.sort((a, b) => a.y - b.y)) {
    const wide = ctx.measureText(dot.name).width;
    const box = [[dot.x + 8, dot.y], [dot.x - 8 - wide, dot.y], [dot.x - wide / 2, dot.y - 13],
      [dot.x - wide / 2, dot.y + 13]].map(([x, y]) => [x, y - 6, x + wide, y + 6]).find((box) =>
      box[0] >= area.left && box[2] <= area.right && box[1] >= area.top && box[3] <= area.bottom
      && !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3]
        && other[1] < box[3]));
    if (!box || seen.has(dot.key)) continue;
    seen.add(dot.key);
    taken.push(box);
    named.push(dot.name);
    ctx.fillText(dot.name, box[0], (box[1] + box[3]) / 2);
  }
  ctx.restore();
} };

// A legend of devices by colour and of families by shape, in place of every pair of them; a click
// hides all that it stands for.
const coloursAndShapes = {
  position: "bottom",
  labels: { usePointStyle: true, boxHeight: 7, generateLabels: (chart) => {
    const sets = chart.data.datasets, families = [...new Set(sets.map((set) => set.family))];
    const entry = (label, set, of, color) => ({ text: label, fillStyle: color, strokeStyle: color,
      fontColor: css("--muted"), lineWidth: 2, pointStyle: set.pointStyle, of,
      hidden: sets.every((other, i) => !of(other) || !chart.isDatasetVisible(i)) });
    return [...sets.filter((set) => !set.family).map((set) => entry(set.label, set,
      (other) => other.device === set.device, set.borderColor)),
    ...families.filter(Boolean).map((family) => entry(family,
      sets.find((set) => set.family === family), (other) => other.family === family,
      css("--muted")))];
  } },
  onClick: (event, item, at) => {
    at.chart.data.datasets.forEach((set, i) => { if (item.of(set))
      at.chart.setDatasetVisibility(i, item.hidden); });
    at.chart.update();
  },
};

// One value for each case that a device has.
const caseOf = (device, name) => plain.find((c) => c.owner === device && problem(c) === name);

function percentPlot(card) {
  const names = [...new Set(plain.filter((c) => number(object(c.percent).value) !== null)
    .map(problem))];
  if (!names.length) return;
  const label = (name) => { const c = plain.find((item) => problem(item) === name);
    return narrow() ? [`${c.family} ${c.type}`, c.label] : name; };
  const along = narrow() ? "y" : "x", up = narrow() ? "x" : "y";
  plot(card, "Percent of the measured ceiling", () => ({ type: "bar",
    data: { labels: names.map(label), datasets: devices.map((device) => ({ label: device.label,
      backgroundColor: device.color, data: names.map((name) => { const c = caseOf(device, name);
        return c ? number(object(c.percent).value) : null; }) })) },
    options: { indexAxis: along, plugins: { legend, tooltip: { callbacks: { title: (items) =>
      names[items[0].dataIndex], label: (item) => { const c = caseOf(devices[item.datasetIndex],
      names[item.dataIndex]); return `${item.dataset.label}: ${percent(item.parsed[up])} of ${
      text(object(c.percent).of)}`; } } } }, scales: {
      [along]: { ticks: { autoSkip: false, maxRotation: 70 } },
      [up]: axis("% of measured ceiling", { beginAtZero: true }) } } }), false,
  narrow() ? barHeight(names.length, devices.length) : 0);
}

// Beside the machine's own cores, where a file has them (bench --host).
function hostColumns(shown) {
  const us = (c) => number(object(c.host).median_us);
  const ratio = (c) => (us(c) > 0 && c.median > 0 ? us(c) / c.median : null);
  return shown.some((c) => us(c) > 0) ? [
    { title: "host", number: true, cell: (c) => (us(c) === null ? text(object(c.host).reason)
      : `${time(us(c))} on ${text(c.host.threads)} threads`), value: us },
    { title: "times as fast as the host", number: true, cell: (c) => digits(ratio(c)),
      value: ratio }] : [];
}

function resultsSection() {
  if (!plain.length) return;
  const card = section("results", "Results");
  percentPlot(card);
  const input = element("input", { type: "search", id: "filter", placeholder: "spmv f64 …" });
  card.append(element("div", { class: "controls" },
    element("label", { for: "filter" }, "Show only "), input));
  const an = (c) => (number(object(c.time_us).median) === null && c.median !== null
    ? " an iteration" : "");
  const result = table([
    ...deviceColumn(plain, (c) => c.owner),
    { title: "family", cell: (c) => c.family },
    { title: "case", cell: (c) => c.label },
    { title: "type", cell: (c) => c.type },
    { title: "time", number: true, cell: (c) => time(c.median) + an(c), value: (c) => c.median },
    { title: "spread", number: true, cell: (c) => { const s = number(object(c.time_us).spread);
      return s === null || !(number(object(c.time_us).count) > 1) ? "" : percent(s * 100); },
    value: (c) => number(object(c.time_us).spread) },
    { title: "rate", number: true, cell: (c) => rate(number(object(c.rate).value),
      text(object(c.rate).unit)), value: gflops },
    { title: "GB/s", number: true, cell: (c) => digits(number(c.bandwidth_gbs)),
      value: (c) => number(c.bandwidth_gbs) },
    ...hostColumns(plain),
    { title: "of ceiling", number: true, cell: (c) => percent(number(object(c.percent).value)),
      value: (c) => number(object(c.percent).value) },
    { title: "status", cell: (c) => element("span", { class: c.status === "ok" ? "good"
      : c.status === "failed" || c.status === "error" ? "bad" : "warn", title: text(c.reason) },
    text(c.status)), value: (c) => text(c.status) },
    { title: "variant", cell: (c) => `${text(c.variant)} ${constants(c)}`
      + (c.status === "ok" ? "" : ` ${text(c.reason)}`) },
  ], plain, "Results");
  card.append(result.node);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    result.show(plain.filter((c) => { const all = `${c.owner.label} ${problem(c)} ${
      text(c.variant)} ${text(c.status)}`.toLowerCase(); return words.every((word) =>
      all.includes(word)); }));
  });
}

// Where the time of a run went, from files to files.
const stages = ["read", "device", "analysis", "upload", "run", "download", "check", "time",
  "write"];

function stagesSection() {
  const shown = plain.filter((c) => number(c.whole_us) > 0);
  if (!shown.length) return;
  const card = section("stages", "Stages", "One run, on the host's clock. The whole is analysis, "
    + "upload, run and download: from operands in host memory to the answer in host memory.");
  const stage = (c, name) => number(object(c.stages_us)[name]);
  card.append(table([
    ...deviceColumn(shown, (c) => c.owner),
    { title: "case", pin: true, cell: problem },
    { title: "whole", number: true, cell: (c) => time(number(c.whole_us)),
      value: (c) => number(c.whole_us) },
    ...stages.map((name) => ({ title: name, number: true, cell: (c) => time(stage(c, name)),
      value: (c) => stage(c, name) })),
  ], shown, "Stages").node);
}

// ------------------------------------------------------------------------------ devices, side by
// side

function versusSection() {
  const ran = plain.filter((c) => c.median > 0);
  const names = [...new Set(ran.map(problem))].filter((name) => new Set(ran.filter((c) =>
    problem(c) === name).map((c) => c.owner)).size > 1);
  const owners = devices.filter((device) => names.some((name) => timeOf(device, name)));
  if (!names.length) return;
  const card = section("versus", "Side by side", "How many times as fast each device is as the one "
    + "chosen, on every problem that both ran.");
  const choice = element("select", { id: "versus-base", "aria-label": "compared with" },
    owners.map((device, i) => element("option", { value: i }, device.label)));
  card.append(element("div", { class: "controls" },
    element("label", { for: "versus-base" }, "Compared with "), choice));
  const label = (name) => { const c = ran.find((item) => problem(item) === name);
    return narrow() ? [`${c.family} ${c.type}`, c.label] : name; };
  plot(card, "Devices side by side", () => {
    const base = owners[Number(choice.value)], others = owners.filter((device) => device !== base);
    const shown = names.filter((name) => timeOf(base, name)
      && others.some((device) => timeOf(device, name)));
    const speed = (device, name) => (timeOf(device, name)
      ? timeOf(base, name) / timeOf(device, name) : null);
    const all = others.flatMap((device) => shown.map((name) => speed(device, name)))
      .filter((value) => value > 0);
    return { type: "bar", data: { labels: shown.map(label), datasets: others.map((device) => ({
      label: device.label, backgroundColor: device.color, base: 1,
      data: shown.map((name) => speed(device, name)) })) },
    options: { indexAxis: "y", plugins: { legend, tooltip: { callbacks: {
      title: (items) => shown[items[0].dataIndex],
      label: (item) => `${item.dataset.label}: ${digits(item.parsed.x)} times as fast` } } },
    scales: { x: ratios("times as fast", all), y: { ticks: { autoSkip: false } } } } };
  }, false, barHeight(names.length, owners.length - 1));
  choice.addEventListener("change", draw);
  const best = (name) => Math.min(...owners.map((device) => timeOf(device, name) || Infinity));
  card.append(table([
    { title: "problem", pin: true, cell: (name) => name },
    ...owners.map((device) => ({ title: device.label, number: true, cell: (name) => {
      const us = timeOf(device, name);
      return us ? element("span", { class: us === best(name) ? "good" : "" }, time(us)) : ""; },
    value: (name) => timeOf(device, name) })),
  ], names, "Times of each device").node);
}

// Microseconds; null where the device has no such case.
function timeOf(device, name) {
  const c = plain.find((item) =>
    item.owner === device && problem(item) === name && item.median > 0);
  return c ? c.median : null;
}
