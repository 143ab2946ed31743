"""Memory that arrays have in common with other libraries."""

import gc
import sys
import warnings

import numpy as np
import pytest

import wavefit as wf
from foreign import Foreign
from wavefit import _exchange


@pytest.fixture
def shares(device):
    """Skips where the device does not work on the host's own memory."""
    if not device.info.unified_memory or not device.info.host_import_alignment:
        pytest.skip("the device's memory is not the host's")
    try:
        wf.from_dlpack(np.ones(64, np.float32), copy=False)
    except BufferError as error:
        pytest.skip(str(error))


@pytest.fixture
def silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("of", ["float32", "float64", "float16", "int8", "int32"])
def test_what_either_writes_both_have(device, shares, silent, rng, of):
    x = rng.integers(-9, 9, (5, 8)).astype(of)
    a = wf.from_dlpack(Foreign(x))
    assert a.dtype.name == of and a.shape == x.shape and a.view().ctypes.data == x.ctypes.data
    x[2, 3] = 7
    np.testing.assert_array_equal(a.numpy(), x)
    a.write(np.ones((5, 8), of))
    assert (x == 1).all()
    x[:] = rng.integers(-9, 9, (5, 8))
    np.testing.assert_array_equal(wf.array(a).numpy(), x)
    if of in ("float32", "float64"):
        want = 2 * x + 1
        wf.axpy(1.0, a, b := wf.ones((5, 8), of))
        wf.axpy(1.0, b, a)
        device.synchronize()
        np.testing.assert_array_equal(x, want)


def test_products_into_memory_of_others(device, shares, silent, rng):
    """NumPy's arrays as operands and as the result, transposed too, small and large."""
    for n in (3, 200):
        x, y = rng.random((n, n), np.float32), np.full((n, n), 7, np.float32)
        wf.matmul(wf.from_dlpack(x.T), wf.from_dlpack(x), out=wf.from_dlpack(y))
        device.synchronize()
        np.testing.assert_allclose(y, x.T @ x, rtol=1e-4)
    assert wf.from_dlpack(x[:0]).numpy().shape == (0, 200)


def test_memory_lives_as_long_as_it_is_used(device, shares, rng):
    x = rng.random(1000, np.float32)
    count, live = sys.getrefcount(x), device._live
    a = wf.from_dlpack(x)
    part = a[500:]
    views = [wf.from_dlpack(x), wf.from_dlpack(a), np.from_dlpack(a), a.view()]
    assert sys.getrefcount(x) > count
    del a, views
    np.testing.assert_array_equal(part.numpy(), x[500:])
    want = x.copy()
    del x, part
    gc.collect()
    assert device._live <= live + 1
    held = wf.from_dlpack(want.copy())
    gc.collect()
    np.testing.assert_array_equal(held.numpy(), want)
    x = np.ones(100, np.float32)
    count = sys.getrefcount(x)
    for _ in range(300):
        wf.from_dlpack(x)
    gc.collect()
    assert sys.getrefcount(x) == count and device._live <= live + 2


def test_what_cannot_be_shared_is_copied_aloud(device, rng):
    x = rng.random((4, 8), np.float32)
    odd = np.frombuffer(bytearray(33), np.float32, 8, 1)
    fixed = x.copy()
    fixed.flags.writeable = False
    for data in (x[:, ::2], np.arange(3), odd, fixed):
        with pytest.warns(wf.CopyWarning, match="the array is a copy: "):
            a = wf.from_dlpack(data)
        np.testing.assert_array_equal(a.numpy(), data)
        with pytest.raises(BufferError):
            wf.from_dlpack(data, copy=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            a = wf.from_dlpack(data, copy=True)
        np.testing.assert_array_equal(a.numpy(), data)
    with wf.Device(limits="minimum") as other:
        with pytest.warns(wf.CopyWarning, match="memory of its own"):
            wf.from_dlpack(x, device=other)
        with pytest.raises(BufferError, match="VK_EXT_external_memory_host"):
            wf.from_dlpack(x, device=other, copy=False)
        a = wf.array(x)
        with pytest.raises(BufferError, match="another device"):
            wf.from_dlpack(a, device=other, copy=False)
        np.testing.assert_array_equal(a.to_device(other).numpy(), x)


def test_from_others(device, rng):
    x = rng.random((2, 3))
    np.testing.assert_array_equal(wf.array(Foreign(x)).numpy(), x)
    np.testing.assert_array_equal(wf.from_dlpack(Foreign(x), copy=True).numpy(), x)
    with pytest.raises(BufferError, match="no elements"):
        wf.array(Foreign(x.astype(complex)))


def test_bfloat16_is_exchanged(device):
    a = wf.array([[1, 2, 3], [4, 5, 6]], "bfloat16")
    for given in (a, a.T):
        for copy in (True, None):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", wf.CopyWarning)
                b = wf.from_dlpack(Foreign(given), copy=copy)
            assert b.dtype is wf.bfloat16
            np.testing.assert_array_equal(b.numpy(), given.numpy())
    assert wf.array(Foreign(a), "float32").tolist() == [[1, 2, 3], [4, 5, 6]]


def test_capsules_that_nobody_takes(device):
    owner = np.ones(4, np.float32)
    count = sys.getrefcount(owner)
    capsule = _exchange.capsule(owner, owner.ctypes.data, (1, 0), (4,), (1,), wf.float32)
    assert "dltensor" in repr(capsule) and sys.getrefcount(owner) == count + 1
    del capsule
    assert sys.getrefcount(owner) == count


class OfCuda:
    """A tensor of CUDA's, as far as one sees it without CUDA."""

    device = (2, 63)

    def __init__(self):
        self.memory = np.ones(4, np.float32)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream):
        assert stream == 1
        return _exchange.capsule(self.memory, self.memory.ctypes.data, (2, 63), (4,), (1,),
                              wf.float32)


def refusal(take, *arguments, **options):
    """The error's text; nothing keeps the tensor, as pytest.raises does."""
    try:
        take(*arguments, **options)
    except BufferError as error:
        return str(error)
    return ""


def test_tensors_of_other_cards_are_refused(device):
    data = OfCuda()
    memory = data.memory
    count = sys.getrefcount(memory)
    assert "shares no memory" in refusal(wf.array, data)
    assert "shares no memory" in refusal(wf.from_dlpack, data, copy=True)
    assert "does not give away" in refusal(wf.from_dlpack, data, copy=False)
    gc.collect()
    assert sys.getrefcount(memory) == count
    data.device = (10, 0)
    assert "device type 10" in refusal(wf.from_dlpack, data, copy=True)
    assert "alone" in refusal(wf.ones(3).__dlpack__, dl_device=(2, 63))


def test_cuda_has_the_arrays_of_its_card(device):
    """Where the device is a card of CUDA's; bench/notes/python.md says what it showed on one."""
    torch = pytest.importorskip("torch")
    if _exchange.cuda_of(device) is None:
        pytest.skip("the device is no card of CUDA's")
    a = wf.array(np.arange(12, dtype=np.float32).reshape(3, 4))
    tensor = torch.from_dlpack(a)
    tensor.add_(1)
    torch.cuda.synchronize()
    np.testing.assert_array_equal(a.numpy(), np.arange(12).reshape(3, 4) + 1)
    with pytest.warns(wf.CopyWarning, match="CUDA does not give away"):
        np.testing.assert_array_equal(wf.from_dlpack(tensor).numpy(), a.numpy())


def test_into_memory_of_the_caller(device, rng):
    x = rng.random((6, 7), np.float32)
    a, out = wf.array(x), np.zeros((6, 7), np.float32)
    assert a.numpy(out=out) is out
    np.testing.assert_array_equal(out, x)
    other = np.zeros((7, 6), np.float32)
    a.T.numpy(out=other)
    np.testing.assert_array_equal(other, x.T)
    every = np.zeros((6, 14), np.float32)
    a.numpy(out=every[:, ::2])
    np.testing.assert_array_equal(every[:, ::2], x)
    assert not every[:, 1::2].any()
    with pytest.raises(ValueError, match="out is"):
        a.numpy(out=np.zeros((6, 7)))
    b = wf.array([1, 2], "bfloat16")
    assert b.numpy(out=np.zeros(2, b.numpy().dtype)).tolist() == [1, 2]
