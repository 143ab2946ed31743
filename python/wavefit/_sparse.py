"""Sparse matrices."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional, Sequence, Tuple, Union, overload

import numpy as np

from ._array import Array, array
from ._device import Device, Plan, default_device
from ._dtypes import DType, dtype as as_dtype, float16, float32, float64
from ._native import ffi, lib

__all__ = ["SparseMatrix", "csr"]

_MOST_VECTORS = 32
_MOST_ANSWER = 1 << 16  # bytes; rows may be stored one by one, and each then crosses a card's bus


class SparseMatrix:
    """A sparse matrix on the device; ``wavefit.csr`` makes one.

    ``A @ x`` and ``A.T @ x`` take vectors and matrices: device arrays, whose products are queued
    and stay on the device, or host arrays, whose products come back as host arrays. The matrix is
    analysed and converted at the first product of each kind. Where the C library makes a new plan
    (another number of columns of x, the transpose, other factors) it is converted once more.
    """

    _wavefit_matrix = True
    __array_ufunc__ = None

    def __init__(self, offsets: "np.ndarray[Any, Any]", columns: "np.ndarray[Any, Any]",
                 values: "np.ndarray[Any, Any]", shape: Tuple[int, int], of: DType,
                 device: Device, updatable: bool) -> None:
        self.device = device
        self.shape = shape
        self._of = of
        self._offsets, self._columns, self._values = offsets, columns, values
        self._updatable = updatable
        self._made: Dict[Tuple[Any, ...], Plan] = {}

    # ------------------------------------------------------------------------------ what it is

    @property
    def nnz(self) -> int:
        """Stored elements."""
        return len(self._columns)

    @property
    def ndim(self) -> int:
        return 2

    @property
    def value_type(self) -> DType:
        """The type of the matrix's values; float16 values are multiplied with float32 vectors."""
        return self._of

    @property
    def vector_type(self) -> DType:
        """The type of x and of the products."""
        return float64 if self._of is float64 else float32

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The products' type for NumPy, as scipy's LinearOperator has it."""
        return self.vector_type.stored

    @property
    def T(self) -> "TransposedMatrix":
        """The transposed matrix: ``A.T @ x``."""
        return TransposedMatrix(self)

    @property
    def H(self) -> "TransposedMatrix":
        """The same: the matrix is real."""
        return TransposedMatrix(self)

    def transpose(self) -> "TransposedMatrix":
        return self.T

    def scipy(self) -> Any:
        """A ``scipy.sparse.csr_matrix`` of it."""
        from scipy.sparse import csr_matrix
        return csr_matrix((self._values, self._columns.astype(np.int64),
                           self._offsets.astype(np.int64)), shape=self.shape)

    def diagonal(self) -> "np.ndarray[Any, Any]":
        return self.scipy().diagonal()  # type: ignore[no-any-return]

    # -------------------------------------------------------------------------------- products

    def _params(self, transpose: bool, vectors: int, stride: int, factors: Optional[Any]) -> Any:
        return ffi.new("wf_spmv_params *", {
            "size": ffi.sizeof("wf_spmv_params"), "rows": self.shape[0],
            "columns": self.shape[1],
            "row_offsets": ffi.cast("uint32_t *", self._offsets.ctypes.data),
            "column_indices": ffi.cast("uint32_t *", self._columns.ctypes.data),
            "values": ffi.cast("void *", self._values.ctypes.data), "type": self._of.code,
            "transpose": transpose, "updatable": self._updatable, "vectors": vectors,
            "x_stride": stride, "y_stride": stride,
            "alpha": ffi.NULL if factors is None else factors[0],
            "beta": 0.0 if factors is None else factors[1]})

    def _plan(self, transpose: bool, vectors: int, stride: int, scaled: bool) -> Plan:
        key = (transpose, vectors, stride, scaled)
        plan = self._made.get(key)
        if plan is None:
            # Factors other than these make a plan that any factors can be given to later.
            factors = (ffi.new("double *", 2.0), 1.0) if scaled else None
            params = self._params(transpose, vectors, stride, factors)
            plan = self.device._make_plan(
                lambda out: int(lib.wf_spmv_plan(self.device._handle, params, out)))
            plan.factors = (1.0, 0.0) if not scaled else (2.0, 1.0)
            self._made[key] = plan
        return plan

    def _run(self, plan: Plan, x: Array, x_offset: int, out: Array, out_offset: int, alpha: float,
             beta: float) -> None:
        """A product with factors, which another thread must not change in between."""
        with self.device._lock:
            if plan.factors != (alpha, beta):
                self.device._usable()
                self.device._log.check(lib.wf_spmv_scale(plan.handle, alpha, beta))
                plan.factors = (alpha, beta)
            plan.run(x._storage, x_offset, out._storage, out_offset)

    def _apply(self, transpose: bool, x: Array, out: Optional[Array], alpha: float,
               beta: float, for_host: bool = False) -> Array:
        rows, columns = self.shape[::-1] if transpose else self.shape
        of = self.vector_type
        if x.device is not self.device:
            raise ValueError("the matrix and x are on different devices")
        if x.dtype is not of:
            raise TypeError(f"a matrix of {self._of.name} takes x of {of.name}, not "
                            f"{x.dtype.name}")
        shape = x.shape
        if not 1 <= len(shape) <= 2 or shape[0] != columns:
            raise ValueError(f"a matrix of shape {(rows, columns)} does not fit x of {shape}")
        if x._swapped:
            x = array(x)
        made = shape[1:] and (rows, shape[1]) or (rows,)
        if out is None:
            if beta:
                raise ValueError("beta adds to out, which must be given")
            size, device = math.prod(made) * of.itemsize, self.device
            out = Array(device, made, of, device._take_answer(size, _MOST_ANSWER) if for_host
                        else device._take(size, False))
        elif (not isinstance(out, Array) or out.shape != made or out.dtype is not of or
              out.device is not self.device or out._swapped):
            raise ValueError(f"out must be a device array of shape {made} and {of.name}")
        elif out._storage is x._storage:
            raise ValueError("out shares memory with x")
        vectors = shape[1] if len(shape) > 1 else 1
        if not (rows and vectors):
            return out
        if not (columns and self.nnz) and not beta:
            return out.write(np.zeros(made, of.stored))
        scaled = alpha != 1 or beta != 0
        if vectors <= _MOST_VECTORS:
            plan = self._made.get((transpose, vectors, 0, scaled)) or \
                self._plan(transpose, vectors, 0, scaled)
            if scaled:
                self._run(plan, x, x._offset, out, out._offset, alpha, beta)
            else:
                plan.run(x._storage, x._offset, out._storage, out._offset)
            return out
        return self._wide(transpose, x, out, alpha, beta, vectors)

    def _wide(self, transpose: bool, x: Array, out: Array, alpha: float, beta: float,
              vectors: int) -> Array:
        """Products with more columns than a plan takes, 32 at a time."""
        step = _MOST_VECTORS * self.vector_type.itemsize
        if (step % self.device._alignment) != 0:
            raise NotImplementedError(
                f"x of {vectors} columns: the device binds memory at multiples of "
                f"{self.device._alignment} bytes; multiply {_MOST_VECTORS} columns at a time")
        scaled = alpha != 1 or beta != 0
        for first in range(0, vectors, _MOST_VECTORS):
            count = min(_MOST_VECTORS, vectors - first)
            plan = self._plan(transpose, count, vectors, scaled)
            at = first * self.vector_type.itemsize
            self._run(plan, x, x._offset + at, out, out._offset + at, alpha, beta)
        return out

    def _product(self, transpose: bool, x: Any, out: Optional[Array] = None, alpha: float = 1.0,
                 beta: float = 0.0) -> Any:
        if isinstance(x, Array):
            return self._apply(transpose, x, out, alpha, beta)
        host = np.asarray(x)
        if host.dtype.kind not in "biuf":
            raise TypeError(f"wavefit multiplies real numbers, not {host.dtype}")
        made = self._apply(transpose, array(host, self.vector_type, self.device), out, alpha,
                           beta, out is None)
        return made if out is not None else made.numpy()

    @overload
    def __matmul__(self, x: Array) -> Array: ...
    @overload
    def __matmul__(self, x: "Union[np.ndarray[Any, Any], Sequence[Any]]") -> \
        "np.ndarray[Any, Any]": ...

    def __matmul__(self, x: Any) -> Any:
        return self._product(False, x)

    def __rmatmul__(self, x: Any) -> Any:
        """``x @ A`` of a vector, which is ``A.T @ x``, or of a host matrix."""
        x = x if isinstance(x, Array) else np.asarray(x)
        if len(x.shape) == 1:
            return self._product(True, x)
        if isinstance(x, Array):
            raise TypeError("write (A.T @ x.T).T, whose result is copied where it is transposed")
        return self._product(True, np.ascontiguousarray(np.asarray(x).T)).T

    def multiply(self, x: Any, out: Optional[Array] = None, *, alpha: float = 1.0,
                 beta: float = 0.0, transpose: bool = False) -> Any:
        """``alpha * A @ x + beta * out``, into ``out`` where it is given.

        >>> import numpy as np, wavefit
        >>> A = wavefit.csr((np.ones(2, np.float32), [0, 1], [0, 1, 2]), shape=(2, 2))
        >>> y = wavefit.ones(2)
        >>> A.multiply(wavefit.array([1, 2], "f32"), out=y, alpha=10, beta=3).numpy()
        array([13., 23.], dtype=float32)
        """
        return self._product(transpose, x, out, float(alpha), float(beta))

    # What scipy.sparse.linalg.aslinearoperator asks for.
    def matvec(self, x: Any) -> Any:
        """``A @ x``; a column comes back as a column."""
        return self._product(False, x)

    def rmatvec(self, x: Any) -> Any:
        """``A.T @ x``."""
        return self._product(True, x)

    def matmat(self, x: Any) -> Any:
        return self._product(False, x)

    def rmatmat(self, x: Any) -> Any:
        return self._product(True, x)

    def dot(self, x: Any) -> Any:
        return self._product(False, x)

    def linear_operator(self) -> Any:
        """A ``scipy.sparse.linalg.LinearOperator`` that multiplies on the device."""
        from scipy.sparse.linalg import LinearOperator
        return LinearOperator(self.shape, matvec=self.matvec, rmatvec=self.rmatvec,
                              matmat=self.matmat, rmatmat=self.rmatmat, dtype=self.dtype)

    # --------------------------------------------------------------------------------- updates

    def _forget(self) -> None:
        for plan in self._made.values():
            plan.destroy()
        self._made.clear()

    def update(self, values: Any) -> "SparseMatrix":
        """New values for the same pattern, in the order of scipy's ``data``. A matrix made with
        ``updatable=True`` is not analysed again; another one is at its next product.

        >>> import numpy as np, wavefit
        >>> A = wavefit.csr((np.ones(2, np.float32), [0, 1], [0, 1, 2]), (2, 2), updatable=True)
        >>> A.update([3, 4]) @ np.ones(2, np.float32)
        array([3., 4.], dtype=float32)
        """
        if np.asarray(values).dtype.kind not in "biuf":
            raise TypeError(f"wavefit multiplies real numbers, not {np.asarray(values).dtype}")
        new = np.ascontiguousarray(values, self._of.stored)
        if new.shape != self._values.shape:
            raise ValueError(f"{new.shape} values for a pattern of {self._values.shape}")
        self._values = new.copy()
        if not self._updatable:
            self._forget()
            return self
        with self.device._lock:
            self.device._usable()
            self.device._wait(0)
            for plan in self._made.values():
                self.device._log.check(lib.wf_spmv_update(
                    plan.handle, ffi.cast("void *", self._values.ctypes.data)))
        return self

    # ---------------------------------------------------------------------------------- copies

    def _arrays(self) -> Any:
        return self._values, self._columns, self._offsets

    def __copy__(self) -> "SparseMatrix":
        return csr(self._arrays(), self.shape, self._of, self.device, self._updatable)

    def __deepcopy__(self, memo: Any) -> "SparseMatrix":
        return self.__copy__()

    def __reduce__(self) -> Any:
        """Pickles hold the arrays; the matrix comes back on the default device."""
        return csr, (self._arrays(), self.shape, self._of, None, self._updatable)

    # --------------------------------------------------------------------------------- display

    def __repr__(self) -> str:
        return (f"<wavefit.SparseMatrix {self.shape[0]}x{self.shape[1]}, {self.nnz} elements of "
                f"{self._of.name} on {self.device.info.name}>")

    def _repr_html_(self) -> str:
        import html
        lengths = np.diff(self._offsets.astype(np.int64))
        rows = [("elements", f"{self.nnz:,} of {self._of.name}"),
                ("in a row", f"{lengths.min()} to {lengths.max()}, mean {lengths.mean():.1f}"
                 if len(lengths) else "–"), ("device", self.device.info.name)]
        body = "".join(f"<tr><td>{k}</td><td>{html.escape(v)}</td></tr>" for k, v in rows)
        return (f"<table><caption>sparse matrix, {self.shape[0]:,} × {self.shape[1]:,}</caption>"
                f"{body}</table>")


class TransposedMatrix:
    """``A.T`` of a sparse matrix."""

    _wavefit_matrix = True
    __array_ufunc__ = None

    def __init__(self, of: SparseMatrix) -> None:
        self._matrix = of
        self.shape = of.shape[::-1]
        self.dtype = of.dtype

    @property
    def T(self) -> SparseMatrix:
        return self._matrix

    H = T

    @overload
    def __matmul__(self, x: Array) -> Array: ...
    @overload
    def __matmul__(self, x: "Union[np.ndarray[Any, Any], Sequence[Any]]") -> \
        "np.ndarray[Any, Any]": ...

    def __matmul__(self, x: Any) -> Any:
        return self._matrix._product(True, x)

    def __rmatmul__(self, x: Any) -> Any:
        x = x if isinstance(x, Array) else np.asarray(x)
        if len(x.shape) == 1:
            return self._matrix._product(False, x)
        return self._matrix._product(False, np.ascontiguousarray(np.asarray(x).T)).T

    def matvec(self, x: Any) -> Any:
        return self._matrix._product(True, x)

    matmat = dot = matvec

    def rmatvec(self, x: Any) -> Any:
        return self._matrix._product(False, x)

    rmatmat = rmatvec

    def __repr__(self) -> str:
        return f"{self._matrix!r}.T"


def _index(values: Any, most: int, what: str) -> "np.ndarray[Any, Any]":
    host = np.asarray(values)
    if host.size and host.dtype.kind not in "iu":
        raise TypeError(f"{what} are integers, not {host.dtype}")
    if host.size and (host.min() < 0 or host.max() > most):
        raise ValueError(f"{what} are beyond 0 … {most}")
    return np.ascontiguousarray(host, np.uint32)


def csr(matrix: Any, shape: Optional[Tuple[int, int]] = None, dtype: Any = None,
        device: Optional[Device] = None, updatable: bool = False) -> SparseMatrix:
    """A sparse matrix for the device: of any ``scipy.sparse`` matrix, a dense array, or a triple
    ``(values, column_indices, row_offsets)`` with ``shape``, as ``scipy.sparse.csr_matrix`` takes
    them. Duplicates add up.

    ``dtype`` is float32, float64 or float16 (whose products are float32); without it, floats keep
    their type and integers become float64, or float32 where the device has no f64.

    >>> import numpy as np, scipy.sparse, wavefit
    >>> A = wavefit.csr(scipy.sparse.diags([1.0, 2.0, 3.0], dtype=np.float32))
    >>> A @ np.ones(3, np.float32)
    array([1., 2., 3.], dtype=float32)
    """
    device = device or default_device()
    if isinstance(matrix, tuple) and len(matrix) == 3:
        values, columns, offsets = matrix
        if shape is None:
            raise ValueError("csr: a triple of arrays needs a shape")
    else:
        if not hasattr(matrix, "tocsr"):
            from scipy.sparse import csr_matrix
            matrix = csr_matrix(np.asarray(matrix))
        plain = matrix.tocsr()
        values, columns, offsets, shape = plain.data, plain.indices, plain.indptr, plain.shape
    assert shape is not None
    rows, width = int(shape[0]), int(shape[1])
    if min(rows, width) < 0:
        raise ValueError(f"shape {(rows, width)} has a negative size")
    if max(rows, width) >= 1 << 32:
        raise ValueError(f"a matrix of {(rows, width)} has more than 2^32 - 1 rows or columns")
    host = np.asarray(values)
    if dtype is None:
        if host.dtype.kind in "biu":
            dtype = float64 if device._caps.f64 else float32
        else:
            dtype = host.dtype
    of = as_dtype(dtype)
    if of not in (float32, float64, float16) or host.dtype.kind not in "biuf":
        raise TypeError(f"a sparse matrix is of float32, float64 or float16, not "
                        f"{host.dtype if host.dtype.kind not in 'biuf' else of.name}")
    offsets = _index(offsets, (1 << 32) - 1, "row offsets")
    columns = _index(columns, max(width - 1, 0), "column indices")
    host = np.array(host, of.stored, order="C")
    if offsets.shape != (rows + 1,) or columns.ndim != 1 or host.shape != columns.shape or \
            offsets[0] != 0 or offsets[-1] != len(columns) or \
            np.any(offsets[1:] < offsets[:-1]):
        raise ValueError(f"csr: {offsets.shape} row offsets, {columns.shape} column indices and "
                         f"{host.shape} values are no matrix of {rows} rows")
    return SparseMatrix(offsets, columns, host, (rows, width), of, device, updatable)
