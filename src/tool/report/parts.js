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
  return Math.abs(lead - 1) > 1e-6 ? "" : value < 0.001 ? value.toExponential(0)
    : value.toLocaleString("en-US");
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

// Names stand beside bars; where there is no room they take two lines.
const narrow = () => window.innerWidth < 700;
const lines = (first, second) => (narrow() ? [first, second] : `${first} ${second}`);
const barHeight = (rows, bars) =>
  90 + rows * Math.max(12 + Math.max(1, bars) * 10, narrow() ? 32 : 0);

// Bars of rates or ratios that lie far apart can only be told apart on a logarithmic axis.
function spanning(title, values) {
  const some = values.filter((value) => value > 0);
  const low = Math.min(...some), high = Math.max(...some);
  return some.length && high > 20 * low
    ? logarithmic(title, { min: 10 ** Math.floor(Math.log10(low) - 0.01), max: high * 1.3 })
    : axis(title, { beginAtZero: true });
}

// A ratio of 1 is where nothing differs: bars begin there.
function ratios(title, values) {
  const most = Math.max(...values.map((value) => Math.max(value, 1 / value)));
  if (most < 20) return axis(title, { min: Math.min(0, ...values), suggestedMax: 1 });
  return logarithmic(title, { min: Math.min(1, ...values) / 2, max: Math.max(1, ...values) * 2 });
}

// The n-th line of one device.
const dashes = [[], [8, 4], [2, 3], [12, 3, 2, 3]];

// For each item its owner's colour, and a dash where the owner has several.
function lineStyles(items, ownerOf) {
  const seen = new Map();
  return items.map((item) => {
    const owner = ownerOf(item), n = seen.get(owner) ?? 0;
    seen.set(owner, n + 1);
    return { borderColor: owner.color, backgroundColor: owner.color,
      borderDash: dashes[n % dashes.length] };
  });
}

const legend = { position: "bottom", labels: { usePointStyle: true, boxHeight: 7 } };
const lineLegend = { position: "bottom", labels: { usePointStyle: true, pointStyle: "line",
  pointStyleWidth: 34, generateLabels: (chart) => Chart.defaults.plugins.legend.labels
    .generateLabels(chart).map((item) => ({ ...item, // whose style is a point's, without dashes
      lineDash: chart.data.datasets[item.datasetIndex].borderDash })) } };

// --------------------------------------------------------------------------------------- tables

// columns: { title, number, wide, pin (stays where the table is scrolled), cell(row) → text or
// node, value(row) → what it is sorted by }
function table(columns, rows, name) {
  const body = element("tbody");
  const heads = columns.map((column, index) => {
    const button = element("button", { type: "button" }, column.title);
    const head = element("th", { scope: "col", class: (column.number ? "number" : "")
      + (column.pin ? " pin" : "") }, button);
    button.addEventListener("click", () => sort(index));
    return head;
  });
  let shown = rows;
  function fill() {
    body.replaceChildren(...shown.map((row) => element("tr", {}, columns.map((column) =>
      element("td", { class: (column.number ? "number" : "") + (column.wide ? " wide" : "")
        + (column.pin ? " pin" : "") },
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
  const node = element("div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
    element("table", {}, element("thead", {}, element("tr", {}, heads)), body));
  return { node, show(filtered) { shown = filtered; fill(); } };
}

function deviceCell(owner) {
  const swatch = element("span", { class: "swatch" });
  swatch.style.background = owner.color;
  return element("span", {}, swatch, owner.label);
}

// The column of devices, where there is more than one to tell apart.
const deviceColumn = (rows, ownerOf) => (new Set(rows.map(ownerOf)).size > 1
  ? [{ title: "device", cell: (row) => deviceCell(ownerOf(row)),
      value: (row) => ownerOf(row).label }]
  : []);

const content = document.getElementById("content"), contents = document.getElementById("contents");

function section(id, title, about) {
  const card = element("section", { class: "card", id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title),
    about ? element("p", { class: "muted" }, about) : null);
  content.append(card);
  contents.append(element("a", { href: `#${id}` }, title));
  return card;
}
