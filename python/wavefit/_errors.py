"""Results of the C library as exceptions, with the words that it logs."""

from __future__ import annotations

import logging
from typing import Any, List, NoReturn, Optional

from ._native import ffi, lib

_logger = logging.getLogger("wavefit")


class Error(RuntimeError):
    """Base of all errors of wavefit. ``code`` is the C library's ``wf_result``."""

    code: int = 0


class InvalidArgumentError(Error, ValueError):
    """A parameter is out of its stated range."""


class OutOfMemoryError(Error, MemoryError):
    """The host or the device has no memory left of the kind that is needed."""


class NoDeviceError(Error):
    """There is no Vulkan loader, or no device that matches the selector."""


class UnsupportedError(Error, NotImplementedError):
    """The device lacks what was asked for."""


class TooLargeError(Error, ValueError):
    """The problem exceeds a limit of the device or of wavefit."""


class DeviceLostError(Error):
    """The driver reported that the device is lost."""


class DeviceClosedError(Error):
    """The device was closed, or the process is a fork of the one that opened it."""


class CancelledError(Error):
    """A callback asked to stop."""


_CLASSES = {
    lib.WF_ERROR_INVALID_ARGUMENT: InvalidArgumentError,
    lib.WF_ERROR_OUT_OF_HOST_MEMORY: OutOfMemoryError,
    lib.WF_ERROR_OUT_OF_DEVICE_MEMORY: OutOfMemoryError,
    lib.WF_ERROR_NO_LOADER: NoDeviceError,
    lib.WF_ERROR_NO_DEVICE: NoDeviceError,
    lib.WF_ERROR_DEVICE_LOST: DeviceLostError,
    lib.WF_ERROR_UNSUPPORTED: UnsupportedError,
    lib.WF_ERROR_TOO_LARGE: TooLargeError,
    lib.WF_ERROR_UNKNOWN_VARIANT: InvalidArgumentError,
    lib.WF_ERROR_CONSTRAINT: InvalidArgumentError,
    lib.WF_ERROR_BINDING: InvalidArgumentError,
    lib.WF_ERROR_CANCELLED: CancelledError,
    lib.WF_ERROR_DEVICE_CLOSED: DeviceClosedError,
}


class Log:
    """What the C library tells of one device: errors are kept for the next exception, the rest
    goes to the logger ``wavefit``."""

    def __init__(self) -> None:
        self.handle = ffi.new_handle(self)
        self.errors: List[str] = []
        self.quiet = False  # warnings are of no interest any more
        self.raised: Optional[BaseException] = None  # in a callback, to be raised behind the call

    def fail(self, result: int) -> NoReturn:
        """Raises the exception of a result other than success."""
        raised, self.raised = self.raised, None
        lines, self.errors = self.errors, []
        if raised is not None and result == lib.WF_ERROR_CANCELLED:
            raise raised
        text = "\n".join(lines) or ffi.string(lib.wf_result_string(result)).decode()
        error = _CLASSES.get(result, Error)(text)
        error.code = result
        raise error

    def check(self, result: int) -> None:
        """Raises unless the result is success."""
        if result != lib.WF_SUCCESS:
            self.fail(result)
        if self.errors or self.raised is not None:
            self.errors.clear()
            raised, self.raised = self.raised, None
            if raised is not None:
                raise raised


@ffi.def_extern()
def wavefit_log(user: Any, level: int, text: Any) -> None:
    line = ffi.string(text).decode("utf-8", "replace")
    log = ffi.from_handle(user)
    if level == lib.WF_LOG_ERROR:
        log.errors.append(line)
    elif not log.quiet:
        _logger.log(logging.WARNING if level == lib.WF_LOG_WARNING else logging.INFO, "%s", line)


def _keep(position: int):  # type: ignore[no-untyped-def]
    """An exception in a callback stops the call; the call raises it. The callback's argument
    `position` is the handle of a Log, or of what has one as `log`."""

    def keep(kind: Any, value: BaseException, trace: Any) -> bool:
        frame = trace.tb_frame if trace is not None else None
        user = frame.f_locals.get("user") if frame is not None else None
        if user is not None:
            owner = ffi.from_handle(user)
            getattr(owner, "log", owner).raised = value
        return position == 0

    return keep


@ffi.def_extern(error=True, onerror=_keep(0))
def wavefit_cancelled(user: Any) -> bool:
    # Python runs handlers of signals between the steps of such a loop, on the main thread.
    for _ in range(3):
        pass
    return ffi.from_handle(user).raised is not None
