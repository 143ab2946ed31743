"""page_rank.py [PICTURE] [GRAPH]: page-rank by the power method. GRAPH is a file of Matrix Market,
for example PGPgiantcompo of the SuiteSparse collection: who trusts whom among users of PGP. Without
it, a graph is grown in which new pages link to what is linked to much."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import scipy.io
import scipy.sparse as sp

import wavefit

DAMPING = 0.85


def grown(pages, links, rng):
    """Each new page links to `links` old ones, chosen by how often they are linked to (Barabási
    and Albert 1999)."""
    ends = list(range(links))
    rows, columns = [], []
    for page in range(links, pages):
        for to in {ends[i] for i in rng.integers(0, len(ends), links)}:
            rows.append(page)
            columns.append(to)
            ends += [page, to]
    return sp.csr_matrix((np.ones(len(rows)), (rows, columns)), (pages, pages))


graph = (scipy.io.mmread(sys.argv[2]).tocsr() if len(sys.argv) > 2 else
         grown(3000, 4, np.random.default_rng(1)))
graph.data[:] = 1
n = graph.shape[0]
out = np.asarray(graph.sum(axis=1)).ravel()
links = sp.diags(1 / np.maximum(out, 1)) @ graph  # row i: where page i's rank goes
dangling = out == 0

# x = d links^T x + what the damping and pages without links spread evenly, all on the device.
A = wavefit.csr(links.T.tocsr(), dtype=np.float32)
spread = wavefit.array(np.where(dangling, 1.0, 0.0), "f32")
x = wavefit.full((n,), 1 / n)
changes = []
for _ in range(60):
    lost = wavefit.dot(spread, x).item()
    y = wavefit.full((n,), (1 - DAMPING + DAMPING * lost) / n)
    A.multiply(x, out=y, alpha=DAMPING, beta=1)
    changes.append(float(np.abs(y.numpy() - x.numpy()).sum()))
    x = y
    if changes[-1] < 1e-6:
        break
rank = x.numpy()
assert abs(rank.sum() - 1) < 1e-3 and changes[-1] < 1e-3

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.semilogy(range(1, len(changes) + 1), changes)
left.set_xlabel("iteration")
left.set_ylabel("change of the ranks")
into = np.asarray((graph != 0).sum(axis=0)).ravel()
right.loglog(np.maximum(into, 1), rank, ".", markersize=3)
right.set_xlabel("links to a page")
right.set_ylabel("its rank")
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "page_rank.png", dpi=80)
