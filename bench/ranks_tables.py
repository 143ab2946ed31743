#!/usr/bin/env python3
"""Scaling tables of one host's devices, as docs/mpi.md has them, in under eight minutes:
ranks_tables.py WAVEFIT [--ranks 1,2,4] [--cuda CUDA_HIMENO] [--out FOLDER]

Runs under mpirun, in turns, Himeno of one size (strong scaling) and with as many planes for each
rank (weak scaling), beside them the CUDA program of bench/peers/cuda, stencils, Laplace's equation,
and conjugate gradients on the 27-point matrix in f64, and on the most ranks slabs, blocks, shared
pages and messages. It prints tables in Markdown and leaves the files of results and a page with
scaling and timelines (scaling.html). A run that fails or is not verified is named and left out, and
the exit code is then 1. Where ranks share a device, times show no scaling but what parts cost.

--limit S: what would begin more than S seconds after the start is left out, and so is the rest of
what is under way then. --size IxJxK, --cells N, --square N and --seconds T make the grids, the
matrix's side and the runs smaller, for a trial; --mpirun names another launcher."""
import argparse
import json
import os
import subprocess
import sys
import time

# What issues ask of two and four devices: times as fast, and efficiency of weak scaling.
WANTED = {"himeno": {2: 1.9, 4: 3.6}, "cg": {2: 1.85, 4: 3.4}, "weak": {2: 0.95, 4: 0.95}}
LIMIT = 120  # seconds of a run


def end(launcher):
    """It ends its ranks when it is asked to; a kill would leave them."""
    launcher.terminate()
    try:
        launcher.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        launcher.kill()
        launcher.communicate()


class Runs:
    """Runs of the tool, each with a file of results."""

    def __init__(self, args):
        self.args, self.failed, self.files = args, [], []
        self.end = time.monotonic() + args.limit
        os.makedirs(args.out, exist_ok=True)

    def start(self, ranks, command, environment=None):
        """What a command printed; None: it failed."""
        line = [*self.args.mpirun.split(), "-n", str(ranks), *command]
        limit = min(LIMIT, self.end - time.monotonic())
        if limit <= 0:
            self.failed.append(f"{' '.join(command)} on {ranks}: left out, time is over")
            return None
        with subprocess.Popen(line, env={**os.environ, **(environment or {})}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            try:
                out, err = child.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                end(child)
                self.failed.append(f"{' '.join(command)} on {ranks}: over {limit:.0f} s")
                return None
        if child.returncode == 0:
            return out
        said = [text for text in err.splitlines() if text.startswith("wavefit")]
        self.failed.append(f"{' '.join(command)} on {ranks}: exit {child.returncode} "
                           + (said or err.splitlines() or [""])[0])
        return None

    def case(self, name, ranks, words, environment=None):
        path = os.path.join(self.args.out, f"{name}-{ranks}.json")
        if self.start(ranks, [self.args.wavefit, *words, "--json", path], environment) is None:
            return None
        self.files.append(path)
        with open(path, encoding="utf-8") as file:
            case = json.load(file)["cases"][0]
        if case["status"] == "ok":
            return case
        self.failed.append(f"{name} on {ranks}: {case['status']}")
        return None


def microseconds(case):
    """Of an iteration, a step or a product."""
    if "us_an_iteration" in case:
        return case["us_an_iteration"]
    return case["time_us"]["median"] / case["problem"].get("steps", 1)


def row(cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(title, cells):
    print(f"\n### {title}\n", flush=True)
    row(cells)
    row("---" for _ in cells)


def stages(case):
    """The largest of the ranks' times, us: the device, what is longer than it, waits."""
    return [f"{max(r[name] for r in case['ranks']):.1f}"
            for name in ("inside_us", "halo_us", "wait_us")]


def table(runs, title, name, words_of, wanted=None, weak=False):
    """One problem by numbers of ranks; words_of(ranks) are the tool's."""
    head(title, ("ranks", "cut", "us", "efficiency" if weak else "times as fast", "wanted",
                 "inside", "halo", "wait"))
    first = None
    for ranks in runs.args.ranks:
        case = runs.case(name, ranks, words_of(ranks))
        if not case:
            continue
        us = microseconds(case)
        first = first or us
        cut = "x".join(str(n) for n in case.get("blocks", [])) or f"{ranks} parts"
        row((ranks, cut, f"{us:.1f}", f"{first / us:.3f}", (wanted or {}).get(ranks, ""),
             *stages(case)))


def cuda(runs, title, size_of, weak=False):
    head(title, ("ranks", "us", "efficiency" if weak else "times as fast"))
    first = None
    for ranks in runs.args.ranks:
        path = os.path.join(runs.args.out, f"cuda{'-weak' if weak else ''}-{ranks}.json")
        command = [runs.args.cuda, "--size", size_of(ranks), "--transport", "host", "--seconds",
                   str(runs.args.seconds), "--json", path]
        if runs.start(ranks, command) is None:
            continue
        with open(path, encoding="utf-8") as file:
            us = microseconds(json.load(file)["cases"][0])
        first = first or us
        row((ranks, f"{us:.1f}", f"{first / us:.3f}"))


def halos(runs, size):
    """The ways of halos on the most ranks."""
    ranks = runs.args.ranks[-1]
    slabs, flat = f"1x1x{ranks}", f"{ranks // 2}x2x1" if ranks > 2 else "1x2x1"
    grid = "x".join(str(n) for n in runs.args.grid)
    families = (("himeno", ["himeno", "--size", size, "--seconds", str(runs.args.seconds)]),
                ("stencil", ["stencil", "--grid", grid, "--steps", "12"]))
    head(f"Halos on {ranks} ranks", ("problem", "cut", "halos by", "us", "inside", "halo", "wait"))
    for name, words in families:
        for cut in (slabs, flat):
            for by, value in (("pages", "1"), ("messages", "0")):
                case = runs.case(f"halos-{name}-{cut}-{by}", ranks, [*words, "--blocks", cut],
                                 {"WAVEFIT_MPI_SHARED": value})
                if case:
                    row((name, cut, by, f"{microseconds(case):.1f}", *stages(case)))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("wavefit")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--cuda", help="cuda_himeno of bench/peers/cuda")
    parser.add_argument("--out", default="ranks-tables")
    parser.add_argument("--size", default="1024x512x512")
    parser.add_argument("--cells", type=int, default=256)
    parser.add_argument("--square", type=int, default=8192)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--limit", type=float, default=480)
    parser.add_argument("--mpirun", default="mpirun")
    args = parser.parse_args()
    args.ranks = sorted(int(n) for n in args.ranks.split(","))
    args.grid = [int(n) for n in args.size.split("x")]
    args.wavefit = os.path.abspath(args.wavefit)
    return args


def main():
    args, start = parse(), time.monotonic()
    runs = Runs(args)
    ni, nj, nk = args.grid
    seconds = ["--seconds", str(args.seconds)]
    each = (nk - 2) // 2  # planes of a rank

    def weak(ranks):
        return f"{ni}x{nj}x{each * ranks + 2}"

    table(runs, f"Himeno {args.size}", "himeno",
          lambda ranks: ["himeno", "--size", args.size, *seconds], WANTED["himeno"])
    if args.cuda:
        cuda(runs, f"Himeno {args.size}, CUDA and MPI", lambda ranks: args.size)
    table(runs, f"Himeno, {each} planes a rank", "weak",
          lambda ranks: ["himeno", "--size", weak(ranks), *seconds], WANTED["weak"], weak=True)
    if args.cuda:
        cuda(runs, f"Himeno, {each} planes a rank, CUDA and MPI", weak, weak=True)
    table(runs, f"Conjugate gradients, 27 points, {args.cells}^3, f64", "cg",
          lambda ranks: ["cg", "--poisson27", str(args.cells), "--type", "f64"], WANTED["cg"])
    table(runs, f"Stencil {args.size}", "stencil",
          lambda ranks: ["stencil", "--grid", args.size, "--steps", "12"])
    square = f"{args.square}x{args.square}"
    table(runs, f"Laplace {square}", "laplace",
          lambda ranks: ["laplace", "--grid", square, "--tolerance", "1e-2"])
    if args.ranks[-1] > 1:
        halos(runs, args.size)
    page = os.path.join(args.out, "scaling.html")
    drawn = [path for path in runs.files if os.path.basename(path).startswith(("himeno", "weak",
                                                                              "cg"))]
    if drawn:
        subprocess.run([args.wavefit, "report", *drawn, "-o", page], check=False,
                       stdout=subprocess.DEVNULL)
    print(f"\n{len(runs.files)} results in {args.out}, {time.monotonic() - start:.0f} s")
    for text in runs.failed:
        print(f"failed: {text}")
    return 1 if runs.failed else 0


if __name__ == "__main__":
    sys.exit(main())
