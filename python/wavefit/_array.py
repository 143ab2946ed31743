"""Arrays in device memory."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from . import _exchange
from ._device import Device, Storage, default_device
from ._dtypes import DType, bfloat16, dtype as as_dtype, float32, float64, from_stored, to_stored
from ._native import ffi, lib

__all__ = ["Array", "CopyWarning", "array", "asarray", "empty", "from_dlpack", "full", "ones",
           "zeros"]

# NumPy's own capsules can say from then on that memory may be written to.
_VERSIONED = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (2, 1)


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
        new = shape[0] if len(shape) == 1 else shape
        probe = np.broadcast_to(np.int8(0), self.shape).reshape(new) if self.size else \
            np.empty(self.shape, np.int8).reshape(new)
        source = array(self.numpy(), dtype=self.dtype, device=self.device) if self._swapped else \
            self
        return Array(self.device, probe.shape, self.dtype, source._storage, source._offset)

    def __getitem__(self, key: Any) -> "Array":
        """Elements as NumPy picks them. A contiguous range along the first axis shares memory where
        the device's alignment allows; all else is copied."""
        if not self._swapped and self.shape and isinstance(key, (int, np.integer, slice)) and \
                not isinstance(key, bool):
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

    def __copy__(self) -> "Array":
        return array(self, device=self.device)

    def __deepcopy__(self, memo: Any) -> "Array":
        return array(self, device=self.device)

    def __reduce__(self) -> Any:
        """Pickles hold the elements; the array comes back on the default device."""
        return array, (self.numpy(), self.dtype)

    # ------------------------------------------------------------------------- to the host

    def _wait_and_read(self, out: "Optional[np.ndarray[Any, Any]]" = None) -> \
            "np.ndarray[Any, Any]":
        if out is None:
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

    def numpy(self, out: "Optional[np.ndarray[Any, Any]]" = None) -> "np.ndarray[Any, Any]":
        """A copy on the host, once the device has computed it. ``bfloat16`` comes as float32
        where ml_dtypes is not installed. ``out`` is an array of the same shape and type that takes
        the elements; with memory that is in use already, a large copy is faster."""
        if out is not None:
            if out.shape != self.shape or out.dtype != self.dtype.numpy:
                raise ValueError(f"numpy: out is {out.shape} of {out.dtype}, the array "
                                 f"{self.shape} of {self.dtype.name}")
            if out.flags.c_contiguous and out.flags.writeable and not self._swapped and \
                    out.dtype == self.dtype.stored:
                return self._wait_and_read(out)
            out[...] = self.numpy()
            return out
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
        """CUDA's number of the card where its driver can have the memory, else the CPU."""
        context = None if self._storage.mapped is not None else _exchange.cuda_of(self.device)
        return (_exchange.CPU, 0) if context is None else (_exchange.CUDA, context.ordinal)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: Optional[bool] = None) -> Any:
        """A DLPack capsule, once the device has computed the array: of the memory itself where the
        host sees it or CUDA can have it, else of a copy on the CPU, with a ``CopyWarning``
        (``copy=False``: ``BufferError``). Whatever the stream, the elements are ready."""
        own = self.__dlpack_device__()
        wanted = own if dl_device is None else tuple(int(part) for part in dl_device)
        if wanted[0] == _exchange.CUDA and wanted == own:
            given = array(self) if copy else self
            address = _exchange.export_to_cuda(given._storage) + given._offset
            return _exchange.capsule(given._storage, address, own, given.shape, given._strides(),
                                     self.dtype)
        if wanted[0] != _exchange.CPU:
            raise BufferError(f"an array of {self.device.info.name} is exchanged on the CPU "
                              f"{'or as CUDA tensor ' if own[0] != _exchange.CPU else ''}alone")
        if copy or self._storage.mapped is None:
            if copy is False:
                self.view()
            if not copy:
                warnings.warn(f"the host does not see the memory of {self.device.info.name}: "
                              "the DLPack tensor is a copy", CopyWarning, stacklevel=2)
            data = self._wait_and_read()
            data = data.swapaxes(-1, -2) if self._swapped else data
        else:
            data = self.view()
        if self.dtype is bfloat16:
            return _exchange.capsule(data, data.ctypes.data, (_exchange.CPU, 0), self.shape,
                                     self._strides(), self.dtype)
        versioned = {"max_version": max_version} if max_version is not None and _VERSIONED else {}
        return data.__dlpack__(**versioned)

    def _strides(self) -> Tuple[int, ...]:
        steps = _exchange.row_major(self._stored_shape())
        return steps[:-2] + (steps[-1], steps[-2]) if self._swapped else steps

    def to_device(self, device: Device, stream: Any = None) -> "Array":
        """The array itself if it is on that device, else a copy there."""
        if stream is not None:
            raise ValueError("wavefit's devices have no streams")
        return asarray(self, device=device)

    def item(self) -> Any:
        """The one element of an array of one."""
        return self.numpy().item()

    def tolist(self) -> Any:
        return self.numpy().tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __index__(self) -> int:
        return self.numpy().__index__()  # type: ignore[no-any-return]

    def __eq__(self, other: Any) -> Any:
        """NumPy's answer, element by element, in an array of the host's: wavefit has no bool."""
        return self.numpy() == np.asarray(other)

    def __ne__(self, other: Any) -> Any:
        return self.numpy() != np.asarray(other)

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
        with storage.device._lock:
            storage.device._views += 1
        address = int(ffi.cast("uintptr_t", storage.mapped)) + offset
        text = stored.str if stored.kind in "fiu" else f"<u{stored.itemsize}"
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": text,
                                    "data": (address, False)}

    def __del__(self) -> None:
        self._storage.device._unview()


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
    if kind in "bu" or (kind == "i" and host.dtype.itemsize > 1):
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
        if data.device is device and data.dtype is as_dtype(dtype) and not data._swapped:
            return _duplicate(data)
        data = data.numpy()
    elif not isinstance(data, np.ndarray) and hasattr(data, "__dlpack_device__") and \
            not (hasattr(data, "__array__") and data.__dlpack_device__()[0] == _exchange.CPU):
        return _copied(_exchange.Tensor(data), dtype, device)
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


def asarray(data: Any, dtype: Any = None, device: Optional[Device] = None, *,
            copy: Optional[bool] = None) -> Array:
    """``data`` itself where it is a device array of that type and device, else a copy of it.
    ``copy=True`` always copies, ``copy=False`` never: ``ValueError`` where one were needed."""
    if not copy and isinstance(data, Array) and (device is None or data.device is device) and \
            (dtype is None or data.dtype is as_dtype(dtype)):
        return data
    if copy is False:
        raise ValueError("asarray: this needs a copy; from_dlpack shares the host's memory where "
                         "the device can work on it")
    return array(data, dtype, device)


def _duplicate(data: Array) -> Array:
    made = empty(data.shape, data.dtype, data.device)
    device = data.device
    with device._lock:
        device._usable()
        if data.size:
            data._storage.settle()
            made._storage.settle()
            device._log.check(lib.wf_buffer_copy(data._storage.handle, data._offset,
                                                 made._storage.handle, 0, data.nbytes))
    return made


def _copied(tensor: _exchange.Tensor, dtype: Any, device: Device) -> Array:
    """A copy of another library's tensor on the device."""
    of = tensor.type
    if tensor.on_host and of is not bfloat16:
        return array(tensor.numpy(), dtype, device)
    if of is None:
        raise BufferError(f"wavefit has no type for {tensor.kind} of CUDA: convert it first")
    if tensor.on_host:
        bits = np.ascontiguousarray(tensor.numpy())
        made = Array(device, tensor.shape, of, device._take(bits.nbytes, True))
        _upload(device, made._storage, 0, bits)
    else:
        made = _from_cuda(tensor, of, device)
    return made if dtype is None or as_dtype(dtype) is of else array(made, dtype, device)


def _from_cuda(tensor: _exchange.Tensor, of: DType, device: Device) -> Array:
    context, swapped = _exchange.cuda_of(device), tensor.layout()
    if context is None or context.ordinal != tensor.device:
        raise BufferError(f"the tensor is on CUDA's device {tensor.device}, which "
                          f"{device.info.name} shares no memory with: bring it to the CPU first")
    if swapped is None:
        raise BufferError("a CUDA tensor must be contiguous, but for its last two axes")
    shape = tensor.shape
    made = empty(shape, of, device)
    address = _exchange.export_to_cuda(made._storage, True)
    if made.size:
        context.copy(address, tensor.address, made.nbytes)
    return Array(device, shape, of, made._storage, 0, swapped)


def _in_place(tensor: _exchange.Tensor, device: Device, copy: Optional[bool]) -> Array:
    """An array in the tensor's own memory; ``BufferError`` says why there is none."""
    if not tensor.on_host:
        raise BufferError("CUDA does not give away memory that it allocated")
    if copy is None and not device._caps.unified_memory:
        raise BufferError(f"{device.info.name} works on memory of its own")
    of, swapped = tensor.type, tensor.layout()
    if of is None:
        raise BufferError(f"wavefit has no type for {tensor.kind}")
    if swapped is None:
        raise BufferError("the tensor is not contiguous")
    if 0 in tensor.shape:
        return empty(tensor.shape, of, device)
    storage, offset = _exchange.import_host(tensor, device)
    return Array(device, tensor.shape, of, storage, offset, swapped)


def from_dlpack(data: Any, device: Optional[Device] = None, *,
                copy: Optional[bool] = None) -> Array:
    """What another library has, as a device array.

    Where the device's memory is the host's (CPUs, integrated GPUs), the array is in the tensor's
    own memory, and what either writes, both have; wait (``device.synchronize()``) before the other
    library looks. It must begin at a multiple of the device's alignment. Elsewhere, and from CUDA,
    the array is a copy, and a ``CopyWarning`` says why. ``copy=True`` always copies;
    ``copy=False`` never does: cards then work on the host's memory through their bus where their
    driver allows, else ``BufferError`` says what is in the way.

    >>> import numpy as np, wavefit
    >>> wavefit.from_dlpack(np.ones((2, 2), np.float32), copy=True)
    wavefit.array([[1., 1.],
                   [1., 1.]], dtype=float32)
    """
    if isinstance(data, Array):
        if copy is not True and (device is None or device is data.device):
            return Array(data.device, data.shape, data.dtype, data._storage, data._offset,
                         data._swapped)
        if copy is False:
            raise BufferError("the array is on another device")
        return array(data, device=device)
    on = device or default_device()
    tensor = None
    try:
        tensor = _exchange.Tensor(data)
        if not copy:
            return _in_place(tensor, on, copy)
    except BufferError as error:
        if copy is False:
            raise
        if copy is None:
            warnings.warn(f"the array is a copy: {error}", CopyWarning, stacklevel=2)
    return array(data, device=on) if tensor is None else _copied(tensor, tensor.type, on)


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
    item = _host(value, made.dtype).reshape(1)
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
        made.write(np.full(made.shape, item[0], made.dtype.numpy))
    return made


def zeros(shape: "Union[int, Sequence[int]]", dtype: Any = float32,
          device: Optional[Device] = None) -> Array:
    """An array of zeros."""
    return full(shape, 0, dtype, device)


def ones(shape: "Union[int, Sequence[int]]", dtype: Any = float32,
         device: Optional[Device] = None) -> Array:
    """An array of ones."""
    return full(shape, 1, dtype, device)
