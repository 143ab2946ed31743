#!/usr/bin/env python3
"""What an iteration takes on up to 4096 ranks, by a model that is fitted to results files of few:
scale_model.py FILE.json… [--svg PICTURE.svg] [--per-host N] [--network US,GBS]

An iteration takes  fixed + inside + surface + exposed + reduction :
  fixed      a part of its own on every rank (submitting, waking up), and where there are
             neighbours another one;
  inside     what the rank has, times the time of a cell or row: the largest share counts;
  surface    what boundary cells take beside that: updated apart from the others, and copied by
             the device where it does that;
  exposed    what the halo takes (latency + bytes / bandwidth) beyond the time of the inside,
             during which it moves;
  reduction  conjugate gradients: so much for each doubling of the ranks.
The files are those of `mpirun -n N wavefit himeno|cg --json`, of one rank and of more, best of
several sizes. Ranks of other hosts have the latency and the bandwidth of --network (microseconds,
GB/s of a rank; 5,25 where nothing is said): no run has measured these."""
import argparse
import json
import math
import statistics
import sys

LARGEST = 4096
TARGETS = (("Himeno XL", "himeno", (1024, 512, 512)), ("Himeno XXL", "himeno", (2048, 1024, 1024)),
           ("CG, 27 points, 256^3", "cg", (256, 256, 256)))


class Shape:
    """A grid of cells: `inner` ones are updated, and a layer of its last axis is a halo."""

    def __init__(self, family, extent, size):
        self.inner = [n - 2 for n in extent] if family == "himeno" else list(extent)
        self.full = list(extent)
        self.size = size  # bytes of a cell

    def cells(self):
        return math.prod(self.inner)

    def slab(self, ranks):
        """Cells of the largest share, and bytes that it sends; None: there are too few layers."""
        layers = -(-self.inner[2] // ranks)
        if ranks > self.inner[2]:
            return None
        plane = self.inner[0] * self.inner[1]
        sides = min(2, ranks - 1)
        return layers * plane, sides * self.full[0] * self.full[1] * self.size, sides * plane

    def block(self, ranks):
        """The same for the cut along three axes that has the least surface."""
        best = None
        for x in divisors(ranks):
            for y in divisors(ranks // x):
                cut = (x, y, ranks // x // y)
                if any(c > n for c, n in zip(cut, self.inner)):
                    continue
                part = [-(-n // c) for n, c in zip(self.inner, cut)]
                surface = sum(min(2, c - 1) * math.prod(part) // p for c, p in zip(cut, part))
                if best is None or surface < best[2]:
                    best = (math.prod(part), surface * self.size, surface)
        return best


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


class Case:
    """One measured case."""

    def __init__(self, path, c):
        self.path, self.family, self.type = path, c["family"], c["type"]
        self.label = f"{c['family']} {c['name']} {c['type']}"
        self.parts = c["ranks"]
        self.ranks = len(self.parts)
        self.us = c.get("time_us", {}).get("median") or c["us_an_iteration"]
        p = c["problem"]
        if self.family == "himeno":
            extent, size = (p["ni"], p["nj"], p["nk"]), 4
        else:
            side = round(p["rows"] ** (1 / 3))
            if side ** 3 != p["rows"]:
                raise ValueError(f"{path}: {c['name']}: only cubes of cells are understood")
            extent, size = (side, side, side), 8 if self.type == "f64" else 4
        self.shape = Shape(self.family, extent, size)
        layer = self.shape.inner[0] * self.shape.inner[1]
        most = max(r["count"] for r in self.parts)
        self.most = most * layer if self.family == "himeno" else most
        self.sides = min(2, self.ranks - 1)
        self.halo = self.sides * self.shape.full[0] * self.shape.full[1] * size
        self.surface = self.sides * layer
        blocks = c.get("blocks", [1, 1, self.ranks])
        if self.family == "himeno" and blocks[:2] != [1, 1]:
            self.take_blocks(blocks, most, size)
        self.steps = c.get("constants", {}).get("steps", 1)

    def take_blocks(self, blocks, most, size):
        """Faces count; edges and corners are few cells beside them."""
        part = [-(-n // b) for n, b in zip(self.shape.inner, blocks)]
        sides = [min(2, b - 1) for b in blocks]
        self.most, self.sides = most, sum(sides)
        self.surface = sum(n * math.prod(part) // p for n, p in zip(sides, part))
        self.halo = self.surface * size


def read(paths):
    cases = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for c in json.load(file)["cases"]:
                if c.get("ranks") and c.get("status") == "ok" and c["family"] in ("himeno", "cg"):
                    cases.append(Case(path, c))
    return cases


def line(points):
    """y = a + b x with a, b >= 0, of the least relative error; a = 0 where there is one x."""
    points = [(x, y, y ** -2) for x, y in points if y > 0]
    if not points:
        return 0.0, 0.0
    weights = sum(w for _, _, w in points)
    sx, sy = (sum(p[i] * p[2] for p in points) / weights for i in (0, 1))
    sxx, sxy = (sum(x * v * w for x, v, w in ((p[0], p[i], p[2]) for p in points)) / weights
                for i in (0, 1))
    if sxx - sx * sx > 1e-9 * sxx:
        b = (sxy - sx * sy) / (sxx - sx * sx)
        if b < 0:
            return sy, 0.0
        if sy >= b * sx:
            return sy - b * sx, b
    return 0.0, sxy / sxx


class Model:
    """Microseconds of one iteration of a family."""

    def __init__(self, cases, per_host, network):
        singles = [c for c in cases if c.ranks == 1]
        several = [c for c in cases if c.ranks > 1]
        if not singles or not several:
            raise ValueError("results of one rank and of several are needed")
        self.per_host, self.network = per_host, network
        self.alone, self.cell = line([(c.most, c.us) for c in singles])
        self.latency, self.byte = line([(c.halo / c.sides, min(r["wait_us"] for r in c.parts))
                                        for c in several])
        self.doubling = 0.0
        if cases[0].family == "cg":
            self.doubling = statistics.median(min(r["reduction_us"] for r in c.parts)
                                              / math.log2(c.ranks) for c in several)
        self.beside = self.skin = 0.0
        self.beside, self.skin = line([(c.surface, c.us - self.total(self.terms(
            c.most, c.halo, c.surface, c.ranks))) for c in several])
        self.steps = max(c.steps for c in cases)

    def terms(self, cells, halo, surface, ranks):
        inside = self.cell * cells
        latency, byte = self.latency, self.byte
        if ranks > self.per_host:
            latency, byte = max(latency, self.network[0]), max(byte, 1e-3 / self.network[1])
        moving = latency + byte * halo if ranks > 1 else 0
        hidden = self.cell * max(0, cells - surface)
        return {"fixed costs": self.alone + (self.beside if ranks > 1 else 0), "inside": inside,
                "the surface": self.skin * surface,
                "the exposed halo": max(0, moving - hidden),
                "the reduction": self.doubling * math.log2(ranks)}

    @staticmethod
    def total(terms):
        return sum(terms.values())

    def describe(self):
        gbs = f"{1e-3 / self.byte:.1f} GB/s" if self.byte else "no time a byte"
        reduction = f"; {self.doubling:.1f} us of reduction a doubling" if self.doubling else ""
        return (f"{self.alone:.1f} us fixed, {self.beside:.1f} us with neighbours; "
                f"{self.cell * 1e3:.4f} ns a cell, {self.skin * 1e3:.4f} of the surface; "
                f"halo {self.latency:.1f} us and {gbs}{reduction}")


def curve(model, shape, cut):
    """By number of ranks: microseconds and their terms, as far as the cut goes."""
    points, ranks = {}, 1
    while ranks <= LARGEST:
        part = getattr(shape, cut)(ranks)
        if part is None or (cut == "slab" and shape.inner[2] < ranks * model.steps):
            break
        terms = model.terms(*part, ranks)
        points[ranks] = (model.total(terms), terms)
        ranks *= 2
    return points


def what_breaks(points, cut):
    """One sentence: from where on more than half of the ranks' time is lost, and to what."""
    first = points[1][0]
    last = max(points)
    for ranks, (us, terms) in points.items():
        if first / us / ranks < 0.5:
            loss = {name: value for name, value in terms.items() if name != "inside"}
            loss["uneven shares"] = max(0, terms["inside"] - points[1][1]["inside"] / ranks)
            worst = max(loss, key=loss.get)
            return (f"{cut}s: efficiency is under 50 % at {ranks} ranks, mostly by {worst} "
                    f"({loss[worst]:.1f} of {us:.1f} us)")
    if last < LARGEST:
        return (f"{cut}s: there are no layers for more than {last} ranks; efficiency "
                f"{first / points[last][0] / last:.0%} there")
    return f"{cut}s: efficiency {first / points[last][0] / last:.0%} at {last} ranks"


def picture(path, curves, about):
    """Speed over one rank by ranks, both axes logarithmic, as an SVG."""
    colours = ("#0072b2", "#d55e00", "#009e73")
    left, top, side = 60, 46, 420
    def place(ranks, gain):
        scale = side / math.log2(LARGEST)
        return left + math.log2(ranks) * scale, top + side - math.log2(max(gain, 1)) * scale
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{side + 100}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="24" font-size="14">Times as fast as one rank, by the model</text>']
    for power in range(0, 13, 2):
        x, y = place(2 ** power, 2 ** power)
        out += [f'<path d="M{x:.0f} {top}V{top + side}M{left} {y:.0f}H{left + side}" '
                'stroke="#ddd"/>',
                f'<text x="{x:.0f}" y="{top + side + 16}" text-anchor="middle">{2 ** power}</text>',
                f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{2 ** power}</text>']
    x, y = place(LARGEST, LARGEST)
    out += [f'<path d="M{left} {top + side}L{x:.0f} {y:.0f}" stroke="#999" '
            'stroke-dasharray="2 3"/>',
            f'<text x="{left + side / 2}" y="{top + side + 34}" text-anchor="middle">ranks</text>']
    for i, (name, cuts) in enumerate(curves):
        for cut, points in cuts.items():
            spots = [place(r, points[1][0] / us) for r, (us, _) in points.items()]
            dash = "" if cut == "slab" else ' stroke-dasharray="7 4"'
            out.append(f'<path d="M' + "L".join(f"{a:.0f} {b:.0f}\n" for a, b in spots)
                       + f'" fill="none" stroke="{colours[i % 3]}" stroke-width="2"{dash}/>')
        y = top + 20 + 40 * i
        out += [f'<path d="M500 {y}h30" stroke="{colours[i % 3]}" stroke-width="2"/>',
                f'<text x="538" y="{y + 4}">{name}</text>']
    out += [f'<text x="500" y="{top + 150}">solid: cut into slabs, as it is</text>',
            f'<text x="500" y="{top + 168}">dashed: if it were cut into blocks</text>',
            f'<text x="500" y="{top + 186}">dotted: ideal</text>']
    out += [f'<text x="{left}" y="{top + side + 50}" font-size="10">{about}</text>', "</svg>"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--svg")
    parser.add_argument("--per-host", type=int, default=8)
    parser.add_argument("--network", default="5,25")
    args = parser.parse_args()
    network = tuple(float(part) for part in args.network.split(","))
    cases, curves, models = read(args.files), [], {}
    for family in ("himeno", "cg"):
        some = [c for c in cases if c.family == family]
        if not some:
            continue
        if len({c.type for c in some}) > 1:
            raise ValueError(f"{family}: results are of several types")
        model = models[family] = Model(some, args.per_host, network)
        model.size = 8 if some[0].type == "f64" else 4
        print(f"{family}: {model.describe()}")
        for c in some:
            us = model.total(model.terms(c.most, c.halo, c.surface, c.ranks))
            print(f"  {c.label}, {c.ranks} ranks: {c.us:.1f} us measured, {us:.1f} by the model "
                  f"({us / c.us:.2f})")
    for name, family, extent in TARGETS:
        if family not in models:
            continue
        shape = Shape(family, extent, models[family].size)
        cuts = {cut: curve(models[family], shape, cut) for cut in ("slab", "block")}
        curves.append((name, cuts))
        print(f"{name}\n  ranks       slabs   times   eff.      blocks   times   eff.")
        for ranks in cuts["block"]:
            row = f"  {ranks:5}"
            for points in cuts.values():
                if ranks in points:
                    gain = points[1][0] / points[ranks][0]
                    row += f"{points[ranks][0]:9.1f} us {gain:7.1f} {gain / ranks:5.0%}  "
                else:
                    row += " " * 27
            print(row.rstrip())
        for cut, points in cuts.items():
            print(f"  {what_breaks(points, cut)}")
    if args.svg and curves:
        most = max(c.ranks for c in cases)
        picture(args.svg, curves, f"fitted to {len(cases)} results of 1 to {most} ranks; "
                f"{args.per_host} ranks a host, network {network[0]:g} us and {network[1]:g} GB/s")
    return 0 if curves else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"scale_model.py: {error}")
