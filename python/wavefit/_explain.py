"""How fast a call is, why, and what a search makes of it."""

from __future__ import annotations

import html
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._array import asarray
from ._device import Device, Plan, _open, default_device
from ._dtypes import float16, float32, float64
from ._errors import _keep
from ._grid import himeno, stencil, stencil_params
from ._matmul import Product, _ACTIVATIONS, _MATH, matmul, matmul_params
from ._native import ffi, lib
from ._solve import _Watch
from ._sparse import SparseMatrix

__all__ = ["Explanation", "TuneResult", "explain", "peaks", "tune"]


def peaks(device: Optional[Device] = None) -> Dict[str, float]:
    """The device's limits as measured (each once for a device): ``copy`` in bytes a second,
    ``float32``, ``float64`` and ``float16`` multiply-adds in flops a second, where it has them."""
    device = device or default_device()
    found: Dict[str, float] = {}
    out = ffi.new("double *")
    with device._lock:
        device._usable()
        device._wait(0)
        device._log.check(lib.wf_device_copy_bandwidth(device._handle, out))
        found["copy"] = out[0]
        for of in (float32, float64, float16):
            result = lib.wf_device_fma_rate(device._handle, of.code, out)
            if result == lib.WF_ERROR_UNSUPPORTED:
                device._log.errors.clear()
                continue
            device._log.check(result)
            found[of.name] = out[0]
    return found


def _device_of(*things: Any) -> Device:
    for thing in things:
        device = getattr(thing, "device", None)
        if isinstance(device, Device):
            return device
    return default_device()


def _info(info: Any) -> Dict[str, Any]:
    kernel = info.kernel
    return {
        "family": ffi.string(info.family).decode(), "variant": ffi.string(info.variant).decode(),
        "chosen_by": ffi.string(info.chosen_by).decode(),
        "constants": {ffi.string(c.name).decode(): c.value
                      for c in info.constants[0:info.constant_count]},
        "dispatches": info.dispatches, "flops": info.flops, "least_bytes": info.least_bytes,
        "group_size": tuple(kernel.group_size), "groups": kernel.groups,
        "shared_bytes": kernel.shared_bytes, "subgroup_size": kernel.subgroup_size,
        "registers": kernel.registers}


class _Report(Dict[str, Any]):
    """A dictionary that prints and shows as a table."""

    _title = ""

    def _rows(self) -> List[Tuple[str, str]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        rows = self._rows()
        wide = max(len(name) for name, _ in rows)
        return "\n".join([self._title] + [f"  {name:{wide}}  {text}" for name, text in rows])

    def _repr_html_(self) -> str:
        body = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>"
                       for name, text in self._rows())
        return f"<table><caption>{html.escape(self._title)}</caption>{body}</table>"


def _constants(of: Dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in of["constants"].items()) or "none"


class Explanation(_Report):
    """What ``explain`` found, as a dictionary; printing it shows the essence."""

    _title = "explanation"

    def _rows(self) -> List[Tuple[str, str]]:
        e = self
        rows = [("kernel", f"{e['family']} {e['variant']}, chosen by {e['chosen_by']}"),
                ("constants", _constants(e)),
                ("time", f"{e['median_us']:.1f} us (spread {100 * e['spread']:.0f} %)"),
                ("arithmetic", f"{e['gflops']:.2f} GFLOPS"),
                ("memory", f"{e['gbs']:.2f} GB/s of what must be moved"),
                ("floor", f"{e['floor_us']:.1f} us, by {e['bound_by']}: "
                          f"{100 * e['floor_fraction']:.0f} % of it reached"),
                ("work-groups", f"{e['groups']} of {'x'.join(map(str, e['group_size']))}")]
        if e["registers"]:
            rows.append(("registers", str(e["registers"])))
        return rows

    def plot(self, ax: Any = None) -> Any:
        """Draws the device's roofline and the call in it on matplotlib's axes; returns these."""
        import numpy as np
        if ax is None:
            import matplotlib.pyplot
            ax = matplotlib.pyplot.subplots()[1]
        copy, rate = self["peaks"]["copy"], self["flop_rate"]
        here = self["flops"] / self["least_bytes"]
        x = np.geomspace(min(here, rate / copy) / 8, max(here, rate / copy) * 8, 200)
        ax.loglog(x, np.minimum(x * copy, rate) / 1e9, color="black")
        ax.loglog([here], [self["gflops"]], "o", label=f"{self['family']} {self['variant']}")
        ax.set_xlabel("operations a byte that must be moved")
        ax.set_ylabel("GFLOPS")
        ax.legend()
        return ax


def explain(function: Callable[..., Any], *args: Any, budget: float = 0.3, show: bool = True,
            device: Optional[Device] = None, **options: Any) -> Explanation:
    """Calls ``function(*args, **options)``, then times the last execution that it queued and
    compares it with what the device's measured limits allow. Prints the explanation and returns it
    as a dictionary.

    >>> import operator, wavefit
    >>> a = wavefit.ones((64, 64))
    >>> e = wavefit.explain(operator.matmul, a, a)           # doctest: +ELLIPSIS
    explanation
      kernel       matmul ...
    >>> e["flops"]
    524288.0
    """
    for each in list(_open):
        each._last = None
    result = function(*args, **options)
    device = device or _device_of(result, function, getattr(function, "__self__", None), *args)
    with device._lock:
        device._usable()
        plan = device._last
        if plan is None or plan.handle is None:
            raise ValueError(f"{function!r} queued nothing that could be explained")
        device._wait(0)
        found = Explanation(_describe(device, plan, budget))
    found["peaks"] = peaks(device)
    _compare(found, getattr(getattr(result, "dtype", None), "name", ""))
    if show:
        print(found)
    return found


def _describe(device: Device, plan: Plan, budget: float) -> Dict[str, Any]:
    info = ffi.new("wf_plan_info *", {"size": ffi.sizeof("wf_plan_info")})
    timing = ffi.new("wf_timing *")
    measure = ffi.new("wf_measure_params *", {
        "size": ffi.sizeof("wf_measure_params"), "budget_seconds": budget})
    device._log.check(lib.wf_plan_describe(plan.handle, info))
    device._log.check(lib.wf_plan_measure(plan.handle, plan.bindings, measure, timing))
    return {**_info(info), "median_us": timing.median_us, "spread": timing.spread,
            "samples": timing.count, "gpu_clock": timing.gpu_clock}


def _compare(found: Dict[str, Any], type_name: str) -> None:
    seconds, measured = found["median_us"] * 1e-6, found["peaks"]
    found["flop_rate"] = measured.get(type_name, measured["float32"])
    found["gflops"] = found["flops"] / seconds / 1e9
    found["gbs"] = found["least_bytes"] / seconds / 1e9
    times: Dict[str, float] = {"memory": found["least_bytes"] / measured["copy"],
                               "arithmetic": found["flops"] / found["flop_rate"]}
    found["bound_by"] = max(times, key=lambda name: times[name])
    found["floor_us"] = times[found["bound_by"]] * 1e6
    found["floor_fraction"] = found["floor_us"] / found["median_us"]


class TuneResult(_Report):
    """What ``tune`` found, as a dictionary."""

    _title = "tuned"

    def _rows(self) -> List[Tuple[str, str]]:
        gain = f" (from {self['before_us']:.1f} us)" if self["before_us"] else ""
        return [("kernel", f"{self['family']} {self['variant']}"), ("constants", _constants(self)),
                ("time", f"{self['best_us']:.1f} us{gain}"),
                ("searched", f"{self['measured']} of {self['legal']} points"),
                ("kept", "yes" if self["kept"] else "no")]


@ffi.def_extern(error=False, onerror=_keep(1))
def wavefit_tune_progress(user: Any, progress: Any) -> bool:
    return ffi.from_handle(user).progress(  # type: ignore[no-any-return]
        int(progress.measured), float(progress.best_us))


def tune(problem: Any, *args: Any, seconds: float = 60.0, keep: bool = True,
         progress: Optional[Callable[[int, float], Any]] = None, show: bool = True,
         device: Optional[Device] = None, **options: Any) -> TuneResult:
    """Searches for the fastest kernel of a problem on this device: ``tune(A)`` of a sparse matrix,
    ``tune(wavefit.matmul, a, b, …)``, ``tune(wavefit.stencil, u, …)`` or
    ``tune(wavefit.himeno, ni, nj, nk)``, with the function's own arguments.

    What is found is kept on disk and chosen from then on (``keep=False``: neither).
    ``progress(points measured, best time in us)`` ends the search by returning False.
    """
    device = device or _device_of(problem, *args)
    member, params, kept = _problem(problem, device, args, options)
    watch = _Watch(device._log, progress)
    search = ffi.new("wf_tune_params *", {
        "size": ffi.sizeof("wf_tune_params"), member: params, "budget_seconds": seconds,
        "discard": not keep, "progress": lib.wavefit_tune_progress, "user": watch.handle})
    out = ffi.new("wf_tune_result *", {"size": ffi.sizeof("wf_tune_result")})
    out.best.size = out.before.size = ffi.sizeof("wf_plan_info")
    with device._lock:
        device._usable()
        device._wait(0)
        code = lib.wf_tune(device._handle, search, out)
        if code == lib.WF_ERROR_CANCELLED and watch.stopped and device._log.raised is None and \
                out.best_us > 0:
            device._log.errors.clear()
        else:
            device._log.check(code)
        if keep:
            device._forget_plans()
            if isinstance(problem, SparseMatrix):
                problem._forget()
    del kept
    found = TuneResult({**_info(out.best), "best_us": out.best_us, "before_us": out.before_us,
                        "spread": out.spread, "measured": out.measured, "legal": out.legal,
                        "finished": out.finished, "kept": out.kept})
    if show:
        print(found)
    return found


def _problem(problem: Any, device: Device, args: Tuple[Any, ...],
             options: Dict[str, Any]) -> Tuple[str, Any, List[Any]]:
    """The member of wf_tune_params, its parameters, and what they point to."""
    if isinstance(problem, SparseMatrix):
        vectors = options.pop("vectors", 0)
        if args or options:
            raise TypeError("tune(A) takes vectors= and no other arguments of a product")
        params = problem._params(False, vectors, 0, None)
        params.updatable = False
        return "spmv", params, []
    if problem is matmul:
        return _matmul_problem(device, *args, **options)
    if problem is stencil:
        u = asarray(args[0], device=device)
        names = ("shape", "radius", "coefficients", "steps", "border")
        given: Dict[str, Any] = {
            "shape": "star", "radius": 1, "coefficients": None, "steps": 1, "border": "dirichlet",
            **dict(zip(names, args[1:])), **options}
        params, kept = stencil_params(u.shape, u.dtype, **given)
        return "stencil", params, kept
    if problem is himeno:
        sizes = dict(zip(("ni", "nj", "nk"), args))
        params = ffi.new("wf_himeno_params *", {
            "size": ffi.sizeof("wf_himeno_params"), **sizes, **options})
        return "himeno", params, []
    raise TypeError(
        f"tune searches for a sparse matrix, matmul, stencil or himeno, not {problem!r}")


def _matmul_problem(device: Device, a: Any, b: Any, *, bias: Any = None,
                    activation: Optional[str] = None, transpose_a: bool = False,
                    transpose_b: bool = False, alpha: float = 1.0, beta: float = 0.0,
                    dtype: Any = None, math: str = "exact") -> Tuple[str, Any, List[Any]]:
    a, b = asarray(a, device=device), asarray(b, device=device)
    a, b = a.mT if transpose_a else a, b.mT if transpose_b else b
    product = Product(a.shape, b.shape)
    if None in product.strides:
        raise ValueError("tune: a stack that is broadcast in part has no kernel of its own")
    params, kept = matmul_params(a, b, product, _ACTIVATIONS[activation], bias is not None, alpha,
                                 beta, dtype, _MATH[math])
    return "matmul", params, [kept]
