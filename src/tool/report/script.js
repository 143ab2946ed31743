"use strict";
// Draws the report from the results embedded in the page. Everything that comes out of a file is put
// in as text, never as markup, and every number is looked at before it is used.
(() => {
  const errors = [];
  window.addEventListener("error", (event) => {
    errors.push(String(event.message));
    document.documentElement.dataset.errors = String(errors.length);
  });

  const data = JSON.parse(document.getElementById("data").textContent);
  const colors = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6fd1",
    "#7a7a2a"];
  const charts = [];

  // ---------------------------------------------------------------------------------- small parts

  const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);
  const text = (value) => (typeof value === "string" ? value : value === undefined || value === null
    ? "" : String(value));
  const list = (value) => (Array.isArray(value) ? value : []);
  const object = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value : {});

  function element(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
      if (name === "class") node.className = value;
      else if (name === "color") node.style.borderColor = value;
      else if (value !== null && value !== undefined) node.setAttribute(name, value);
    for (const child of children.flat())
      if (child !== null && child !== undefined)
        node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    return node;
  }

  function digits(value) {
    if (value === null) return "";
    const size = Math.abs(value);
    return size !== 0 && (size < 0.001 || size >= 1e6) ? value.toExponential(3)
      : String(Number(value.toPrecision(4)));
  }

  function time(us) {
    if (us === null) return "";
    return us < 1e3 ? `${digits(us)} µs` : us < 1e6 ? `${digits(us / 1e3)} ms`
      : `${digits(us / 1e6)} s`;
  }

  function bytes(value) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    for (; value >= 1024 && unit < 4; unit++) value /= 1024;
    return `${digits(value)} ${units[unit]}`;
  }

  function rate(value, unit) {
    if (value === null) return "";
    const steps = { MFLOPS: "GFLOPS", GFLOPS: "TFLOPS", GOPS: "TOPS", "GB/s": "TB/s" };
    while (value >= 9999.5 && steps[unit]) { value /= 1e3; unit = steps[unit]; }
    return `${digits(value)} ${unit}`;
  }

  const gflops = (entry) => {
    const value = number(object(entry.rate).value);
    return value === null ? null : value / (object(entry.rate).unit === "MFLOPS" ? 1e3 : 1);
  };

  // ---------------------------------------------------------------------------------------- data

  const files = list(data.files).map((file, index) => {
    const results = object(file.results), device = object(results.device);
    return { index, path: text(file.path), results, device,
      name: text(device.name) || "unnamed device", color: colors[index % colors.length] };
  });
  // Files of one device share its colour; their data are put side by side all the same.
  const byName = new Map();
  for (const file of files) {
    const key = `${file.name}|${text(object(file.device.driver).info)}|${
      text(object(file.device.limits).profile)}`;
    if (!byName.has(key))
      byName.set(key, { key, name: file.name, color: colors[byName.size % colors.length], files: [],
        minimum: object(file.device.limits).profile === "minimum" });
    const device = byName.get(key);
    device.files.push(file);
    file.owner = device;
  }
  const devices = [...byName.values()];
  for (const device of devices) {
    const twins = devices.filter((other) => other.name === device.name);
    device.label = device.name + (device.minimum ? " (minimum limits)" : "")
      + (twins.length > 1 && !device.minimum ? `, driver ${
        text(object(device.files[0].device.driver).info)}` : "");
    device.peaks = new Map();
    for (const file of device.files) {
      const peaks = object(file.results.peaks);
      for (const peak of list(peaks.measured).map(object)) {
        const name = text(peak.name);
        if (!name) continue;
        if (!device.peaks.has(name)) device.peaks.set(name, []);
        device.peaks.get(name).push(peak);
      }
      // Each file has measured both; the best is the ceiling.
      device.copy = Math.max(number(peaks.copy_gbs) ?? 0, device.copy ?? 0) || null;
      device.fma = Math.max(number(peaks.fma_f32_gflops) ?? 0, device.fma ?? 0) || null;
    }
  }
  const cases = files.flatMap((file) => list(file.results.cases).map((entry) => {
    const c = object(entry);
    return { ...c, file, owner: file.owner, family: text(c.family), label: text(c.name),
      type: text(c.type), study: object(c.study),
      median: number(object(c.time_us).median) ?? number(c.us_an_iteration) };
  }));
  const plain = cases.filter((c) => !text(c.study.kind));

  function constants(c) {
    return Object.entries(object(c.constants)).map(([name, value]) => `${name}=${text(value)}`)
      .join(" ");
  }

  // --------------------------------------------------------------------------------------- charts

  function css(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  // Colours depend on the theme, so a chart is kept as the function that makes its configuration.
  function plot(parent, name, make, low, height) {
    const canvas = element("canvas", { role: "img", "aria-label": name });
    const box = element("div", { class: low ? "plot low" : "plot" }, canvas);
    if (height) box.style.height = `${height}px`;
    parent.append(box);
    charts.push({ canvas, make, name, chart: null });
  }

  function draw() {
    Chart.defaults.color = css("--muted");
    Chart.defaults.borderColor = css("--line");
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.animation = false;
    Chart.defaults.maintainAspectRatio = false;
    Chart.defaults.datasets.line.clip = Chart.defaults.datasets.scatter.clip = 8;
    for (const item of charts) {
      if (item.chart) item.chart.destroy();
      try {
        item.chart = new Chart(item.canvas, item.make());
      } catch (error) {
        console.error(error);
      }
    }
    document.documentElement.dataset.charts = String(charts.length);
  }

  function axis(title, more) {
    return { title: { display: true, text: title }, grid: { color: css("--line") }, ...more };
  }

  const tens = (value) => {
    const lead = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    return Math.abs(lead - 1) < 1e-6 ? digits(value) : "";
  };

  function logarithmic(title, more) {
    return axis(title, { type: "logarithmic", ticks: { callback: tens, autoSkip: false,
      maxRotation: 0 }, grid: { color: (context) => (context.tick && tens(context.tick.value)
      ? css("--line") : "transparent") }, ...more });
  }

  const whole = (value) => { // of 1 to 9 times a power of ten
    const lead = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    return Math.abs(lead - Math.round(lead)) < 1e-6 ? digits(value) : "";
  };

  // An axis of powers of two, labelled by `label`.
  function doubling(title, values, label) {
    const sorted = [...new Set(values)].sort((a, b) => a - b);
    return axis(title, { type: "logarithmic", min: sorted[0], max: sorted[sorted.length - 1],
      afterBuildTicks: (scale) => { scale.ticks = sorted.map((value) => ({ value })); },
      ticks: { callback: label, maxRotation: 60, autoSkip: true } });
  }

  const legend = { position: "bottom", labels: { usePointStyle: true, boxHeight: 7 } };

  // --------------------------------------------------------------------------------------- tables

  // columns: { title, number, wide, cell(row) → text or node, value(row) → what it is sorted by }
  function table(columns, rows, name) {
    const body = element("tbody");
    const heads = columns.map((column, index) => {
      const button = element("button", { type: "button" }, column.title);
      const head = element("th", { scope: "col", class: column.number ? "number" : "" }, button);
      button.addEventListener("click", () => sort(index));
      return head;
    });
    let shown = rows;
    function fill() {
      body.replaceChildren(...shown.map((row) => element("tr", {}, columns.map((column) =>
        element("td", { class: (column.number ? "number" : "") + (column.wide ? " wide" : "") },
          column.cell(row))))));
    }
    function sort(index) {
      const column = columns[index];
      const down = heads[index].getAttribute("aria-sort") === "ascending";
      heads.forEach((head) => head.removeAttribute("aria-sort"));
      heads[index].setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = column.value || ((row) => text(column.cell(row)));
      shown = [...shown].sort((a, b) => {
        const x = value(a), y = value(b);
        if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1; // unknown comes last
        const order = typeof x === "number" && typeof y === "number" ? x - y
          : String(x).localeCompare(String(y));
        return down ? -order : order;
      });
      fill();
    }
    fill();
    const node = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
      element("table", {}, element("thead", {}, element("tr", {}, heads)), body));
    return { node, show(filtered) { shown = filtered; fill(); } };
  }

  function deviceCell(owner) {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = owner.color;
    return element("span", {}, swatch, owner.label);
  }

  const content = document.getElementById("content"), contents = document.getElementById("contents");

  function section(id, title, about) {
    const card = element("section", { class: "card", id, "aria-labelledby": `${id}-title` },
      element("h2", { id: `${id}-title` }, title),
      about ? element("p", { class: "muted" }, about) : null);
    content.append(card);
    contents.append(element("a", { href: `#${id}` }, title));
    return card;
  }

  // ------------------------------------------------------------------------------------- sections

  function devicesSection() {
    const card = section("devices", devices.length > 1 ? "Devices" : "Device");
    const grid = element("div", { class: "grid" });
    for (const device of devices) {
      const info = device.files[0].device, subgroup = object(info.subgroup);
      const facts = [
        ["driver", [text(object(info.driver).name), text(object(info.driver).info)].filter(Boolean)
          .join(" ")],
        ["kind", text(info.type)],
        ["copy", device.copy === null ? "" : rate(device.copy, "GB/s")],
        ["f32 multiply-add", device.fma === null ? "" : rate(device.fma, "GFLOPS")],
        ["memory", list(info.heaps).length ? bytes(Math.max(...list(info.heaps)
          .map((heap) => number(object(heap).bytes) ?? 0))) : ""],
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
    const compared = cases.filter((c) => text(object(c.compare).verdict));
    if (!compared.length) return;
    const card = section("compare", "Against the base",
      `${text(object(data.compare).path)}: a case is slower or faster when its quartiles part and the `
      + "medians differ by more than the noise of both.");
    const shown = [...compared].sort((a, b) => (number(b.compare.ratio) ?? 9e9)
      - (number(a.compare.ratio) ?? 9e9));
    const style = { slower: "bad", broken: "bad", faster: "good" };
    card.append(table([
      { title: "verdict", cell: (c) => element("span", { class: style[c.compare.verdict] || "" },
        c.compare.verdict), value: (c) => text(c.compare.verdict) },
      { title: "case", cell: (c) => `${c.family} ${c.label} ${c.type}` },
      { title: "variant", cell: (c) => text(c.variant) },
      { title: "base", number: true, cell: (c) => time(number(c.compare.base_us)),
        value: (c) => number(c.compare.base_us) },
      { title: "now", number: true, cell: (c) => time(c.median), value: (c) => c.median },
      { title: "ratio", number: true, cell: (c) => digits(number(c.compare.ratio)),
        value: (c) => number(c.compare.ratio) },
      { title: "noise", number: true, cell: (c) => { const n = number(c.compare.noise);
        return n === null ? "" : `${digits(n * 100)} %`; }, value: (c) => number(c.compare.noise) },
    ], shown, "Comparison with the base").node);
  }

  function peakOf(device, name) {
    const all = (device.peaks.get(name) || []).filter((peak) => number(peak.value) !== null);
    return all.length ? all[all.length - 1] : null;
  }

  function ceilingsSection() {
    const measured = devices.filter((device) => device.peaks.size);
    if (!measured.length) return;
    const card = section("ceilings", "Ceilings", "What each device does at best, by micro-benchmarks: "
      + "the steps of the bandwidth curve are its caches.");
    const controls = element("div", { class: "controls" });
    const choice = element("select", { id: "direction", "aria-label": "direction" },
      ["read", "copy", "write"].map((name) => element("option", { value: name }, name)));
    controls.append(element("label", { for: "direction" }, "Bandwidth of "), choice);
    card.append(controls);
    const points = (device, name) => (device.peaks.get(name) || [])
      .map((peak) => ({ x: number(peak.bytes), y: number(peak.value) }))
      .filter((point) => point.x && point.y);
    plot(card, "Bandwidth against working set", () => ({
      type: "line",
      data: { datasets: measured.map((device) => ({ label: device.label,
        data: points(device, choice.value), borderColor: device.color,
        backgroundColor: device.color, tension: 0.2, pointRadius: 3 })) },
      options: { plugins: { legend, tooltip: { callbacks: { label: (item) => `${
        item.dataset.label}: ${rate(item.parsed.y, "GB/s")} at ${bytes(item.parsed.x)}` } } },
      parsing: false,
      scales: { x: doubling("working set", measured.flatMap((device) => points(device, choice.value)
        .map((point) => point.x)), bytes), y: logarithmic("GB/s") } } }));
    choice.addEventListener("change", draw);
    const names = [...new Set(measured.flatMap((device) => [...device.peaks.keys()]))];
    card.append(table([
      { title: "ceiling", cell: (name) => name },
      ...measured.map((device) => ({ title: device.label, number: true,
        cell: (name) => { const peak = peakOf(device, name), any = (device.peaks.get(name) || [])[0];
          if (peak) return rate(number(peak.value), text(peak.unit));
          return any ? element("span", { class: "muted", title: text(any.reason) },
            text(any.status)) : ""; },
        value: (name) => { const peak = peakOf(device, name);
          return peak ? number(peak.value) : null; } })),
    ], names, "Ceilings of each device").node);
  }

  function rooflineSection() {
    const dots = cases.map((c) => ({ c, x: number(c.flops) !== null && number(c.least_bytes) > 0
      ? c.flops / c.least_bytes : null, y: gflops(c) })).filter((dot) => dot.x > 0 && dot.y > 0);
    const roofs = devices.filter((device) => device.copy && device.fma);
    if (!dots.length || !roofs.length) return;
    const card = section("roofline", "Roofline", "Each dot is a kernel: to the right it does more "
      + "arithmetic for each byte it must move. Dots over the slope read fewer bytes than the plain "
      + "algorithm would, or work from a cache.");
    const style = { stencil: "triangle", spmv: "circle", matmul: "rect", grid: "rectRot" };
    plot(card, "Roofline", () => {
      const low = Math.min(...dots.map((dot) => dot.x), 0.1) / 2;
      const high = Math.max(...dots.map((dot) => dot.x), 100) * 2;
      const lines = roofs.map((device) => {
        const ridge = device.fma / device.copy;
        return { type: "line", label: device.label, borderColor: device.color,
          backgroundColor: device.color, pointRadius: 0, borderWidth: 2, pointStyle: "line",
          data: [low, Math.min(Math.max(ridge, low), high), high].map((x) => ({ x,
            y: Math.min(device.fma, x * device.copy) })) };
      });
      const families = [...new Set(dots.map((dot) => dot.c.family))];
      const groups = roofs.flatMap((device) => families.map((family) => ({ type: "scatter",
        label: devices.length > 1 ? `${family}, ${device.label}` : family,
        pointStyle: style[family] || "rectRounded", radius: 5, hoverRadius: 7, borderColor: css("--card"),
        borderWidth: 1, backgroundColor: device.color,
        data: dots.filter((dot) => dot.c.owner === device && dot.c.family === family)
          .map((dot) => ({ x: dot.x, y: dot.y, c: dot.c })) })).filter((set) => set.data.length));
      return { data: { datasets: [...lines, ...groups] },
        options: { parsing: false, plugins: { legend, tooltip: { callbacks: { label: (item) => {
          const c = item.raw.c;
          return c ? `${c.family} ${c.label} ${c.type} ${text(c.variant)}: ${
            rate(item.parsed.y, "GFLOPS")}` : item.dataset.label; } } } },
        scales: { x: logarithmic("operations a byte", { min: low, max: high }),
          y: logarithmic("GFLOPS") } } };
    });
  }

  function resultsSection() {
    if (!plain.length) return;
    const card = section("results", "Results");
    const problem = (c) => `${c.family} ${c.label} ${c.type}`;
    const names = [...new Set(plain.filter((c) => number(object(c.percent).value) !== null)
      .map(problem))];
    const narrow = window.innerWidth < 700; // no room for names under the bars
    if (names.length)
      plot(card, "Percent of the measured ceiling", () => ({ type: "bar",
        data: { labels: names, datasets: devices.map((device) => ({ label: device.label,
          backgroundColor: device.color, data: names.map((name) => { const c = plain.find((item) =>
            item.owner === device && problem(item) === name);
          return c ? number(object(c.percent).value) : null; }) })) },
        options: { indexAxis: narrow ? "y" : "x", plugins: { legend }, scales: {
          [narrow ? "y" : "x"]: { ticks: { autoSkip: false, maxRotation: 70 } },
          [narrow ? "x" : "y"]: axis("% of measured ceiling", { beginAtZero: true }) } } }), false,
      narrow ? 90 + 30 * names.length : 0);
    const input = element("input", { type: "search", id: "filter", placeholder: "spmv f64 …" });
    card.append(element("div", { class: "controls" },
      element("label", { for: "filter" }, "Show only "), input));
    const result = table([
      ...(devices.length > 1 ? [{ title: "device", cell: (c) => deviceCell(c.owner),
        value: (c) => c.owner.label }] : []),
      { title: "family", cell: (c) => c.family },
      { title: "case", cell: (c) => c.label },
      { title: "type", cell: (c) => c.type },
      { title: "time", number: true, cell: (c) => time(c.median), value: (c) => c.median },
      { title: "spread", number: true, cell: (c) => { const s = number(object(c.time_us).spread);
        return s === null ? "" : `${digits(s * 100)} %`; },
      value: (c) => number(object(c.time_us).spread) },
      { title: "rate", number: true, cell: (c) => rate(number(object(c.rate).value),
        text(object(c.rate).unit)), value: gflops },
      { title: "GB/s", number: true, cell: (c) => digits(number(c.bandwidth_gbs)),
        value: (c) => number(c.bandwidth_gbs) },
      { title: "of ceiling", number: true, cell: (c) => { const p = number(object(c.percent).value);
        return p === null ? "" : `${digits(p)} %`; }, value: (c) => number(object(c.percent).value) },
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

  function groupsOf(kind) {
    const groups = new Map();
    for (const c of cases.filter((item) => item.study.kind === kind)) {
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
    const card = section("ladder", "Ladders", "From the first algorithm to the best: every step of "
      + "the texts that wavefit retells, on this device.");
    for (const [name, steps] of groups) {
      card.append(element("h3", {}, name));
      const labels = [...new Set(steps.map((c) => text(c.variant)))];
      plot(card, `Ladder, ${name}`, () => ({ type: "bar",
        data: { labels, datasets: devices.filter((device) => steps.some((c) => c.owner === device))
          .map((device) => ({ label: device.label, backgroundColor: device.color,
            data: labels.map((label) => { const c = steps.find((step) => step.owner === device
              && text(step.variant) === label); return c ? gflops(c) : null; }) })) },
        options: { indexAxis: "y", plugins: { legend, tooltip: { callbacks: { label: (item) =>
          `${item.dataset.label}: ${rate(item.parsed.x, "GFLOPS")}` } } },
        scales: { x: axis("GFLOPS", { beginAtZero: true }) } } }), labels.length < 6);
      card.append(table([
        { title: "step", number: true, cell: (c) => text(c.study.step),
          value: (c) => number(c.study.step) },
        { title: "device", cell: (c) => deviceCell(c.owner), value: (c) => c.owner.label },
        { title: "variant", cell: (c) => text(c.variant) },
        { title: "time", number: true, cell: (c) => (c.median === null ? text(c.status)
          : time(c.median)), value: (c) => c.median },
        { title: "rate", number: true, cell: (c) => rate(number(object(c.rate).value),
          text(object(c.rate).unit)), value: gflops },
        { title: "gain", number: true, cell: (c) => { const g = number(c.study.gain);
          return g === null ? "" : `×${digits(g)}`; }, value: (c) => number(c.study.gain) },
        { title: "of roofline", number: true, cell: (c) => { const p = number(object(c.floor).percent);
          return p === null ? "" : `${digits(p)} %`; },
        value: (c) => number(object(c.floor).percent) },
        { title: "what changes", wide: true, cell: (c) => text(c.study.summary)
          + (text(c.study.source) ? ` (${text(c.study.source)})` : "")
          + (c.status === "ok" ? "" : `: ${text(c.reason)}`) },
      ], steps, `Ladder, ${name}`).node);
    }
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
        const scales = { x: doubling(text(all[0].study.over) === "work-group"
          ? "work-items a work-group" : text(all[0].study.over), ran.map((c) => c.study.value),
        (value) => text(value)), y: logarithmic("µs", { ticks: { callback: whole },
          min: Math.min(...ran.map((c) => c.median)) * 0.8,
          max: Math.max(...ran.map((c) => c.median)) * 1.25 }) };
        if (sets.some((set) => set.yAxisID))
          scales.y1 = axis("occupancy %", { position: "right", min: 0, max: 105,
            ticks: { callback: (value) => (value <= 100 ? value : "") },
            grid: { display: false } });
        return { data: { datasets: sets }, options: { parsing: false, scales,
          plugins: { legend, tooltip: { callbacks: { label: (item) => { const c = item.raw.c;
            return `${constants(c)}: ${time(c.median)}`; } } } } } };
      });
      for (const [device, c] of best)
        box.append(element("p", { class: "muted" }, `Best on ${device.label}: ${constants(c)}, ${
          time(c.median)}.`));
    }
  }

  function sparseSection() {
    const products = plain.filter((c) => c.family === "spmv" && c.median > 0);
    if (products.length < 2) return;
    const key = (c) => `${c.label} ${c.type}`;
    const names = [...new Set(products.map(key))];
    const find = (device, name) => products.find((c) => c.owner === device && key(c) === name);
    const first = devices.find((device) => products.some((c) => c.owner === device));
    const others = devices.filter((device) => device !== first
      && names.some((name) => find(device, name) && find(first, name)));
    const card = section("sparse", "Sparse matrices", others.length
      ? `Time on ${first.label} over the time on the other: above 1 the other is faster.`
      : "Effective bandwidth of each matrix over the measured copy.");
    plot(card, "Sparse matrices", () => ({ type: "bar",
      data: { labels: names, datasets: others.length
        ? others.map((device) => ({ label: device.label, backgroundColor: device.color,
          data: names.map((name) => { const a = find(first, name), b = find(device, name);
            return a && b ? a.median / b.median : null; }) }))
        : [{ label: first.label, backgroundColor: first.color, data: names.map((name) => {
          const c = find(first, name); return c ? number(object(c.percent).value) : null; }) }] },
      options: { indexAxis: "y", plugins: { legend }, scales: { x: others.length
        ? logarithmic("ratio") : axis("% of copy", { beginAtZero: true }),
      y: { ticks: { autoSkip: false } } } } }));
  }

  function solverSection() {
    const solves = cases.filter((c) => list(c.history).filter((r) => number(r) > 0).length > 1);
    if (!solves.length) return;
    const card = section("solver", "Solvers", "The relative residual on its way down.");
    plot(card, "Residuals", () => ({ type: "line",
      data: { datasets: solves.map((c, i) => ({ label: `${c.label} ${c.type}, ${c.owner.label}`,
        borderColor: colors[i % colors.length], backgroundColor: colors[i % colors.length],
        pointRadius: 0, borderWidth: 2, data: list(c.history).map((r, n) => ({
          x: (n + 1) * (number(c.check_every) || 1), y: number(r) })).filter((point) => point.y > 0) })) },
      options: { parsing: false, plugins: { legend }, scales: {
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
    plot(card, "Rate of sustained runs", () => ({ type: "line",
      data: { datasets: runs.map((run, i) => ({ label: name(run),
        borderColor: colors[i % colors.length], backgroundColor: colors[i % colors.length],
        pointRadius: 0, borderWidth: 2, spanGaps: false,
        data: sustainedPoints(run.s, run.s.best) })) },
      options: { parsing: false, plugins: { legend, tooltip: { callbacks: { label: (item) =>
        `${item.dataset.label}: ${rate(item.raw.value, "GFLOPS")} at ${digits(item.parsed.x)} s` } } },
      scales: { x: axis("seconds", { type: "linear", min: 0 }),
        y: axis("% of its best", { min: 0, max: 105,
          ticks: { includeBounds: false } }) } } }));
    const value = (field, unit) => ({ number: true, cell: ({ s }) => rate(number(s[field]), unit),
      value: ({ s }) => number(s[field]) });
    const share = ({ s }) => (number(s.settled) && number(s.first_second)
      ? s.settled / s.first_second * 100 : null);
    card.append(table([
      { title: "device", cell: ({ c }) => deviceCell(c.owner), value: ({ c }) => c.owner.label },
      { title: "load", cell: ({ c }) => `${c.family} ${c.label} ${c.type}` },
      { title: "first second", ...value("first_second", "GFLOPS") },
      { title: "best", ...value("best", "GFLOPS") },
      { title: "settled", ...value("settled", "GFLOPS") },
      { title: "of the first second", number: true, cell: (run) => (share(run) === null ? ""
        : `${digits(share(run))} %`), value: share },
      { title: "slower from", number: true, cell: ({ s }) => (number(s.slower_at_seconds) === null
        ? "never" : `${digits(s.slower_at_seconds)} s`), value: ({ s }) =>
        number(s.slower_at_seconds) },
      { title: "rests", cell: ({ s }) => (number(s.pause_seconds) ? `${digits(s.pause_seconds)
      } s after ${digits(number(s.work_seconds))} s` : "none") },
      { title: "status", cell: ({ c }) => text(c.status) },
    ], runs, "Sustained runs").node);
  }

  function adviceSection() {
    const explained = cases.filter((c) => list(c.advice).length || object(c.timeline).execute_us);
    if (!explained.length) return;
    const card = section("advice", "Explained");
    for (const c of explained) {
      card.append(element("h3", {}, `${c.family} ${c.label} ${c.type} ${text(c.variant)} on ${
        c.owner.label}`));
      const parts = Object.entries(object(c.timeline)).filter(([, value]) => number(value) > 0);
      if (parts.length)
        plot(card, `Timeline, ${c.label}`, () => ({ type: "bar", data: { labels: ["one call"],
          datasets: parts.map(([name, value], i) => ({ label: name.replace("_us", ""), data: [value],
            backgroundColor: colors[i % colors.length] })) },
        options: { indexAxis: "y", plugins: { legend, tooltip: { callbacks: { label: (item) =>
          `${item.dataset.label}: ${time(item.parsed.x)}` } } },
        scales: { x: axis("µs", { stacked: true }), y: { stacked: true } } } }), true);
      const items = list(c.advice).map(object);
      card.append(items.length ? element("ol", { class: "advice" }, items.map((item) =>
        element("li", {}, text(item.text), number(item.gain) ? element("b", {}, ` At most ×${
          digits(item.gain)}.`) : "", element("br"), element("code", {}, text(item.command)))))
        : element("p", {}, "Nothing to advise: no rule found anything to gain."));
    }
  }

  // ----------------------------------------------------------------------------------------- page

  function setTheme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    document.getElementById("theme").textContent = dark ? "Light" : "Dark";
  }

  function start() {
    const dates = files.map((file) => text(file.results.date).slice(0, 10)).filter(Boolean).sort();
    const title = devices.map((device) => device.label).join(" · ") || "Report";
    document.getElementById("title").textContent = title;
    document.title = `wavefit: ${title}`;
    document.getElementById("subtitle").textContent = [
      `${files.length} file${files.length === 1 ? "" : "s"}, ${cases.length} measurement${
        cases.length === 1 ? "" : "s"}`,
      dates.length ? (dates[0] === dates[dates.length - 1] ? dates[0]
        : `${dates[0]} to ${dates[dates.length - 1]}`) : ""].filter(Boolean).join(" · ");
    setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches);
    document.getElementById("theme").addEventListener("click", () => {
      setTheme(document.documentElement.dataset.theme !== "dark");
      draw();
    });
    document.getElementById("download").addEventListener("click", () => {
      const blob = new Blob([JSON.stringify(data, null, 1)], { type: "application/json" });
      const link = element("a", { href: URL.createObjectURL(blob), download: "wavefit.json" });
      link.click();
      URL.revokeObjectURL(link.href);
    });
    for (const make of [devicesSection, compareSection, resultsSection, adviceSection,
      rooflineSection, ceilingsSection, ladderSection, sweepSection, sparseSection, solverSection,
      sustainedSection])
      try {
        make();
      } catch (error) { // one section's trouble leaves the others readable
        console.error(error);
        content.append(element("p", { class: "notice" }, `A section could not be made: ${error}`));
      }
    draw();
    document.documentElement.dataset.ready = "true";
  }

  start();
})();
