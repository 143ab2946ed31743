"""What lives how long: nothing leaks; threads, forks, signals and closed devices."""

import gc
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import wavefit as wf


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def script(text, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True,
                          text=True, timeout=120, check=False, **options)


def grows(once, times):
    """Bytes of memory and buffers of the device that `times` calls leave behind."""
    device = wf.default_device()
    for _ in range(times // 10):
        once()
    gc.collect()
    device.synchronize()
    before, buffers = resident(), device._live
    for _ in range(times):
        once()
    gc.collect()
    device.synchronize()
    return resident() - before, device._live - buffers


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_nothing_leaks_over_10000_calls(device):
    a, x = wf.ones((16, 16)), wf.ones(64)
    A = wf.csr(sp.eye(64, dtype=np.float32))

    def once():
        nonlocal x
        (a @ a.T)
        x = A @ x
        wf.dot(x, x).item()

    memory, buffers = grows(once, 10000)
    assert buffers <= 2 and memory < 4 << 20, (memory, buffers)


def test_failures_and_matrices_do_not_leak(device):
    eye = sp.eye(20, dtype=np.float32)

    def once():
        with pytest.raises(ValueError):
            wf.ones((2, 3)) @ wf.ones((2, 3))
        with pytest.raises(wf.InvalidArgumentError):
            wf.laplace(np.zeros((2, 2)))
        wf.csr(eye) @ np.ones(20, np.float32)

    memory, buffers = grows(once, 300)
    assert buffers <= 2 and memory < 8 << 20, (memory, buffers)


def test_a_leak_would_be_seen(device):
    kept = []
    memory, buffers = grows(lambda: kept.append(wf.ones(1 << 16)), 100)
    assert buffers >= 100 and memory > 10 << 20


def test_a_loop_uses_two_vectors(device):
    """A @ x in a loop takes the memory of the x before the last one."""
    A, x = wf.csr(sp.eye(64, dtype=np.float32)), wf.ones(64)
    x = A @ x
    device.synchronize()
    live = device._live
    for _ in range(500):
        x = A @ x
    assert device._live <= live + 1
    assert x.numpy().tolist() == [1.0] * 64


def test_threads(device):
    """Threads share a device; each gets its own results."""
    failures = []

    def work(seed):
        try:
            rng = np.random.default_rng(seed)
            for _ in range(15):
                x = rng.random((24, 24), np.float32)
                a = wf.array(x)
                np.testing.assert_allclose(((a @ a) @ a).numpy(), x @ x @ x, rtol=1e-4)
                y = rng.random(24)
                np.testing.assert_allclose(wf.csr(x.astype(float)) @ y, x.astype(float) @ y,
                                           rtol=1e-12)
        except BaseException as error:  # noqa: B902, told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_threads_have_factors_of_their_own(device):
    S = sp.random(200, 200, 0.05, "csr", random_state=1)
    A, x, want = wf.csr(S), wf.ones(200, "float64"), S @ np.ones(200)
    wrong = []

    def work(alpha):
        for _ in range(300):
            if not np.allclose(A.multiply(x, alpha=alpha).numpy(), alpha * want):
                wrong.append(alpha)

    threads = [threading.Thread(target=work, args=(alpha,)) for alpha in (2.0, 3.0)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


def test_a_plan_that_is_forgotten_still_runs():
    """As where another thread makes plans between a thread's finding one and running it."""
    with wf.Device(cache=False) as device:
        x, y, out = (wf.ones(4, device=device) for _ in range(3))
        wf.dot(x, y)
        plan = next(iter(device._plans.values()))
        device._forget_plans()
        plan.run(x._storage, 0, y._storage, 0, out._storage, 0)
        assert out.numpy()[0] == 4


def test_views_outlive_their_device():
    got = script("""
        import gc, numpy as np, wavefit as wf
        with wf.Device() as device:
            if not device.info.unified_memory:
                raise SystemExit("skip")
            a = wf.full((512, 512), 3, device=device)
            v, w = a.view(), np.from_dlpack(a)
        print(v.sum(), w.sum())
        v[:] = 4
        del a, v
        gc.collect()
        print(w.sum(), int(device._handle == wf._ffi.NULL))
        del w
        gc.collect()
        print(int(device._handle == wf._ffi.NULL))
        """)
    if got.stderr.startswith("skip"):
        pytest.skip("the host does not see the device's memory")
    assert got.returncode == 0 and not got.stderr, got.stderr
    assert got.stdout == "786432.0 786432.0\n1048576.0 0\n1\n"


def test_others_run_while_a_call_waits(device):
    """The interpreter's lock is free while the device works."""
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        a = wf.ones((700, 700))
        for _ in range(6):
            b = a @ a
        start = time.perf_counter()
        b.numpy()
        end = time.perf_counter()
    finally:
        done.set()
        thread.join()
    during = [t for t in ticks if start < t < end]
    assert end - start < 0.05 or len(during) > (end - start) / 0.05, (end - start, len(during))


def test_a_child_says_that_the_device_is_its_parent_s():
    got = script("""
        import os, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        import numpy as np, wavefit as wf
        a = wf.ones((3, 3))
        (a @ a).numpy()
        child = os.fork()
        if child == 0:
            try:
                a @ a
            except wf.DeviceClosedError as error:
                print(error)
            print(wf.ones(3, device=wf.Device()).tolist(), flush=True)
            del a
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print((a @ a).numpy().sum())
        """)
    assert got.returncode == 0, got.stderr
    assert "forked" in got.stdout and "[1.0, 1.0, 1.0]" in got.stdout and "27" in got.stdout


@pytest.mark.parametrize("work", [
    "b = [a @ a for _ in range(100)][-1]; say(); b.numpy()",
    "say(); wavefit.laplace(np.random.rand(600, 600), rtol=1e-14, maxiter=10**6)",
    "say(); wavefit.cg(S, np.random.rand(90000), rtol=1e-15, maxiter=10**6)"])
def test_ctrl_c(work):
    """SIGINT ends a wait, whatever is waited for, and the device goes on. That the wait was cut
    short is told by where the exception comes from and by what the device has still to do, not by
    a time: the last product comes behind a hundred others, which a busy machine takes long for."""
    text = f"""
import numpy as np, scipy.sparse as sp, signal, sys, traceback, wavefit
from wavefit._native import ffi, lib
# A shell that starts the tests in the background has them ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
a = wavefit.ones((400, 400))
b = None
one = sp.diags([-1.0, 2.0000001, -1.0], [-1, 0, 1], (300, 300))
S = (sp.kron(one, sp.eye(300)) + sp.kron(sp.eye(300), one)).tocsr()
def say():
    print("ready", flush=True)
try:
    {work}
    print("ended before")
except KeyboardInterrupt as error:
    ended = ffi.new("uint64_t *")
    lib.wf_queue_ended(wavefit.default_device()._queue, ended)
    frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    # Of a wait that went on to its end, Log.check raises it.
    print(frames[-1] == "fail" or frames)
    print(b is None or ended[0] < b._storage.used)
c = wavefit.ones((2, 2))
print((c @ c).tolist())
"""
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=300)[0] == "True\nTrue\n[[2.0, 2.0], [2.0, 2.0]]\n"
        assert child.returncode == 0


def test_closed_devices():
    got = script("""
        import logging, wavefit as wf
        with wf.Device() as device:
            a = wf.ones((2, 2), device=device)
            A = wf.csr([[1.0, 2.0], [3.0, 4.0]], device=device)
            A @ [1.0, 1.0]
        device.close()
        for use in (lambda: a @ a, a.numpy, lambda: wf.ones(2, device=device),
                    lambda: A @ [1.0, 2.0], device.synchronize):
            try:
                use()
                print("used")
            except wf.DeviceClosedError as error:
                print(error)
        print(device)
        """)
    assert got.returncode == 0 and got.stderr == ""
    assert got.stdout.count("the device was closed") == 6 and "used" not in got.stdout


def test_no_driver_is_an_error_with_words(tmp_path):
    got = script("""
        import wavefit as wf
        print(wf.devices())
        try:
            wf.ones(3)
        except wf.NoDeviceError as error:
            print("told:", error)
        """, env={**os.environ, "VK_DRIVER_FILES": str(tmp_path / "none.json"),
                  "VK_ICD_FILENAMES": str(tmp_path / "none.json")})
    assert got.returncode == 0, got.stderr
    assert got.stdout.startswith("[]\ntold: ") and len(got.stdout) > 12


def test_plans_are_kept_and_bounded(device):
    from wavefit import _device
    a = wf.ones((3, 4))
    for n in range(1, 5):
        a @ wf.ones((4, n))
    known = len(device._plans)
    for n in range(1, 5):
        a @ wf.ones((4, n))
    assert len(device._plans) == known <= _device._MOST_PLANS
