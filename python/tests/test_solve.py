"""Conjugate gradients against scipy, Laplace's equation against a direct solver."""

import copy
import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import wavefit as wf


def poisson(n, of=np.float64):
    one = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
    return (sp.kron(one, sp.eye(n)) + sp.kron(sp.eye(n), one)).tocsr().astype(of)


@pytest.mark.parametrize("M", [None, "jacobi", "block-jacobi"])
def test_cg_solves(device, rng, M):
    A = poisson(12)
    b = rng.random(A.shape[0])
    x, info = wf.cg(A, b, rtol=1e-9, M=M, history=True)
    assert info == 0 and info.status == "converged" and info.iterations > 5
    assert len(info.history) == info.iterations and info.history[-1] <= 1e-9
    assert np.linalg.norm(A @ x - b) <= 1.1e-9 * np.linalg.norm(b)
    np.testing.assert_allclose(x, spla.spsolve(A.tocsc(), b), rtol=1e-6)


def test_criterion_is_scipy_s(device, rng):
    A = poisson(10)
    b, x0 = rng.random(100), rng.random(100)
    for rtol, atol in [(1e-3, 0), (0, 1e-2), (1e-6, 1e-4), (1e-2, 1e-5)]:
        x, info = wf.cg(A, b, x0, rtol=rtol, atol=atol)
        goal = max(rtol * np.linalg.norm(b), atol)
        assert info == 0
        assert np.linalg.norm(b - A @ x) <= goal * 1.001
    exact = spla.spsolve(A.tocsc(), b)
    x, info = wf.cg(A, b, exact, rtol=1e-6)
    assert info == 0 and info.iterations == 0
    np.testing.assert_array_equal(x, exact)


def test_cg_in_every_way(device, rng):
    A = poisson(8)
    b = rng.random(64)
    want = spla.spsolve(A.tocsc(), b)
    for given in (A, wf.csr(A), A.toarray(), spla.aslinearoperator(A),
                  wf.csr(A).linear_operator()):
        x, info = wf.cg(given, b, rtol=1e-10)
        assert info == 0
        np.testing.assert_allclose(x, want, rtol=1e-7)
    x, info = wf.cg(A, wf.array(b), rtol=1e-10)
    assert isinstance(x, wf.Array)
    np.testing.assert_allclose(x.numpy(), want, rtol=1e-7)
    x, info = wf.cg(A, b.reshape(-1, 1), rtol=1e-10)
    np.testing.assert_allclose(x, want, rtol=1e-7)
    x, info = wf.cg(A.astype(np.float32), b)  # as in scipy
    assert x.dtype == np.float64
    x, info = wf.cg(A.astype(np.float32), b.astype(np.float32), rtol=1e-4)
    assert x.dtype == np.float32
    np.testing.assert_allclose(x, want, rtol=1e-2)
    x, info = wf.cg(A, b, rtol=1e-10, mixed=True)
    assert info == 0
    np.testing.assert_allclose(x, want, rtol=1e-7)


def test_callback_is_called_as_scipy_calls_it(device, rng):
    A, b = poisson(6), rng.random(36)
    ours, theirs = [], []
    x, info = wf.cg(A, b, rtol=1e-8, callback=lambda x: ours.append(x.copy()))
    try:
        spla.cg(A, b, rtol=1e-8, callback=lambda x: theirs.append(x.copy()))
    except TypeError:  # before scipy 1.12
        spla.cg(A, b, tol=1e-8, atol=0, callback=lambda x: theirs.append(x.copy()))
    assert info == 0 and abs(len(ours) - len(theirs)) <= 1
    for mine, other in list(zip(ours, theirs))[:-2]:
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-9)
    M = spla.LinearOperator((36, 36), matvec=lambda r: r / 4)
    x, info = wf.cg(A, b, rtol=1e-8, M=M)
    assert info == 0
    np.testing.assert_allclose(A @ x, b, atol=1e-6)


def both(A, b, **options):
    """(x, info, x after each iteration) of wavefit's cg and of scipy's."""
    ours, theirs, old = [], [], dict(options, atol=options.get("atol", 0.0))
    x, info = wf.cg(A, b, callback=lambda x: ours.append(x.copy()), **options)
    keep = lambda x: theirs.append(np.array(x))  # noqa: E731
    if "tol" in inspect.signature(spla.cg).parameters:  # before scipy 1.14
        old["tol"] = old.pop("rtol", 1e-5)
    y, told = spla.cg(A, b, callback=keep, **old)
    return (x, info, ours), (y, told, theirs)


def test_every_argument_of_scipy_s_cg(device, rng):
    A, b = poisson(7), rng.random(49)
    taken = set(inspect.signature(spla.cg).parameters) - {"tol"}  # gone since scipy 1.14
    assert taken <= set(inspect.signature(wf.cg).parameters)
    inverse = sp.diags(1 / (A.diagonal() + rng.random(49)))
    x0 = rng.random(49)
    for options in ({}, {"rtol": 1e-9}, {"rtol": 0.0, "atol": 1e-3}, {"maxiter": 4}, {"x0": x0},
                    {"M": inverse}, {"M": inverse.toarray()}, {"M": spla.aslinearoperator(inverse)},
                    {"x0": x0.reshape(-1, 1), "M": inverse, "rtol": 1e-8, "maxiter": 30}):
        for given in (A, A.tocoo(), A.toarray(), spla.aslinearoperator(A)):
            before = x0.copy()
            (x, info, ours), (y, told, theirs) = both(given, b, **options)
            assert x.shape == y.shape and (info == 0) == (told == 0), options
            assert abs(len(ours) - len(theirs)) <= (0 if "maxiter" in options else 1), options
            for mine, other in zip(ours[:4], theirs):
                np.testing.assert_allclose(mine.reshape(-1), other.reshape(-1), rtol=1e-9,
                                           atol=1e-12)
            np.testing.assert_array_equal(x0, before)
    for wrong in ({"b": np.ones(48)}, {"b": b, "x0": np.ones(48)}, {"b": np.ones((49, 2))}):
        for solve in (wf.cg, spla.cg):
            with pytest.raises(ValueError):
                solve(A, **wrong)


def test_how_a_solve_ends(device, rng):
    A, b = poisson(10), rng.random(100)
    x, info = wf.cg(A, b, rtol=1e-12, maxiter=3)
    assert info == 3 and info.iterations == 3 and np.isfinite(x).all()
    x, info = wf.cg(A, np.zeros(100))
    assert info == 0 and not x.any()
    x, info = wf.cg(A, np.zeros(100), rng.random(100))
    assert info == 0 and not x.any()
    x, info = wf.cg(A, b, x0="Mb", maxiter=0)
    assert info == 0 and (x == b).all()
    with pytest.raises(ValueError, match="x0 is"):
        wf.cg(A, b, x0="zero")
    x, info = wf.cg(-A, b)
    assert info < 0 and "positive definite" in info.status
    seen = []

    def stop(iterations, residual):
        seen.append((iterations, residual))
        return False

    x, info = wf.cg(A, b, rtol=1e-14, progress=stop, maxiter=100000)
    assert len(seen) <= 1
    with pytest.raises(ZeroDivisionError):
        wf.cg(poisson(60), rng.random(3600), rtol=1e-13, progress=lambda *_: 1 // 0)
    with pytest.raises(ValueError, match="square"):
        wf.cg(sp.csr_matrix((3, 4)), np.ones(3))
    with pytest.raises(ValueError, match="rows"):
        wf.cg(A, np.ones(3))
    with pytest.raises(ValueError, match="finite"):
        wf.cg(A, np.full(100, np.nan))
    with pytest.raises(ValueError, match="M is"):
        wf.cg(A, b, M="ilu")


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e200, 1e300])
def test_cg_of_any_size(device, rng, size):
    """The squares of b's elements are beyond float64."""
    A, b = poisson(10), rng.random(100)
    x, info = wf.cg(A, b * size, rtol=1e-10)
    assert info == 0 and info.residual < 1e-9
    np.testing.assert_allclose(A @ (x / size), b, rtol=1e-7)


def test_info_travels(device, rng):
    info = wf.cg(poisson(10), rng.random(100), history=True)[1]
    for made in (copy.deepcopy(info), pickle.loads(pickle.dumps(info))):
        assert made == info and vars(made).keys() == vars(info).keys()
        assert made.status == info.status and made.seconds == info.seconds
        np.testing.assert_array_equal(made.history, info.history)


def border(n, of):
    u = np.zeros((n, n + 3), of)
    u[0], u[:, 0], u[-1] = 1, 0.5, np.linspace(-1, 1, n + 3)
    return u


@pytest.mark.parametrize("of,method", [(np.float64, "sor"), (np.float32, "sor"),
                                       (np.float64, "jacobi")])
def test_laplace(device, of, method):
    u = border(14, of)
    got, info = wf.laplace(u, method=method, history=True)
    assert info == 0 and len(info.history) and got.dtype == of
    inner = got[1:-1, 1:-1]
    mean = (got[:-2, 1:-1] + got[2:, 1:-1] + got[1:-1, :-2] + got[1:-1, 2:]) / 4
    np.testing.assert_allclose(inner, mean, atol=1e-4 if of is np.float32 else 1e-9)
    for edge in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
        np.testing.assert_array_equal(got[edge], u[edge])
    same, _ = wf.laplace(wf.array(u), method=method)
    np.testing.assert_array_equal(same.numpy(), got)


def residual(u):
    return np.linalg.norm(u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] -
                          4 * u[1:-1, 1:-1])


@pytest.mark.parametrize("method", ["sor", "jacobi"])
def test_laplace_calls_back_after_each_iteration(device, method):
    u, seen, told = border(9, np.float64), [], []
    want, _ = wf.laplace(u, method=method, rtol=1e-12)
    got, info = wf.laplace(u, method=method, rtol=1e-9, callback=lambda x: seen.append(x.copy()),
                           progress=lambda *what: told.append(what))
    assert info == 0 and info.status == "converged" and len(seen) == info.iterations > 5
    np.testing.assert_array_equal(seen[-1], got)
    np.testing.assert_allclose(got, want, atol=1e-8)
    assert [residual(x) for x in seen[:3]] == sorted((residual(x) for x in seen[:3]), reverse=True)
    assert [n for n, _ in told] == list(range(1, len(seen) + 1))
    np.testing.assert_array_equal([r for _, r in told], info.history)
    x, info = wf.laplace(u, method=method, callback=lambda x: None, maxiter=3)
    assert info == 3 and info.iterations == 3
    np.testing.assert_array_equal(x, seen[2])
    x, info = wf.laplace(u, callback=lambda x: None, progress=lambda *_: False)
    assert info == 1 and info.status == "stopped by a callback"
    with pytest.raises(ZeroDivisionError):
        wf.laplace(u, callback=lambda x: 1 // 0)


def test_laplace_ends_at_scipy_s_criterion(device):
    u = border(20, np.float64)
    norm = wf._solve._border_norm(u)
    sums = residual(np.where(np.pad(np.ones([n - 2 for n in u.shape], bool), 1), 0, u))
    assert norm == pytest.approx(sums)  # with zeros inside, r is what the border adds
    for rtol, atol in [(1e-3, 0), (0, 1e-2), (1e-9, 1e-4), (1e-4, 1e-9)]:
        x, info = wf.laplace(u, rtol=rtol, atol=atol)
        goal = max(rtol * norm, atol)
        assert info == 0 and 1e-6 * goal < residual(x) <= goal * 1.001


def test_laplace_ends(device):
    _, info = wf.laplace(border(40, np.float64), maxiter=1, rtol=1e-12)
    assert info > 0
    with pytest.raises(ValueError, match="maxiter"):
        wf.laplace(np.zeros((4, 4)), maxiter=0)
    with pytest.raises(ValueError, match="method"):
        wf.laplace(np.zeros((4, 4)), method="newton")
    with pytest.raises(TypeError, match="matrix"):
        wf.laplace(np.zeros(4))
    with pytest.raises(wf.InvalidArgumentError):
        wf.laplace(np.zeros((2, 2)))
