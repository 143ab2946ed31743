#!/usr/bin/env python3
"""Runs `wavefit bench --sustained` and looks at the memory of its process: from a quarter of the
time on it may grow by no more than its curve needs.

usage: sustained.py TOOL MINUTES [FAMILY]
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

LOOK_SECONDS = 0.5
MOST_GROWTH = 1024  # KiB; a window of the curve, each second, takes 32 bytes


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return None  # it has ended


def main():
    tool, minutes = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    family = sys.argv[3] if len(sys.argv) > 3 else "spmv"
    sizes, began = [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.Popen([tool, "bench", "--sustained", str(minutes), "--family", family,
                                "--quiet"], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, XDG_CACHE_HOME=folder))
        while run.poll() is None:
            size = resident(run.pid)
            if size:
                sizes.append((time.monotonic() - began, size))
            time.sleep(LOOK_SECONDS)
        out = run.communicate()[0]
    asked = minutes * 60
    # What comes behind the load is its check, on the host.
    loaded = [(when, size) for when, size in sizes if 0.25 * asked <= when <= 0.95 * asked]
    half = len(loaded) // 2
    early = statistics.median(size for _, size in loaded[:half])
    late = statistics.median(size for _, size in loaded[half:])
    print(out, end="")
    print(f"{family}, {minutes:g} minutes: {len(sizes)} looks; {early:.0f} KiB, then {late:.0f}")
    if run.returncode != 0 or late > early + MOST_GROWTH:
        print("FAILED: exit", run.returncode)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
