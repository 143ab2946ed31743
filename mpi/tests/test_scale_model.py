#!/usr/bin/env python3
"""bench/scale_model.py finds what results were made with: test_scale_model.py SCRIPT. The times are
added up here from numbers of this file, of grids and cuts that are written out."""
import json
import os
import subprocess
import sys
import tempfile

script = sys.argv[1]
failed = []


def check(name, holds, more):
    print(("ok      " if holds else "FAILED  ") + name + ("" if holds else f": {more}"))
    if not holds:
        failed.append(name)


def write(folder, name, nk, ranks, us, wait, blocks=None):
    count = (name_ni[name] - 2) * 100 * (nk - 2) // ranks if blocks else (nk - 2) // ranks
    cut = {"blocks": blocks} if blocks else {}
    parts = [{"rank": r, "count": count, "inside_us": 1, "halo_us": 1, "wait_us": wait,
              "reduction_us": 0} for r in range(ranks)]
    path = os.path.join(folder, f"{name}-{ranks}.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schema": "wavefit-results/2", "cases": [
            {"family": "himeno", "name": name, "type": "f32", "status": "ok",
             "problem": {"ni": name_ni[name], "nj": 102, "nk": nk}, "constants": {"steps": 1},
             "time_us": {"median": us}, "ranks": parts, **cut}]}, out)
    return path


# 10 us fixed and a microsecond for 10,000 cells; beside neighbours 3 us, and 2 for 10,000 cells of
# the surface; halos 2 us and 1 GB/s.
# Planes of 102 x 102 have 10,000 inner cells and 41,616 bytes, of 202 x 102 20,000 and 82,416.
name_ni = {"small": 102, "large": 202}
with tempfile.TemporaryDirectory() as folder:
    files = [write(folder, "small", 102, 1, 10 + 100, 0), write(folder, "large", 402, 1, 810, 0),
             write(folder, "small", 102, 2, 10 + 50 + 5, 2 + 41.616),
             write(folder, "large", 402, 2, 10 + 400 + 7, 2 + 82.416),
             # Blocks of 200 x 50 x 200 cells, with a face of 40,000 and one of 10,000, whose
             # halos of 200,000 bytes take 7 us longer than the cells behind the surface.
             write(folder, "large", 402, 4, 10 + 200 + 3 + 10 + 7, 2 + 100, [1, 2, 2])]
    picture = os.path.join(folder, "model.svg")
    run = subprocess.run([sys.executable, script, *files, "--svg", picture], text=True,
                         capture_output=True, check=False)
    check("it runs", run.returncode == 0, run.stderr)
    first = run.stdout.split("\n", 1)[0]
    check("what they were made with", first == "himeno: 10.0 us fixed, 3.0 us with neighbours; "
          "0.1000 ns a cell, 0.2000 of the surface; halo 2.0 us and 1.0 GB/s", first)
    check("every result is told", run.stdout.count("(1.00)") == 5, run.stdout)
    # XL has 1022 x 510 x 510 inner cells: 26,582.22 us and 10 alone; of 512 slabs there are none.
    lines = [line.split() for line in run.stdout.split("\n")]
    check("one rank of XL", ["1", "26592.2", "us"] in [line[:3] for line in lines], run.stdout)
    check("510 planes", any(line[:1] == ["512"] and len(line) == 5 for line in lines), run.stdout)
    with open(picture, encoding="utf-8") as svg:
        text = svg.read()
    check("the picture has four lines and the ideal", text.count('fill="none"') == 4
          and "Himeno XXL" in text, text.count('fill="none"'))
    alone = subprocess.run([sys.executable, script, files[0]], text=True, capture_output=True,
                           check=False)
    check("one rank alone is refused", alone.returncode == 1 and "several" in alone.stderr,
          alone.stderr)
print(f"{len(failed)} failed")
sys.exit(bool(failed))
