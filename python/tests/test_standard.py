"""What arrays and functions have of the Python array API standard 2023.12, as its text asks for it:
one test a rule. docs/python/conformance.md lists what they do not have."""

import inspect
import math

import numpy as np
import pytest

import wavefit as wf

FLOATS = ["float16", "float32", "float64"]
TYPES = FLOATS + ["int8", "int32"]


def same(a, want):
    assert isinstance(a, wf.Array)
    assert a.shape == np.shape(want)
    np.testing.assert_array_equal(a.numpy(), want)


# ------------------------------------------------------------------------------- attributes

@pytest.mark.parametrize("of", TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 0, 3), (2, 3, 4)])
def test_attributes(device, of, shape):
    a = wf.empty(shape, dtype=of)
    assert a.dtype == wf.dtype(of) and a.device is device
    assert type(a.ndim) is int and a.ndim == len(shape)
    assert type(a.shape) is tuple and a.shape == shape
    assert type(a.size) is int and a.size == math.prod(shape)


def test_transposes(device, rng):
    x = rng.random((2, 3, 4))
    a = wf.array(x)
    same(a[0].T, x[0].T)
    same(a.mT, x.swapaxes(-1, -2))
    for wrong in (wf.ones(3), wf.ones(()), a):
        with pytest.raises(ValueError):
            wrong.T
    for wrong in (wf.ones(3), wf.ones(())):
        with pytest.raises(ValueError):
            wrong.mT


# ---------------------------------------------------------------------------------- methods

def test_one_element_is_a_number(device):
    for of in TYPES:
        a = wf.full((), 3, dtype=of)
        assert bool(a) is True and bool(wf.zeros((), of)) is False
        assert type(int(a)) is int and int(a) == 3
        assert type(float(a)) is float and float(a) == 3.0
        assert type(complex(a)) is complex and complex(a) == 3
    assert [0, 1, 2, 3, 4][wf.full((), 3, dtype="int8")] == 3
    with pytest.raises(TypeError):
        [0, 1][wf.full((), 1.0)]
    assert math.isnan(float(wf.full((), math.nan)))
    assert float(wf.full((), -math.inf)) == -math.inf and int(wf.full((), -2.5)) == -2
    with pytest.raises(ValueError):
        int(wf.full((), math.nan))
    with pytest.raises(OverflowError):
        int(wf.full((), math.inf))
    for convert in (float, int):
        with pytest.raises((TypeError, ValueError)):
            convert(wf.ones(2))


def test_comparison_is_by_element(device):
    a = wf.array([1.0, 2.0, math.nan])
    np.testing.assert_array_equal(a == a, [True, True, False])
    np.testing.assert_array_equal(a != a, [False, False, True])
    np.testing.assert_array_equal(a == 2, [False, True, False])
    with pytest.raises(TypeError):
        hash(a)


def test_indices(device, rng):
    """Integers, slices and ellipsis for each axis; what they pick has the type of the array."""
    x = rng.random((4, 5, 6))
    a = wf.array(x)
    for key in (0, -1, (1, 2, 3), (slice(1, 3), Ellipsis), (Ellipsis, 0), slice(None, None, -1),
                (slice(None), slice(4, 1, -2), 2), Ellipsis, (1, Ellipsis, slice(0, 0))):
        same(a[key], x[key])
        assert a[key].dtype is a.dtype and a[key].device is a.device
    for key in (4, -5, (0, 5), (0, 0, 0, 0)):
        with pytest.raises(IndexError):
            a[key]


def test_to_device(device, rng):
    x = rng.random((2, 3))
    a = wf.array(x)
    assert a.to_device(device) is a
    with pytest.raises(ValueError):
        a.to_device(device, stream=3)
    with wf.Device() as other:
        b = a.to_device(other)
        same(b, x)
        assert b.device is other and b.dtype is a.dtype


def test_dlpack(device):
    a = wf.ones((2, 3))
    kind, number = a.__dlpack_device__()
    assert isinstance(kind, int) and isinstance(number, int)
    for options in ({}, {"copy": True}, {"max_version": (1, 0)}, {"dl_device": None}):
        assert "dltensor" in repr(a.__dlpack__(**options))
    parameters = inspect.signature(wf.Array.__dlpack__).parameters
    assert set(parameters) == {"self", "stream", "max_version", "dl_device", "copy"}
    assert all(p.kind is p.KEYWORD_ONLY for name, p in parameters.items() if name != "self")
    with pytest.raises(BufferError):
        a.__dlpack__(dl_device=(99, 0))
    b = wf.from_dlpack(a)
    same(b, np.ones((2, 3), np.float32))
    a.write(np.zeros((2, 3)))
    assert not b.numpy().any()  # the same memory
    c = wf.from_dlpack(a, device=device, copy=True)
    a.write(np.ones((2, 3)))
    assert not c.numpy().any()


# -------------------------------------------------------------------------- matrix products

@pytest.mark.parametrize("of", FLOATS + ["int8"])
def test_matmul_by_shapes(device, rng, of):
    """The result's shape for one-dimensional operands, matrices and stacks that broadcast."""
    made = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-12, "int8": 0}
    for first, second, shape in [
            ((3,), (3,), ()), ((2, 3), (3,), (2,)), ((3,), (3, 4), (4,)), ((2, 3), (3, 4), (2, 4)),
            ((5, 2, 3), (3, 4), (5, 2, 4)), ((2, 3), (5, 3, 4), (5, 2, 4)),
            ((5, 1, 2, 3), (1, 6, 3, 4), (5, 6, 2, 4)), ((5, 2, 3), (3,), (5, 2)),
            ((0, 3), (3, 4), (0, 4)), ((2, 0), (0, 4), (2, 4))]:
        x, y = (rng.integers(-4, 5, shape).astype(of) for shape in (first, second))
        for product in (wf.matmul, lambda a, b: a @ b):
            z = product(wf.array(x), wf.array(y))
            assert z.shape == shape
            assert z.dtype.name == ("int32" if of == "int8" else of)
            np.testing.assert_allclose(z.numpy(), x.astype(float) @ y.astype(float),
                                       rtol=made[of])


@pytest.mark.parametrize("first,second", [((), (3,)), ((3,), ()), ((3,), (4,)), ((2, 3), (2, 3)),
                                          ((2, 2, 3), (3, 3, 4)), ((3,), (4, 3))])
def test_matmul_refuses(device, first, second):
    a, b = wf.ones(first), wf.ones(second)
    with pytest.raises(ValueError):
        a @ b
    with pytest.raises(ValueError):
        wf.matmul(a, b)


def test_operators_with_others(device):
    a = wf.ones((2, 2))
    with pytest.raises(TypeError):
        a @ wf.ones((2, 2), "float64")
    with pytest.raises(TypeError):
        a @ "text"
    same(np.ones((2, 2), np.float32) @ a, np.full((2, 2), 2, np.float32))
    before = a
    a @= a
    same(a, np.full((2, 2), 2, np.float32))
    same(before, np.ones((2, 2), np.float32))
    before += before.T.reshape(2, 2)
    same(before, np.full((2, 2), 2, np.float32))


# --------------------------------------------------------------------------------- creation

@pytest.mark.parametrize("of", TYPES)
@pytest.mark.parametrize("shape", [(), 3, (3,), (0, 2), (2, 3)])
def test_made(device, of, shape):
    same(wf.zeros(shape, dtype=of, device=device), np.zeros(shape, of))
    same(wf.ones(shape, dtype=of, device=device), np.ones(shape, of))
    same(wf.full(shape, 5, dtype=of, device=device), np.full(shape, 5, of))
    a = wf.empty(shape, dtype=of, device=device)
    assert a.dtype == wf.dtype(of) and a.shape == np.empty(shape).shape
    assert wf.empty(shape).dtype is wf.zeros(shape).dtype is wf.ones(shape).dtype is wf.float32


def test_asarray(device, rng):
    x = rng.random((2, 3))
    a = wf.asarray(x)
    same(a, x)
    assert wf.asarray(a) is a and wf.asarray(a, copy=False) is a
    b = wf.asarray(a, copy=True)
    same(b, x)
    assert b is not a
    a.write(np.zeros((2, 3)))
    same(b, x)
    same(wf.asarray([[1, 2], [3, 4]], dtype=wf.float32), np.array([[1, 2], [3, 4]], np.float32))
    same(wf.asarray(3.0), 3.0)
    for data in (x, [1.0], 2):
        with pytest.raises(ValueError):
            wf.asarray(data, copy=False)
    with pytest.raises(ValueError):
        wf.asarray(a, dtype="float32", copy=False)


def test_types_compare(device):
    assert wf.float32 == wf.ones(1).dtype and wf.float32 != wf.float64
    assert wf.ones(1, "float64").dtype != wf.float32
