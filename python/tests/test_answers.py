"""Where results lie that the host reads at once: on a card in the host's memory, if small."""

import numpy as np
import pytest
import scipy.sparse as sp

import wavefit as wf
from wavefit import _array, _device
from wavefit._native import ffi, lib


@pytest.fixture
def card():
    """A device whose own memory the host does not see, as a card's."""
    with wf.Device(cache=False) as device:
        lib.wf_device_caps(device._handle).unified_memory = False
        device._caps.unified_memory = False
        yield device


@pytest.fixture
def reads(monkeypatch):
    """Of each array that the host reads: its bytes, and whether they lie in the host's memory."""
    seen = []
    read = _array.Array._wait_and_read

    def spy(self, out=None):
        seen.append((self.nbytes, lib.wf_buffer_mapped(self._storage.handle) != ffi.NULL))
        return read(self, out)

    monkeypatch.setattr(_array.Array, "_wait_and_read", spy)
    return seen


def test_small_results_lie_in_the_host_s_memory(card, reads, rng):
    a, b = rng.random((256, 64), np.float32), rng.random((64, 256), np.float32)
    np.testing.assert_allclose(wf.matmul(a, b, device=card), a @ b, rtol=1e-5)
    A = wf.csr(sp.eye(1000, dtype=np.float32) * 3, device=card)
    np.testing.assert_array_equal(A @ np.ones(1000, np.float32), np.full(1000, 3, np.float32))
    np.testing.assert_array_equal(A.T @ np.ones((1000, 16), np.float32),
                                  np.full((1000, 16), 3, np.float32))
    u = np.ones((8, 9), np.float32)
    np.testing.assert_allclose(wf.stencil(u, border="periodic", device=card), u, rtol=1e-6)
    x = wf.array(np.ones(5000), "float32", card)
    assert wf.dot(x, x).item() == 5000
    assert reads == [(1 << 18, True), (4000, True), (64000, True), (288, True), (4, True)]


def test_others_lie_in_the_device_s(card, reads, rng):
    a = rng.random((257, 256), np.float32)
    np.testing.assert_allclose(wf.matmul(a, a.T, device=card), a @ a.T, rtol=1e-5)  # 264,196 bytes
    A = wf.csr(sp.eye(16385, dtype=np.float32), device=card)
    A @ np.ones(16385, np.float32)
    (wf.array(a, device=card) @ a.T[:, :2]).numpy()  # the caller may go on with it on the device
    u = rng.random((40, 41), np.float32)
    wf.stencil(u, steps=40, device=card)  # goes to and fro between the result and a workspace
    assert reads == [(264196, False), (65540, False), (257 * 8, False), (u.nbytes, False)]


def test_answers_are_the_device_s_to_others(card):
    x = wf.array([1.0, 2.0], "float32", card)
    answer = wf.dot(x, x)
    with pytest.raises(BufferError):
        answer.view()
    with pytest.warns(wf.CopyWarning):
        assert np.from_dlpack(answer) == 5
    assert wf.axpy(2, answer, wf.dot(x, x)).item() == 15


def test_memory_of_each_kind_is_used_again(card):
    a, b = np.ones((16, 16), np.float32), np.ones((16, 16), np.float32)
    wf.matmul(a, b, device=card)
    before = card._live
    for _ in range(5):
        assert wf.matmul(a, b, device=card)[0, 0] == 16
    assert card._live == before
    kinds = {memory for (memory, _), free in card._pool.items() if free}
    assert kinds == {lib.WF_MEMORY_DEVICE, lib.WF_MEMORY_READBACK}


def test_unified_memory_needs_no_other(device):
    if not device.info.unified_memory:
        pytest.skip("a card")
    storage = device._take_answer(64)
    assert storage.memory == lib.WF_MEMORY_DEVICE and storage.mapped is not None
    assert device._take_answer(_device._MOST_ANSWER + 1).memory == lib.WF_MEMORY_DEVICE
