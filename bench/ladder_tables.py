#!/usr/bin/env python3
"""Prints ladders of several devices as one table in Markdown, a row a step: ladder_tables.py
NAME=FILE.json…. Files are of `wavefit ladder --json`, those of `--target` too, of which registers
and occupancy are told.

ladder_tables.py --into PAGE.md NAME=FILE.json… puts new times of a device into a page's tables, in
the column of that name and in "gain" and "over" behind it; bench/notes/ladders.md has such
tables. A ladder's table is the one that has its steps alone."""
import json
import re
import sys


def time(us):
    for unit in ("µs", "ms", "s"):
        if us < 1000 or unit == "s":
            return f"{us:.3g} {unit}" if us < 1000 else f"{us:.0f} {unit}"
        us /= 1000


def gain(study):
    if "gain" not in study:
        return ""
    marks = " ?" if study.get("unsure") else ""
    marks += " *" if study.get("other_clock") else ""
    spread = (f" ({study['gain_low']:.2g}–{study['gain_high']:.2g})"
              if study.get("gain_high", 0) > study.get("gain_low", 0) > 0 else "")
    return f", ×{study['gain']:.3g}{spread}{marks}"


def cell(case):
    """Time and gain; of what was only compiled, registers and occupancy."""
    if case is None:
        return ""
    kernel, median = case.get("kernel", {}), case.get("time_us", {}).get("median")
    if median is not None:
        smaller = " (smaller)" if case["study"].get("smaller") else ""
        return time(median) + gain(case["study"]) + smaller
    if case["status"] == "skipped" and "occupancy" in kernel:
        full = kernel["occupancy"] > 0.995
        return (f"{kernel['registers']}, " if "registers" in kernel else "") + (
            f"{kernel['occupancy'] * 100:.0f} %") + (
            "" if full else f" ({kernel.get('occupancy_limit', '')})")
    return "" if case["status"] in ("cancelled", "skipped") else case["status"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return {case["study"]["rung"]: case for case in json.load(file)["cases"]}


def gain_alone(study):
    low, high = study.get("gain_low", 0), study.get("gain_high", 0)
    wide = high > 1.3 * low > 0
    marks = (" ?" if study.get("unsure") else "") + (" *" if study.get("other_clock") else "")
    if "gain" not in study:
        return ""
    return (f"×{study['gain']:.3g}" if study["gain"] < 1000 else f"×{study['gain']:.0f}") + (
        f" ({low:.2g}–{high:.2g})" if wide else "") + marks


def put_into(page, ladders):
    """Rewrites each table's cells of the devices that are given."""
    with open(page, encoding="utf-8") as file:
        text = file.read()

    def rewrite(match):
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in match.group(0).strip().split("\n")]
        steps = {row[0].strip("`") for row in rows[2:]}
        fitting = [(name, ladder) for name, ladder in ladders
                   if name in rows[0] and steps <= set(ladder)]
        for name, ladder in fitting:
            at = rows[0].index(name)
            for row in rows[2:]:
                case = ladder[row[0].strip("`")]
                over = case["study"].get("compared_with", "") if "gain" in case["study"] else ""
                if "median" in case.get("time_us", {}):
                    row[at] = time(case["time_us"]["median"])
                    row[at + 1:at + 3] = [gain_alone(case["study"]), f"`{over}`" if over else ""]
        if not fitting:
            return match.group(0)
        return "".join("| " + " | ".join(row) + " |\n" if i != 1 else "|" + "|".join(row) + "|\n"
                       for i, row in enumerate(rows))

    text = re.sub(r"(?:^\|.*\|\n)+", rewrite, text, flags=re.M)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)


if sys.argv[1] == "--into":
    put_into(sys.argv[2], [(name, read(path)) for name, path in
                           (argument.split("=", 1) for argument in sys.argv[3:])])
    sys.exit()
names, files = zip(*(argument.split("=", 1) for argument in sys.argv[1:]))
ladders = [read(path) for path in files]
print("| step | over | in the text | " + " | ".join(names) + " |")
print("|---|---|---|" + "---|" * len(names))
for rung, case in ladders[0].items():
    study = case["study"]
    print(f"| `{rung}` | {study.get('compared_with', '')} | {study.get('figure', '')} | "
          + " | ".join(cell(ladder.get(rung)) for ladder in ladders) + " |")
