#!/usr/bin/env python3
"""Prints ladders of several devices as one table in Markdown, a row a step: ladder_tables.py
NAME=FILE.json…. Files are of `wavefit ladder --json`, those of `--target` too, of which registers
and occupancy are told. bench/notes/ladders.md has such tables."""
import json
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


names, files = zip(*(argument.split("=", 1) for argument in sys.argv[1:]))
ladders = []
for path in files:
    with open(path, encoding="utf-8") as file:
        ladders.append({case["study"]["rung"]: case for case in json.load(file)["cases"]})
print("| step | over | in the text | " + " | ".join(names) + " |")
print("|---|---|---|" + "---|" * len(names))
for rung, case in ladders[0].items():
    study = case["study"]
    print(f"| `{rung}` | {study.get('compared_with', '')} | {study.get('figure', '')} | "
          + " | ".join(cell(ladder.get(rung)) for ladder in ladders) + " |")
