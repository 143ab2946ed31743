"""Memory of a device that CUDA has too: exported by Vulkan, imported by CUDA's driver."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_char, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any, Optional

__all__ = ["Context", "Mapping", "find"]

_OPAQUE_FD = 1


class _Win32(ctypes.Structure):
    _fields_ = [("handle", c_void_p), ("name", c_void_p)]


class _Handle(ctypes.Union):
    _fields_ = [("fd", c_int), ("win32", _Win32)]


class _MemoryDescription(ctypes.Structure):
    """CUDA_EXTERNAL_MEMORY_HANDLE_DESC"""

    _fields_ = [("type", c_int), ("handle", _Handle), ("size", c_ulonglong), ("flags", c_uint),
                ("reserved", c_uint * 16)]


class _BufferDescription(ctypes.Structure):
    """CUDA_EXTERNAL_MEMORY_BUFFER_DESC"""

    _fields_ = [("offset", c_ulonglong), ("size", c_ulonglong), ("flags", c_uint),
                ("reserved", c_uint * 16)]


class Context:
    """The primary context of a CUDA device, the one that CUDA's runtime uses too."""

    def __init__(self, driver: Any, ordinal: int, device: int) -> None:
        self.driver = driver
        self.ordinal = ordinal
        self._device = device
        self._handle: Optional[c_void_p] = None

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function of the driver with the context current; ``BufferError`` if it fails."""
        if self._handle is None:
            handle = c_void_p()
            self._check("cuDevicePrimaryCtxRetain",
                        self.driver.cuDevicePrimaryCtxRetain(byref(handle), self._device))
            self._handle = handle
        self._check("cuCtxPushCurrent", self.driver.cuCtxPushCurrent_v2(self._handle))
        try:
            self._check(name, getattr(self.driver, name)(*arguments))
        finally:
            before = c_void_p()
            self.driver.cuCtxPopCurrent_v2(byref(before))

    def _check(self, name: str, result: int) -> None:
        if result:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorString(result, byref(text))
            words = text.value.decode() if text.value else f"error {result}"
            raise BufferError(f"{name} of CUDA's driver: {words}")

    def copy(self, to: int, source: int, size: int) -> None:
        """Copies in the device's memory and waits."""
        self.call("cuMemcpyDtoD_v2", c_ulonglong(to), c_ulonglong(source), c_size_t(size))
        self.call("cuCtxSynchronize")


class Mapping:
    """Where CUDA has the memory of a file descriptor, which belongs to CUDA from then on."""

    def __init__(self, context: Context, fd: int, size: int) -> None:
        self._context = context
        self._memory = c_void_p()
        pointer = c_ulonglong()
        memory = _MemoryDescription(type=_OPAQUE_FD, size=size)
        memory.handle.fd = fd
        try:
            context.call("cuImportExternalMemory", byref(self._memory), byref(memory))
        except BufferError:
            os.close(fd)
            raise
        try:
            context.call("cuExternalMemoryGetMappedBuffer", byref(pointer), self._memory,
                         byref(_BufferDescription(size=size)))
        except BufferError:
            context.call("cuDestroyExternalMemory", self._memory)
            raise
        self.pointer: int = pointer.value

    def end(self) -> None:
        context = self._context
        context.call("cuMemFree_v2", c_ulonglong(self.pointer))
        context.call("cuDestroyExternalMemory", self._memory)


def find(uuid: bytes) -> Optional[Context]:
    """CUDA's context of the device with that UUID; None where there is no CUDA or it has none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        told = driver.cuDeviceGetUuid
    except (OSError, AttributeError):
        return None
    driver.cuGetErrorString.argtypes = [c_int, POINTER(ctypes.c_char_p)]
    count, device, own = c_int(), c_int(), (c_char * 16)()
    if driver.cuInit(0) or driver.cuDeviceGetCount(byref(count)):
        return None
    for ordinal in range(count.value):
        if not driver.cuDeviceGet(byref(device), ordinal) and \
                not told(byref(own), device) and bytes(own) == uuid:
            return Context(driver, ordinal, device.value)
    return None
