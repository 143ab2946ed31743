"""conjugate_gradients.py [PICTURE]: how fast conjugate gradients converge on Poisson's equation
with a coefficient that jumps, plain and preconditioned."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import wavefit

N = 48
k = np.ones((N + 1, N + 1))
k[12:36, 12:36] = 1000  # a square that conducts well


def poisson(k):
    """Five-point differences of -div(k grad u) on N x N inner cells."""
    n = k.shape[0] - 1
    east, south = (k[:-1, 1:] + k[1:, 1:]) / 2, (k[1:, :-1] + k[1:, 1:]) / 2
    west, north = (k[:-1, :-1] + k[1:, :-1]) / 2, (k[:-1, :-1] + k[:-1, 1:]) / 2
    right = east.copy()
    right[:, -1] = 0
    down = south.copy()
    down[-1] = 0
    upper = [-right.ravel()[:-1], -down.ravel()[:-n]]
    return sp.diags([(east + south + west + north).ravel(), upper[0], upper[0], upper[1],
                     upper[1]], [0, 1, -1, n, -n]).tocsr()


A = poisson(k)
b = np.ones(N * N)
ax = plt.subplots(figsize=(6, 3.2), layout="constrained")[1]
for M in (None, "jacobi", "block-jacobi"):
    x, info = wavefit.cg(A, b, rtol=1e-8, M=M, history=True)
    assert info == 0 and np.linalg.norm(A @ x - b) < 1e-6 * np.linalg.norm(b)
    ax.semilogy(info.history, label=f"{M or 'plain'}: {info.iterations} iterations")
ax.set_xlabel("iteration")
ax.set_ylabel("relative residual")
ax.legend()
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "conjugate_gradients.png", dpi=80)
