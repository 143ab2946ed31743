"""Explanations and searches, and how they show."""

import operator

import numpy as np
import pytest
import scipy.sparse as sp

import wavefit as wf


def test_explain(device, capsys):
    a = wf.ones((96, 96))
    e = wf.explain(operator.matmul, a, a, budget=0.05)
    assert capsys.readouterr().out.startswith("explanation\n  kernel")
    assert e["family"] == "matmul" and e["flops"] == 2 * 96**3
    assert e["median_us"] > 0 and 0 < e["floor_us"]
    assert e["bound_by"] in ("memory", "arithmetic")
    assert "<table>" in e._repr_html_()
    A = wf.csr(sp.eye(50, dtype=np.float32))
    e = wf.explain(A.multiply, wf.ones(50), budget=0.05, show=False)
    assert e["family"] == "spmv" and not capsys.readouterr().out
    e = wf.explain(wf.stencil, wf.ones((20, 20)), budget=0.05, show=False, steps=2)
    assert e["family"] == "stencil"
    with pytest.raises(ValueError, match="queued nothing"):
        wf.explain(len, [1], show=False)


def test_plots(device):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    a = wf.ones((64, 64))
    ax = wf.explain(operator.matmul, a, a, budget=0.05, show=False).plot()
    assert ax.get_ylabel() == "GFLOPS" and len(ax.lines) == 2
    S = sp.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (60, 60)).tocsr()
    info = wf.cg(S, np.ones(60), history=True)[1]
    assert len(info.plot().lines[0].get_xdata()) == info.iterations
    assert "converged" in info._repr_html_()


def test_tune(tmp_path, capsys):
    seen = []
    with wf.Device(cache=tmp_path) as device:
        a = wf.ones((40, 40), device=device)
        before = (a @ a).numpy()
        found = wf.tune(wf.matmul, a, a, seconds=1.5,
                        progress=lambda points, us: seen.append((points, us)))
        assert "tuned" in capsys.readouterr().out
        assert found["best_us"] > 0 and found["measured"] >= 1 and found["kept"] and seen
        assert list(tmp_path.iterdir())
        np.testing.assert_array_equal((a @ a).numpy(), before)
        if found["measured"] > 1:
            e = wf.explain(operator.matmul, a, a, budget=0.05, show=False)
            assert e["chosen_by"] == "tuned" and e["variant"] == found["variant"]
        with pytest.raises(TypeError, match="tune searches"):
            wf.tune(wf.cg)
        with pytest.raises(ZeroDivisionError):
            wf.tune(wf.matmul, a, a, seconds=5, progress=lambda *_: 1 // 0)
