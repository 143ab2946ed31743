"""Stencils, and Himeno's relaxation."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union, overload

import numpy as np

from ._array import Array, array, empty
from ._device import Device, default_device
from ._dtypes import DType, float16, float32, float64
from ._native import ffi, lib

__all__ = ["HimenoResult", "himeno", "stencil"]

_SHAPES = {"star": lib.WF_STENCIL_STAR, "box": lib.WF_STENCIL_BOX}
_BORDERS = {"dirichlet": lib.WF_BORDER_DIRICHLET, "neumann": lib.WF_BORDER_NEUMANN,
            "periodic": lib.WF_BORDER_PERIODIC}


def stencil_params(cells: Tuple[int, ...], of: DType, shape: str, radius: int,
                   coefficients: Any, steps: int, border: str) -> Tuple[Any, List[Any]]:
    """The C library's parameters, and what they point to."""
    if shape not in _SHAPES:
        raise ValueError(f"shape is {shape!r}; it is 'star' or 'box'")
    if border not in _BORDERS:
        raise ValueError(f"border is {border!r}; it is 'dirichlet', 'neumann' or 'periodic'")
    if len(cells) not in (2, 3) or of not in (float32, float64, float16):
        raise TypeError(f"stencil takes grids of two or three dimensions of float32, float64 or "
                        f"float16, not {cells} of {of.name}")
    if steps < 1 or radius < 1:
        raise ValueError(f"steps is {steps} and radius {radius}; each is one or more")
    count = (2 * radius + 1) ** len(cells) if shape == "box" else 1 + 2 * radius * len(cells)
    taps = np.full(count, 1 / count) if coefficients is None else \
        np.array(coefficients, np.float64).reshape(-1)
    if taps.shape != (count,):
        raise ValueError(f"a {shape} of radius {radius} in {len(cells)} dimensions has {count} "
                         f"coefficients, not {taps.size}")
    numbers = ffi.new("double[]", taps.tolist())
    params = ffi.new("wf_stencil_params *", {
        "size": ffi.sizeof("wf_stencil_params"), "nx": cells[-1], "ny": cells[-2],
        "nz": cells[0] if len(cells) == 3 else 0, "shape": _SHAPES[shape], "radius": radius,
        "border": _BORDERS[border], "coefficients": numbers, "steps": steps, "type": of.code})
    return params, [numbers]


@overload
def stencil(u: Array, shape: str = ..., radius: int = ..., coefficients: Any = ...,
            steps: int = ..., border: str = ..., out: Optional[Array] = ...,
            device: Optional[Device] = ...) -> Array: ...
@overload
def stencil(u: "Union[np.ndarray[Any, Any], Sequence[Any]]", shape: str = ..., radius: int = ...,
            coefficients: Any = ..., steps: int = ..., border: str = ...,
            out: Optional[Array] = ...,
            device: Optional[Device] = ...) -> "np.ndarray[Any, Any]": ...


def stencil(u: Any, shape: str = "star", radius: int = 1, coefficients: Any = None,
            steps: int = 1, border: str = "dirichlet", out: Optional[Array] = None,
            device: Optional[Device] = None) -> Any:
    """Applies a stencil with constant coefficients ``steps`` times to a grid of two or three
    dimensions. The last axis is x.

    A star's coefficients are the centre's, then for each axis x, y, z and each distance 1 …
    ``radius`` those of the cell before and behind; a box's have the shape of the box. Without them
    all cells count alike. With ``border="dirichlet"`` the outer cells keep their values,
    ``"neumann"`` mirrors and ``"periodic"`` wraps around. Queued, as products are.

    >>> import numpy as np, wavefit
    >>> u = np.zeros((3, 4), np.float32); u[1, 1] = 5
    >>> wavefit.stencil(u, border="periodic")
    array([[0., 1., 0., 0.],
           [1., 1., 1., 0.],
           [0., 1., 0., 0.]], dtype=float32)
    """
    on_host = not isinstance(u, Array)
    if on_host:
        host = np.asarray(u)
        if host.dtype.kind not in "biuf":
            raise TypeError(f"stencil takes real numbers, not {host.dtype}")
        u = array(host if host.dtype.kind == "f" else host.astype(np.float32), device=device)
    elif u._swapped:
        u = array(u)
    on: Device = u.device
    taps = None if coefficients is None else tuple(np.asarray(coefficients, float).reshape(-1))
    key = ("stencil", u.shape, u.dtype, shape, radius, taps, steps, border)
    plan = on._plans.get(key)
    if plan is None:
        params, kept = stencil_params(u.shape, u.dtype, shape, radius, taps, steps, border)
        if u.size:
            plan = on._plan(key, lambda to: int(lib.wf_stencil_plan(on._handle, params, to)))
        del kept
    if out is None and on_host and plan is not None and plan.workspace is None:
        out = Array(on, u.shape, u.dtype, on._take_answer(u.nbytes))
    elif out is None:  # also where passes go to and fro between the result and a workspace
        out = empty(u.shape, u.dtype, on)
    elif (not isinstance(out, Array) or out.shape != u.shape or out.dtype is not u.dtype or
          out.device is not on or out._swapped or out._storage is u._storage):
        raise ValueError(f"out must be another device array of shape {u.shape} and {u.dtype.name}")
    if plan is not None:  # a grid without cells has none, and stays as it is
        plan.run(u._storage, u._offset, out._storage, out._offset)
    return out.numpy() if on_host else out


class HimenoResult:
    """What ``wavefit.himeno`` came to: ``p`` (k, j, i), ``gosa`` of each iteration, ``seconds`` and
    ``gflops`` by the benchmark's own count."""

    def __init__(self, p: "np.ndarray[Any, Any]", gosa: "np.ndarray[Any, Any]",
                 seconds: float) -> None:
        self.p, self.gosa, self.seconds = p, gosa, seconds
        inner = np.prod([n - 2 for n in p.shape], dtype=np.float64)
        self.gflops = float(lib.WF_HIMENO_FLOPS * inner * len(gosa) / seconds / 1e9)

    def __repr__(self) -> str:
        return (f"<himeno {'x'.join(map(str, self.p.shape[::-1]))}, {len(self.gosa)} iterations: "
                f"gosa {self.gosa[-1]:.6e}, {self.gflops:.2f} GFLOPS>")


_ARRAYS = (("p", 1), ("a", 4), ("b", 3), ("c", 3), ("bnd", 1), ("wrk1", 1))


def _start_values(fields: Dict[str, Any], cells: Sequence[int]) -> Tuple[Any, List[Any]]:
    """wf_himeno_arrays of a dictionary of p, a, b, c, bnd, wrk1."""
    arrays, kept = ffi.new("wf_himeno_arrays *"), []
    if set(fields) != {name for name, _ in _ARRAYS}:
        raise ValueError(f"fields are {sorted(fields)}; they are p, a, b, c, bnd and wrk1")
    for name, count in _ARRAYS:
        shape = tuple(cells[::-1]) if count == 1 else (count, *cells[::-1])
        host = np.ascontiguousarray(fields[name], np.float32)
        if host.shape != shape:
            raise ValueError(f"field {name} has shape {host.shape}; it must have {shape}")
        kept.append(host)
        each = int(np.prod(cells)) * 4
        pointers = [ffi.cast("float *", host.ctypes.data + i * each) for i in range(count)]
        if count == 1:
            setattr(arrays, name, pointers[0])
        else:
            for i, pointer in enumerate(pointers):
                getattr(arrays, name)[i] = pointer
    return arrays, kept


def himeno(ni: int, nj: int, nk: int, iterations: int = 10, *, omega: float = 0.8,
           fields: Optional[Dict[str, Any]] = None,
           device: Optional[Device] = None) -> HimenoResult:
    """Runs Himeno's 19-point relaxation in float32 on ``ni`` x ``nj`` x ``nk`` cells, from the
    benchmark's start values or from ``fields``: a dictionary of arrays ``p``, ``bnd``, ``wrk1``
    (nk, nj, ni), ``a`` (4, …), ``b`` and ``c`` (3, …).

    >>> import wavefit
    >>> result = wavefit.himeno(17, 9, 9, iterations=3)
    >>> result.p.shape, len(result.gosa)
    ((9, 9, 17), 3)
    """
    device = device or default_device()
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}; himeno makes one or more")
    params = ffi.new("wf_himeno_params *", {
        "size": ffi.sizeof("wf_himeno_params"), "ni": ni, "nj": nj, "nk": nk, "omega": omega})
    out = ffi.new("wf_himeno **")
    p = np.empty((nk, nj, ni), np.float32)
    gosa = np.empty(iterations, np.float32)
    seconds, clock = ffi.new("double *"), ffi.new("bool *")
    with device._lock:
        device._usable()
        check = device._log.check
        check(lib.wf_himeno_create(device._handle, params, out))
        try:
            if fields is None:
                check(lib.wf_himeno_start(out[0]))
            else:
                arrays, kept = _start_values(fields, (ni, nj, nk))
                check(lib.wf_himeno_write(out[0], arrays))
                del kept
            check(lib.wf_himeno_run_each(out[0], iterations, ffi.cast("float *", gosa.ctypes.data),
                                         seconds, clock))
            check(lib.wf_himeno_read(out[0], ffi.cast("float *", p.ctypes.data)))
        finally:
            lib.wf_himeno_destroy(out)
    return HimenoResult(p, gosa, seconds[0])
