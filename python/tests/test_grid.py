"""Stencils and Himeno's relaxation against NumPy."""

import numpy as np
import pytest

import wavefit as wf


def offsets(shape, radius, dimensions):
    """Offsets (in the order of the axes x, y, z) of a shape's coefficients."""
    if shape == "box":
        box = np.ndindex(*[2 * radius + 1] * dimensions)
        return [tuple(i - radius for i in reversed(at)) for at in box]
    found = [(0,) * dimensions]
    for axis in range(dimensions):
        for far in range(1, radius + 1):
            for sign in (-1, 1):
                found.append(tuple(sign * far if i == axis else 0 for i in range(dimensions)))
    return found


def stepped(u, shape, radius, taps, border):
    mode = {"periodic": "wrap", "neumann": "symmetric", "dirichlet": "edge"}[border]
    padded = np.pad(u, radius, mode)
    out = np.zeros_like(u)
    for tap, at in zip(np.ravel(taps), offsets(shape, radius, u.ndim)):
        window = tuple(slice(radius + at[u.ndim - 1 - axis], radius + at[u.ndim - 1 - axis] + n)
                       for axis, n in enumerate(u.shape))
        out += tap * padded[window]
    if border == "dirichlet":
        inner = tuple(slice(radius, -radius) for _ in u.shape)
        kept = u.copy()
        kept[inner] = out[inner]
        return kept
    return out


@pytest.mark.parametrize("border", ["dirichlet", "neumann", "periodic"])
@pytest.mark.parametrize("shape,cells,radius", [("star", (9, 14), 1), ("box", (11, 9), 2),
                                                ("star", (7, 8, 9), 2)])
def test_stencils(device, rng, shape, cells, radius, border):
    u = rng.random(cells)
    taps = rng.uniform(-1, 1, len(offsets(shape, radius, len(cells))))
    taps /= np.abs(taps).sum()
    want = u
    for _ in range(3):
        want = stepped(want, shape, radius, taps, border)
    got = wf.stencil(u, shape, radius, taps, 3, border)
    np.testing.assert_allclose(got, want, atol=1e-14)
    single = wf.stencil(wf.array(u, "f32"), shape, radius, taps, 3, border)
    np.testing.assert_allclose(single.numpy(), want, atol=1e-5)


def test_stencils_queue(device, rng):
    u = wf.array(rng.random((16, 16)), "f32")
    want = u.numpy()
    a, b = u, wf.empty((16, 16))
    for _ in range(10):
        wf.stencil(a, out=b)
        a, b = b, a if a is not u else wf.empty((16, 16))
        want = stepped(want, "star", 1, np.full(5, 0.2), "dirichlet")
    np.testing.assert_allclose(a.numpy(), want, atol=1e-5)


@pytest.mark.parametrize("cells", [(0, 5), (5, 0), (0, 4, 4), (4, 0, 4)])
def test_no_cells(device, cells):
    """What has no cells stays as it is; what it is called with is looked at all the same."""
    for border in ("dirichlet", "neumann", "periodic"):
        assert wf.stencil(np.zeros(cells, np.float32), steps=3, border=border).shape == cells
    made = wf.stencil(wf.zeros(cells), out=wf.zeros(cells))
    assert made.shape == cells and isinstance(made, wf.Array)
    with pytest.raises(ValueError, match="border is"):
        wf.stencil(np.zeros(cells), border="open")


def test_refusals(device):
    u = wf.ones((5, 5))
    for bad in ({"shape": "ring"}, {"border": "open"}, {"coefficients": [1, 2]}, {"steps": 0},
                {"out": u}, {"radius": 0}, {"radius": -1}, {"shape": "box", "radius": 0}):
        with pytest.raises(ValueError):
            wf.stencil(u, **bad)
    with pytest.raises(TypeError, match="two or three"):
        wf.stencil(wf.ones(9))
    with pytest.raises(TypeError, match="real"):
        wf.stencil(np.ones((5, 5), complex))
    with pytest.raises(wf.InvalidArgumentError):
        wf.stencil(wf.ones((2, 2)))


def himeno_step(p, a, b, c, bnd, wrk1, omega):
    """The benchmark's loop body, by NumPy; arrays are [k][j][i], a[0] goes with the last axis of
    the benchmark's own order, which is this one's first."""
    i = np.s_[1:-1]

    def at(dk, dj, di):
        return p[tuple(slice(1 + d, n - 1 + d) for d, n in zip((dk, dj, di), p.shape))]

    def of(x):
        return x[i, i, i]

    total = (of(a[0]) * at(0, 0, 1) + of(a[1]) * at(0, 1, 0) + of(a[2]) * at(1, 0, 0) +
             of(b[0]) * (at(0, 1, 1) - at(0, -1, 1) - at(0, 1, -1) + at(0, -1, -1)) +
             of(b[1]) * (at(1, 1, 0) - at(1, -1, 0) - at(-1, 1, 0) + at(-1, -1, 0)) +
             of(b[2]) * (at(1, 0, 1) - at(1, 0, -1) - at(-1, 0, 1) + at(-1, 0, -1)) +
             of(c[0]) * at(0, 0, -1) + of(c[1]) * at(0, -1, 0) + of(c[2]) * at(-1, 0, 0) +
             of(wrk1))
    ss = (total * of(a[3]) - at(0, 0, 0)) * of(bnd)
    new = p.copy()
    new[i, i, i] = at(0, 0, 0) + omega * ss
    return new, (ss**2).sum()


def test_himeno(device, rng):
    cells = (12, 9, 8)
    own = {"p": rng.random(cells[::-1]), "bnd": rng.integers(0, 2, cells[::-1]),
           "wrk1": rng.random(cells[::-1])}
    for name, count in (("a", 4), ("b", 3), ("c", 3)):
        own[name] = rng.uniform(0, 0.3, (count, *cells[::-1]))
    got = wf.himeno(*cells, iterations=3, fields=own)
    p, gosa = own["p"].astype(np.float64), []
    for _ in range(3):
        p, each = himeno_step(p, own["a"], own["b"], own["c"], own["bnd"], own["wrk1"], 0.8)
        gosa.append(each)
    np.testing.assert_allclose(got.p, p, atol=1e-4)
    np.testing.assert_allclose(got.gosa, gosa, rtol=1e-4)
    assert got.gflops > 0 and "GFLOPS" in repr(got)
    start = wf.himeno(17, 17, 17, iterations=2)
    np.testing.assert_allclose(start.p[0, 0, 0], 0)
    with pytest.raises(ValueError, match="fields"):
        wf.himeno(*cells, fields={"p": own["p"]})
    with pytest.raises(ValueError, match="shape"):
        wf.himeno(*cells, fields={**own, "bnd": np.ones(3)})
    with pytest.raises(wf.InvalidArgumentError):
        wf.himeno(2, 2, 2)
