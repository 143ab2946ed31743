"""Dense products."""

from __future__ import annotations

import math as _math
from typing import Any, Callable, Optional, Sequence, Tuple, Union, overload

import numpy as np

from ._array import Array, array, asarray, empty
from ._device import Device
from ._dtypes import DType, dtype as as_dtype, float32, float64, int32, int8
from ._native import ffi, lib

__all__ = ["matmul"]

_ACTIVATIONS = {None: lib.WF_ACTIVATION_NONE, "relu": lib.WF_ACTIVATION_RELU,
                "gelu": lib.WF_ACTIVATION_GELU}
_MATH = {"exact": lib.WF_MATH_EXACT, "fast": lib.WF_MATH_FAST}
_SHARED = (1 << 64) - 1
Host = Union["np.ndarray[Any, Any]", Sequence[Any]]


def sums_type(of: DType) -> DType:
    """The type that sums are kept in."""
    return int32 if of is int8 else float64 if of is float64 else float32


class Product:
    """A product's sizes as the C library has them; the result's shape."""

    __slots__ = ("m", "n", "k", "batch", "strides", "shape")

    def __init__(self, a: Tuple[int, ...], b: Tuple[int, ...]) -> None:
        if not a or not b:
            raise ValueError("matmul takes arrays of one dimension or more, not scalars")
        rows = a if len(a) > 1 else (1,) + a
        columns = b if len(b) > 1 else b + (1,)
        self.m, self.k, self.n = rows[-2], rows[-1], columns[-1]
        if columns[-2] != self.k:
            raise ValueError(f"matmul: shapes {a} and {b} do not fit: {self.k} and {columns[-2]}")
        stack = np.broadcast_shapes(rows[:-2], columns[:-2])
        self.batch = _math.prod(stack)
        self.strides = (self._stride(rows[:-2], stack), self._stride(columns[:-2], stack))
        self.shape = stack + ((self.m,) if len(a) > 1 else ()) + ((self.n,) if len(b) > 1 else ())

    @staticmethod
    def _stride(own: Tuple[int, ...], stack: Tuple[int, ...]) -> Optional[int]:
        """0: the matrices follow one another; _SHARED: there is one for all; None: neither."""
        if _math.prod(own) == _math.prod(stack):
            return 0
        return _SHARED if _math.prod(own) == 1 else None


def _result_type(of: DType, asked: Any) -> Tuple[DType, int]:
    """The result's type, and the C library's word for it."""
    sums = sums_type(of)
    if asked is None:
        return (sums if of is int8 else of), lib.WF_MATMUL_OUTPUT_TYPE
    wanted = as_dtype(asked)
    if wanted is sums:
        return sums, lib.WF_MATMUL_OUTPUT_SUMS
    if wanted is of and of is not int8:
        return of, lib.WF_MATMUL_OUTPUT_TYPE
    raise TypeError(f"a product of {of.name} is {of.name} or {sums.name}, not {wanted.name}")


def _maker(a: Array, b: Array, p: Product, activation: Optional[str], bias: bool, alpha: float,
           beta: float, asked: Any, math_mode: str) -> Callable[[Any], int]:
    if activation not in _ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}; it is None, 'relu' or 'gelu'")
    if math_mode not in _MATH:
        raise ValueError(f"math is {math_mode!r}; it is 'exact' or 'fast'")
    params, kept = matmul_params(a, b, p, _ACTIVATIONS[activation], bias, alpha, beta, asked,
                                 _MATH[math_mode])

    def make(out: Any) -> int:
        assert kept is not None  # lives as long as params
        return int(lib.wf_matmul_plan(a.device._handle, params, out))

    return make


def matmul_params(a: Array, b: Array, p: Product, activation: int, bias: bool, alpha: float,
                  beta: float, asked: Any, math_mode: int) -> Tuple[Any, Any]:
    """The C library's parameters, and what they point to."""
    number = ffi.new("double *", alpha)
    params = ffi.new("wf_matmul_params *", {
        "size": ffi.sizeof("wf_matmul_params"), "m": p.m, "n": p.n, "k": p.k,
        "type": a.dtype.code, "transpose_a": a._swapped, "transpose_b": b._swapped,
        "alpha": number, "beta": beta, "batch": p.batch, "stride_a": p.strides[0],
        "stride_b": p.strides[1], "bias": bias, "activation": activation,
        "output": _result_type(a.dtype, asked)[1], "math": math_mode})
    return params, number


_shapes: "dict[Tuple[Any, ...], Product]" = {}


def _product(a: Tuple[int, ...], b: Tuple[int, ...]) -> Product:
    found = _shapes.get((a, b))
    if found is None:
        if len(_shapes) > 4096:
            _shapes.clear()
        found = _shapes[a, b] = Product(a, b)
    return found


def _spread(x: Array, b: Tuple[int, ...]) -> Array:
    """A copy of x in which the stack that both operands broadcast to is written out."""
    stack = np.broadcast_shapes(x.shape[:-2], b[:-2])
    return array(np.broadcast_to(x.numpy(), stack + x.shape[-2:]), x.dtype, x.device)


def _bytes(shape: Tuple[int, ...], of: DType) -> int:
    return _math.prod(shape) * of.itemsize


def _to_device(a: Any, b: Any, device: Optional[Device]) -> Tuple[Array, Array]:
    """Host operands take the type of the other one where that is on the device."""
    if isinstance(a, Array):
        return a, asarray(b, a.dtype, a.device)
    if isinstance(b, Array):
        return asarray(a, b.dtype, b.device), b
    common = np.result_type(np.asarray(a).dtype, np.asarray(b).dtype)
    first = array(np.asarray(a, common), device=device)
    return first, array(np.asarray(b, common), device=first.device)


def _bias(bias: Any, columns: int, of: DType, device: Device) -> Array:
    added = asarray(bias, sums_type(of), device)
    if added.shape != (columns,):
        raise ValueError(f"matmul: a bias of shape {added.shape} for {columns} columns")
    return added


def _result(out: Optional[Array], p: Any, of: DType, device: Device,
            *operands: Optional[Array]) -> Array:
    if out is None:
        return empty(p.shape, of, device)
    if not isinstance(out, Array) or out.device is not device:
        raise TypeError("matmul: out is a device array of the same device")
    if out.shape != p.shape or out.dtype is not of or out._swapped:
        raise ValueError(f"matmul: out is {out.shape} of {out.dtype.name}, the product "
                         f"{p.shape} of {of.name}, not transposed")
    for operand in operands:
        if operand is not None and operand._storage is out._storage:
            raise ValueError("matmul: out shares memory with an operand")
    return out


def _device_of(*operands: Any) -> Optional[Device]:
    found: Optional[Device] = None
    for operand in operands:
        if isinstance(operand, Array):
            if found is not None and operand.device is not found:
                raise ValueError("matmul: the operands are on different devices")
            found = operand.device
    return found


@overload
def matmul(a: Array, b: Any, out: Optional[Array] = ..., *, bias: Any = ...,
           activation: Optional[str] = ..., transpose_a: bool = ..., transpose_b: bool = ...,
           alpha: float = ..., beta: float = ..., dtype: Any = ..., math: str = ...,
           device: Optional[Device] = ...) -> Array: ...
@overload
def matmul(a: Any, b: Array, out: Optional[Array] = ..., *, bias: Any = ...,
           activation: Optional[str] = ..., transpose_a: bool = ..., transpose_b: bool = ...,
           alpha: float = ..., beta: float = ..., dtype: Any = ..., math: str = ...,
           device: Optional[Device] = ...) -> Array: ...
@overload
def matmul(a: Host, b: Host, out: Array, *, bias: Any = ...,
           activation: Optional[str] = ..., transpose_a: bool = ..., transpose_b: bool = ...,
           alpha: float = ..., beta: float = ..., dtype: Any = ..., math: str = ...,
           device: Optional[Device] = ...) -> Array: ...
@overload
def matmul(a: Host, b: Host, out: None = ..., *, bias: Any = ...,
           activation: Optional[str] = ..., transpose_a: bool = ..., transpose_b: bool = ...,
           alpha: float = ..., beta: float = ..., dtype: Any = ..., math: str = ...,
           device: Optional[Device] = ...) -> "np.ndarray[Any, Any]": ...


def matmul(a: Any, b: Any, out: Optional[Array] = None, *, bias: Any = None,
           activation: Optional[str] = None, transpose_a: bool = False,
           transpose_b: bool = False, alpha: float = 1.0, beta: float = 0.0,
           dtype: Any = None, math: str = "exact", device: Optional[Device] = None) -> Any:
    """``activation(alpha * a @ b + beta * out + bias)``, with NumPy's rules for dimensions.

    Stacks of matrices broadcast as in ``numpy.matmul``. ``a`` and ``b`` have one type; ``bias``
    has an element for each column. ``activation`` is ``"relu"`` or ``"gelu"`` (tanh form).
    ``dtype`` is that of the result: the operands', or that of the sums (float32 for float16 and
    bfloat16). Products of int8 are int32 and wrap around. ``math="fast"`` lets float32
    be multiplied as pairs of f16 on matrix units. With ``beta``, ``out`` is read too.

    The call is queued and returns a device array; where all operands are host arrays, it waits and
    returns a NumPy array.

    >>> import numpy as np, wavefit
    >>> wavefit.matmul(np.eye(2, dtype=np.float32), np.array([[1, -2], [3, -4]], np.float32),
    ...                bias=np.array([10, 1], np.float32), activation="relu")
    array([[11.,  0.],
           [13.,  0.]], dtype=float32)
    """
    found = _device_of(a, b, out, bias) or device
    on_host = not (isinstance(a, Array) or isinstance(b, Array) or out is not None)
    if not isinstance(a, Array) or not isinstance(b, Array):
        a, b = _to_device(a, b, found)
    on: Device = a.device
    of = a.dtype
    if b.dtype is not of or of is int32:
        raise TypeError(f"matmul takes operands of one type, not {of.name} and {b.dtype.name}"
                        if of is not int32 else "matmul: int32 is a type of results alone")
    if transpose_a:
        a = a.mT
    if transpose_b:
        b = b.mT
    key = (a.shape, b.shape, of, a._swapped, b._swapped, bias is None, activation, dtype, math,
           alpha, beta)
    plan = on._plans.get(key)
    if plan is None:
        product = _product(a.shape, b.shape)
        if None in product.strides:
            a, b = _spread(a, b.shape), _spread(b, a.shape)
            return matmul(a, b, out, bias=bias, activation=activation, alpha=alpha, beta=beta,
                          dtype=dtype, math=math)
        if not product.m * product.n * product.batch:
            made = _result(out, product, _result_type(of, dtype)[0], on, a, b)
            return made.numpy() if on_host else made
        plan = on._plan(key, _maker(a, b, product, activation, bias is not None, alpha, beta,
                                    dtype, math))
        plan.shape, plan.dtype = product.shape, _result_type(of, dtype)[0]
        plan.bytes = _bytes(plan.shape, plan.dtype)
    if out is None:
        if beta:
            raise ValueError("matmul: beta adds to out, which must be given")
        out = Array(on, plan.shape, plan.dtype,
                    on._take_answer(plan.bytes) if on_host else on._take(plan.bytes, False))
    else:
        _result(out, plan, plan.dtype, on, a, b)
    if bias is None:
        plan.run(a._storage, a._offset, b._storage, b._offset, out._storage, out._offset)
    else:
        added = _bias(bias, b.shape[-1] if len(b.shape) > 1 else 1, of, on)
        plan.run(a._storage, a._offset, b._storage, b._offset, out._storage, out._offset,
                 added._storage, added._offset)
    return out.numpy() if on_host else out
