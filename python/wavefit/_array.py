"""Arrays in device memory."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from ._device import Device, Storage, default_device
from ._dtypes import DType, bfloat16, dtype as as_dtype, float32, float64, from_stored, to_stored
from ._native import ffi, lib

__all__ = ["Array", "CopyWarning", "array", "asarray", "empty", "from_dlpack", "full", "ones",
           "zeros"]

_CPU = 1  # kDLCPU


class CopyWarning(UserWarning):
    """An exchange without copies was asked for that the memory does not allow."""


class Array:
    """An array in device memory, row-major. ``wavefit.array`` makes one.

    Products of arrays are queued: they return at once, and ``numpy()`` and everything else that
    looks at elements waits for what it needs. ``array.T`` swaps the last two axes without moving
    anything.

    >>> import numpy as np, wavefit
    >>> a = wavefit.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    >>> a.shape, a.dtype, a.T.shape
    ((2, 3), wavefit.float32, (3, 2))
    >>> (a @ a.T).numpy()
    array([[ 5., 14.],
           [14., 50.]], dtype=float32)
    """

    __slots__ = ("device", "shape", "dtype", "_storage", "_offset", "_swapped", "__weakref__")
    __array_ufunc__ = None  # so that `numpy_array @ device_array` comes here
    __hash__ = None  # type: ignore[assignment]

    device: Device
    shape: Tuple[int, ...]
    dtype: DType

    def __init__(self, device: Device, shape: Tuple[int, ...], of: DType, storage: Storage,
                 offset: int = 0, swapped: bool = False) -> None:
        self.device = device
        self.shape = shape
        self.dtype = of
        self._storage = storage
        self._offset = offset  # bytes, a multiple of the device's alignment
        self._swapped = swapped  # memory has the last two axes the other way round

    # -------------------------------------------------------------------------------- shapes

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of no dimensions has no length")
        return self.shape[0]

    def _stored_shape(self) -> Tuple[int, ...]:
        s = self.shape
        return s[:-2] + (s[-1], s[-2]) if self._swapped else s

    @property
    def T(self) -> "Array":
        """The array with its last two axes swapped, in the same memory."""
        return self.mT if self.ndim == 2 else self._bad_transpose()

    @property
    def mT(self) -> "Array":
        """The same for stacks of matrices too."""
        if self.ndim < 2:
            self._bad_transpose()
        s = self.shape
        return Array(self.device, s[:-2] + (s[-1], s[-2]), self.dtype, self._storage,
                     self._offset, not self._swapped)

    def _bad_transpose(self) -> "Array":
        raise ValueError(f"an array of shape {self.shape} has no .T; matrices have (.mT: stacks)")

    def reshape(self, *shape: Any) -> "Array":
        """The same elements in another shape: in the same memory, unless the array is transposed,
        which is then copied."""
        new = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        probe = np.broadcast_to(np.int8(0), self.shape).reshape(new) if self.size else \
            np.empty(self.shape, np.int8).reshape(new)
        source = array(self.numpy(), dtype=self.dtype, device=self.device) if self._swapped else \
            self
        return Array(self.device, probe.shape, self.dtype, source._storage, source._offset)

    def __getitem__(self, key: Any) -> "Array":
        """Elements as NumPy picks them. A contiguous range along the first axis shares memory where
        the device's alignment allows; all else is copied."""
        if not self._swapped and self.shape and isinstance(key, (int, np.integer, slice)):
            row = math.prod(self.shape[1:]) * self.dtype.itemsize
            if isinstance(key, slice):
                start, stop, step = key.indices(self.shape[0])
                shape = (max(0, stop - start),) + self.shape[1:]
            else:
                start, step = int(key) + (self.shape[0] if key < 0 else 0), 1
                if not 0 <= start < self.shape[0]:
                    raise IndexError(f"index {key} is out of an axis of {self.shape[0]}")
                shape = self.shape[1:]
            offset = self._offset + start * row
            if step == 1 and offset % self.device._alignment == 0 and math.prod(shape):
                return Array(self.device, shape, self.dtype, self._storage, offset)
        return array(self.numpy()[key], dtype=self.dtype, device=self.device)

    def __iter__(self) -> "Iterator[Array]":
        return (self[i] for i in range(len(self)))

    # ------------------------------------------------------------------------- to the host

    def _wait_and_read(self) -> "np.ndarray[Any, Any]":
        out = np.empty(self._stored_shape(), self.dtype.stored)
        if self.size:
            self._storage.settle()
            device = self.device
            with device._lock:
                device._usable()
                device._log.check(lib.wf_buffer_read(
                    self._storage.handle, self._offset, ffi.cast("void *", out.ctypes.data),
                    out.nbytes))
        return out

    def numpy(self) -> "np.ndarray[Any, Any]":
        """A copy on the host, once the device has computed it. ``bfloat16`` comes as float32
        where ml_dtypes is not installed."""
        data = from_stored(self._wait_and_read(), self.dtype)
        return data.swapaxes(-1, -2) if self._swapped else data

    def view(self) -> "np.ndarray[Any, Any]":
        """The array's own memory as a NumPy array, where the host sees it (unified memory, CPU
        drivers); ``BufferError`` elsewhere. It waits for what is queued; do not touch the view
        while later executions use the array."""
        if self._storage.mapped is None:
            raise BufferError(f"the host does not see the memory of {self.device.info.name}: "
                              "numpy() copies")
        self.device._usable()
        self._storage.settle()
        holder = _Mapped(self._storage, self._offset, self._stored_shape(), self.dtype.stored)
        data = np.asarray(holder)
        if self.dtype is bfloat16:
            data = data.view(self.dtype.stored)
        return data.swapaxes(-1, -2) if self._swapped else data

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> \
            "np.ndarray[Any, Any]":
        if copy is False:
            data = self.view()
            return data if dtype is None or data.dtype == dtype else data.astype(dtype)
        data = self.numpy()
        return data if dtype is None else data.astype(dtype, copy=False)

    def __buffer__(self, flags: int) -> memoryview:
        """The buffer protocol, which Python offers to classes from 3.12 on."""
        return memoryview(self.view())  # type: ignore[arg-type]

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (_CPU, 0)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: Optional[bool] = None) -> Any:
        """A DLPack capsule on the CPU: the memory itself where the host sees it, else a copy, with
        a ``CopyWarning`` (``copy=False``: ``BufferError``)."""
        if dl_device is not None and tuple(dl_device)[0] != _CPU:
            raise BufferError("wavefit exchanges DLPack tensors on the CPU alone")
        if copy or self._storage.mapped is None:
            if copy is False:
                self.view()
            if not copy:
                warnings.warn(f"the host does not see the memory of {self.device.info.name}: "
                              "the DLPack tensor is a copy", CopyWarning, stacklevel=2)
            return np.ascontiguousarray(self.numpy()).__dlpack__()
        return self.view().__dlpack__()

    def item(self) -> Any:
        """The one element of an array of one."""
        return self.numpy().item()

    def tolist(self) -> Any:
        return self.numpy().tolist()

    def __float__(self) -> float:
        return float(self.item())

    # ------------------------------------------------------------------------ to the device

    def write(self, data: Any) -> "Array":
        """Copies host data of the same shape into the array."""
        host = _host(data, self.dtype)
        if host.shape != self.shape:
            raise ValueError(f"data of shape {host.shape} do not fit an array of {self.shape}")
        if self._swapped:
            host = np.ascontiguousarray(host.swapaxes(-1, -2))
        _upload(self.device, self._storage, self._offset, host)
        return self

    # ----------------------------------------------------------------------------- operators

    def __matmul__(self, other: "Union[Array, np.ndarray[Any, Any]]") -> "Array":
        if _is_matrix(other):
            return NotImplemented
        from ._matmul import matmul
        return matmul(self, other)

    def __rmatmul__(  # type: ignore[misc]  # NumPy's comes second: __array_ufunc__ is None
            self, other: "np.ndarray[Any, Any]") -> "Array":
        from ._matmul import matmul
        return matmul(other, self)

    def __iadd__(self, other: "Array") -> "Array":
        from ._vector import axpy
        return axpy(1.0, other, self)

    def __isub__(self, other: "Array") -> "Array":
        from ._vector import axpy
        return axpy(-1.0, other, self)

    # ------------------------------------------------------------------------------- display

    def __repr__(self) -> str:
        if self.size > 1 << 20:
            return (f"wavefit.array(<{'x'.join(map(str, self.shape))} elements>, "
                    f"dtype={self.dtype.name}, device={self.device.info.name!r})")
        text = np.array2string(self.numpy(), separator=", ", prefix="wavefit.array(",
                               threshold=100)
        return f"wavefit.array({text}, dtype={self.dtype.name})"

    def _repr_html_(self) -> str:
        import html
        shape = " × ".join(map(str, self.shape)) or "scalar"
        head = f"{shape} {self.dtype.name} on {html.escape(self.device.info.name)}"
        return f"<div><b>{head}</b><pre>{html.escape(str(self.numpy()))}</pre></div>"


class _Mapped:
    """Keeps memory alive for a view of it."""

    def __init__(self, storage: Storage, offset: int, shape: Tuple[int, ...],
                 stored: "np.dtype[Any]") -> None:
        self._storage = storage
        address = int(ffi.cast("uintptr_t", storage.mapped)) + offset
        text = stored.str if stored.kind in "fiu" else f"<u{stored.itemsize}"
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": text,
                                    "data": (address, False)}


def _is_matrix(value: Any) -> bool:
    return getattr(value, "_wavefit_matrix", False)


def _host(data: Any, to: DType) -> "np.ndarray[Any, Any]":
    host = np.asarray(data)
    if host.dtype.kind not in "biuf" and host.dtype != to.numpy:
        raise TypeError(f"wavefit takes real numbers, not {host.dtype}")
    if to.stored.kind == "i" and host.dtype != to.stored:
        if host.dtype.kind == "f":
            raise TypeError(f"{host.dtype} data are not converted to {to.name}: round them first")
        bounds = np.iinfo(to.stored)
        if host.size and (host.min() < bounds.min or host.max() > bounds.max):
            raise OverflowError(f"data are beyond the range of {to.name}")
    shape = host.shape
    return to_stored(host, to).reshape(shape)


def _upload(device: Device, storage: Storage, offset: int, host: "np.ndarray[Any, Any]") -> None:
    if not host.nbytes:
        return
    storage.settle()
    with device._lock:
        device._usable()
        device._log.check(lib.wf_buffer_write(
            storage.handle, offset, ffi.cast("void *", host.ctypes.data), host.nbytes))


def _natural_type(host: "np.ndarray[Any, Any]", device: Device) -> DType:
    kind = host.dtype.kind
    if kind == "b" or (kind in "iu" and host.dtype.itemsize > 1):
        return float64 if device._caps.f64 else float32
    return as_dtype(host.dtype)


def array(data: Any, dtype: Any = None, device: Optional[Device] = None) -> Array:
    """Copies data to the device: a NumPy array, nested lists, another device array, or anything
    with ``__array__``, the buffer protocol or ``__dlpack__``.

    Without ``dtype``, floats and int8 keep their type; other integers and lists become float64, or
    float32 where the device has no f64.

    >>> import wavefit
    >>> wavefit.array([1, 2, 3], dtype="float32")
    wavefit.array([1., 2., 3.], dtype=float32)
    """
    if device is None:
        device = data.device if isinstance(data, Array) else default_device()
    if isinstance(data, Array):
        if dtype is None:
            dtype = data.dtype
        data = data.numpy()
    elif not isinstance(data, np.ndarray) and not hasattr(data, "__array__") and \
            hasattr(data, "__dlpack__"):
        data = np.from_dlpack(data)
    plain = isinstance(data, (list, tuple, int, float))
    host = np.asarray(data)
    if dtype is None:
        of = _natural_type(host, device)
        if plain and of is float64 and not device._caps.f64:
            of = float32
    else:
        of = as_dtype(dtype)
    host = _host(host, of)
    storage = device._take(host.nbytes, True)
    _upload(device, storage, 0, host)
    return Array(device, host.shape, of, storage)


def asarray(data: Any, dtype: Any = None, device: Optional[Device] = None) -> Array:
    """``data`` itself where it is a device array of that type and device, else a copy of it."""
    if isinstance(data, Array) and (device is None or data.device is device) and \
            (dtype is None or data.dtype is as_dtype(dtype)):
        return data
    return array(data, dtype, device)


def from_dlpack(data: Any, device: Optional[Device] = None) -> Array:
    """A copy on the device of what another library has on the CPU.

    Arrays are in memory that the driver allocated, so that a tensor cannot be taken as it is. Use
    ``view()`` to let the other library write into an array's memory where the host sees it.
    """
    return array(np.from_dlpack(data), device=device)


def empty(shape: "Union[int, Sequence[int]]", dtype: Any = float32,
          device: Optional[Device] = None) -> Array:
    """An array whose elements hold anything.

    >>> import wavefit
    >>> wavefit.empty((2, 3)).shape
    (2, 3)
    """
    device = device or default_device()
    of = as_dtype(dtype)
    sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(map(int, shape))
    if any(n < 0 for n in sizes):
        raise ValueError(f"shape {sizes} has a negative size")
    return Array(device, sizes, of, device._take(math.prod(sizes) * of.itemsize, False))


def full(shape: "Union[int, Sequence[int]]", value: float, dtype: Any = float32,
         device: Optional[Device] = None) -> Array:
    """An array with one value everywhere."""
    made = empty(shape, dtype, device)
    item = _host(np.asarray(value, made.dtype.numpy), made.dtype).reshape(1)
    pattern = np.tile(item.view(np.uint8), max(1, 4 // made.dtype.itemsize))
    made._storage.settle()
    if made.dtype.itemsize <= 4:
        with made.device._lock:
            made.device._usable()
            made.device._log.check(lib.wf_buffer_fill(
                made._storage.handle, 0, made._storage.bytes, int(pattern.view(np.uint32)[0])))
    elif value == 0:
        with made.device._lock:
            made.device._usable()
            made.device._log.check(lib.wf_buffer_fill(made._storage.handle, 0,
                                                      made._storage.bytes, 0))
    else:
        made.write(np.full(made.shape, value, made.dtype.numpy))
    return made


def zeros(shape: "Union[int, Sequence[int]]", dtype: Any = float32,
          device: Optional[Device] = None) -> Array:
    """An array of zeros."""
    return full(shape, 0, dtype, device)


def ones(shape: "Union[int, Sequence[int]]", dtype: Any = float32,
         device: Optional[Device] = None) -> Array:
    """An array of ones."""
    return full(shape, 1, dtype, device)
