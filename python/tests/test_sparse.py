"""Sparse products against scipy over drawn matrices."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import wavefit as wf


def drawn(rng, rows, columns, of=np.float64, density=0.1):
    return sp.random(rows, columns, density, "csr", of, random_state=int(rng.integers(1 << 30)))


@pytest.mark.parametrize("of,tolerance", [(np.float32, 2e-6), (np.float64, 1e-14)])
def test_drawn_products(device, rng, of, tolerance):
    for _ in range(8):
        rows, columns = (int(n) for n in rng.integers(1, 400, 2))
        S = drawn(rng, rows, columns, of, rng.uniform(0.01, 0.3))
        A = wf.csr(S)
        x, y = rng.random(columns).astype(of), rng.random(rows).astype(of)
        for got, want in [(A @ x, S @ x), (A.T @ y, S.T @ y), (y @ A, y @ S),
                          ((A @ wf.array(x)).numpy(), S @ x)]:
            assert got.dtype == of
            np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * (1 + abs(want).max()))


@pytest.mark.parametrize("vectors", [1, 2, 5, 32, 33, 70])
def test_many_vectors(device, rng, vectors):
    S = drawn(rng, 90, 60)
    A, X, Y = wf.csr(S), rng.random((60, vectors)), rng.random((90, vectors))
    np.testing.assert_allclose(A @ X, S @ X, atol=1e-13)
    np.testing.assert_allclose(A.T @ Y, S.T @ Y, atol=1e-13)
    np.testing.assert_allclose((A @ wf.array(X)).numpy(), S @ X, atol=1e-13)
    np.testing.assert_allclose((A @ wf.array(X.T).T).numpy(), S @ X, atol=1e-13)


def test_many_vectors_are_read_together_on_lavapipe(device, rng):
    """There the kernels that read the matrix once for each vector are several times slower."""
    if not device.info.name.startswith("llvmpipe"):
        pytest.skip("the device is not lavapipe")
    A = wf.csr(drawn(rng, 200, 200))
    for vectors, columns in [(2, 2), (3, 4), (16, 16), (32, 32)]:
        e = wf.explain(A.multiply, wf.ones((200, vectors), "f64"), budget=0.01, show=False)
        assert (e["variant"], e["constants"]["columns"]) == ("row_many", columns)


def test_formats_and_types(device, rng):
    S = drawn(rng, 20, 30)
    x = rng.random(30)
    for form in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        np.testing.assert_allclose(wf.csr(S.asformat(form)) @ x, S @ x, atol=1e-14)
    np.testing.assert_allclose(wf.csr(S.toarray()) @ x, S @ x, atol=1e-14)
    np.testing.assert_allclose(wf.csr((S.data, S.indices, S.indptr), S.shape) @ x, S @ x,
                               atol=1e-14)
    whole = sp.csr_matrix(np.arange(6).reshape(2, 3))
    assert (wf.csr(whole) @ np.ones(3)).tolist() == [3.0, 12.0]
    half = wf.csr(S, dtype="f16")
    assert half.vector_type is wf.float32
    np.testing.assert_allclose(half @ x, S @ x, rtol=2e-3, atol=1e-3)
    double = sp.csr_matrix((np.ones(4), [0, 0, 1, 1], [0, 2, 4]), (2, 2))
    assert (wf.csr(double) @ np.ones(2)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (4, 5), (0, 0)])
def test_nothing_in_it(device, shape):
    S = sp.csr_matrix(shape)
    A = wf.csr(S)
    np.testing.assert_array_equal(A @ np.ones(shape[1]), S @ np.ones(shape[1]))
    np.testing.assert_array_equal(A.T @ np.ones(shape[0]), S.T @ np.ones(shape[0]))
    np.testing.assert_array_equal(A @ np.ones((shape[1], 3)), S @ np.ones((shape[1], 3)))


@pytest.mark.parametrize("updatable", [False, True])
def test_updates(device, rng, updatable):
    S = drawn(rng, 50, 40)
    A, x, y = wf.csr(S, updatable=updatable), rng.random(40), rng.random(50)
    for _ in range(3):
        S.data = rng.random(S.nnz)
        assert A.update(S.data) is A
        np.testing.assert_allclose(A @ x, S @ x, atol=1e-13)
        np.testing.assert_allclose(A.T @ y, S.T @ y, atol=1e-13)
    np.testing.assert_allclose(A.scipy().toarray(), S.toarray())
    with pytest.raises(ValueError, match="pattern"):
        A.update(np.ones(S.nnz + 1))


def test_factors_and_out(device, rng):
    S = drawn(rng, 30, 30)
    A, x, y = wf.csr(S), rng.random(30), rng.random(30)
    dx, dy = wf.array(x), wf.array(y)
    for alpha, beta in [(2, 0), (1, 1), (-0.5, 3)]:
        before = dy.numpy()
        assert A.multiply(dx, dy, alpha=alpha, beta=beta) is dy
        np.testing.assert_allclose(dy.numpy(), alpha * (S @ x) + beta * before, atol=1e-12)


def test_scipy_takes_it_as_an_operator(device, rng):
    S = drawn(rng, 40, 40) + 10 * sp.eye(40)
    S = (S + S.T).tocsr()
    A, b = wf.csr(S), rng.random(40)
    for operator in (spla.aslinearoperator(A), A.linear_operator()):
        np.testing.assert_allclose(operator @ b, S @ b, atol=1e-12)
        np.testing.assert_allclose(operator.T @ b, S.T @ b, atol=1e-12)
        np.testing.assert_allclose(operator @ b.reshape(-1, 1), S @ b.reshape(-1, 1), atol=1e-12)
        np.testing.assert_allclose(operator @ np.eye(40), S.toarray(), atol=1e-12)
    x, info = spla.minres(A.linear_operator(), b)
    assert info == 0
    np.testing.assert_allclose(S @ x, b, atol=1e-4)
    values = spla.eigsh(A.linear_operator(), 2, return_eigenvectors=False)
    np.testing.assert_allclose(values, spla.eigsh(S, 2, return_eigenvectors=False), rtol=1e-9)


def test_refusals(device):
    A = wf.csr(np.eye(3))
    with pytest.raises(ValueError, match="does not fit"):
        A @ np.ones(4)
    with pytest.raises(ValueError, match="does not fit"):
        A @ np.ones((3, 1, 1))
    with pytest.raises(TypeError, match="takes x of float64"):
        A @ wf.ones(3)
    with pytest.raises(TypeError, match="real"):
        A @ np.ones(3, complex)
    with pytest.raises(TypeError):
        wf.csr(sp.eye(3, dtype=complex))
    with pytest.raises(ValueError, match="column indices"):
        wf.csr((np.ones(1), [3], [0, 1]), (1, 3))
    with pytest.raises(TypeError, match="column indices are integers"):
        wf.csr((np.ones(1), [0.7], [0, 1]), (1, 3))
    with pytest.raises(ValueError, match="negative size"):
        wf.csr(([], [], [0]), (0, -1))
    with pytest.raises(TypeError, match="real"):
        wf.csr(np.eye(3)).update(np.ones(3, complex))
    with pytest.raises(ValueError, match="no matrix"):
        wf.csr((np.ones(2), [0, 1], [0, 2, 1]), (2, 2))
    with pytest.raises(ValueError, match="shape"):
        wf.csr((np.ones(1), [0], [0, 1]))
    x = wf.ones(3, "f64")
    with pytest.raises(ValueError, match="shares memory"):
        A.multiply(x, x)


def test_lists_on_the_left(device):
    A = wf.csr([[1.0, 2.0], [3.0, 4.0]])
    assert ([1, 10] @ A).tolist() == [31, 42] and ([1, 10] @ A.T).tolist() == [21, 43]
    assert ([[1, 10]] @ A).tolist() == [[31, 42]] and ([[1, 10]] @ A.T).tolist() == [[21, 43]]


def test_copies_and_pickles(device, rng):
    S = drawn(rng, 30, 40, np.float32)
    A, x = wf.csr(S, updatable=True), np.ones(40, np.float32)
    for made in (copy.copy(A), copy.deepcopy(A), pickle.loads(pickle.dumps(A))):
        assert made.value_type is wf.float32
        np.testing.assert_allclose(made @ x, S @ x, rtol=1e-5)
        made.update(S.data * 2)
        np.testing.assert_allclose(A @ x, S @ x, rtol=1e-5)
