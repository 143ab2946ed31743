#!/usr/bin/env python3
"""Processes that tune and bench at once on one device, with one cache: each row that a search told
as kept is in the file, with the point that it told; nothing is left behind.

usage: together.py TOOL [--processes N] [--rows N]
  --rows N   rows that each process tunes (default 1); while another process searches, it benches
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

BUSY = "another process is searching on this device"


def problem(process, row):
    """A problem of a class of its own: classes are half octaves of sizes."""
    width, height, depth = 8 << process % 4, 8 << process // 4 % 4, 8 << row // 2 % 6
    if row % 2 == 0:
        return ["--shape", f"{width}x{height}x{depth}"]
    return ["--grid", f"{width}x{height}x{depth}"]


class Process(threading.Thread):
    """One after another: the tool's runs of one process of many."""

    def __init__(self, tool, folder, number, rows):
        super().__init__()
        self.tool, self.folder, self.number, self.rows = tool, folder, number, rows
        self.kept, self.wrong, self.runs, self.refused = [], [], 0, 0

    def call(self, *argv):
        self.runs += 1
        done = subprocess.run([self.tool, *argv, "--quiet"], cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              env=dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache")))
        if "warning" in done.stderr:
            self.wrong.append(f"{argv}: {done.stderr}")
        return done

    def tune(self, row):
        """False while another process searches."""
        name = self.folder / f"tuned-{self.number}-{row}.json"
        done = self.call("tune", *problem(self.number, row), "--budget", "0.05", "--json", name)
        if done.returncode == 1 and BUSY in done.stderr:
            self.refused += 1
            return False
        case = json.loads(name.read_text())["cases"][0] if done.returncode == 0 else {}
        if not case.get("tuned", {}).get("kept"):
            self.wrong.append(f"row {row}: exit {done.returncode}, not kept: {done.stderr}")
        else:
            self.kept.append((case["family"], case["name"], case["variant"], case["constants"]))
        return True

    def bench(self):
        done = self.call("bench", "--suite", "drawn", "--count", "1", "--seed", "3",
                         "--family", "spmv", "--repeat", "2")
        if done.returncode != 0:
            self.wrong.append(f"bench: exit {done.returncode}: {done.stderr}")

    def run(self):
        for row in range(self.rows):
            while not self.tune(row):
                self.bench()
            self.bench()


def missing(kept, entries):
    rows = {(entry["family"], entry["problem"]): entry["best"][0] for entry in entries}
    for family, name, variant, constants in kept:
        best = rows.get((family, name))
        if best is None:
            yield f"{family} {name} was told as kept, and is not in the file"
        elif (best["variant"], best["values"]) != (variant, constants):
            yield f"{family} {name}: {variant} {constants} was told, {best} is in the file"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--rows", type=int, default=1)
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    with tempfile.TemporaryDirectory(prefix="wavefit-together-") as name:
        folder = pathlib.Path(name)
        processes = [Process(tool, folder, n, options.rows) for n in range(options.processes)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        wrong = [text for process in processes for text in process.wrong]
        kept = [row for process in processes for row in process.kept]
        files = list((folder / "cache" / "wavefit").glob("tuning-*.json"))
        entries = json.loads(files[0].read_text())["entries"] if len(files) == 1 else []
        wrong += missing(kept, entries)
        cache = {path.name for path in (folder / "cache" / "wavefit").iterdir()}
        left = {path for path in cache if not path.endswith((".json", ".bin", ".lock", ".search"))}
        if left:
            wrong.append(f"left behind: {sorted(left)}")
        again = processes[0].call("tune", "--show")
        if again.returncode != 0 or processes[0].wrong:
            wrong.append(f"the file is not read again: {again.stderr}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(processes)} processes, {sum(p.runs for p in processes)} runs, "
          f"{sum(p.refused for p in processes)} refused while another searched, {len(kept)} rows "
          f"kept, {len(entries)} in the file, {len(wrong)} faults")
    if len(kept) != options.processes * options.rows:
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
