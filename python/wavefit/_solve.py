"""Conjugate gradients and Laplace's equation."""

from __future__ import annotations

import html
from typing import Any, Callable, Optional, Tuple

import numpy as np

from ._array import Array, array
from ._device import Device, default_device
from ._dtypes import float16, float32, float64
from ._errors import Log, _keep
from ._native import ffi, lib
from ._sparse import SparseMatrix, csr

__all__ = ["SolveInfo", "cg", "laplace"]

_PRECONDITIONS = {None: lib.WF_PRECONDITION_NONE, "jacobi": lib.WF_PRECONDITION_JACOBI,
                  "block-jacobi": lib.WF_PRECONDITION_BLOCK_JACOBI}
_CG_WORDS = {lib.WF_CG_CONVERGED: "converged", lib.WF_CG_MAX_ITERATIONS: "iterations ended",
             lib.WF_CG_INDEFINITE: "the matrix is not positive definite",
             lib.WF_CG_NOT_FINITE: "a value was not finite",
             lib.WF_CG_BREAKDOWN: "the matrix is singular",
             lib.WF_CG_INACCURATE: "the true residual is larger than rounding explains"}
_LAPLACE_WORDS = {lib.WF_LAPLACE_CONVERGED: "converged",
                  lib.WF_LAPLACE_MAX_ITERATIONS: "iterations ended",
                  lib.WF_LAPLACE_STAGNATED: "rounding keeps the residual where it is",
                  lib.WF_LAPLACE_NOT_FINITE: "a value was not finite",
                  lib.WF_LAPLACE_CANCELLED: "stopped by a callback",
                  lib.WF_LAPLACE_INACCURATE: "the true residual is larger than rounding explains"}


class SolveInfo(int):
    """scipy's ``info``, an int: 0 when the tolerance was met, else the iterations made, or a
    negative number where the solve broke down. It also tells how the solve went.

    ``iterations``; ``residual`` (true, ``|b - A x| / |b|``); ``status`` in words; ``history`` (the
    relative residual after each iteration or check; empty unless ``history=True`` asked for it);
    ``seconds``, a dictionary of the stages of the solve.
    """

    iterations: int
    residual: float
    status: str
    history: "np.ndarray[Any, Any]"
    seconds: "dict[str, float]"

    def __new__(cls, info: int, iterations: int, residual: float, status: str,
                history: Any = (), seconds: "Optional[dict[str, float]]" = None) -> "SolveInfo":
        self = int.__new__(cls, info)
        self.iterations = iterations
        self.residual = residual
        self.status = status
        self.history = np.asarray(history, np.float64)
        self.seconds = seconds or {}
        return self

    def __reduce__(self) -> Any:
        return SolveInfo, (int(self), self.iterations, self.residual, self.status, self.history,
                           self.seconds)

    def _repr_html_(self) -> str:
        rows = [("info", int(self)), ("status", self.status), ("iterations", self.iterations),
                ("residual", f"{self.residual:.3g}")]
        rows += [(f"{k}, ms", f"{v * 1e3:.3f}") for k, v in self.seconds.items()]
        return "<table>" + "".join(f"<tr><td>{k}</td><td>{html.escape(str(v))}</td></tr>"
                                   for k, v in rows) + "</table>"

    def plot(self, ax: Any = None) -> Any:
        """Draws the history on matplotlib's axes, which it returns."""
        if ax is None:
            import matplotlib.pyplot
            ax = matplotlib.pyplot.subplots()[1]
        ax.semilogy(np.arange(1, len(self.history) + 1), self.history)
        ax.set_xlabel("iteration or check")
        ax.set_ylabel("relative residual")
        return ax


class _Watch:
    """What a solve tells on its way, and where an exception of the callback goes."""

    def __init__(self, log: Log, tell: Optional[Callable[[int, float], Any]]) -> None:
        self.log = log
        self.tell = tell
        self.stopped = False
        self.handle = ffi.new_handle(self)

    def progress(self, iterations: int, residual: float) -> bool:
        for _ in range(3):  # handlers of signals run between the steps of a loop
            pass
        if self.tell is not None and self.tell(iterations, residual) is False:
            self.stopped = True
        return not self.stopped


@ffi.def_extern(error=False, onerror=_keep(1))
def wavefit_cg_progress(user: Any, iterations: int, residual: float) -> bool:
    return ffi.from_handle(user).progress(iterations, residual)  # type: ignore[no-any-return]


@ffi.def_extern(error=False, onerror=_keep(1))
def wavefit_laplace_progress(user: Any, iterations: int, residual: float) -> bool:
    return ffi.from_handle(user).progress(iterations, residual)  # type: ignore[no-any-return]


def _stages(stages: Any) -> "dict[str, float]":
    return {name: getattr(stages, name)
            for name in ("analysis", "upload", "run", "download", "check")}


def _vector(b: Any, rows: int, of: "np.dtype[Any]", what: str) -> "np.ndarray[Any, Any]":
    host = b.numpy() if isinstance(b, Array) else np.asarray(b)
    if host.dtype.kind not in "biuf":
        raise TypeError(f"cg solves in real numbers, not {host.dtype}")
    if host.shape not in ((rows,), (rows, 1)):
        raise ValueError(f"cg: {what} has shape {host.shape}; the matrix has {rows} rows")
    return np.array(host.reshape(rows), of)


def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0,
       maxiter: Optional[int] = None, M: Any = None,
       callback: Optional[Callable[[Any], Any]] = None,
       progress: Optional[Callable[[int, float], Any]] = None, block: int = 0,
       mixed: bool = False, history: bool = False) -> Tuple[Any, SolveInfo]:
    """Solves ``A x = b`` for a symmetric positive definite matrix, as ``scipy.sparse.linalg.cg``
    does: it ends when ``|b - A x| <= max(rtol |b|, atol)`` or after ``maxiter`` iterations
    (10 rows), and returns ``(x, info)``.

    ``A`` is a matrix that ``wavefit.csr`` made or takes. The whole solve runs on the device.
    ``M`` is ``"jacobi"`` or ``"block-jacobi"`` (blocks of ``block`` rows); a matrix or operator
    that approximates the inverse, as scipy takes it, is applied on the host, and so is any ``A``
    that is an operator. ``callback(x)`` is called after each iteration as scipy does, which makes
    each one wait for the host; ``progress(iterations, residual)`` now and then, which does not, and
    ends the solve by returning False. ``mixed`` iterates in f32 and refines a float64 answer.

    >>> import numpy as np, scipy.sparse, wavefit
    >>> A = scipy.sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(100, 100)).tocsr()
    >>> x, info = wavefit.cg(A, np.ones(100), rtol=1e-10)
    >>> int(info), bool(np.allclose(A @ x, 1))
    (0, True)
    """
    if not hasattr(A, "tocsr") and not isinstance(A, (SparseMatrix, np.ndarray)) or \
            callback is not None or not (M is None or isinstance(M, str)):
        return _cg_on_host(A, b, x0, rtol, atol, maxiter, M, callback)
    if isinstance(M, str) and M not in _PRECONDITIONS:
        raise ValueError(f"M is {M!r}; it is None, 'jacobi', 'block-jacobi' or an operator")
    on_device = isinstance(b, Array)
    matrix = _matrix_of(A, b)
    rows = matrix.shape[0]
    if matrix.shape[1] != rows:
        raise ValueError(f"cg: the matrix is not square: {matrix.shape}")
    if matrix.value_type is float16:
        raise TypeError("cg solves in float32 or float64, not float16")
    of = matrix.vector_type.stored
    right = _vector(b, rows, of, "b")
    start = _start(x0, right, rows, M, matrix)
    if not right.any():  # x is known, wherever the start is
        start = np.zeros_like(right)
    residual = right - (matrix @ start if x0 is not None else 0)
    norm, goal = _norm(residual), max(rtol * _norm(right), atol)
    if not np.isfinite(norm):
        raise ValueError("cg: b or x0 is not finite")
    if norm <= goal:
        return _done(start, on_device, matrix.device), SolveInfo(0, 0, 0.0, "converged")
    made, info = _solve(matrix, residual, goal / norm, maxiter, M, progress, block, mixed, history)
    return _done(start + made, on_device, matrix.device), info


def _start(x0: Any, right: "np.ndarray[Any, Any]", rows: int, M: Any,
           operator: Any) -> "np.ndarray[Any, Any]":
    """The x to start from; scipy's "Mb" is the preconditioner's answer to b."""
    if x0 is None:
        return np.zeros_like(right)
    if isinstance(x0, str):
        if x0 != "Mb":
            raise ValueError(f"x0 is {x0!r}; it is None, 'Mb' or a vector")
        x0 = _preconditioner(M, operator)(right)
    return _vector(x0, rows, right.dtype, "x0")


def _matrix_of(A: Any, *vectors: Any) -> SparseMatrix:
    """A host matrix becomes one of the type that it and the vectors have in common, as in scipy;
    one of wavefit's keeps its own."""
    if isinstance(A, SparseMatrix):
        return A
    device = next((x.device for x in vectors if isinstance(x, Array)), None) or default_device()
    kinds = [A.dtype] + [x.dtype.numpy if isinstance(x, Array) else np.asarray(x).dtype
                         for x in vectors]
    common = np.result_type(*kinds)
    if common.kind != "f" or common.itemsize > 8:
        common = np.dtype(np.float64)
    if common.itemsize < 4 or (common.itemsize == 8 and not device._caps.f64):
        common = np.dtype(np.float32)
    if np.dtype(A.dtype).kind == "c":
        raise TypeError("cg solves in real numbers, not complex ones")
    return csr(A, dtype=common, device=device)


def _norm(x: "np.ndarray[Any, Any]") -> float:
    """|x|, also where the squares of the elements are beyond float64."""
    wide = x.astype(np.float64)
    largest = float(np.abs(wide).max(initial=0.0))
    if not 0 < largest < np.inf:
        return largest
    unit = 2.0 ** np.floor(np.log2(largest))
    return float(np.linalg.norm(wide / unit) * unit)


def _done(x: "np.ndarray[Any, Any]", on_device: bool, device: Device) -> Any:
    return array(x, device=device) if on_device else x


def _solve(matrix: SparseMatrix, right: "np.ndarray[Any, Any]", tolerance: float,
           maxiter: Optional[int], M: Optional[str], progress: Any, block: int, mixed: bool,
           history: bool) -> "Tuple[np.ndarray[Any, Any], SolveInfo]":
    device, rows = matrix.device, matrix.shape[0]
    most = min(10 * rows if maxiter is None else maxiter, (1 << 32) - 1)
    out = np.zeros_like(right)
    if most < 1:
        return out, SolveInfo(0, 0, 1.0, "iterations ended")
    if not matrix.nnz:
        raise ValueError("cg: the matrix has no elements")
    watch = _Watch(device._log, progress)
    kept = np.zeros(most if history else 0)
    stages = ffi.new("wf_solve_stages *", {"size": ffi.sizeof("wf_solve_stages")})
    params = ffi.new("wf_cg_params *", {
        "size": ffi.sizeof("wf_cg_params"), "precondition": _PRECONDITIONS[M],
        "tolerance": max(tolerance, 1e-300), "max_iterations": most, "block": block,
        "mixed": mixed, "progress": lib.wavefit_cg_progress, "user": watch.handle,
        "stages": stages})
    spmv = matrix._params(False, 0, 0, None)
    spmv.updatable = False
    params.matrix = spmv
    if history:
        params.history = ffi.cast("double *", kept.ctypes.data)
    result = ffi.new("wf_cg_result *")
    with device._lock:
        device._usable()
        code = lib.wf_cg_solve(device._handle, params, ffi.cast("void *", right.ctypes.data),
                               ffi.cast("void *", out.ctypes.data), result)
        if code == lib.WF_ERROR_CANCELLED and watch.stopped and device._log.raised is None:
            device._log.errors.clear()
            status, number = "stopped by progress", result.iterations
        else:
            device._log.check(code)
            status = _CG_WORDS[result.status]
            number = _number(result.status, result.iterations)
    return out, SolveInfo(number, result.iterations, result.true_residual or result.residual,
                          status, kept[:result.iterations], _stages(stages))


def _number(status: int, iterations: int) -> int:
    if status == lib.WF_CG_CONVERGED:
        return 0
    if status in (lib.WF_CG_MAX_ITERATIONS, lib.WF_CG_INACCURATE):
        return max(1, int(iterations))
    return -int(status)


def _cg_on_host(A: Any, b: Any, x0: Any, rtol: float, atol: float, maxiter: Optional[int],
                M: Any, callback: Any) -> Tuple[Any, SolveInfo]:
    """The method of Hestenes and Stiefel with vectors on the host, where others look at them: only
    products with a matrix of wavefit's run on the device."""
    from scipy.sparse.linalg import aslinearoperator
    on_device = isinstance(b, Array)
    host = hasattr(A, "tocsr") or isinstance(A, np.ndarray)
    operator = _matrix_of(A, b) if host else A if hasattr(A, "matvec") else aslinearoperator(A)
    rows = operator.shape[0]
    own = np.dtype(getattr(operator, "dtype", None) or np.float64)
    of = own if isinstance(operator, SparseMatrix) else \
        np.result_type(own, b.dtype.numpy if isinstance(b, Array) else np.asarray(b).dtype)
    of = of if of.kind == "f" and of.itemsize >= 4 else np.dtype(np.float64)
    right = _vector(b, rows, of, "b")
    x = _start(x0, right, rows, M, operator) if right.any() else np.zeros_like(right)
    solve = _preconditioner(M, operator)
    r = right - operator.matvec(x) if x0 is not None else right.copy()
    goal, norm = max(rtol * _norm(right), atol), _norm(right) or 1.0
    p, rho, done = np.zeros_like(r), 0.0, 0
    seen = [_norm(r)]
    most = 10 * rows if maxiter is None else maxiter
    while seen[-1] > goal and done < most:
        z = solve(r)
        rho, before = float(np.dot(r, z)), rho
        p = z + (rho / before) * p if done else z.copy()
        q = operator.matvec(p)
        curvature = float(np.dot(p, q))
        if curvature == 0:
            return x, SolveInfo(-lib.WF_CG_BREAKDOWN, done, seen[-1] / norm, "breakdown")
        x += (rho / curvature) * p
        r -= (rho / curvature) * q
        done += 1
        seen.append(_norm(r))
        if callback is not None:
            callback(x)
    met = seen[-1] <= goal
    info = SolveInfo(0 if met else done, done, seen[-1] / norm,
                     "converged" if met else "iterations ended", np.array(seen[1:]) / norm)
    if on_device:
        return array(x, device=b.device), info
    return x, info


def _preconditioner(M: Any, operator: Any) -> Callable[[Any], Any]:
    if M is None:
        return lambda r: r
    if isinstance(M, str):
        if M != "jacobi" or not hasattr(operator, "diagonal"):
            raise ValueError(f"M is {M!r}: with a callback or an operator, M is None, 'jacobi' of "
                             "a matrix of wavefit's, or an operator")
        diagonal = operator.diagonal()
        return lambda r: r / diagonal
    from scipy.sparse.linalg import aslinearoperator
    return aslinearoperator(M).matvec  # type: ignore[no-any-return]


def laplace(u: Any, *, rtol: float = 0.0, atol: float = 0.0, maxiter: Optional[int] = None,
            method: str = "sor", omega: float = 0.0,
            callback: Optional[Callable[[Any], Any]] = None,
            progress: Optional[Callable[[int, float], Any]] = None,
            history: bool = False, device: Optional[Device] = None) -> Tuple[Any, SolveInfo]:
    """Solves Laplace's equation on a grid whose outer cells keep their values: each inner cell
    becomes the mean of its four neighbours. ``u`` is a matrix of float32 or float64; its inner
    cells are where the solve starts. Returns ``(u, info)``.

    With r of a cell the sum of its neighbours less four times itself, and b what the border adds to
    these sums, the solve ends when ``|r| <= max(rtol |b|, atol)`` (both 0: rtol is 1e-4 in float32,
    1e-10 in float64) or after ``maxiter`` iterations. ``method`` is ``"sor"`` or ``"jacobi"``.
    ``callback(u)`` is called after each iteration with the grid on the host, which each one then
    waits for; ``progress(iterations, residual)`` after some of the checks, and ends the solve by
    returning False.

    >>> import numpy as np, wavefit
    >>> u = np.zeros((5, 5), np.float32); u[0] = 1
    >>> solution, info = wavefit.laplace(u)
    >>> int(info), round(float(solution[2, 2]), 3)
    (0, 0.25)
    """
    methods = {"sor": lib.WF_LAPLACE_SOR, "jacobi": lib.WF_LAPLACE_JACOBI}
    if method not in methods:
        raise ValueError(f"method is {method!r}; it is 'sor' or 'jacobi'")
    if maxiter is not None and maxiter < 1:
        raise ValueError(f"maxiter is {maxiter}; laplace makes one iteration or more")
    on_device = isinstance(u, Array)
    device = u.device if isinstance(u, Array) else device or default_device()
    given = u.numpy() if isinstance(u, Array) else np.asarray(u)
    of = float32 if given.dtype == np.float32 else float64
    if given.dtype.kind not in "biuf" or given.ndim != 2:
        raise TypeError("laplace takes a matrix of float32 or float64")
    cells = np.array(given, of.stored, order="C")
    if atol > 0:
        rtol = max(rtol, min(atol / (_border_norm(cells) or 1.0), 0.5))
    options = {"type": of.code, "method": methods[method], "tolerance": rtol, "omega": omega}
    if callback is None:
        info = _relax(device, cells, progress, history, {**options, "max_iterations": maxiter or 0})
    else:
        info = _relax_each(device, cells, callback, progress, maxiter or 10000000, options)
    return _done(cells, on_device, device), info


def _border_norm(cells: "np.ndarray[Any, Any]") -> float:
    """|b|: what the border's values add to the inner cells' sums."""
    b = np.zeros([max(n - 2, 0) for n in cells.shape])
    if b.size:
        b[0] += cells[0, 1:-1]
        b[-1] += cells[-1, 1:-1]
        b[:, 0] += cells[1:-1, 0]
        b[:, -1] += cells[1:-1, -1]
    return float(np.linalg.norm(b))


def _relax(device: Device, cells: "np.ndarray[Any, Any]", progress: Any, history: bool,
           options: "dict[str, Any]") -> SolveInfo:
    """One solve, in place."""
    watch = _Watch(device._log, progress)
    kept = np.zeros(65536 if history else 0)
    stages = ffi.new("wf_solve_stages *", {"size": ffi.sizeof("wf_solve_stages")})
    params = ffi.new("wf_laplace_params *", {
        "size": ffi.sizeof("wf_laplace_params"), "nx": cells.shape[1], "ny": cells.shape[0],
        "history_room": len(kept), "stages": stages, "progress": lib.wavefit_laplace_progress,
        "user": watch.handle, **options})
    if history:
        params.history = ffi.cast("double *", kept.ctypes.data)
    result = ffi.new("wf_laplace_result *", {"size": ffi.sizeof("wf_laplace_result")})
    with device._lock:
        device._usable()
        code = lib.wf_laplace_solve(device._handle, params,
                                    ffi.cast("void *", cells.ctypes.data), result)
        if code == lib.WF_ERROR_CANCELLED and watch.stopped and device._log.raised is None:
            device._log.errors.clear()
        else:
            device._log.check(code)
    met = result.status == lib.WF_LAPLACE_CONVERGED
    number = 0 if met else -result.status if result.status == lib.WF_LAPLACE_NOT_FINITE else \
        max(1, result.iterations)
    return SolveInfo(number, result.iterations, result.true_residual, _LAPLACE_WORDS[result.status],
                     kept[:min(result.checks, len(kept))], _stages(stages))


def _relax_each(device: Device, cells: "np.ndarray[Any, Any]", callback: Callable[[Any], Any],
                progress: Any, most: int, options: "dict[str, Any]") -> SolveInfo:
    """One iteration at a time, each of which begins with what the one before left."""
    seen, going = [], True
    while going:
        before = cells.copy()
        step = _relax(device, cells, None, False,
                      {**options, "max_iterations": 1, "check_every": 1})
        seen.append(step.residual)
        stuck = int(step) > 0 and np.array_equal(cells, before)
        callback(cells)
        told = progress is not None and progress(len(seen), step.residual) is False
        going = int(step) > 0 and not stuck and not told and len(seen) < most
    status = _LAPLACE_WORDS[lib.WF_LAPLACE_STAGNATED] if stuck else \
        _LAPLACE_WORDS[lib.WF_LAPLACE_CANCELLED] if told and int(step) > 0 else step.status
    number = len(seen) if int(step) > 0 else int(step)
    return SolveInfo(number, len(seen), step.residual, status, seen)
