#!/usr/bin/env python3
"""Runs the tool again and again, with one fault each time: a Vulkan call that fails, a device that
is lost from there on, an allocation that fails, a device that has less than it announces. Each run
must end with a right result and exit 0, or with one line of error and exit 1 (3 where no device was
opened), leave no Vulkan object and no allocation behind, neither crash nor hang, and leave a cache
with which the next run is well.

A fault is named by the place of the call in wavefit's code (places.h), by which of the calls at
that place fails, and by the result. Most calls reach the same place again, so the same place with
the same result is one class over all commands: its first call fails in the first command that
reaches it, its last one in the last command, and a sample is drawn of all other calls.

usage: inject.py TOOL [--every | --lasts N | --rest N] [--calls N] [--allocations N] [--less N]
                 [--seed N] [--jobs N] [--only COMMAND] [--part I/N] [--seconds N]
  TOOL            wavefit, linked with tests/faults/allocations.c, on the driver of faulty_icd.c
  --every         each call with each result, not the first and the last of a class alone
  --lasts N       the last calls of N classes of Vulkan's calls, and of N of allocations, alone
  --rest N        how many are drawn of the rest (1000)
  --calls N       a sample of N classes of Vulkan's calls, by their first calls; none of the rest
  --allocations N the same of allocations
  --less N        a sample of N of the devices that have less than they announce; without it, all
  --part I/N      the I-th of N parts of all this; in a turn of CI's the default is one of three
  --seconds N     starts none after N seconds, in a drawn order, and says how many ran; SIGTERM and
                  SIGINT end it so, too
"""
import argparse
import collections
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
import zlib

LOST = -4
SEARCH = ["tune", "--generate", "poisson5:8", "--budget", "0.1"]
COMMANDS = {
    "matmul": ["matmul", "--shape", "48x40x32", "--repeat", "1"],
    "spmv": ["spmv", "--generate", "poisson5:8", "--repeat", "1"],
    "cg": ["cg", "--poisson5", "12"],
    "laplace": ["laplace", "--grid", "24x24", "--tolerance", "1e-3"],
    "himeno": ["himeno", "--size", "17x17x17", "--iterations", "4"],
    "stencil": ["stencil", "--grid", "24x20", "--repeat", "1", "--variant", "naive"],
    "tune": SEARCH,
}
LESS = {"allocation": (0, 4096, 1 << 18), "buffer": (0, 4096, 1 << 16), "allocations": (0, 1, 2, 4),
        "sets": (0, 1), "group": (1, 32, 128), "queries": (0, 2), "memory": (1 << 16, 1 << 20),
        "map": (0, 1 << 20)}
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
        self.tool, self.folder, self.chains = tool, pathlib.Path(folder), {}

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

    def places(self, case):
        """How often a run comes to each place, and the results that Vulkan allows there."""
        _, _, _, counts, work = self.run(case, {"WAVEFIT_FAULTY_PLACES": "1"})
        shutil.rmtree(work)
        most, codes = {}, {"allocation": ["", "+"]}
        for words in map(str.split, counts):  # of each process, and of each instance
            if words[0] == "call":
                codes[words[1]] = words[3:] + [f"{LOST}+"] * (str(LOST) in words[3:])
            elif words[0] == "place":
                name, place, count, chain = words[1:]
                most[name, place] = max(most.get((name, place), 0), int(count))
                self.chains[place] = chain.split(",")
        return {(name, place, code): count
                for (name, place), count in most.items() for code in codes[name]}

    def functions(self, fault):
        """The functions of the place where the fault was, the innermost first."""
        place = re.search(r"@(\w+)", str(fault))
        if not place or not shutil.which("addr2line"):
            return ""
        called = [hex(int(address, 16) - 1) for address in self.chains[place[1]]]
        names = subprocess.run(["addr2line", "-f", "-e", self.tool, *called], text=True,
                               capture_output=True, check=False).stdout.splitlines()[::2]
        return "".join(f"    in {name}\n" for name in names)

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
        missed = fault and not any(line.startswith("failed ") and line != "failed 0"
                                   for line in counts)
        ended = "missed" if missed else "told" if code else "well"
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
            wrong += self.functions(fault)
            wrong += "".join(f"    {line}\n" for line in (out[-600:] + err[-1500:]).splitlines())
        return wrong, ended


def code_of(tool, function):
    """Where its code begins and ends."""
    symbols = subprocess.run(["nm", "-S", tool], text=True, capture_output=True, check=True).stdout
    begin, size = next(map(lambda word: int(word, 16), words[:2])
                       for words in map(str.split, symbols.splitlines()) if words[3:] == [function])
    return begin, begin + size


def setting(name, k, place, code):
    if name == "allocation":
        return {"WAVEFIT_FAIL_ALLOCATION": f"{k}@{place}{code}"}
    return {"WAVEFIT_FAULTY": f"{name} {k}@{place} {code}"}


def unsent(runner, reached):
    begin, end = code_of(runner.tool, "wfi_job_send")
    return [(case, setting(name, 1, place, code)) for case, places in reached
            if str(case) == "tune, cold" for name, place, code in places
            if name == "allocation" and code == "" and
            any(begin < int(address, 16) <= end for address in runner.chains[place])]


class Faults:
    """All faults of calls or of allocations: `classes` has where each place is reached, as pairs
    of a case and the number of times."""

    def __init__(self, is_of, reached):
        self.classes = {}
        for case, places in reached:
            for key, count in places.items():
                if is_of(key[0]):
                    self.classes.setdefault(key, []).append((case, count))

    def every(self):
        return [(case, setting(name, k, place, code))
                for (name, place, code), reached in self.classes.items()
                for case, count in reached for k in numbers(count)]

    def firsts(self):
        return [(reached[0][0], setting(name, 1, place, code))
                for (name, place, code), reached in self.classes.items()]

    def lasts(self):
        """Where the last call is not the first."""
        ends = [(key, *reached[-1]) for key, reached in self.classes.items()
                if reached[-1][1] > 1 or len(reached) > 1]
        return [(case, setting(name, count, place, code))
                for (name, place, code), case, count in ends]

    def chosen(self, options, count):
        """By the names of groups."""
        if options.every:
            return {"every call": self.every()}
        firsts, lasts = self.firsts(), self.lasts()
        if options.lasts is not None:
            return {"last of a class": draw(lasts, options.lasts, options.seed)}
        if count is not None:
            return {"first of a class": draw(firsts, count, options.seed)}
        known = {(str(case), *fault.values()) for case, fault in firsts + lasts}
        rest = [(case, fault) for case, fault in self.every()
                if (str(case), *fault.values()) not in known]
        return {"first of a class": firsts, "last of a class": lasts,
                "drawn of the rest": draw(rest, options.rest, options.seed)}


def draw(faults, count, seed):
    return faults if count is None else random.Random(seed).sample(faults, min(count, len(faults)))


def is_in(part, case, fault):
    """Of one part, whatever other faults this run happens to know."""
    index, count = map(int, part.split("/"))
    return zlib.crc32(f"{case} {fault}".encode()) % count == index - 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--lasts", type=int)
    parser.add_argument("--rest", type=int, default=1000)
    parser.add_argument("--calls", type=int)
    parser.add_argument("--allocations", type=int)
    parser.add_argument("--less", type=int)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default=None)
    # A turn of CI's has a third.
    turn = os.environ.get("WAVEFIT_TURN", "all")
    parser.add_argument("--part", default="1/1" if turn == "all" else f"{int(turn) + 1}/3")
    parser.add_argument("--seconds", type=float, default=None)
    options = parser.parse_args()
    os.environ["VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING"] = "1"
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    names = list(COMMANDS) if options.only is None else [options.only]
    cases = [Case(name, kind) for name in names for kind in ("warm", "cold", "discrete")]
    ends, began = {"well": 0, "told": 0, "missed": 0, "wrong": 0}, time.monotonic()
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(options.jobs) as pool):
        runner = Runner(os.path.abspath(options.tool), folder)
        list(pool.map(runner.prepare, names))
        reached = list(zip(cases, pool.map(runner.places, cases)))
        calls = Faults(lambda name: name != "allocation", reached)
        allocations = Faults(lambda name: name == "allocation", reached)
        if not calls.classes or not allocations.classes:
            sys.exit("no calls are counted: this is not the driver, or the tool")
        # No memory for what a command keeps of its case: one said nothing, and exited with 0.
        early = [(case, {"WAVEFIT_FAIL_ALLOCATION": "10+"}) for case in cases
                 if case.kind == "cold"]
        # No memory for what a search tells its process, which waited for it without an end.
        early += unsent(runner, reached)
        # No address space, which lavapipe tells by the address that it maps: it was written to.
        early += [(case, {"WAVEFIT_LESS": "map 65536"}) for case in cases
                  if str(case) == "spmv, warm"]
        less = [(case, {"WAVEFIT_LESS": f"{what} {most}"}) for case in cases
                for what, values in LESS.items() for most in values]
        print(f"seed {options.seed}: {len(calls.classes)} classes of {len(calls.every())} faults "
              f"of calls, {len(allocations.classes)} of {len(allocations.every())} of allocations",
              flush=True)
        groups = {"earlier faults": early, "first of a class": [], "last of a class": [],
                  "less than announced": draw(less, options.less, options.seed)}
        for faults, count in ((calls, options.calls), (allocations, options.allocations)):
            for group, some in faults.chosen(options, count).items():
                groups[group] = groups.get(group, []) + some
        if options.seconds:
            for some in groups.values():
                random.Random(options.seed).shuffle(some)
        chosen = [(group, *one) for group, some in groups.items() for one in some
                  if is_in(options.part, *one)]

        def judge(one):
            if options.seconds and time.monotonic() - began > options.seconds:
                over.set()
            wrong, ended = (None, None) if over.is_set() else runner.judge(*one[1:])
            # A signal to all processes of a group ends the tool, too.
            return (None, None) if wrong and over.wait(0.5) else (wrong, ended)

        done, missed = collections.Counter(), collections.Counter()
        for (group, *_), (wrong, ended) in zip(chosen, pool.map(judge, chosen)):
            done[group] += ended is not None
            missed[group] += ended == "missed"
            if ended:
                ends["wrong" if wrong else ended] += 1
            if wrong:
                print("FAILED:", wrong, flush=True)
    for group, count in collections.Counter(group for group, *_ in chosen).items():
        print(f"{group}: {done[group]} of {count}")
    print(f"{sum(ends.values())} faults: {ends['well']} right results, {ends['told']} errors, "
          f"{ends['missed']} whose call this run did not make, {ends['wrong']} failures")
    if not ends["well"] or not ends["told"]:
        sys.exit("the faults did not show")
    if 2 * missed["first of a class"] > done["first of a class"]:
        sys.exit("most calls were not made: places are not found again")
    return 1 if ends["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
