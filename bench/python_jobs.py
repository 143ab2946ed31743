"""python_jobs.py: five jobs of the Python package beside NumPy and scipy, from host data to host
data, as a Markdown table. Each time is the least of 15, after a first call that compiles and
analyses; for a sparse matrix, wavefit.csr is made before."""

import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import wavefit


def least(job):
    job()
    times = []
    for _ in range(15):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def poisson(n):
    one = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
    return (sp.kron(one, sp.eye(n)) + sp.kron(sp.eye(n), one)).tocsr()


def numpy_stencil(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] +
                           u[1:-1, 2:]) * np.float32(0.2)
        u = new
    return u


def scipy_cg(A, b):
    try:
        return spla.cg(A, b, rtol=1e-8)
    except TypeError:  # before 1.12
        return spla.cg(A, b, tol=1e-8, atol=0)


def main():
    rng = np.random.default_rng(1)
    a, b = rng.random((512, 512), np.float32), rng.random((512, 512), np.float32)
    n = 100000
    S = sp.csr_matrix((rng.random(10 * n, np.float32), (rng.integers(0, n, 10 * n),
                                                        rng.integers(0, n, 10 * n))), (n, n))
    A, x, X = wavefit.csr(S), rng.random(100000, np.float32), rng.random((100000, 16), np.float32)
    P = poisson(120)
    device_p, right = wavefit.csr(P), np.ones(P.shape[0])
    u = rng.random((1024, 1024), np.float32)
    jobs = [
        ("product of 512 x 512, f32", lambda: wavefit.matmul(a, b), lambda: a @ b),
        ("sparse product, 100,000 rows, 10^6 entries, f32", lambda: A @ x, lambda: S @ x),
        ("the same with 16 vectors", lambda: A @ X, lambda: S @ X),
        ("cg on Poisson 120 x 120, f64, 1e-8", lambda: wavefit.cg(device_p, right, rtol=1e-8),
         lambda: scipy_cg(P, right)),
        ("50 star steps on 1024 x 1024, f32", lambda: wavefit.stencil(u, steps=50),
         lambda: numpy_stencil(u, 50)),
    ]
    print(f"wavefit {wavefit.__version__} on {wavefit.default_device().info.name}, NumPy "
          f"{np.__version__}\n\n| job | wavefit, ms | NumPy or scipy, ms |\n|---|---:|---:|")
    for name, ours, theirs in jobs:
        print(f"| {name} | {least(ours):.2f} | {least(theirs):.2f} |", flush=True)


if __name__ == "__main__":
    main()
