"""python_jobs.py [jobs] [calls] [transfers]: what the Python package takes, as Markdown tables.

jobs: five jobs beside NumPy and scipy and, where they are there, cupy and torch on CUDA, from host
data to host data; each time is the least of 15 after a first call that compiles and analyses, and
sparse matrices are on the device before. calls: what a call on device arrays takes of its thread.
transfers: host arrays there and back. Without arguments all three."""

import sys
import time

import numpy as np

import wavefit
from wavefit._native import ffi, lib

try:
    import scipy.sparse as sp
    import scipy.sparse.linalg as spla
except ImportError:
    sp = None


def least(job, times=15):
    job()
    took = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        took.append(time.perf_counter() - start)
    return min(took) * 1e3


def triple_of_random(rng, n, entries):
    """values, columns, offsets of a matrix with `entries` entries in each row."""
    columns = np.sort(rng.integers(0, n, (n, entries)), axis=1).reshape(-1)
    return rng.random(n * entries, np.float32), columns, np.arange(n + 1) * entries


def triple_of_poisson(n):
    """The five-point matrix of an n x n grid."""
    grid = np.arange(n * n).reshape(n, n)
    rows, columns, values = [grid.ravel()], [grid.ravel()], [np.full(n * n, 4.0)]
    for a, b in ((grid[1:], grid[:-1]), (grid[:, 1:], grid[:, :-1])):
        for first, second in ((a, b), (b, a)):
            rows.append(first.ravel())
            columns.append(second.ravel())
            values.append(np.full(first.size, -1.0))
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    order = np.lexsort((columns, rows))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n * n))])
    return np.concatenate(values)[order], columns[order], offsets


def numpy_steps(u, steps, new_like):
    for _ in range(steps):
        new = new_like(u)
        new[1:-1, 1:-1] = (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] +
                           u[1:-1, 2:]) * np.float32(0.2)
        u = new
    return u


def solve(cg, A, b):
    try:
        return cg(A, b, rtol=1e-8)
    except TypeError:  # before scipy 1.12
        return cg(A, b, tol=1e-8, atol=0)


class Data:
    def __init__(self):
        rng = np.random.default_rng(1)
        self.n = 100000
        self.a, self.b = rng.random((512, 512), np.float32), rng.random((512, 512), np.float32)
        side = 1024 if wavefit.default_device().info.kind == "CPU" else 4096
        self.large = rng.random((side, side), np.float32)
        self.sparse = triple_of_random(rng, self.n, 10)
        self.x, self.many = rng.random(self.n, np.float32), rng.random((self.n, 16), np.float32)
        self.poisson, self.right = triple_of_poisson(120), np.ones(14400)
        self.u = rng.random((1024, 1024), np.float32)


NAMES = ["product of 512 x 512, f32", "a larger product, f32",
         "sparse product, 100,000 rows, 10^6 entries, f32", "the same with 16 vectors",
         "cg on Poisson 120 x 120, f64, 1e-8", "50 star steps on 1024 x 1024, f32"]


def with_wavefit(d):
    A = wavefit.csr(d.sparse, (d.n, d.n))
    P = wavefit.csr(d.poisson, (14400, 14400))
    return [lambda: wavefit.matmul(d.a, d.b), lambda: wavefit.matmul(d.large, d.large),
            lambda: A @ d.x, lambda: A @ d.many, lambda: wavefit.cg(P, d.right, rtol=1e-8)[0],
            lambda: wavefit.stencil(d.u, steps=50)]


def with_numpy(d):
    jobs = [lambda: d.a @ d.b, lambda: d.large @ d.large, None, None, None,
            lambda: numpy_steps(d.u, 50, np.copy)]
    if sp:
        S = sp.csr_matrix(d.sparse, (d.n, d.n))
        P = sp.csr_matrix(d.poisson, (14400, 14400))
        jobs[2:5] = [lambda: S @ d.x, lambda: S @ d.many, lambda: solve(spla.cg, P, d.right)[0]]
    return jobs


def with_cupy(d):
    import cupy
    import cupyx.scipy.sparse as csp
    from cupyx.scipy.sparse.linalg import cg
    there, back = cupy.asarray, cupy.asnumpy

    def matrix(triple, rows):
        return csp.csr_matrix((there(triple[0]), there(triple[1].astype(np.int32)),
                               there(triple[2].astype(np.int32))), (rows, rows))

    S, P = matrix(d.sparse, d.n), matrix(d.poisson, 14400)
    return [lambda: back(there(d.a) @ there(d.b)), lambda: back(there(d.large) @ there(d.large)),
            lambda: back(S @ there(d.x)), lambda: back(S @ there(d.many)),
            lambda: back(solve(cg, P, there(d.right))[0]),
            lambda: back(numpy_steps(there(d.u), 50, cupy.copy))]


def with_torch(d):
    import torch

    def there(x):
        return torch.from_numpy(x).cuda()

    def steps():
        u = there(d.u)
        return numpy_steps(u, 50, torch.clone).cpu().numpy()

    S = torch.sparse_csr_tensor(there(d.sparse[2]), there(d.sparse[1]), there(d.sparse[0]),
                                (d.n, d.n))
    return [lambda: (there(d.a) @ there(d.b)).cpu().numpy(),
            lambda: (there(d.large) @ there(d.large)).cpu().numpy(),
            lambda: (S @ there(d.x)).cpu().numpy(), lambda: (S @ there(d.many)).cpu().numpy(),
            None, steps]


def jobs():
    d, columns = Data(), []
    for name, make in (("wavefit", with_wavefit), ("NumPy, scipy", with_numpy),
                       ("cupy", with_cupy), ("torch", with_torch)):
        try:
            columns.append((name, make(d)))
        except Exception as error:  # noqa: B902, not there, or without a card
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    print("| job, ms | " + " | ".join(name for name, _ in columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for i, name in enumerate(NAMES):
        name = name.replace("a larger product", "product of {0} x {0}".format(len(d.large)))
        print(f"| {name}", end="")
        results = []
        for which, own in columns:
            if own[i] is None:
                print(" | ", end="")
                continue
            results.append((which, np.asarray(own[i]())))
            print(f" | {least(own[i], 3 if i == 1 else 15):.2f}", end="", flush=True)
        print(" |")
        for which, result in results[1:]:
            if not np.allclose(result, results[0][1], rtol=2e-3, atol=1e-3):
                print(f"{name}: {which} and {results[0][0]} differ by "
                      f"{np.abs(result - results[0][1]).max():.3g}")


def thread_us(job, device, calls=3000):
    job()
    best = float("inf")
    for _ in range(7):
        device.synchronize()
        start = time.thread_time()
        for _ in range(calls):
            job()
        best = min(best, (time.thread_time() - start) / calls * 1e6)
    return best


def calls():
    device = wavefit.default_device()
    a, x, out = wavefit.ones((4, 4)), wavefit.ones(16), wavefit.empty((4, 4))
    A = wavefit.csr((np.ones(16, np.float32), np.arange(16), np.arange(17)), (16, 16))
    kept = a @ a
    plan, number = device._last, ffi.new("uint64_t *")
    raw = thread_us(lambda: lib.wf_queue_run(device._queue, plan.handle, plan.bindings, number),
                    device)
    print("| call on device arrays | in all, us | more than `wf_queue_run`, us |\n"
          "|---|---:|---:|\n"
          f"| `wf_queue_run` by itself | {raw:.1f} | |")
    for name, job in (("`a @ a`, 4 x 4", lambda: a @ a),
                      ("`matmul(a, a, out=)`", lambda: wavefit.matmul(a, a, out=out)),
                      ("`A @ x`, sparse, 16 rows", lambda: A @ x),
                      ("`stencil(a)`, 4 x 4", lambda: wavefit.stencil(a)),
                      ("`dot(x, x)`", lambda: wavefit.dot(x, x))):
        took = thread_us(job, device)
        print(f"| {name} | {took:.1f} | {took - raw:.1f} |", flush=True)
    del kept


def transfers():
    print("| bytes | `write`, GB/s | `numpy(out=)`, GB/s | `array`, GB/s | `numpy()`, GB/s |\n"
          "|---:|---:|---:|---:|---:|")
    for size in (1 << 16, 1 << 20, 1 << 24, 1 << 28):
        host = np.ones(size // 4, np.float32)
        there, back = wavefit.array(host), np.empty_like(host)
        rates = [size / least(job, 9) / 1e6
                 for job in (lambda: there.write(host), lambda: there.numpy(out=back),
                             lambda: wavefit.array(host), there.numpy)]
        print(f"| {size} | " + " | ".join(f"{rate:.1f}" for rate in rates) + " |", flush=True)


def main():
    wanted = sys.argv[1:] or ["jobs", "calls", "transfers"]
    print(f"wavefit {wavefit.__version__} on {wavefit.default_device().info.name}, NumPy "
          f"{np.__version__}\n")
    for part in wanted:
        {"jobs": jobs, "calls": calls, "transfers": transfers}[part]()
        print()


if __name__ == "__main__":
    main()
