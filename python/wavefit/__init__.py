"""wavefit: stencils, sparse and dense products on any Vulkan device.

>>> import numpy as np, wavefit
>>> a = wavefit.array(np.ones((2, 3), np.float32))
>>> (a @ a.T).numpy()
array([[3., 3.],
       [3., 3.]], dtype=float32)
"""

from ._array import (Array, CopyWarning, array, asarray, empty, from_dlpack, full, ones, zeros)
from ._device import Device, DeviceInfo, default_device, devices
from ._dtypes import (DType, bfloat16, dtype, float16, float32, float64, int8, int32)
from ._errors import (CancelledError, DeviceClosedError, DeviceLostError, Error,
                      InvalidArgumentError, NoDeviceError, OutOfMemoryError, TooLargeError,
                      UnsupportedError)
from ._explain import Explanation, TuneResult, explain, peaks, tune
from ._grid import HimenoResult, himeno, stencil
from ._matmul import matmul
from ._native import ffi as _ffi, lib as _lib
from ._solve import SolveInfo, cg, laplace
from ._sparse import SparseMatrix, csr
from ._vector import axpy, dot

#: The version of the C library inside.
__version__: str = _ffi.string(_lib.wf_version()).decode()

__all__ = [
    "Array", "CancelledError", "CopyWarning", "DType", "Device", "DeviceClosedError", "DeviceInfo",
    "DeviceLostError", "Error", "Explanation", "HimenoResult", "InvalidArgumentError",
    "NoDeviceError", "OutOfMemoryError", "SolveInfo", "SparseMatrix", "TooLargeError", "TuneResult",
    "UnsupportedError", "array", "asarray", "axpy", "bfloat16", "cg", "csr", "default_device",
    "devices", "dot", "dtype", "empty", "explain", "float16", "float32", "float64", "from_dlpack",
    "full", "himeno", "int32", "int8", "laplace", "matmul", "ones", "peaks", "stencil", "tune",
    "zeros",
]
