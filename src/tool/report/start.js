// ----------------------------------------------------------------------------------------- page

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").textContent = dark ? "Light" : "Dark";
}

function start() {
  const dates = files.map((file) => text(file.results.date).slice(0, 10)).filter(Boolean).sort();
  const title = [...new Set([...devices.map((device) => device.label),
    ...comparisons.map((file) => file.name), ...targetFiles.map(targetTitle)])]
    .join(" · ") || "Report";
  document.getElementById("title").textContent = title;
  document.title = `wavefit: ${title}`;
  document.getElementById("subtitle").textContent = [
    `${everyFile.length} file${everyFile.length === 1 ? "" : "s"}, ${cases.length} measurement${
      cases.length === 1 ? "" : "s"}`,
    dates.length ? (dates[0] === dates[dates.length - 1] ? dates[0]
      : `${dates[0]} to ${dates[dates.length - 1]}`) : ""].filter(Boolean).join(" · ");
  setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches);
  document.getElementById("theme").addEventListener("click", () => {
    setTheme(document.documentElement.dataset.theme !== "dark");
    draw();
  });
  document.getElementById("download").addEventListener("click", () => {
    const raw = JSON.parse(document.getElementById("data").textContent); // as the files have it
    const blob = new Blob([JSON.stringify(raw, null, 1)], { type: "application/json" });
    const link = element("a", { href: URL.createObjectURL(blob), download: "wavefit.json" });
    link.click();
    URL.revokeObjectURL(link.href);
  });
  for (const make of [devicesSection, ratiosSection, compareSection, versusSection, resultsSection,
    stagesSection, adviceSection, rooflineSection, ceilingsSection, ladderSection, sweepSection,
    sparseSection, solverSection, scalingSection, timelineSection, tunedSection,
    comparisonSection, targetsSection, sustainedSection])
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
