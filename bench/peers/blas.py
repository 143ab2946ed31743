#!/usr/bin/env python3
"""blas.py [--json FILE] [MATRIX.mtx…]: products of wavefit's suites by the BLAS that NumPy is
linked with and by scipy.sparse, on this machine's cores, each checked in f64. The file has
wavefit's own schema (bench/results.md), so that `wavefit report bench.json --compare FILE` sets
both side by side; it is also a model for programs that run another vendor's library."""
import argparse
import datetime
import json
import os
import platform
import sys
import time

import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp

SAMPLES, LEAST_SECONDS = 11, 2e-3
EPSILON = {"f32": 2.0 ** -24, "f64": 2.0 ** -53}
REAL = {"f32": np.float32, "f64": np.float64}


def samples_of(run):
    """Microseconds of one run: each sample is of as many as take LEAST_SECONDS."""
    run()
    batch, seconds = 1, 0.0
    while True:
        start = time.perf_counter()
        for _ in range(batch):
            run()
        seconds = time.perf_counter() - start
        if seconds >= LEAST_SECONDS:
            break
        batch *= 2
    samples = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        for _ in range(batch):
            run()
        samples.append((time.perf_counter() - start) / batch * 1e6)
    return sorted(samples), batch


def case(family, name, kind, library, problem, flops, run, errors):
    """One element of "cases"; `errors` gives the largest error over its bound, and how many
    elements of how many were looked at."""
    samples, batch = samples_of(run)
    worst, checked, total = errors()
    median, q1, q3 = samples[len(samples) // 2], samples[len(samples) // 4], samples[
        len(samples) - 1 - len(samples) // 4]
    holds = bool(worst <= 1)
    return {
        "family": family, "name": name, "problem": problem, "type": kind,
        "status": "ok" if holds else "failed",
        **({} if holds else {"reason": f"an error is {worst:.3g} times its bound"}),
        "variant": library, "clock": "host", "cache": "hot", "flops": flops,
        "time_us": {"median": median, "min": samples[0], "q1": q1, "q3": q3,
                    "spread": (q3 - q1) / median, "count": len(samples), "batch": batch},
        "rate": {"value": flops / median * 1e-3, "unit": "GFLOPS"},
        "verified": {"holds": holds, "error_over_bound": float(worst), "checked": checked,
                     "total": total},
    }


def blas_name():
    try:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas.get('version', '')}".strip()
    except TypeError:  # NumPy before 1.25 cannot tell
        return "BLAS of NumPy " + np.__version__


def product(rng, m, n, k):
    a, b = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    c = np.empty((m, n), np.float32)
    rows = rng.permutation(m)[:64]

    def errors():
        exact = a[rows].astype(np.float64) @ b.astype(np.float64)
        bound = (k + 1) * EPSILON["f32"] * (np.abs(a[rows]).astype(np.float64) @ np.abs(b))
        return np.max(np.abs(c[rows] - exact) / bound), rows.size * n, m * n
    name = f"{m}^3" if m == n == k else f"{m}x{n}x{k}"
    return case("matmul", name, "f32", blas_name(), {"m": m, "n": n, "k": k}, 2 * m * n * k,
                lambda: np.matmul(a, b, out=c), errors)


def sparse_product(rng, name, kind, matrix):
    matrix = sp.csr_matrix(matrix, dtype=REAL[kind])
    x = rng.uniform(-1, 1, matrix.shape[1]).astype(REAL[kind])
    wide = np.longdouble if kind == "f64" else np.float64

    def errors():
        y = matrix @ x
        products = matrix.data.astype(wide) * x[matrix.indices].astype(wide)
        ends = np.concatenate((np.zeros(1, wide), np.cumsum(np.abs(products))))
        lengths = np.diff(matrix.indptr)
        exact = np.array([products[first:last].sum() for first, last in
                          zip(matrix.indptr[:-1], matrix.indptr[1:])])
        bound = (lengths + 1) * EPSILON[kind] * (ends[matrix.indptr[1:]] - ends[matrix.indptr[:-1]])
        return np.max(np.abs(y - exact) / np.maximum(bound, 1e-300)), y.size, y.size
    return case("spmv", name, kind, "scipy.sparse " + scipy.__version__,
                {"rows": matrix.shape[0], "columns": matrix.shape[1], "entries": int(matrix.nnz)},
                2 * int(matrix.nnz), lambda: matrix @ x, errors)


def poisson27(n):
    band = sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], (n, n))
    return 27 * sp.eye(n ** 3) - sp.kron(sp.kron(band, band), band)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="write the results to this file")
    parser.add_argument("matrices", nargs="*", metavar="MATRIX.mtx",
                        help="multiply these in place of the suite")
    asked = parser.parse_args()
    rng = np.random.default_rng(1)
    cases = []
    for path in asked.matrices:
        matrix = scipy.io.mmread(path)
        cases += [sparse_product(rng, os.path.basename(path), kind, matrix)
                  for kind in ("f32", "f64")]
    if not asked.matrices:
        cases += [product(rng, n, n, n) for n in (256, 512, 1024)]
        cases += [sparse_product(rng, "poisson27 32^3", kind, poisson27(32))
                  for kind in ("f32", "f64")]
    for c in cases:
        print(f"{c['family']} {c['name']} {c['type']}: {c['time_us']['median']:.1f} us, "
              f"{c['rate']['value']:.3g} GFLOPS, {c['status']} ({c['variant']})")
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "wavefit-results/2",
                       "date": datetime.datetime.now(datetime.timezone.utc).strftime(
                           "%Y-%m-%dT%H:%M:%SZ"),
                       "argv": sys.argv,
                       "device": {"index": 0, "type": "cpu",
                                  "name": f"{platform.machine()}, {os.cpu_count()} cores",
                                  "driver": {"name": "NumPy " + np.__version__,
                                             "info": blas_name()}},
                       "peaks": {}, "cases": cases}, file, indent=1)
    return 0 if all(c["status"] == "ok" for c in cases) else 1


if __name__ == "__main__":
    sys.exit(main())
