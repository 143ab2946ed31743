"""roofline.py [PICTURE]: the roofline of the device that wavefit opens, by its measured limits, and
four calls in it."""

import operator
import sys

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import wavefit

device = wavefit.default_device()
u = wavefit.ones((512, 512))
S = sp.random(4000, 4000, 0.005, "csr", np.float32, random_state=1)
A = wavefit.csr(S)
calls = {
    "product, 256": (operator.matmul, wavefit.ones((256, 256)), wavefit.ones((256, 256))),
    "product with a vector": (operator.matmul, wavefit.ones((1024, 1024)), wavefit.ones(1024)),
    "sparse product": (A.multiply, wavefit.ones(4000)),
    "stencil": (wavefit.stencil, u),
}
ax = plt.subplots(figsize=(6, 3.6), layout="constrained")[1]
lines = []
for name, call in calls.items():
    found = wavefit.explain(*call, budget=0.2, show=False)
    assert found["median_us"] > 0
    intensity = found["flops"] / found["least_bytes"]
    ax.loglog([intensity], [found["gflops"]], "o", label=name)
    lines.append(intensity)
copy, rate = found["peaks"]["copy"], found["peaks"]["float32"]
x = np.geomspace(min(lines) / 3, max(max(lines), rate / copy) * 3, 200)
ax.loglog(x, np.minimum(x * copy, rate) / 1e9, color="black")
ax.set_title(device.info.name)
ax.set_xlabel("operations a byte that must be moved")
ax.set_ylabel("GFLOPS")
ax.legend()
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "roofline.png", dpi=80)
