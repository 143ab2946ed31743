"""Element types."""

from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np

from ._native import lib

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

__all__ = ["DType", "float32", "float64", "float16", "bfloat16", "int8", "int32", "dtype"]


class DType:
    """An element type of device arrays: ``wavefit.float32`` and the like.

    >>> import wavefit
    >>> wavefit.float32.name, wavefit.float32.itemsize
    ('float32', 4)
    >>> wavefit.dtype("f16") is wavefit.float16
    True
    """

    __slots__ = ("name", "short", "itemsize", "code", "stored")
    stored: "np.dtype[Any]"  # what NumPy takes the memory for

    def __init__(self, name: str, short: str, code: int, stored: Any) -> None:
        self.name = name
        self.short = short
        self.code = code  # wf_type; -1: a type of results alone
        self.stored = np.dtype(stored)
        self.itemsize: int = self.stored.itemsize

    def __repr__(self) -> str:
        return f"wavefit.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # pickles and copies are this object: types are compared by identity

    @property
    def numpy(self) -> "np.dtype[Any]":
        """The type of what ``Array.numpy()`` returns."""
        if self is bfloat16 and ml_dtypes is None:
            return np.dtype(np.float32)
        return self.stored


float32 = DType("float32", "f32", lib.WF_TYPE_F32, np.float32)
float64 = DType("float64", "f64", lib.WF_TYPE_F64, np.float64)
float16 = DType("float16", "f16", lib.WF_TYPE_F16, np.float16)
bfloat16 = DType("bfloat16", "bf16", lib.WF_TYPE_BF16,
                 np.uint16 if ml_dtypes is None else ml_dtypes.bfloat16)
int8 = DType("int8", "i8", lib.WF_TYPE_I8, np.int8)
#: The type of products of ``int8``. Nothing is computed with it.
int32 = DType("int32", "i32", -1, np.int32)

_ALL = (float32, float64, float16, bfloat16, int8, int32)
_BY_NAME: Dict[Any, DType] = {}
for _t in _ALL:
    _BY_NAME[_t.name] = _BY_NAME[_t.short] = _t
    if _t is not bfloat16 or ml_dtypes is not None:
        _BY_NAME[_t.stored] = _t


def dtype(of: Any) -> DType:
    """The element type that a name, a NumPy type or another ``DType`` stands for.

    Raises ``TypeError`` for a type that wavefit does not have.
    """
    if isinstance(of, DType):
        return of
    found: Optional[DType] = _BY_NAME.get(of) if isinstance(of, str) else None
    if found is None:
        try:
            found = _BY_NAME.get(np.dtype(of).newbyteorder("="))
        except TypeError:
            found = None
    if found is None:
        names = ", ".join(t.name for t in _ALL)
        raise TypeError(f"wavefit has no element type {of!r}; there are {names}")
    return found


def to_stored(data: "np.ndarray[Any, Any]", to: DType) -> "np.ndarray[Any, Any]":
    """The data as the device holds them, contiguous. Rounds to nearest, ties to even."""
    if to is bfloat16 and ml_dtypes is None:
        bits = np.ascontiguousarray(data, dtype=np.float32).view(np.uint32)
        odd = (bits >> np.uint32(16)) & np.uint32(1)
        rounded = ((bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)).astype(np.uint16)
        nan = np.isnan(bits.view(np.float32))
        rounded[nan] = (bits[nan] >> np.uint32(16)).astype(np.uint16) | np.uint16(0x40)
        return rounded
    return np.ascontiguousarray(data, dtype=to.stored)


def from_stored(data: "np.ndarray[Any, Any]", of: DType) -> "np.ndarray[Any, Any]":
    """The data as NumPy has them: bfloat16 is widened to float32 where ml_dtypes is missing."""
    if of is bfloat16 and ml_dtypes is None:
        return (data.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return data
