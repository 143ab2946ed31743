#!/usr/bin/env python3
"""Runs the tool again and again, with one fault each time: a Vulkan call that fails, a device that
is lost from there on, an allocation that fails, a device that has less than it announces. Each run
must end with a right result and exit 0, or with one line of error and exit 1 (3 where no device was
opened), leave no Vulkan object and no allocation behind, neither crash nor hang, and leave a cache
with which the next run is well.

usage: inject.py TOOL [--calls N] [--allocations N] [--less N] [--seed N] [--jobs N]
                 [--only COMMAND] [--seconds N]
  TOOL            wavefit, linked with tests/faults/allocations.c, on the driver of faulty_icd.c
  --calls N       a sample of N faults of Vulkan's calls; without it, all
  --allocations N the same of allocations
  --less N        the same of devices that have less than they announce
  --seconds N     starts none after N seconds, in a drawn order, and says how many ran; SIGTERM and
                  SIGINT end it so, too
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

LOST = -4
SEARCH = ["tune", "--generate", "poisson5:8", "--budget", "0.1"]
COMMANDS = {
    "matmul": ["matmul", "--shape", "48x40x32", "--repeat", "1"],
    "spmv": ["spmv", "--generate", "poisson5:8", "--repeat", "1"],
    "cg": ["cg", "--poisson5", "12"],
    "laplace": ["laplace", "--grid", "24x24", "--tolerance", "1e-3"],
    "himeno": ["himeno", "--size", "17x17x17", "--iterations", "4"],
    "stencil": ["stencil", "--grid", "24x20", "--repeat", "1"],
    "tune": SEARCH,
}
LESS = {"allocation": (0, 4096, 1 << 18), "buffer": (0, 4096, 1 << 16), "allocations": (0, 1, 2, 4),
        "sets": (0, 1), "group": (1, 32, 128), "queries": (0, 2), "memory": (1 << 16, 1 << 20)}
TEMPORARY = re.compile(r"\.(?!search$)\w{6}$")
RIGHT = re.compile(r"^(verified|residual) |Gosa|^  before ", re.M)


def numbers(count):
    """Each n up to 1024; of what is polled, which fails at random places, powers of two further."""
    few = min(count, 1024)
    return [*range(1, few + 1), *(few << i for i in range(1, 32) if few << i <= count)]


class Case:
    """A command: with the cache of an earlier run, without one ("cold"), or on a device that says
    that it is a discrete GPU, to which data go through staging ("discrete")."""

    def __init__(self, name, kind):
        self.name, self.kind, self.argv = name, kind, COMMANDS[name]

    def __str__(self):
        return f"{self.name}, {self.kind}"

    def environment(self):
        return {"WAVEFIT_FAULTY_DISCRETE": "1"} if self.kind == "discrete" else {}


class Runner:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, pathlib.Path(folder)

    def run(self, case, fault=None):
        """Exit code (None: it hangs), stdout, stderr, lines of the counts."""
        work = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        if case.kind != "cold":
            shutil.copytree(self.folder / "warm" / case.name, work / "cache")
        environment = dict(os.environ, XDG_CACHE_HOME=str(work / "cache"),
                           WAVEFIT_FAULTY_COUNT=str(work / "count"),
                           **case.environment(), **(fault or {}))
        try:
            done = subprocess.run([self.tool, *case.argv], env=environment, timeout=300, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                  cwd=work)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as expired:
            code, out, err = None, "", str(expired.stderr)
        counts = (work / "count").read_text().splitlines() if (work / "count").exists() else []
        return code, out, err, counts, work

    def prepare(self, name):
        """A cache as a first run leaves it."""
        cold = Case(name, "cold")
        code, out, err, _, work = self.run(cold)
        if code != 0 or not RIGHT.search(out):
            sys.exit(f"without a fault: {' '.join(cold.argv)}: exit {code}\n{out}{err}")
        (self.folder / "warm").mkdir(exist_ok=True)
        shutil.move(work / "cache", self.folder / "warm" / name)

    def faults(self, case):
        """All faults of the calls that a run makes, and of its allocations."""
        _, _, _, counts, work = self.run(case)
        shutil.rmtree(work)
        most, codes, allocations, calls, memory = {}, {}, 0, [], []
        for words in map(str.split, counts):  # of each process, and of each instance
            if words[0] == "call":
                most[words[1]] = max(most.get(words[1], 0), int(words[2]))
                codes[words[1]] = [int(code) for code in words[3:]]
            elif words[0] == "allocations":
                allocations = max(allocations, int(words[1]))
        for call, count in most.items():
            for n in numbers(count):
                calls += [{"WAVEFIT_FAULTY": f"{call} {n} {code}"} for code in codes[call]]
                if LOST in codes[call]:
                    calls.append({"WAVEFIT_FAULTY": f"{call} {n} {LOST}+"})
        for n in range(1, allocations + 1):
            memory += [{"WAVEFIT_FAIL_ALLOCATION": f"{n}{plus}"} for plus in ("", "+")]
        return [(case, fault) for fault in calls], [(case, fault) for fault in memory]

    def judge(self, case, fault):
        """None, or what is wrong; and how the run ended."""
        code, out, err, counts, work = self.run(case, fault)
        lines = [line for line in err.splitlines()
                 if line.startswith("wavefit:") and " warning: " not in line]
        wrong = None
        if code is None:
            wrong = "it hangs"
        elif code == 0:
            if lines or not RIGHT.search(out):
                wrong = "exit 0 without a result, or with an error"
        elif code not in (1, 3):
            wrong = f"exit code {code}"
        elif len(lines) != 1:
            wrong = f"{len(lines)} lines of error"
        # Of the last process to end, whose counts follow the last instance's.
        left = counts[max([i for i, line in enumerate(counts) if line.startswith("call ")],
                          default=0):]
        left = [line for line in left if line.startswith("left ")]
        # Drivers of processors are not trusted to have ended what they say is lost.
        kept = case.kind != "discrete" and str(fault).endswith("+'}")
        if not wrong and left and not kept:
            wrong = "objects are left: " + ", ".join(left)
        ended = "told" if code else "well"
        cache = work / "cache"
        if not wrong and cache.exists():
            left = [str(path) for path in cache.rglob("*") if TEMPORARY.search(path.name)]
            if left:
                wrong = f"files are left: {left}"
        shutil.rmtree(work, ignore_errors=True)
        if wrong:
            settings = {**case.environment(), **fault}
            setting = " ".join(f"{key}='{value}'" for key, value in settings.items())
            wrong = f"{case}: {wrong}\n  {setting} wavefit {' '.join(case.argv)}\n"
            wrong += "".join(f"    {line}\n" for line in (out[-600:] + err[-1500:]).splitlines())
        return wrong, ended


def draw(faults, count, seed):
    return faults if count is None else random.Random(seed).sample(faults, min(count, len(faults)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--calls", type=int)
    parser.add_argument("--allocations", type=int)
    parser.add_argument("--less", type=int)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default=None)
    parser.add_argument("--seconds", type=float, default=None)
    options = parser.parse_args()
    os.environ["VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING"] = "1"
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    names = list(COMMANDS) if options.only is None else [options.only]
    cases = [Case(name, kind) for name in names for kind in ("warm", "cold", "discrete")]
    ends, began = {"well": 0, "told": 0, "wrong": 0}, time.monotonic()
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(options.jobs) as pool):
        runner = Runner(os.path.abspath(options.tool), folder)
        list(pool.map(runner.prepare, names))
        calls, allocations = [], []
        for case, (some, others) in zip(cases, pool.map(runner.faults, cases)):
            if not some or not others:
                sys.exit(f"{case}: no calls are counted: this is not the driver, or the tool")
            calls += some
            allocations += others
        # No memory for what a command keeps of its case: one said nothing, and exited with 0.
        early = [(case, fault) for case, fault in allocations if case.kind == "cold" and
                 fault["WAVEFIT_FAIL_ALLOCATION"] == "10+"]
        less = [(case, {"WAVEFIT_LESS": f"{what} {most}"}) for case in cases
                for what, values in LESS.items() for most in values]
        chosen = (early + draw(calls, options.calls, options.seed) +
                  draw(allocations, options.allocations, options.seed) +
                  draw(less, options.less, options.seed))
        if options.seconds:
            random.Random(options.seed).shuffle(chosen)

        def judge(one):
            if options.seconds and time.monotonic() - began > options.seconds:
                over.set()
            return (None, None) if over.is_set() else runner.judge(*one)

        for wrong, ended in pool.map(judge, chosen):
            if ended:
                ends["wrong" if wrong else ended] += 1
            if wrong:
                print("FAILED:", wrong, flush=True)
    print(f"{sum(ends.values())} faults of {len(calls)} calls, {len(allocations)} allocations and "
          f"{len(less)} devices with less: {ends['well']} right results, {ends['told']} errors, "
          f"{ends['wrong']} failures")
    if not ends["well"] or not ends["told"]:
        sys.exit("the faults did not show")
    return 1 if ends["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
