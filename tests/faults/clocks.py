#!/usr/bin/env python3
"""Runs the tool on a device whose timestamps wrap, stand still, run backwards or are missing: the
results are right, and no time or rate that it prints or writes is negative, infinite, no number,
or longer than the run.

usage: clocks.py TOOL   on the driver of faulty_icd.c
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

CLOCKS = ("wraps", "stands", "backwards", "none")
COMMANDS = {
    "matmul": ["matmul", "--shape", "48x40x32", "--repeat", "3"],
    "spmv": ["spmv", "--generate", "poisson5:8", "--repeat", "3"],
    "cg": ["cg", "--poisson5", "12"],
    "laplace": ["laplace", "--grid", "24x24", "--tolerance", "1e-3"],
    "himeno": ["himeno", "--size", "17x17x17", "--iterations", "4"],
    "stencil": ["stencil", "--grid", "24x20", "--repeat", "3"],
    "tune": ["tune", "--generate", "poisson5:8", "--budget", "0.1"],
}
RIGHT = re.compile(r"^(verified|residual) |Gosa|^  before ", re.M)


def numbers(value, place=""):
    """All numbers of a JSON text, with where they are."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner, place)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield place, value


def judge(tool, clock, name, argv, folder):
    results = os.path.join(folder, "results.json")
    environment = dict(os.environ, WAVEFIT_CLOCK=clock, XDG_CACHE_HOME=folder)
    began = time.monotonic()
    done = subprocess.run([tool, *argv, "--json", results], env=environment, text=True,
                          capture_output=True, check=False)
    taken = time.monotonic() - began
    wrong = []
    if done.returncode != 0 or not RIGHT.search(done.stdout):
        wrong.append(f"exit {done.returncode}")
    if re.search(r"(?<![\w.])-?(nan|inf)\w{0,2}(?!\w)", done.stdout, re.I):
        wrong.append("it prints what is no number")
    if done.returncode == 0:
        with open(results, encoding="utf-8") as file:
            for place, value in numbers(json.load(file)):
                if not math.isfinite(value):
                    wrong.append(f"{place} is {value}")
                elif place.endswith("_us") and not 0 <= value <= taken * 1e6:
                    wrong.append(f"{place} is {value} in a run of {taken:.1f} s")
    return [f"{name}, {clock}: {text}\n{done.stdout[-800:]}{done.stderr[-800:]}" for text in wrong]


def main():
    tool = os.path.abspath(sys.argv[1])
    runs, wrong = 0, []
    for clock in CLOCKS:
        for name, argv in COMMANDS.items():
            with tempfile.TemporaryDirectory() as folder:
                wrong += judge(tool, clock, name, argv, folder)
                runs += 1
    print(*wrong, sep="\n")
    print(f"{runs} runs with clocks that err, {len(wrong)} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
