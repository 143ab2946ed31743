"""heat_plate.py [PICTURE]: a plate with a hot edge and a hot disc warms up step by step, and what
it comes to in the end."""

import sys

import matplotlib.pyplot as plt
import numpy as np

import wavefit

N = 128
plate = np.zeros((N, N), np.float32)
plate[0] = 100
y, x = np.mgrid[:N, :N]
plate[(x - 90) ** 2 + (y - 80) ** 2 < 120] = 60

# Explicit Euler of the heat equation: u + 0.2 (sum of the neighbours - 4 u), queued ten times.
u = wavefit.array(plate)
states = [plate]
for _ in range(10):
    u = wavefit.stencil(u, "star", coefficients=[0.2, 0.2, 0.2, 0.2, 0.2], steps=60)
    if _ in (1, 9):
        states.append(u.numpy())
final, info = wavefit.laplace(plate)
states.append(final)
assert info == 0 and abs(final[1:-1, 1:-1] - (final[:-2, 1:-1] + final[2:, 1:-1] +
                                              final[1:-1, :-2] + final[1:-1, 2:]) / 4).max() < 0.01

figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for ax, state, title in zip(axes, states, ("at first", "120 steps", "600 steps", "in the end")):
    image = ax.imshow(state, vmin=0, vmax=100, cmap="inferno")
    ax.set_title(title)
    ax.set_axis_off()
figure.colorbar(image, ax=axes, label="temperature")
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "heat_plate.png", dpi=80)
