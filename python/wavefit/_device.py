"""Devices: what they are, what lives on them, and the executions that wait on them."""

from __future__ import annotations

import atexit
import html
import os
import sys
import threading
import weakref
from collections import OrderedDict
from typing import Any, Callable, Dict, Hashable, List, Optional, Tuple

from ._errors import DeviceClosedError, Log, NoDeviceError
from ._native import ffi, lib

__all__ = ["Device", "DeviceInfo", "default_device", "devices"]

_KINDS = {0: "other", 1: "integrated GPU", 2: "discrete GPU", 3: "virtual GPU", 4: "CPU"}
_MOST_PLANS = 256
_LEAST_POOL = 1 << 28  # bytes of free buffers that a device may always keep
_MOST_ANSWER = 1 << 18  # bytes of a result that a card may write to the host's memory
_NULL = ffi.NULL


class DeviceInfo:
    """What a device is and can do: the members of the C library's ``wf_caps`` as attributes.

    ``info.f64``, ``info.max_shared_bytes`` and so on; ``dir(info)`` lists them. ``info.kind`` is a
    word for its type.
    """

    def __init__(self, caps: Any) -> None:
        self._caps = caps

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._caps, name)
        if isinstance(value, (int, float, bool)):
            return value
        kind = ffi.typeof(value)
        if kind.kind == "array" and kind.item.cname == "char":
            return ffi.string(value).decode("utf-8", "replace")
        if kind.kind == "array" and kind.item.kind == "primitive":
            return tuple(value)
        return value

    def __dir__(self) -> List[str]:
        return ["kind"] + [name for name, _ in ffi.typeof("wf_caps").fields]

    @property
    def kind(self) -> str:
        """``"discrete GPU"``, ``"integrated GPU"``, ``"virtual GPU"``, ``"CPU"`` or ``"other"``."""
        return _KINDS.get(self._caps.device_type, "other")

    def __repr__(self) -> str:
        return f"<{self.index}: {self.name} ({self.kind}, {self.driver_name})>"


def devices() -> List[DeviceInfo]:
    """The Vulkan devices of this machine; none where there is no loader or no device.

    >>> import wavefit
    >>> for info in wavefit.devices():
    ...     print(info.index, info.name)            # doctest: +SKIP
    0 llvmpipe (LLVM 19.1.7, 256 bits)
    """
    log = Log()
    params = ffi.new("wf_device_params *", {"size": ffi.sizeof("wf_device_params")})
    params.log = lib.wavefit_log
    params.log_user = log.handle
    count = ffi.new("uint32_t *", 0)
    try:
        log.check(lib.wf_devices_list(params, _NULL, count))
    except NoDeviceError:
        return []
    caps = ffi.new("wf_caps[]", max(1, count[0]))
    for i in range(count[0]):
        caps[i].size = ffi.sizeof("wf_caps")
    log.check(lib.wf_devices_list(params, caps, count))
    copies = []
    for i in range(count[0]):
        copies.append(ffi.new("wf_caps *", caps[i]))
    return [DeviceInfo(each) for each in copies]


class Storage:
    """Memory of a device. It goes back to the device's pool when nobody refers to it; memory that
    others have too is destroyed."""

    __slots__ = ("device", "handle", "bytes", "used", "mapped", "held", "memory", "__weakref__")

    def __init__(self, device: "Device", handle: Any, size: int, used: int, mapped: Any,
                 held: Any = None, memory: int = lib.WF_MEMORY_DEVICE) -> None:
        self.device = device
        self.handle = handle
        self.bytes = size
        self.used = used  # number of the last execution that uses it
        self.mapped = mapped
        self.held = held  # what _exchange.py keeps of memory that others have too
        self.memory = memory  # wf_memory

    def __del__(self) -> None:
        if self.held is None:
            self.device._give_back(self.handle, self.bytes, self.used, self.mapped, self.memory)
            return
        self.device._destroy(self.handle, self.used)
        if not self.device._forked and not sys.is_finalizing():
            self.held.end()

    def settle(self) -> None:
        """Waits until the host may touch the memory."""
        if self.used > self.device._ended:
            self.device._wait(self.used)


class Plan:
    """A plan of the C library with the bindings that it is run with."""

    __slots__ = ("device", "handle", "bindings", "workspace", "result", "shape", "dtype", "bytes",
                 "factors", "__weakref__")
    shape: Tuple[int, ...]  # of what an execution writes, for those who made the plan
    dtype: Any
    bytes: int
    factors: Tuple[float, float]

    def __init__(self, device: "Device", handle: Any) -> None:
        self.device = device
        self.handle = handle
        self.bindings = ffi.new("wf_bindings *", {"size": ffi.sizeof("wf_bindings")})
        self.result = ffi.new("wf_result *")
        self.workspace: Optional[Storage] = None
        size = lib.wf_plan_workspace(handle)
        if size:
            self.workspace = device._take(size, False)
            self.bindings.workspace.buffer = self.workspace.handle

    def run(self, first: Storage, first_offset: int, second: Storage, second_offset: int,
            third: Optional[Storage] = None, third_offset: int = 0,
            fourth: Optional[Storage] = None, fourth_offset: int = 0) -> None:
        """Queues an execution."""
        device = self.device
        lock = device._lock
        with lock:
            if device._closed:
                device._refuse()
            number = lib.python_queue_run(
                device._queue, self.handle, self.bindings, first.handle, first_offset,
                second.handle, second_offset, _NULL if third is None else third.handle,
                third_offset, _NULL if fourth is None else fourth.handle, fourth_offset,
                self.result)
            if not number:
                device._log.fail(self.result[0])
            device._last = self
            if self.workspace is not None:
                self.workspace.used = number
            first.used = second.used = number
            if third is not None:
                third.used = number
            if fourth is not None:
                fourth.used = number

    def destroy(self) -> None:
        """Destroys the plan behind what was queued of it."""
        device = self.device
        with device._lock:
            if self.handle is None:
                return
            handle, self.handle = self.handle, None
            self.workspace = None
            if not device._closed:
                device._wait(0)
                lib.wf_plan_destroy(ffi.new("wf_plan **", handle))

    def __del__(self) -> None:
        if self.handle is not None:
            self.device._bury(self.handle)


_open: "weakref.WeakSet[Device]" = weakref.WeakSet()


class Device:
    """A Vulkan device with a queue of its own.

    ``selector`` is an index in ``devices()``, a part of a name or a UUID; without one,
    the environment variable ``WAVEFIT_DEVICE`` selects, or else the first discrete, integrated,
    virtual or CPU device that there is. ``limits="minimum"`` makes the device count as offering no
    more than Vulkan 1.1 guarantees. ``cache`` names the folder that keeps compiled pipelines and
    tuning data; ``False``: none. ``dispatch_seconds`` bounds what one dispatch may take.

    A device may be used from several threads; their calls take turns. After ``os.fork`` the
    child cannot use it and opens its own.

    >>> import wavefit
    >>> with wavefit.Device() as device:
    ...     a = wavefit.array([[1, 2], [3, 4]], dtype="f32", device=device)
    ...     print((a @ a).numpy())
    [[ 7. 10.]
     [15. 22.]]
    """

    def __init__(self, selector: "str | int | None" = None, *, limits: str = "device",
                 cache: "str | os.PathLike[str] | bool | None" = None,
                 dispatch_seconds: float = 0.0, capture_statistics: bool = False) -> None:
        self._closed = "the device was not opened"
        self._forked = False
        self._lock = threading.RLock()
        self._log = Log()
        self._plans: "OrderedDict[Hashable, Plan]" = OrderedDict()
        self._pool: Dict[Tuple[int, int], List[Tuple[Any, int, Any]]] = {}
        self._pooled = 0
        self._most_pooled = _LEAST_POOL
        self._buried: List[Any] = []
        self._ended = 0
        self._number = ffi.new("uint64_t *")
        self._live = 0  # buffers
        self._views = 0  # NumPy's arrays of the device's memory
        self._last: Optional[Plan] = None  # what was queued last, for explain
        self._cuda: Any = False  # _cuda.Context; None: there is none; False: nobody asked yet
        if limits not in ("device", "minimum"):
            raise ValueError(f"limits is {limits!r}; it is 'device' or 'minimum'")
        params = ffi.new("wf_device_params *", {"size": ffi.sizeof("wf_device_params")})
        keep = [params]
        if selector is not None:
            keep.append(ffi.new("char[]", str(selector).encode()))
            params.selector = keep[-1]
        if cache is not None and cache is not True:
            keep.append(ffi.new("char[]", os.fsencode(cache) if cache else b""))
            params.cache_directory = keep[-1]
        params.limits = lib.WF_LIMITS_MINIMUM if limits == "minimum" else lib.WF_LIMITS_DEVICE
        params.log = lib.wavefit_log
        params.log_user = self._log.handle
        params.dispatch_seconds = dispatch_seconds
        params.capture_statistics = capture_statistics
        params.cancelled = lib.wavefit_cancelled
        params.cancelled_user = self._log.handle
        out = ffi.new("wf_device **")
        self._log.check(lib.wf_device_create(params, out))
        self._handle = out[0]
        self._caps = ffi.new("wf_caps *", lib.wf_device_caps(self._handle)[0])  # outlives it
        self.info = DeviceInfo(self._caps)
        self._alignment = max(1, self._caps.storage_alignment)
        self._most_pooled = max(_LEAST_POOL, self._caps.device_local_bytes // 16)
        queue = ffi.new("wf_queue **")
        result = lib.wf_queue_create(self._handle, queue)
        if result != lib.WF_SUCCESS:
            lib.wf_device_destroy(out)
            self._log.fail(result)
        self._queue = queue[0]
        self._closed = ""
        _open.add(self)

    # ------------------------------------------------------------------------------ lifetime

    def close(self) -> None:
        """Waits for the device and closes it. What lives on it is gone, but for memory that views
        (``Array.view()``) still show: the device goes with the last of them."""
        with self._lock:
            if self._closed:
                return
            self._plans.clear()
            self._last = None
            lib.wf_queue_destroy(ffi.new("wf_queue **", self._queue))
            self._exhume()
            self._drain()
            self._closed = "the device was closed"
            # Arrays and matrices that are still there lose what they had: no need to warn.
            self._log.quiet = True
            if not self._views:
                self._end()

    def _end(self) -> None:
        handle, self._handle = self._handle, _NULL
        if handle != _NULL:
            lib.wf_device_destroy(ffi.new("wf_device **", handle))

    def _unview(self) -> None:
        """A view is gone."""
        if self._forked or sys.is_finalizing():
            return
        with self._lock:
            self._views -= 1
            if self._closed and not self._views:
                self._end()

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", "x"):
            self.close()

    def _refuse(self) -> None:
        error = DeviceClosedError(self._closed)
        error.code = lib.WF_ERROR_DEVICE_CLOSED
        raise error

    def _usable(self) -> None:
        if self._closed:
            self._refuse()

    # -------------------------------------------------------------------------------- memory

    def _take_answer(self, size: int, most: int = _MOST_ANSWER) -> Storage:
        """Memory for a result that the host reads at once and the plan writes once. A card writes a
        small one to the host's memory, where reading it takes a copy on the host; from the card's
        own it takes a submission (bench/notes/core.md). To everybody else it is memory of the
        card's, so `mapped` does not tell of it."""
        if size > most or self._caps.unified_memory:
            return self._take(size, False)
        return self._take(size, False, lib.WF_MEMORY_READBACK)

    def _take(self, size: int, for_host: bool, memory: int = lib.WF_MEMORY_DEVICE) -> Storage:
        """Memory of at least `size` bytes. What waits in the pool may still be in use by queued
        executions; later ones come behind them, but the host would have to wait."""
        size = (max(size, 4) + 255) & ~255
        free = self._pool.get((memory, size))
        if free:
            try:
                if not for_host or free[0][1] <= self._ended:
                    handle, used, mapped = free.pop(0 if for_host else -1)
                    self._pooled -= size
                    return Storage(self, handle, size, used, mapped, None, memory)
            except IndexError:  # another thread took it
                pass
        with self._lock:
            self._usable()
            out = ffi.new("wf_buffer **")
            result = lib.wf_buffer_create(self._handle, size, memory, out)
            if result == lib.WF_ERROR_OUT_OF_DEVICE_MEMORY and self._pooled:
                self._log.errors.clear()
                self._wait(0)
                self._drain()
                result = lib.wf_buffer_create(self._handle, size, memory, out)
            self._log.check(result)
            self._live += 1
            mapped = lib.wf_buffer_mapped(out[0])
        shown = memory == lib.WF_MEMORY_DEVICE and mapped != _NULL
        return Storage(self, out[0], size, 0, mapped if shown else None, None, memory)

    def _give_back(self, handle: Any, size: int, used: int, mapped: Any, memory: int) -> None:
        if self._closed:
            if not self._forked and not sys.is_finalizing():
                lib.wf_buffer_destroy(ffi.new("wf_buffer **", handle))
            return
        if self._pooled + size <= self._most_pooled:
            self._pooled += size
            self._pool.setdefault((memory, size), []).append((handle, used, mapped))
            return
        self._destroy(handle, used)

    def _destroy(self, handle: Any, used: int) -> None:
        if self._closed:
            if not self._forked and not sys.is_finalizing():
                lib.wf_buffer_destroy(ffi.new("wf_buffer **", handle))
            return
        with self._lock:
            if not self._closed:
                if used > self._ended:
                    self._wait_quietly(used)
                lib.wf_buffer_destroy(ffi.new("wf_buffer **", handle))
                self._live -= 1

    def _drain(self) -> None:
        for free in list(self._pool.values()):
            while free:
                lib.wf_buffer_destroy(ffi.new("wf_buffer **", free.pop()[0]))
                self._live -= 1
        self._pool.clear()
        self._pooled = 0

    def free_memory(self) -> None:
        """Gives back the memory of arrays that are gone, of which the device keeps up to a
        sixteenth of its own for new ones (at least 256 MiB)."""
        with self._lock:
            self._usable()
            self._wait(0)
            self._drain()

    # --------------------------------------------------------------------------------- plans

    def _plan(self, key: Hashable, make: Callable[[Any], int]) -> Plan:
        """The plan of that key; `make` writes a new one's handle and returns its result."""
        plan = self._plans.get(key)
        if plan is not None:
            return plan
        with self._lock:
            self._usable()
            plan = self._make_plan(make)
            self._plans[key] = plan
            if len(self._plans) > _MOST_PLANS:
                self._plans.popitem(last=False)  # another thread may be about to run it
            return plan

    def _make_plan(self, make: Callable[[Any], int]) -> Plan:
        with self._lock:
            self._usable()
            if len(self._buried) > 8:
                self._wait(0)
                self._exhume()
            out = ffi.new("wf_plan **")
            self._log.check(make(out))
            return Plan(self, out[0])

    def _forget_plans(self) -> None:
        with self._lock:
            self._plans.clear()

    def _bury(self, handle: Any) -> None:
        self._buried.append(handle)
        if self._closed and not self._forked and not sys.is_finalizing():
            self._exhume()

    def _exhume(self) -> None:
        """Destroys the plans that nobody refers to; nothing is queued any more."""
        while self._buried:
            lib.wf_plan_destroy(ffi.new("wf_plan **", self._buried.pop()))

    # ------------------------------------------------------------------------------- waiting

    def _wait(self, number: int) -> None:
        """Waits for the execution of that number; 0: for all."""
        with self._lock:
            self._usable()
            self._log.check(lib.wf_queue_wait(self._queue, number))
            lib.wf_queue_ended(self._queue, self._number)
            self._ended = self._number[0]

    def _wait_quietly(self, number: int) -> None:
        """The same where an exception cannot be raised: the wait goes on behind one."""
        while lib.wf_queue_wait(self._queue, number) == lib.WF_ERROR_CANCELLED:
            self._log.errors.clear()

    def synchronize(self) -> None:
        """Waits until all that was queued has ended."""
        self._wait(0)

    def available_bytes(self) -> int:
        """Bytes of device memory that can be had right now, as the driver tells."""
        with self._lock:
            self._usable()
            out = ffi.new("uint64_t *")
            self._log.check(lib.wf_device_available(self._handle, out))
            return int(out[0])

    # ------------------------------------------------------------------------------- display

    def __repr__(self) -> str:
        state = f" ({self._closed})" if self._closed else ""
        name = self.info.name if hasattr(self, "info") else "?"
        return f"<wavefit.Device {name}{state}>"

    def _repr_html_(self) -> str:
        info = self.info
        rows = [("kind", info.kind), ("driver", f"{info.driver_name} {info.driver_info}"),
                ("memory", f"{info.device_local_bytes / 2**30:.1f} GiB"),
                ("compute units", info.compute_units or "not told"),
                ("subgroup", info.subgroup_size)]
        body = "".join(f"<tr><td>{k}</td><td>{html.escape(str(v))}</td></tr>" for k, v in rows)
        return f"<table><caption>{html.escape(info.name)}</caption>{body}</table>"


_default: Optional[Device] = None
_default_lock = threading.Lock()


def default_device() -> Device:
    """The device that functions use where no other is given; opened at the first use."""
    global _default
    with _default_lock:
        if _default is None or _default._closed:
            _default = Device()
        return _default


def _after_fork() -> None:
    """A child has none of the driver's threads, and its memory is the parent's: nothing of a
    device may be touched there, not even to close it."""
    global _default, _default_lock
    _default = None
    _default_lock = threading.Lock()
    for device in list(_open):
        device._closed = ("the device belongs to the process that this one was forked from; "
                          "open one here (wavefit.Device())")
        device._forked = True
        device._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _close_all() -> None:
    """Devices close before the interpreter takes apart what their callbacks need."""
    for device in list(_open):
        device.close()
        if not device._forked:
            device._end()
