#!/usr/bin/env python3
"""Sends signals to the tool at drawn moments: every file that it writes is the old one or the new
one, whole; nothing is left behind, no process either; the exit code is the grammar's; and what was
interrupted can be done again.

usage: signals.py TOOL [--each N] [--seed S] [--jobs J] [--signal NAME]
       signals.py TOOL --endless N [--seed S] [--jobs J]
  --endless N  interrupts runs that have no end of their own, N times: each ends, says so in a line
               and leaves the results that it has
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGTSTP", "SIGKILL")
COMMANDS = {  # and what they write
    "matmul": (["matmul", "a.npy", "a.npy", "-o", "c.npy", "--json", "c.json"],
               ("c.npy", "c.json")),
    "spmv": (["spmv", "--generate", "poisson5:60", "-o", "y.npy"], ("y.npy",)),
    "bench": (["bench", "--suite", "drawn", "--count", "1", "--seed", "3", "--family", "spmv",
               "--repeat", "3", "--json", "b.json"], ("b.json", "b.html")),
    "report": (["report", "given.json", "-o", "page.html"], ("page.html",)),
    "tune": (["tune", "--generate", "poisson5:8", "--budget", "0.3"], ()),
}
ENDLESS = {
    "himeno": ["himeno", "--size", "XS", "--seconds", "600"],
    "cg": ["cg", "--poisson5", "300", "--max-iterations", "1000000", "--tolerance", "1e-30"],
    "sustained": ["bench", "--sustained", "5", "--family", "spmv"],
    "peaks": ["peaks", "--budget", "300"],
    "sweep": ["sweep", "matmul", "--shape", "512x512x512", "--variant", "naive", "--over",
              "work-group"],
    "bench": ["bench", "--suite", "full"],
    "verify": ["verify", "--seconds", "600"],
}
MOST_DELAY = 4  # seconds until one of those is interrupted
TEMPORARY = re.compile(r"\.[A-Za-z0-9]{6}$")
GONE_WITHIN = 60  # seconds that the processes of a run may take to end: more is a process left over


def environment(folder):
    return dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"))


def start(tool, name, folder):
    return subprocess.Popen([tool, *COMMANDS[name][0], "--quiet"], cwd=folder,
                            env=environment(folder), stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            process_group=0)


def make_reference(tool, folder):
    """What every run begins with, the results of whole runs, and how long these take."""
    os.mkdir(os.path.join(folder, "cache"))
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (64, 64), }"
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    draw = random.Random(1)
    with open(os.path.join(folder, "a.npy"), "wb") as file:
        file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack("<4096f", *(draw.uniform(-1, 1) for _ in range(4096))))
    taken = {}
    for again in range(2):  # the first makes the cache
        for name in COMMANDS:
            began = time.monotonic()
            run = start(tool, name, folder)
            error = run.communicate()[1].decode()
            if run.returncode != 0:
                sys.exit(f"signals.py: {name} by itself: exit {run.returncode}: {error}")
            taken[name] = time.monotonic() - began
            if name == "bench" and not again:
                shutil.copy(os.path.join(folder, "b.json"), os.path.join(folder, "given.json"))
    return taken


def is_whole(path, old, new):
    with open(path, "rb") as file:
        data = file.read()
    if data == old or data == new:
        return True
    if path.endswith(".json"):
        try:
            return "cases" in json.loads(data)
        except ValueError:
            return False
    return path.endswith(".html") and data.rstrip().endswith(b"</html>")


def files_of(folder):
    return {os.path.relpath(os.path.join(where, name), folder)
            for where, _, names in os.walk(folder) for name in names}


def wait_for_group(group):
    """False where processes of the run outlive it."""
    end = time.monotonic() + GONE_WITHIN
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    os.killpg(group, signal.SIGKILL)
    return False


def send(run, number, delay):
    """The signal, after `delay` seconds or not at all; a stopped run goes on."""
    try:
        run.wait(delay)
        return
    except subprocess.TimeoutExpired:
        run.send_signal(number)
    if number == signal.SIGTSTP:
        run.send_signal(signal.SIGCONT)


def allowed_codes(number):
    if number == signal.SIGTSTP:
        return (0,)
    return (0, -number) if number == signal.SIGKILL else (0, 1, -number)


def one(tool, reference, taken, number, name, draw):
    """Runs a command once; returns what is wrong, and whether the signal ended it."""
    with tempfile.TemporaryDirectory(prefix="wavefit-signals-") as top:
        folder = os.path.join(top, "run")
        shutil.copytree(reference, folder)
        delay, there = draw.uniform(0, 1.1 * taken[name]), draw.random() < 0.5
        old, new, wrong = {}, {}, []
        for output in COMMANDS[name][1]:
            path = os.path.join(folder, output)
            with open(path, "rb") as file:
                new[output] = file.read()
            if there:
                old[output] = b"old " + output.encode()
                with open(path, "wb") as file:
                    file.write(old[output])
            else:
                os.remove(path)
        before = files_of(folder)
        run = start(tool, name, folder)
        send(run, number, delay)
        error = run.communicate()[1].decode(errors="replace")
        if not wait_for_group(run.pid):
            wrong.append("a process outlives it")
        if run.returncode not in allowed_codes(number):
            wrong.append(f"exit {run.returncode}: {error.strip()}")
        for output in COMMANDS[name][1]:
            path = os.path.join(folder, output)
            if os.path.exists(path) and not is_whole(path, old.get(output), new[output]):
                wrong.append(f"{output} is neither the old nor the new one")
            if there and not os.path.exists(path):
                wrong.append(f"{output} is lost")
        for left in sorted(files_of(folder) - before - set(COMMANDS[name][1])):
            if not left.startswith("cache" + os.sep):
                wrong.append(f"{left} is left behind")
        for left in files_of(folder):
            if TEMPORARY.search(left) and not left.endswith(".search"):
                wrong.append(f"{left} is left behind")
        again = start(tool, name, folder)
        error = again.communicate()[1].decode(errors="replace")
        if again.returncode != 0:
            wrong.append(f"again: exit {again.returncode}: {error.strip()}")
        return wrong, run.returncode != 0, delay


def results_of(path, name):
    """What is wrong with the results of a run that was interrupted."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        json.loads(text)
    except (OSError, ValueError) as error:
        return f"its results: {error}"
    if name != "verify" and '"status": "cancelled"' not in text:
        return "its results do not say that it was interrupted"
    return None


def interrupt(tool, cache, name, number, delay):
    """Interrupts an endless run; returns what is wrong, and whether it had its device by then."""
    with tempfile.TemporaryDirectory(prefix="wavefit-signals-") as folder:
        shutil.copytree(cache, os.path.join(folder, "cache"))
        run = subprocess.Popen([tool, *ENDLESS[name], "--quiet", "--json", "e.json"], cwd=folder,
                               env=environment(folder), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               process_group=0)
        send(run, number, delay)
        try:
            error = run.communicate(timeout=300)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return ["it does not end"], False
        wrong = [] if wait_for_group(run.pid) else ["a process outlives it"]
        said = [line for line in error.splitlines() if "interrupted" in line]
        if run.returncode == 1:
            wrong += [] if len(said) == 1 else [f"{len(said)} lines say so: {error}"]
            fault = results_of(os.path.join(folder, "e.json"), name)
            wrong += [fault] if fault else []
        elif run.returncode not in (0, -number):
            wrong.append(f"exit {run.returncode}: {error.strip()}")
        wrong += [f"{left} is left behind" for left in files_of(folder) if TEMPORARY.search(left)
                  and not left.endswith(".search")]
        return wrong, run.returncode == 1


def interrupt_all(tool, reference, options):
    names = list(ENDLESS)
    cache = os.path.join(reference, "cache")

    def go(i):
        draw = random.Random(f"{options.seed} endless {i}")
        number = draw.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        return interrupt(tool, cache, names[i % len(names)], number, draw.uniform(0, MOST_DELAY))

    failed = with_device = runs = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for i, (wrong, had) in enumerate(pool.map(go, range(options.endless))):
            runs, with_device = runs + 1, with_device + had
            failed += len(wrong)
            for what in wrong:
                print(f"endless {i}, {names[i % len(names)]}: {what}", flush=True)
            if runs % 100 == 0:
                print(f"{runs} interrupts, {with_device} of them of runs that had their device, "
                      f"{failed} faults", flush=True)
    print(f"{runs} interrupts, {with_device} of them of runs that had their device")
    print(f"{failed} faults")
    if not with_device:
        sys.exit("no run had its device")
    return failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--each", type=int, default=500, help="times that each signal is sent")
    parser.add_argument("--endless", type=int, default=0, help="interrupt endless runs instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--signal", choices=SIGNALS, help="send this one alone")
    options = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup's children would ignore it
    signals = (options.signal,) if options.signal else SIGNALS
    tool = os.path.abspath(options.tool)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="wavefit-signals-") as reference:
        taken = make_reference(tool, reference)
        if options.endless:
            return interrupt_all(tool, reference, options)
        runs = [(signal_name, i) for signal_name in signals for i in range(options.each)]

        def go(item):
            signal_name, i = item
            name = list(COMMANDS)[i % len(COMMANDS)]
            draw = random.Random(f"{options.seed} {signal_name} {i}")
            return one(tool, reference, taken, getattr(signal, signal_name), name, draw)

        ended = dict.fromkeys(signals, 0)
        with ThreadPoolExecutor(options.jobs) as pool:
            for (signal_name, i), (wrong, early, delay) in zip(runs, pool.map(go, runs)):
                ended[signal_name] += early
                for what in wrong:
                    failed += 1
                    name = list(COMMANDS)[i % len(COMMANDS)]
                    print(f"{signal_name} {i}, {name}, after {delay:.3f} s: {what}", flush=True)
    for signal_name in signals:
        print(f"{signal_name}: sent or outrun {options.each} times, ended {ended[signal_name]}")
    print(f"{failed} faults")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
