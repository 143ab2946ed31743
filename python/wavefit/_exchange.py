"""DLPack: memory that arrays have in common with other libraries."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Optional, Tuple

import numpy as np

from . import _cuda
from ._device import Device, Storage
from ._dtypes import DType, bfloat16, float16, float32, float64, int32, int8
from ._errors import Error
from ._native import ffi, lib

__all__ = ["CPU", "CUDA", "Tensor", "capsule", "cuda_of", "import_host", "export_to_cuda"]

CPU, CUDA = 1, 2
_ON_HOST = (1, 3, 11)  # and what CUDA and ROCm pinned there
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_BFLOAT = 4

_python = ctypes.pythonapi
_new = _python.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
_pointer = _python.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_rename = _python.PyCapsule_SetName
_rename.restype, _rename.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_USED = b"used_dltensor"  # capsules point to it


class Tensor:
    """What another library handed over. It keeps the memory until ``end`` is called."""

    def __init__(self, data: Any) -> None:
        self._raw = ffi.NULL
        device = tuple(data.__dlpack_device__())
        if device[0] in _ON_HOST:
            capsule = data.__dlpack__()
        elif device[0] == CUDA:  # ready for work on the legacy default stream
            capsule = data.__dlpack__(stream=1)
        else:
            raise BufferError(f"wavefit takes tensors in memory of the host or of CUDA, not of "
                              f"DLPack's device type {int(device[0])}")
        self._raw = ffi.cast("python_tensor *", _pointer(capsule, b"dltensor"))
        _rename(capsule, _USED)
        raw = self._raw
        self.on_host = device[0] in _ON_HOST
        self.device = int(raw.device_id)
        self.shape = tuple(raw.shape[i] for i in range(raw.ndim))
        self.address = int(ffi.cast("uintptr_t", raw.data)) + int(raw.byte_offset)
        strides = tuple(raw.strides[i] for i in range(raw.ndim)) if raw.strides else \
            row_major(self.shape)
        self.kind = self._kind(int(raw.code), int(raw.bits), int(raw.lanes))
        self.strides = tuple(s * self.kind.itemsize for s in strides)

    def _kind(self, code: int, bits: int, lanes: int) -> "np.dtype[Any]":
        """NumPy's type of the elements; bfloat16 is raw, ``V2``."""
        if lanes == 1 and code == _BFLOAT and bits == 16:
            return np.dtype("V2")
        for letter, own in _CODES.items():
            if lanes == 1 and code == own and bits in (8, 16, 32, 64):
                return np.dtype(f"{letter}{bits // 8}")
        self.end()
        raise BufferError(f"wavefit takes no elements of DLPack's type {code} of {bits} bits")

    @property
    def type(self) -> Optional[DType]:
        """Wavefit's type of the elements, None where it has none of that kind."""
        return _types.get(self.kind)

    def layout(self) -> Optional[bool]:
        """False: row-major; True: the last two axes are the other way round; None: neither."""
        size = self.kind.itemsize
        for swapped in (False, True)[:1 if len(self.shape) < 2 else 2]:
            s, t = self.shape, self.strides
            if swapped:
                s, t = s[:-2] + (s[-1], s[-2]), t[:-2] + (t[-1], t[-2])
            want = row_major(s)
            if all(n == 1 or have == size * step for n, have, step in zip(s, t, want)):
                return swapped
        return None

    def numpy(self) -> "np.ndarray[Any, Any]":
        """A view of the elements on the host; it keeps the tensor. bfloat16 comes as raw bits."""
        view = _View(self)
        return np.asarray(view)

    def end(self) -> None:
        raw, self._raw = self._raw, ffi.NULL
        if raw and raw.deleter:
            # Under the interpreter's lock, as libraries' own deleters are used to.
            address = int(ffi.cast("uintptr_t", raw.deleter))
            ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(address)(int(ffi.cast("uintptr_t", raw)))

    def __del__(self) -> None:
        self.end()


class _View:
    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        kind = tensor.kind if tensor.kind.kind != "V" else np.dtype(np.uint16)
        empty = 0 in tensor.shape
        self.__array_interface__ = {
            "version": 3, "shape": tensor.shape, "typestr": kind.str,
            "data": (tensor.address or 1, False), "strides": None if empty else tensor.strides}


_types = {np.dtype(np.float32): float32, np.dtype(np.float64): float64,
          np.dtype(np.float16): float16, np.dtype(np.int8): int8, np.dtype(np.int32): int32,
          np.dtype("V2"): bfloat16}


def row_major(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    return tuple(math.prod(shape[i + 1:]) for i in range(len(shape)))


# ------------------------------------------------------------------------------ the host's memory

def import_host(tensor: Tensor, device: Device) -> Tuple[Storage, int]:
    """The tensor's own memory for the device, and where in it the elements begin. ``BufferError``
    where the device cannot work on it."""
    size = math.prod(tensor.shape) * tensor.kind.itemsize
    out, offset = ffi.new("wf_buffer **"), ffi.new("uint64_t *")
    with device._lock:
        device._usable()
        try:
            device._log.check(lib.wf_buffer_import_host(
                device._handle, ffi.cast("void *", tensor.address), size, out, offset))
        except Error as error:
            raise BufferError(str(error)) from None
        device._live += 1
    return Storage(device, out[0], size, 0, lib.wf_buffer_mapped(out[0]), tensor), int(offset[0])


# --------------------------------------------------------------------------------- CUDA's memory

def cuda_of(device: Device) -> Optional[_cuda.Context]:
    """CUDA's context for the same card, where the driver exports memory; None: there is none."""
    if device._cuda is False:
        caps = device._caps
        there = caps.memory_fds and device.info.kind.endswith("GPU") and not caps.unified_memory
        device._cuda = _cuda.find(bytes(bytearray(caps.uuid))) if there else None
    return device._cuda  # type: ignore[no-any-return]


def export_to_cuda(storage: Storage, fresh: bool = False) -> int:
    """CUDA's address of the memory. At the first time the data (``fresh``: there are none yet) move
    to memory that can be exported, within the device; every array in it moves with them."""
    device = storage.device
    with device._lock:
        device._usable()
        storage.settle()
        if isinstance(storage.held, _cuda.Mapping):
            return storage.held.pointer
        context = cuda_of(device)
        if context is None or storage.held is not None:
            raise BufferError(f"CUDA cannot have this memory of {device.info.name}")
        out = ffi.new("wf_buffer **")
        device._log.check(lib.wf_buffer_create_exportable(device._handle, storage.bytes, out))
        device._live += 1
        try:
            fd, size = ffi.new("int *"), ffi.new("uint64_t *")
            if not fresh:
                device._log.check(
                    lib.wf_buffer_copy(storage.handle, 0, out[0], 0, storage.bytes))
            device._log.check(lib.wf_buffer_export_fd(out[0], fd, size))
            mapping = _cuda.Mapping(context, fd[0], size[0])
        except BaseException:
            device._destroy(out[0], 0)
            raise
        before, mapped, memory = storage.handle, storage.mapped, storage.memory
        storage.handle, storage.mapped, storage.held = out[0], None, mapping
        device._give_back(before, storage.bytes, 0, mapped, memory)
        return mapping.pointer


def capsule(owner: Any, address: int, device: Tuple[int, int], shape: Tuple[int, ...],
            strides: Tuple[int, ...], of: DType) -> Any:
    """A DLPack capsule of memory that lives as long as `owner`; strides in elements."""
    if len(shape) > lib.PYTHON_TENSOR_AXES:
        raise BufferError(f"an array of {len(shape)} axes is not shared")
    tensor = lib.python_tensor_make(id(owner))
    if not tensor:
        raise MemoryError("a DLPack tensor")
    tensor.data = ffi.cast("void *", address)
    tensor.device_type, tensor.device_id = device
    tensor.ndim = len(shape)
    tensor.code = _BFLOAT if of is bfloat16 else _CODES[of.stored.kind]
    tensor.bits = 8 * of.itemsize
    for i, (size, step) in enumerate(zip(shape, strides)):
        tensor.shape[i], tensor.strides[i] = size, step
    return _new(int(ffi.cast("uintptr_t", tensor)), lib.python_capsule_name(),
                lib.python_capsule_destructor())
