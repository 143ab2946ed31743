"""Vectors: sums of products and updates in place."""

from __future__ import annotations

from typing import Any

from ._array import Array
from ._dtypes import float32, float64
from ._native import ffi, lib

__all__ = ["axpy", "dot"]


def _check(x: Any, y: Any, what: str) -> None:
    if not isinstance(x, Array) or not isinstance(y, Array):
        raise TypeError(f"{what} takes two device arrays; wavefit.array makes them")
    if x.device is not y.device:
        raise ValueError(f"{what}: the arrays are on different devices")
    if x.dtype is not y.dtype or x.dtype not in (float32, float64):
        raise TypeError(f"{what} takes two arrays of float32 or of float64, not {x.dtype.name} "
                        f"and {y.dtype.name}")
    if x.shape != y.shape or x._swapped != y._swapped:
        raise ValueError(f"{what}: shapes {x.shape} and {y.shape} differ, or one is transposed")


def _plan(x: Array, operation: int, alpha: float) -> Any:
    def make(out: Any) -> int:
        params = ffi.new("wf_vector_params *", {
            "size": ffi.sizeof("wf_vector_params"), "operation": operation, "count": x.size,
            "type": x.dtype.code, "alpha": alpha})
        return int(lib.wf_vector_plan(x.device._handle, params, out))

    return x.device._plan(("vector", operation, x.size, x.dtype.code, alpha), make)


def axpy(alpha: float, x: Array, y: Array) -> Array:
    """Adds ``alpha * x`` to ``y`` in place and returns ``y``; queued.

    >>> import wavefit
    >>> x, y = wavefit.array([1, 2], "f32"), wavefit.array([10, 20], "f32")
    >>> wavefit.axpy(3, x, y).numpy()
    array([13., 26.], dtype=float32)
    """
    _check(x, y, "axpy")
    if alpha and x.size:
        if x._storage is y._storage:
            raise ValueError("axpy: x and y share memory")
        _plan(x, lib.WF_VECTOR_AXPY, float(alpha)).run(x._storage, x._offset, y._storage,
                                                       y._offset)
    return y


def dot(x: Array, y: Array) -> Array:
    """The sum of products of all elements, as an array of no dimensions; queued.

    >>> import wavefit
    >>> x = wavefit.array([1, 2, 3], "f32")
    >>> wavefit.dot(x, x).item()
    14.0
    """
    _check(x, y, "dot")
    out = Array(x.device, (), x.dtype, x.device._take_answer(x.dtype.itemsize))
    if x.size:
        _plan(x, lib.WF_VECTOR_DOT, 1.0).run(x._storage, x._offset, y._storage, y._offset,
                                             out._storage, 0)
    else:
        out.write(0)
    return out
