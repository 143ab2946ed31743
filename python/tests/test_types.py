"""mypy's word on the package, on a program that uses it, and on one that uses it wrongly."""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest

import wavefit

MYPY = shutil.which("mypy")
pytestmark = pytest.mark.skipif(MYPY is None, reason="mypy is not installed")

RIGHT = """
    from typing import Any
    import numpy as np
    import scipy.sparse
    import wavefit as wf

    device: wf.Device = wf.default_device()
    x = np.ones(4, np.float32)
    a: wf.Array = wf.array(np.eye(4, dtype=np.float32), device=device)
    b: wf.Array = wf.matmul(a, a, bias=x, activation="relu") @ a.T
    host: "np.ndarray[Any, Any]" = wf.matmul(x, x)
    grid: wf.Array = wf.stencil(a, steps=2, border="periodic")
    A: wf.SparseMatrix = wf.csr(scipy.sparse.eye(4))
    y: wf.Array = A @ wf.array(x, wf.float64)
    solution, info = wf.cg(A, x, rtol=1e-6)
    status: str = info.status
    total: float = wf.dot(y, y).item()
    kind: str = wf.devices()[0].kind
"""
WRONG = """
    import wavefit as wf
    a: wf.Array = wf.array([1.0], dtype="f32").numpy()
    b: int = wf.stencil(wf.ones((4, 4)))
    wf.matmul(wf.ones(3), wf.ones(3), activation=3)
    wf.laplace(wf.ones((4, 4)), rtol="small")
    wf.default_device().no_such_method()
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def mypy(cache, *arguments):
    got = subprocess.run(
        [MYPY, "--strict", "--python-executable", sys.executable, "--no-warn-unused-ignores",
         "--cache-dir", cache, "--ignore-missing-imports", *arguments],
        capture_output=True, text=True, timeout=300, check=False, cwd=cache)
    assert not got.stderr, got.stderr
    return got.stdout


def program(cache, name, text):
    path = cache / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return str(path)


def test_the_package_is_typed(cache):
    folder = os.path.dirname(wavefit.__file__)
    assert os.path.exists(os.path.join(folder, "py.typed"))
    told = mypy(cache, "--package", "wavefit")
    assert told.startswith("Success"), told


def test_programs_that_use_it(cache):
    told = mypy(cache, program(cache, "right.py", RIGHT))
    assert told.startswith("Success"), told


def test_wrong_uses_are_found(cache):
    told = mypy(cache, program(cache, "wrong.py", WRONG))
    lines = {int(line.split(":")[1]) for line in told.splitlines() if ": error:" in line}
    assert lines == {3, 4, 5, 6, 7}, told
