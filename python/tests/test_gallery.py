"""The gallery's scripts run and draw; scipy's own tests of cg pass on wavefit.cg."""

import glob
import os
import subprocess
import sys

import pytest

pytest.importorskip("matplotlib")
HERE = os.path.dirname(os.path.abspath(__file__))
# In the sources the documents are beside python/, where they are tested beside tests/.
FOLDERS = [os.path.join(HERE, "..", *way, "python", "gallery") for way in ((), ("..", "docs"))]
SCRIPTS = sorted(path for folder in FOLDERS for path in glob.glob(os.path.join(folder, "*.py")))


def test_there_are_scripts():
    assert len(SCRIPTS) == 4


@pytest.mark.parametrize("script", SCRIPTS, ids=os.path.basename)
def test_script(script, tmp_path):
    picture = tmp_path / "picture.png"
    subprocess.run([sys.executable, script, str(picture)], check=True, timeout=300,
                   env={**os.environ, "MPLBACKEND": "Agg"})
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 5000


def test_scipy_s_tests_of_cg(capsys):
    pytest.importorskip("scipy.sparse.linalg._isolve.tests.test_iterative")
    import scipy_cg
    assert scipy_cg.main() == 0
    passed = capsys.readouterr().out.strip().splitlines()[-1]
    assert int(passed.split()[0]) >= 12


def test_scipy_s_tests_of_sparse_products():
    pytest.importorskip("scipy.sparse.tests.test_base")
    import scipy_sparse
    told = scipy_sparse.main()
    assert not [name for name, text in told.items() if text.startswith("wrong")]
    assert {"test_matvec", "test_rmatvec", "test_matmat_dense"} <= \
        {name for name, text in told.items() if text == "passed"}


def test_wrong_products_fail_them(monkeypatch):
    pytest.importorskip("scipy.sparse.tests.test_base")
    import scipy_sparse
    import wavefit
    right = wavefit.SparseMatrix._product

    def wrong(*args, **options):
        return right(*args, **options) * 1.01

    monkeypatch.setattr(wavefit.SparseMatrix, "_product", wrong)
    assert sum(text.startswith("wrong") for text in scipy_sparse.main().values()) >= 3


def test_a_wrong_solver_fails_them(monkeypatch):
    pytest.importorskip("scipy.sparse.linalg._isolve.tests.test_iterative")
    import scipy_cg
    import wavefit
    right = wavefit.cg

    def wrong(*args, **options):
        x, info = right(*args, **options)
        return x * 1.02, info

    monkeypatch.setattr(wavefit, "cg", wrong)
    assert scipy_cg.main() >= 6
