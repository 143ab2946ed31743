"""Dense products against NumPy over drawn problems, and what is refused."""

import itertools

import numpy as np
import pytest

import wavefit as wf

U = {"float32": 2.0**-24, "float64": 2.0**-53, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def bound(a, b, k, of):
    """gamma of the sums times |A||B|, and a rounding to the type."""
    sums = U["float64"] if of == "float64" else U["float32"]
    exact = np.abs(np.matmul(np.abs(a), np.abs(b)))
    return ((k + 4) * sums * 1.01 + U[of]) * exact + 1e-30


def drawn(rng, shape, of):
    """Random numbers that the type holds."""
    x = rng.uniform(-1, 1, shape)
    return np.array(wf.array(x, of).numpy(), np.float64)


def check(got, a, b, of, more=0.0):
    want = np.matmul(a, b)
    assert got.shape == want.shape
    wrong = np.abs(got.astype(np.float64) - want - more)
    limit = bound(a, b, a.shape[-1], of) + U[of] * np.abs(more) * 2
    assert (wrong <= limit).all(), f"{(wrong / limit).max()} times the bound"


@pytest.mark.parametrize("of", ["float32", "float64", "float16", "bfloat16"])
def test_drawn_products(device, rng, of):
    for _ in range(3):
        m, n, k = rng.integers(1, 70, 3)
        a, b = drawn(rng, (m, k), of), drawn(rng, (k, n), of)
        ta, tb = rng.integers(0, 2, 2)
        da = wf.array(a.T if ta else a, of)
        db = wf.array(b.T if tb else b, of)
        check(wf.matmul(da, db, transpose_a=bool(ta), transpose_b=bool(tb)).numpy(), a, b, of)
        check(((da.T if ta else da) @ (db.T if tb else db)).numpy(), a, b, of)


def test_a_planted_error_is_found(rng):
    a, b = drawn(rng, (9, 5), "float32"), drawn(rng, (5, 7), "float32")
    wrong = np.matmul(a, b)
    wrong[3, 4] *= 1 + 2e-5
    with pytest.raises(AssertionError, match="times the bound"):
        check(wrong, a, b, "float32")


@pytest.mark.parametrize("a,b", [
    ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)),
    ((4, 2, 3), (3, 5)), ((2, 3), (4, 3, 5)), ((4, 2, 3), (4, 3, 5)), ((2, 1, 2, 3), (4, 3, 5)),
    ((1, 2, 3), (6, 3, 5)), ((2, 2, 2, 3), (2, 2, 3, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3)),
    ((2, 3), (3, 0)), ((0, 2, 3), (3, 5))])
def test_shapes_broadcast_as_in_numpy(device, rng, a, b):
    x, y = rng.random(a, np.float32), rng.random(b, np.float32)
    want = np.matmul(x, y)
    got = (wf.array(x) @ wf.array(y)).numpy()
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-5)
    if x.ndim > 1 and y.ndim > 1:
        got = (wf.array(x.swapaxes(-1, -2)).mT @ wf.array(y)).numpy()
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("a,b", [((2, 3), (4, 5)), ((3,), (4,)), ((2, 2, 3), (3, 3, 4)),
                                 ((), (3, 3))])
def test_shapes_that_numpy_refuses(device, a, b):
    with pytest.raises(ValueError):
        np.matmul(np.ones(a), np.ones(b))
    with pytest.raises(ValueError):
        wf.matmul(wf.ones(a), wf.ones(b))


def test_bias_activation_factors(device, rng):
    a, b = drawn(rng, (9, 20), "float32"), drawn(rng, (20, 6), "float32")
    bias, before = drawn(rng, (6,), "float32"), drawn(rng, (9, 6), "float32")
    da, db = wf.array(a, "f32"), wf.array(b, "f32")
    product = a @ b
    got = wf.matmul(da, db, bias=bias.astype(np.float32), activation="relu").numpy()
    np.testing.assert_allclose(got, np.maximum(product + bias, 0), atol=1e-5)
    gelu = product / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (product + 0.044715 * product**3)))
    np.testing.assert_allclose(wf.matmul(da, db, activation="gelu").numpy(), gelu, atol=1e-5)
    out = wf.array(before, "f32")
    assert wf.matmul(da, db, out, alpha=2, beta=-3) is out
    np.testing.assert_allclose(out.numpy(), 2 * product - 3 * before, atol=1e-5)
    got = wf.matmul(wf.array(a, "f16"), wf.array(b, "f16"), dtype="f32")
    assert got.dtype is wf.float32


def test_int8_wraps_around(device, rng):
    a = rng.integers(-128, 128, (5, 300)).astype(np.int8)
    b = rng.integers(-128, 128, (300, 7)).astype(np.int8)
    got = (wf.array(a) @ wf.array(b)).numpy()
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))


def test_host_operands(device, rng):
    a, b = rng.random((3, 4), np.float32), rng.random((4, 5), np.float32)
    assert isinstance(wf.matmul(a, b), np.ndarray)
    for left, right in [(wf.array(a), b), (a, wf.array(b))]:
        got = left @ right
        assert isinstance(got, wf.Array)
        np.testing.assert_allclose(got.numpy(), a @ b, rtol=1e-5)


def test_refusals(device):
    a, b = wf.ones((2, 3)), wf.ones((3, 2))
    with pytest.raises(TypeError, match="one type"):
        a @ wf.ones((3, 2), "f16")
    with pytest.raises(ValueError, match="activation"):
        wf.matmul(a, b, activation="tanh")
    with pytest.raises(ValueError, match="bias"):
        wf.matmul(a, b, bias=[1, 2, 3])
    with pytest.raises(ValueError, match="out is"):
        wf.matmul(a, b, wf.empty((3, 3)))
    with pytest.raises(ValueError, match="shares memory"):
        c = wf.ones((2, 2))
        wf.matmul(c, c, c)
    with pytest.raises(ValueError, match="must be given"):
        wf.matmul(a, b, beta=1)
    with pytest.raises(TypeError, match="int32"):
        wf.matmul(a, b, dtype="int32")
    with pytest.raises(ValueError, match="int8|I8|whole|gelu|not"):
        wf.matmul(wf.ones((2, 2), "i8"), wf.ones((2, 2), "i8"), alpha=0.5)


def test_the_log_s_words_are_the_exception(device):
    with pytest.raises(wf.InvalidArgumentError) as caught:
        wf.matmul(wf.ones((2, 2)), wf.ones((2, 2)), alpha=float("nan"))
    assert caught.value.code == -1 and "alpha" in str(caught.value)


def test_every_combination_of_options(device, rng):
    a = rng.random((2, 6, 8), np.float32)
    b = rng.random((2, 8, 4), np.float32)
    bias = rng.random(4, np.float32)
    for swap_a, swap_b, add, activation in itertools.product(
            (False, True), (False, True), (None, bias), (None, "relu")):
        da = wf.array(a.swapaxes(1, 2)).mT if swap_a else wf.array(a)
        db = wf.array(b.swapaxes(1, 2)).mT if swap_b else wf.array(b)
        want = a @ b + (0 if add is None else add)
        want = np.maximum(want - 3, 0) if activation else want
        got = wf.matmul(da, db, bias=add if not activation else
                        (-3 if add is None else add - 3) * np.ones(4, np.float32),
                        activation=activation)
        np.testing.assert_allclose(got.numpy(), want, atol=1e-4)
