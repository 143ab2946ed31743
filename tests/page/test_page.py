#!/usr/bin/env python3
"""The report's page in a real browser: test_page.py WAVEFIT CHROMIUM DATA"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

from browser import Browser

tool, chromium, data = sys.argv[1:4]
failed = []


def check(name, holds, more=""):
    reason = f": {more}" if more and not holds else ""
    print(("ok      " if holds else "FAILED  ") + name + reason)
    if not holds:
        failed.append(name)


def report(output, *args):
    subprocess.run([tool, "report", *args, "-o", output], check=True, stdout=subprocess.DEVNULL)


BLANK = """[...document.querySelectorAll('canvas')].filter((canvas) => {
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    return !canvas.width || !pixels.some((value) => value !== 0);
}).map((canvas) => canvas.getAttribute('aria-label'))"""
HEAD = "[...document.querySelectorAll('#results th')].find((th) => th.textContent === 'time')"
TIMES = """[...document.querySelectorAll('#results tbody tr')].map((row) => {
    const [value, unit] = row.children[4].textContent.split(' ');
    return value === '' ? Infinity : Number(value) * { 'µs': 1, ms: 1e3, s: 1e6 }[unit];
}).filter(Number.isFinite)"""


def everything_is_drawn(browser, page):
    browser.size(1280, 900)
    browser.open(page)
    sections = browser.evaluate("[...document.querySelectorAll('section')].map((s) => s.id)")
    for name in ("devices", "compare", "versus", "results", "stages", "roofline", "ceilings",
                 "ladder", "sweeps", "sparse", "solver", "tuned", "choosing", "targets",
                 "sustained"):
        check(f"section {name}", name in sections, sections)
    count = browser.evaluate("document.querySelectorAll('canvas').length")
    check("plots", count >= 8, count)
    check("no plot is blank", browser.evaluate(BLANK) == [], browser.evaluate(BLANK))
    check("no errors, no requests", browser.problems() == [], browser.problems())
    check("links lead to sections", browser.evaluate(
        "[...document.querySelectorAll('nav a')].every((a) => document.querySelector(a.hash))"))
    check("every plot has a name", browser.evaluate(
        "[...document.querySelectorAll('canvas')].every((c) => c.getAttribute('aria-label'))"))


def curves_are_whole(browser):
    """What the plots show is what the files say."""
    points = """(name) => Chart.getChart([...document.querySelectorAll('canvas')].find((c) =>
        c.getAttribute('aria-label') === name)).data.datasets.map((set) => [set.label,
        set.data.map((p) => (Object(p) === p ? { x: p.x, y: p.y } : p))])"""
    with open(os.path.join(data, "sustained.json"), encoding="utf-8") as file:
        sustained = json.load(file)["cases"][0]["sustained"]
    sets = browser.evaluate(f"({points})('Rate of sustained runs')")
    drawn = [point for label, values in sets for point in values
             if "hacked" not in label and point["y"] is not None]
    check("every second is drawn", len(drawn) == len(sustained["curve"]),
          (len(drawn), len(sustained["curve"])))
    check("in percent of the best", abs(max(point["y"] for point in drawn) - 100) < 1e-6)
    gaps = [point for label, values in sets for point in values
            if "hacked" not in label and point["y"] is None]
    check("a rest is a gap", len(gaps) == len(sustained["pauses"]), len(gaps))
    with open(os.path.join(data, "grid.json"), encoding="utf-8") as file:
        grid = json.load(file)["cases"]
    ladder = [c for c in grid if c["study"]["kind"] == "ladder"]
    sets = browser.evaluate(f"({points})('Ladder, stencil: {ladder[0]['name']} f32')")
    check("the ladder's bars are its steps' rates", len(sets) == 1 and len(sets[0][1]) == 4 and all(
        abs(bar - c["rate"]["value"]) < 1e-6 for bar, c in zip(sets[0][1], ladder)), sets)
    sweep = [c for c in grid if c["study"]["kind"] == "sweep"]
    title = f"Sweep, stencil march: {sweep[0]['name']} f32, over march"
    sets = browser.evaluate(f"({points})('{title}')")
    check("the sweep's curve is its points", sets and
          [point["y"] for point in sets[0][1]] == [c["time_us"]["median"] for c in sweep], sets)
    sets = browser.evaluate(f"({points})('Roofline')")
    found = [values for label, values in sets if label.startswith("stencil")]
    check("every run of the stencil is on the roofline", found and len(found[0]) == len(
        [c for c in grid if c["status"] == "ok"]), found and len(found[0]))
    with open(os.path.join(data, "laplace.json"), encoding="utf-8") as file:
        laplace = json.load(file)["cases"][0]
    sets = browser.evaluate(f"({points})('Residuals')")
    found = [values for label, values in sets if laplace["name"] in label]
    cells = browser.evaluate("""[...document.querySelectorAll('#stages tbody td')].map((cell) =>
        cell.textContent)""")
    whole = f"{laplace['whole_us'] / 1e6:.4g} s"
    check("the whole of laplace's stages", whole in cells, (whole, cells))
    check("laplace's residuals stand at their iterations", found and found[0][-1]["x"]
          == len(laplace["history"]) * laplace["check_every"], found and found[0][-1])


def load(name):
    with open(os.path.join(data, name), encoding="utf-8") as file:
        return json.load(file)


def chart(browser, name, expression):
    """Of the chart of that name, what the expression makes of `chart`."""
    return browser.evaluate(f"""((chart) => {expression})(Chart.getChart(
        [...document.querySelectorAll('canvas')].find((c) =>
        c.getAttribute('aria-label') === {json.dumps(name)})))""")


def searches_are_shown(browser):
    """The gain of every search that found something, and each way of choosing over the best."""
    tuned = load("tuned.json")["cases"]
    gains = [c["tuned"]["faster"] for c in tuned if c["tuned"].get("faster", 0) > 1]
    bars = chart(browser, "Gain of tuning", """chart.data.datasets.filter((set) =>
        set.label.startsWith('SwiftShader'))
        .flatMap((set) => set.data.filter((x) => x !== null))""")
    check("a bar for each search that found something", gains and bars == gains, (bars, gains))
    check("a row for each search", browser.evaluate(
        "[...document.querySelectorAll('#tuned tbody tr')].filter((row) =>"
        " row.textContent.includes('SwiftShader')).length") == len(tuned))
    file = load("comparison.json")
    items = [item for item in file["comparisons"] if "rivals" in item]
    name = f"Choosing, spmv on {file['device']['name']}, {file['device']['driver'].strip()}"
    sets = chart(browser, name, "chart.data.datasets.map((set) => [set.label, set.data])")
    wanted = [item["rivals"]["model"]["loss_percent"] for item in items]
    check("percent over the best", dict(map(tuple, sets)).get("model") == wanted, sets)
    check("a problem that could not run says why", browser.evaluate(
        "document.querySelector('#choosing table').textContent").count("no 64-bit floats") == 1)


def targets_are_shown(browser):
    """A row for each GPU that is not here, and a bar where there is a predicted time."""
    rows = load("targets.json")["targets"]
    check("every target has a row", browser.evaluate(
        "document.querySelectorAll('#targets tbody tr').length") == len(rows))
    bars = chart(browser, "Predicted times, matmul 1024x1024x1024 f32", """chart.data.datasets.map(
        (set) => set.data)""")
    wanted = [row["predicted"]["us"] for row in rows if "predicted" in row]
    check("a bar is the predicted time", bars == [wanted], bars)
    check("a target that is refused says why", "does not know the chip" in browser.evaluate(
        "document.querySelector('#targets table').textContent"))
    said = browser.evaluate("document.querySelector('#targets').textContent")
    check("what a target's variant has stands below", all(
        row["constants"] in said for row in rows if "constants" in row))
    lives = [row["kernel"]["live_registers"] for row in rows
             if "live_registers" in row.get("kernel", {})]
    check("registers of a whole thread are said to be live", lives and all(
        f"{live} live" in said for live in lives))


def devices_are_compared(browser):
    """Side by side: the ratio of two files' times, with either as what is compared with."""
    name = "Devices side by side"
    speeds = "chart.data.datasets.map((set) => [set.label, set.data])"
    first = chart(browser, name, speeds)
    times = {}
    for file in ("h100.json", "lavapipe.json"):
        for c in reversed(load(file)["cases"]):
            if "study" not in c and c.get("time_us", {}).get("median"):
                times[file, c["family"], c["name"], c["type"]] = c["time_us"]["median"]
    case = ("stencil", "himeno S", "f32")
    wanted = times[("h100.json", *case)] / times[("lavapipe.json", *case)]
    found = [value for label, values in first if label.startswith("llvmpipe") for value in values
             if value is not None]
    check("each device against the first", any(abs(value / wanted - 1) < 1e-9 for value in found),
          (wanted, found))
    browser.evaluate("""(() => { const choice = document.getElementById('versus-base');
        choice.value = '1'; choice.dispatchEvent(new Event('change')); })()""")
    turned = chart(browser, name, speeds)
    found = [value for label, values in turned if label.startswith("NVIDIA") for value in values
             if value is not None]
    check("and against another", any(abs(value * wanted - 1) < 1e-9 for value in found),
          (1 / wanted, found))
    check("the fastest is marked", browser.evaluate(
        "document.querySelectorAll('#versus tbody .good').length") > 3)


def colours_are_the_devices(browser):
    """A device has one colour on the whole page, and the roofline's legend each of them once."""
    colours = browser.evaluate("""[...document.querySelectorAll('canvas')].flatMap((c) => {
        const sets = Chart.getChart(c).data.datasets;
        return sets.filter((set) => /llvmpipe/.test(set.label)).map((set) => String(set.type
            === 'scatter' ? set.backgroundColor : set.borderColor || set.backgroundColor)); })""")
    check("one colour a device", len(colours) > 4 and len(set(colours)) == 1, colours)
    legend = chart(browser, "Roofline", "chart.legend.legendItems.map((item) => item.text)")
    check("the roofline's legend names nothing twice", legend and len(legend) == len(set(legend))
          and "spmv" in legend, legend)
    chart(browser, "Roofline", """chart.options.plugins.legend.onClick({},
        chart.legend.legendItems.find((item) => item.text === 'spmv'), chart.legend)""")
    check("a click hides a family on every device", chart(browser, "Roofline",
          "chart.data.datasets.every((set, i) => "
          "chart.isDatasetVisible(i) === (set.family !== 'spmv'))"))


def page_agrees_with_itself(browser):
    """The card says what the table of ceilings says, and the memory is the device's own."""
    pairs = browser.evaluate("""(() => {
        const heads = [...document.querySelectorAll('#ceilings th')].map((th) => th.textContent);
        const copy = [...document.querySelectorAll('#ceilings tbody tr')].find((row) =>
            row.children[0].textContent === 'best copy');
        return [...document.querySelectorAll('#devices .device')].map((card) => {
            const at = heads.indexOf(card.querySelector('b').textContent);
            const names = [...card.querySelectorAll('dt')].map((dt) => dt.textContent);
            const fact = (name) => names.includes(name)
                ? card.querySelectorAll('dd')[names.indexOf(name)].textContent : '';
            return [card.querySelector('b').textContent, fact('best copy'), at < 0 ? ''
                : copy.children[at].textContent, fact('memory')];
        }); })()""")
    both = [pair for pair in pairs if pair[1] and pair[2]]
    check("card and ceilings agree", len(both) >= 2
          and all(pair[1] == pair[2] for pair in both), pairs)
    heaps = load("h100.json")["device"]["heaps"]
    wanted = next(heap["bytes"] for heap in heaps if heap["device_local"]) / 2**30
    memory = [pair[3] for pair in pairs if pair[0].startswith("NVIDIA")]
    check("memory is the device's own", memory
          and abs(float(memory[0].split()[0]) - wanted) < 0.01, memory)
    check("what the best copy is is told", "driver's own buffer copy" in browser.evaluate(
        "document.querySelector('#ceilings').textContent"))
    names = chart(browser, "Roofline", "chart.$names")
    check("dots have names", len(names) >= 4
          and any("4096x4096x4096" in name for name in names), names)


def ladder_is_side_by_side(browser, page, names):
    """A row a step, with both devices' times and their ratio."""
    report(page, *(os.path.join(data, name) for name in (*names, "explain.json")))
    browser.size(1280, 900)
    browser.open(page)
    first, second = ({c["variant"]: c["time_us"]["median"] for c in load(name)["cases"]
                      if c["status"] == "ok" and c["study"]["kind"] == "ladder"}
                     for name in names)
    rows = browser.evaluate("""(() => {
        const at = [...document.querySelectorAll('#ladder th')].findIndex((th) =>
            th.textContent.startsWith('times as fast as'));
        return [...document.querySelectorAll('#ladder tbody tr')].map((row) =>
            [row.children[1].textContent, row.children[at].textContent]); })()""")
    steps = {c["variant"] for name in names
             for c in load(name)["cases"] if c.get("study", {}).get("kind") == "ladder"}
    check(f"a row a step of {names}", sorted(name for name, _ in rows) == sorted(steps), rows)
    check(f"with the ratio of {names}", all(
        abs(float(ratio) * second[name] / first[name] - 1) < 1e-3
        for name, ratio in rows if name in first and name in second), rows)


def ladders_are_side_by_side(browser, folder):
    """Of devices, and of files of schema 1 and 2; what explain says is on the page."""
    page = os.path.join(folder, "studies.html")
    ladder_is_side_by_side(browser, page, ("stencil.json", "grid_swiftshader.json"))
    ladder_is_side_by_side(browser, page, ("grid.json", "grid_swiftshader.json"))
    # Bars of SwiftShader alone, whose least is a twentieth of the most.
    alone = os.path.join(folder, "alone.html")
    report(alone, os.path.join(data, "grid_swiftshader.json"))
    browser.open(alone)
    rates = [c["rate"]["value"] for c in load("grid_swiftshader.json")["cases"] if "rate" in c]
    kind = chart(browser, "Ladder, stencil: 64x64x64 star 1 dirichlet, 4 steps f32",
                 "chart.scales.x.type")
    check("bars that lie far apart are logarithmic on one device", kind == "logarithmic"
          and max(rates) > 20 * min(rates), (min(rates), max(rates), kind))
    browser.open(page)
    explained = load("explain.json")["cases"][0]
    said = browser.evaluate("document.querySelector('#advice').textContent")
    for what in ("matmul_reduce_f32", "requested by work-items", "the floor is", "Occupancy"):
        check(f"explained: {what}", what in said)
    requested = explained["bytes"]["requested"] / 2**20
    check("explained: the bytes requested", f"{requested:.4g} MiB" in said, requested)
    check("no errors with studies", browser.problems() == [], browser.problems())


def ranks_case(name, planes, ranks, us, spans):
    """As `mpirun -n RANKS wavefit himeno` writes it."""
    return {"family": "himeno", "name": name, "type": "f32", "status": "ok", "variant": "time",
            "problem": {"ni": 10, "nj": 10, "nk": planes + 2, "ranks": ranks},
            "time_us": {"median": us, "count": 5},
            "ranks": [{"rank": r, "host": "a", "device": "d", "what": "planes", "count": 1,
                       "inside_us": us / 2 + r, "halo_us": 3, "wait_us": 2, "reduction_us": 1,
                       "spans": spans} for r in range(ranks)]}


def scaling_is_drawn(browser, folder):
    """Strong and weak scaling are the ratios of the files' times, and the timeline is their spans;
    a file that says nonsense of its ranks spoils neither."""
    spans = [{"stage": "halo", "begin_us": 0, "end_us": 4},
             {"stage": "wait", "begin_us": 4, "end_us": 7},
             {"stage": "device", "begin_us": 1, "end_us": 9}]
    odd = [{"stage": "constructor", "begin_us": 0, "end_us": 1}, {"stage": "halo"}, 7, None]
    some = [ranks_case("himeno A", 64, 1, 100, spans), ranks_case("himeno A", 64, 2, 60, spans),
            ranks_case("himeno A", 64, 4, 40, spans), ranks_case("himeno B", 128, 2, 110, spans),
            {**ranks_case("himeno C", 64, 1, 90, odd), "ranks": [None, "two", {"inside_us": "x"}]}]
    paths = []
    for i, c in enumerate(some):
        paths.append(os.path.join(folder, f"ranks{i}.json"))
        with open(paths[-1], "w") as out:
            json.dump({"schema": "wavefit-results/2", "wavefit": "0.1.0",
                       "device": {"name": "d"}, "cases": [c]}, out)
    page = os.path.join(folder, "scaling.html")
    report(page, *paths)
    browser.size(1280, 900)
    browser.open(page)
    lines = "chart.data.datasets.map((set) => [set.label, set.data.map((p) => [p.x, p.y])])"
    strong, weak = (dict(chart(browser, f"{kind} scaling", lines)) for kind in ("Strong", "Weak"))
    check("strong scaling", strong.get("himeno himeno A f32")
          == [[1, 1], [2, 100 / 60], [4, 2.5]], strong)
    check("weak scaling", weak.get("himeno himeno A f32") == [[1, 1], [2, 100 / 110]], weak)
    bars = chart(browser, "Timeline", "chart.data.datasets.map((set) => [set.label, "
                 "set.data.map((bar) => [bar.y, ...bar.x])])")
    wanted = {"halo": ("", 0, 4), "wait": ("", 4, 7), "device": (", device", 1, 9)}
    check("the timeline of the most ranks", dict(bars) == {
        stage: [[f"rank {r}{what}", begin, end] for r in range(4)]
        for stage, (what, begin, end) in wanted.items()}, bars)
    check("no plot of ranks is blank", browser.evaluate(BLANK) == [], browser.evaluate(BLANK))
    check("no errors with ranks", browser.problems() == [], browser.problems())


def drawn_cases(ratios, base):
    """Problems of which the base takes as many times as long, and one that a base alone has."""
    made = []
    for (family, kind), values in ratios.items():
        for i, ratio in enumerate(values):
            us = 3.0 + i
            made.append({"family": family, "name": f"drawn {i}", "type": kind, "status": "ok",
                         "variant": "vendor" if base else "ours",
                         "rate": {"value": 10.0 * (i + 1), "unit": "GFLOPS"},
                         "time_us": {"median": us * ratio if base else us, "count": 5}})
    if base:
        made.append({**made[0], "name": "of the base alone"})
    return {"schema": "wavefit-results/2", "wavefit": "0.1.0", "device": {"name": "d"},
            "cases": made}


def ratios_hold(browser, page, ratios):
    """Whether table, histograms and scatter are what the ratios come to."""
    browser.open(page)
    groups = {f"{family} {kind}": values for (family, kind), values in ratios.items()
              if len(values) >= 5}
    rows = browser.evaluate("""[...document.querySelectorAll('#ratios tbody tr')].map((row) =>
        [...row.children].slice(0, 6).map((cell) => cell.textContent))""")
    holds = sorted(row[0] for row in rows) == sorted(groups)
    for name, *numbers in rows:
        values = groups.get(name, [1])
        wanted = [len(values), statistics.geometric_mean(values), min(values), max(values),
                  sum(value < 1 for value in values)]
        holds = holds and all(abs(float(a) - b) <= 1e-3 * b for a, b in zip(numbers, wanted))
    for name, values in groups.items():
        labels, counts = chart(browser, f"Ratios, {name}",
                               "[chart.data.labels, chart.data.datasets[0].data]")
        edges = [tuple(map(float, label.split(" to "))) for label in labels]
        holds = holds and counts == [sum(low <= value < high for value in values)
                                     for low, high in edges] and sum(counts) == len(values)
    points = chart(browser, "Ratios over size", """chart.data.datasets.map((set) => [set.label,
        set.data.map((p) => [p.x, p.y])])""")
    return holds and sorted(label for label, _ in points) == sorted(groups) and all(
        abs(x / (1e4 * (i + 1) * (3 + i)) - 1) < 1e-9 and abs(y / groups[label][i] - 1) < 1e-9
        for label, values in points for i, (x, y) in enumerate(values))


def ratios_are_drawn(browser, folder):
    """Many problems against a base: what the page and the text say of them, by the ratios that the
    files were made of. The ratios lie between the bins' edges as these are printed."""
    seed = random.randrange(1 << 32)
    draw = random.Random(seed)
    some = lambda count: [2 ** ((draw.randrange(-8, 9) + draw.uniform(0.1, 0.9)) / 4)
                          for _ in range(count)]
    ratios = {("spmv", "f32"): some(31), ("spmv", "f64"): some(5), ("himeno", "f32"): some(4)}
    paths = [os.path.join(folder, name) for name in ("drawn.json", "vendor.json", "drawn.html")]
    for path, base in zip(paths, (False, True)):
        with open(path, "w", encoding="utf-8") as out:
            json.dump(drawn_cases(ratios, base), out)
    said = subprocess.run([tool, "report", paths[0], "--compare", paths[1], "-o", paths[2]],
                          check=True, capture_output=True, text=True).stdout
    lines = {tuple(line.split()[:2]): line.split()[2:] for line in said.splitlines()
             if line.split()[:1] in (["spmv"], ["himeno"])}
    values = ratios["spmv", "f32"]
    wanted = [31, statistics.geometric_mean(values), min(values), max(values),
              sum(value < 1 for value in values)]
    told = [float(number) for number in lines.get(("spmv", "f32"), [0] * 5)]
    check("the text says how ratios lie", len(lines) == 2 and all(
        abs(a - b) <= 5e-3 * b for a, b in zip(told, wanted)), (seed, said))
    check("ratios are drawn as they are", ratios_hold(browser, paths[2], ratios), seed)
    check("no errors with ratios", browser.problems() == [], browser.problems())
    with open(paths[2], encoding="utf-8") as file:
        page = file.read()
    for what, right, wrong in (("a ratio upside down", ".base_us) / c.median", ".ratio)"),
                               ("a bin that is one off", "Math.floor(Math.log2(ratio)",
                                "Math.ceil(Math.log2(ratio)")):
        planted = os.path.join(folder, "planted_ratios.html")
        with open(planted, "w", encoding="utf-8") as file:
            file.write(page.replace(right, wrong))
        check(f"planted: {what} is noticed", right in page
              and not ratios_hold(browser, planted, ratios), seed)


def keyboard_sorts(browser):
    browser.evaluate(f"{HEAD}.querySelector('button').focus()")
    browser.key("Enter")
    up = browser.evaluate(TIMES)
    check("Enter sorts", browser.evaluate(f"{HEAD}.getAttribute('aria-sort')") == "ascending")
    check("ascending", len(up) > 5 and up == sorted(up), up)
    browser.key(" ", "Space")
    down = browser.evaluate(TIMES)
    check("again: descending", down == sorted(up, reverse=True) and
          browser.evaluate(f"{HEAD}.getAttribute('aria-sort')") == "descending", down)


def keyboard_reaches(browser, page):
    browser.open(page)
    seen = []
    for _ in range(60):
        browser.key("Tab")
        seen.append(browser.evaluate("document.activeElement.id || document.activeElement.className"
                                     " || document.activeElement.tagName"))
    check("Tab starts at the skip link", seen[0] == "skip", seen[:3])
    check("Tab reaches the buttons", "theme" in seen and "download" in seen, seen)
    check("Tab reaches the filter", "filter" in seen, seen)


def theme_changes(browser):
    colour = "getComputedStyle(document.body).backgroundColor"
    before = browser.evaluate(colour)
    browser.evaluate("document.getElementById('theme').focus()")
    browser.key("Enter")
    check("the theme changes", browser.evaluate(colour) != before)
    check("plots are there in the other theme", browser.evaluate(BLANK) == [])
    check("still no errors", browser.problems() == [], browser.problems())


def filter_filters(browser):
    rows = "document.querySelectorAll('#results tbody tr').length"
    before = browser.evaluate(rows)
    browser.evaluate("document.getElementById('filter').focus()")
    browser.call("Input.insertText", text="himeno")
    after = browser.evaluate(rows)
    check("the filter filters", 0 < after < before, (before, after))


def read_download(path):
    """What the file has; None as long as it is not there or not whole: the browser takes its name
    with an empty file first."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def download_downloads(browser, folder):
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=folder)
    browser.evaluate("document.getElementById('download').click()")
    data = None
    for _ in range(600):
        data = read_download(os.path.join(folder, "wavefit.json"))
        if data:
            break
        time.sleep(0.05)
    check("raw data are downloaded", data is not None)
    check("and whole", bool(data) and len(data["files"]) == 9)


def phone(browser, page):
    browser.size(360, 740, True)
    browser.open(page)
    width = browser.evaluate("document.documentElement.scrollWidth")
    check("360 px wide", width <= 360, width)
    check("plots on a phone", browser.evaluate(BLANK) == [])


def hostile_is_text(browser, folder):
    page = os.path.join(folder, "hostile.html")
    report(page, os.path.join(data, "hostile.json"), os.path.join(data, "hostile_comparison.json"))
    browser.size(1280, 900)
    browser.open(page)
    check("markup is text", browser.evaluate(
        "document.querySelectorAll('main img, main script, main iframe').length") == 0)
    check("nothing ran", browser.evaluate("typeof window.hacked") == "undefined")
    check("its searches are shown all the same", browser.evaluate(
        "['tuned', 'choosing'].every((id) => document.getElementById(id))"))
    check("the name is shown as it is", browser.evaluate(
        "document.getElementById('title').textContent").startswith("</script><img"))
    check("hostile values break nothing", browser.problems() == [], browser.problems())


# Markup, script, quotes of each kind, ends of lines that only JavaScript knows, comments, escapes.
RUN = "window.hacked=1"
HOSTILE = "".join((
    f"</script><script>{RUN}</script>", f"<img src=x onerror={RUN}>", "<!--<script>", "]]>",
    f"\"><svg onload=\"{RUN}\">", f"'><img src=x onerror='{RUN}'>", f"\u2028{RUN}\u2029//",
    f"</title></style></textarea><iframe srcdoc=\"<script>parent.{RUN}</script>\"></iframe>",
    f"\";{RUN};//", f"';{RUN};//", f"`;${{{RUN}}}", f"\\u003cimg src=x onerror={RUN}\\u003e",
    f"&lt;img src=x onerror={RUN}&gt;", f"javascript:{RUN}", "\x01", "\u202e"))
STEER = ("schema", "family", "status", "kind", "type", "unit") # what says how the rest is read


def made_hostile(value, key=""):
    """The value with HOSTILE behind each string in it, and behind names that files give."""
    if isinstance(value, dict):
        tail = HOSTILE if key in ("constants", "values") else ""
        return {name + tail: made_hostile(member, name) for name, member in value.items()}
    if isinstance(value, list):
        return [made_hostile(member, key) for member in value]
    return value + HOSTILE if isinstance(value, str) and key not in STEER else value


SECTIONS = "[...document.querySelectorAll('section')].map((section) => section.id)"
# What no part of the page makes, and what would run if it were clicked or loaded.
MARKUP = """[...document.querySelectorAll('*')].filter((node) =>
    /^(img|iframe|svg|object|embed|form|base|textarea)$/i.test(node.tagName)
    || (node.tagName === 'SCRIPT' && node.closest('main'))
    || [...node.attributes].some((a) => /^on/i.test(a.name) || /^(href|src|action)$/i.test(a.name)
    && /^\\s*javascript:/i.test(a.value))).map((node) => node.outerHTML.slice(0, 100))"""
SHOWN = """(() => { let count = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
        count += !walker.currentNode.parentNode.closest('script')
            && walker.currentNode.data.includes('onerror=window.hacked=1');
    return count; })()"""


def ran(browser, path):
    """Whether the page at the path, which may be broken, runs what its data say."""
    browser.call("Page.navigate", url="file://" + path)
    deadline = time.time() + 10
    while time.time() < deadline:
        if browser.evaluate("typeof window.hacked") != "undefined":
            return True
        time.sleep(0.05)
    return False


def planted_faults_run(browser, page, folder):
    """What the test looks for is seen where the page takes a name as markup, or data as script."""
    with open(page, encoding="utf-8") as file:
        whole = file.read()
    safe = "node.append(child instanceof Node ? child : document.createTextNode(String(child)));"
    start = whole.index('id="data">')
    end = whole.index("</script>", start)
    for what, text in (
            ("a name as markup", whole.replace(safe, "child instanceof Node ? node.append(child)"
                               " : node.insertAdjacentHTML('beforeend', String(child));")),
            ("data that are not escaped", whole[:start]
             + whole[start:end].replace("\\u003c", "<") + whole[end:])):
        path = os.path.join(folder, "planted.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        check(f"planted: {what} is noticed", text != whole and ran(browser, path))


def every_name_is_text(browser, folder):
    """Every string of every kind of file, and the files' own names."""
    names = [name for name in sorted(os.listdir(data)) if not name.startswith("hostile")]
    plain, page = os.path.join(folder, "plain.html"), os.path.join(folder, "every.html")
    paths = []
    for number, name in enumerate(names):
        paths.append(os.path.join(folder, f"{number}\"'><img src=x onerror={RUN}>.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(made_hostile(load(name)), file)
    base = names.index("base.json")
    for output, files in ((plain, [os.path.join(data, name) for name in names]), (page, paths)):
        report(output, *files[:base], *files[base + 1:], "--compare", files[base])
    browser.open(plain)
    sections = browser.evaluate(SECTIONS)
    browser.open(page)
    check("hostile names leave no section out", browser.evaluate(SECTIONS) == sections,
          (browser.evaluate(SECTIONS), sections))
    browser.evaluate("document.querySelectorAll('th button').forEach((button) => button.click())")
    browser.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    check("hostile names are shown", browser.evaluate(SHOWN) > 200, browser.evaluate(SHOWN))
    check("and are no markup", browser.evaluate(MARKUP) == [], browser.evaluate(MARKUP))
    check("and do not run", browser.evaluate("typeof window.hacked") == "undefined")
    check("and break nothing", browser.problems() == [], browser.problems())
    planted_faults_run(browser, page, folder)


def main():
    browser = Browser(chromium)
    try:
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            files = [os.path.join(data, name) for name in
                     ("h100.json", "lavapipe.json", "sustained.json", "laplace.json", "grid.json",
                      "hostile.json", "tuned.json", "comparison.json", "targets.json")]
            report(page, *files, "--compare", os.path.join(data, "base.json"))
            everything_is_drawn(browser, page)
            curves_are_whole(browser)
            searches_are_shown(browser)
            targets_are_shown(browser)
            devices_are_compared(browser)
            colours_are_the_devices(browser)
            page_agrees_with_itself(browser)
            keyboard_sorts(browser)
            keyboard_reaches(browser, page)
            theme_changes(browser)
            filter_filters(browser)
            download_downloads(browser, folder)
            phone(browser, page)
            hostile_is_text(browser, folder)
            every_name_is_text(browser, folder)
            ladders_are_side_by_side(browser, folder)
            scaling_is_drawn(browser, folder)
            ratios_are_drawn(browser, folder)
    finally:
        browser.close()
    print(f"{len(failed)} failed")
    return 1 if failed else 0


sys.exit(main())
