// What the files say: small helpers, devices, cases. Everything that comes out of a file is put in
// as text, never as markup, and every number is looked at before it is used. These scripts are one,
// in the order of src/tool/report/page.c.
const errors = [];
window.addEventListener("error", (event) => {
  errors.push(String(event.message));
  document.documentElement.dataset.errors = String(errors.length);
});

// What is beyond 1e±150 is no measurement, and the ratio of two such numbers is beyond a double: an
// axis of powers of ten that begins at 1e-320 never gets its marks done.
function measurable(key, value) {
  if (typeof value !== "number") return value;
  return Math.abs(value) > 1e150 ? null : Math.abs(value) < 1e-150 ? 0 : value;
}

const data = JSON.parse(document.getElementById("data").textContent, measurable);
const colors = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6fd1",
  "#7a7a2a"];
const charts = [];

// ---------------------------------------------------------------------------------- small parts

const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);
const text = (value) => (typeof value === "string" ? value : value === undefined || value === null
  ? "" : String(value));
const list = (value) => (Array.isArray(value) ? value : []);
const object = (value) =>
  (value && typeof value === "object" && !Array.isArray(value) ? value : {});

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

function percent(value) {
  if (value === null) return "";
  return value !== 0 && value < 0.1 ? "< 0.1 %" : `${Number(value.toPrecision(3))} %`;
}

function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; value >= 1024 && unit < 4; unit++) value /= 1024;
  return `${digits(value)} ${units[unit]}`;
}

function rate(value, unit) {
  if (value === null) return "";
  if (unit === "us") return time(value);
  const steps = { MFLOPS: "GFLOPS", GFLOPS: "TFLOPS", GOPS: "TOPS", "GB/s": "TB/s" };
  while (value >= 9999.5 && steps[unit]) { value /= 1e3; unit = steps[unit]; }
  return `${digits(value)} ${unit}`;
}

const gflops = (entry) => {
  const value = number(object(entry.rate).value);
  return value === null ? null : value / (object(entry.rate).unit === "MFLOPS" ? 1e3 : 1);
};

// ---------------------------------------------------------------------------------------- data

const everyFile = list(data.files).map((file) => {
  const results = object(file.results), device = object(results.device);
  return { path: text(file.path), results, device, name: text(device.name) || "unnamed device" };
});
// Those of `tune --compare` have no cases.
const comparisons = everyFile.filter((file) => Array.isArray(file.results.comparisons));
// Nor have those of `compare`, of GPUs that were only compiled for.
const targetFiles = everyFile.filter((file) => Array.isArray(file.results.targets));
const files = everyFile.filter((file) => !comparisons.includes(file)
  && !targetFiles.includes(file));
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
    device.runs ??= { copy: [], fma_f32: [] };
    device.runs.copy.push(number(peaks.copy_gbs));
    device.runs.fma_f32.push(number(peaks.fma_f32_gflops));
  }
  // Every run measures these two, copies by the better of a shader and the driver's own copy;
  // `peaks` measures multiply-adds once more, and copies by a shader alone, by working set. The
  // best of all is the ceiling, on the whole page.
  const measured = (name) => (device.peaks.get(name) || [])
    .filter((peak) => number(peak.value) > 0);
  const largest = Math.max(0, ...measured("copy").map((peak) => number(peak.bytes) ?? 0));
  device.shaderCopy = Math.max(0, ...measured("copy").filter((peak) =>
    (number(peak.bytes) ?? 0) === largest).map((peak) => peak.value)) || null;
  device.runs.fma_f32.push(...measured("fma_f32").map((peak) => peak.value));
  for (const name of ["copy", "fma_f32"])
    device.runs[name] = device.runs[name].filter((value) => value > 0);
  device.copy = Math.max(0, device.shaderCopy ?? 0, ...device.runs.copy) || null;
  device.fma = Math.max(0, ...device.runs.fma_f32) || null;
}
const cases = files.flatMap((file) => list(file.results.cases).map((entry) => {
  const c = object(entry);
  return { ...c, file, owner: file.owner, family: text(c.family), label: text(c.name),
    type: text(c.type), study: object(c.study),
    median: number(object(c.time_us).median) ?? number(c.us_an_iteration) };
}));
const tuned = cases.filter((c) => c.tuned && typeof c.tuned === "object");
const plain = cases.filter((c) => !text(c.study.kind) && !tuned.includes(c));
const problem = (c) => `${c.family} ${c.label} ${c.type}`;

function constants(c) {
  return Object.entries(object(c.constants)).map(([name, value]) => `${name}=${text(value)}`)
    .join(" ");
}
