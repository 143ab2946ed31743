"""Device arrays: types, shapes, and what they exchange with others."""

import copy
import pickle
import sys
import warnings

import numpy as np
import pytest

import wavefit as wf
from foreign import Foreign
from wavefit import _dtypes

TYPES = ["float32", "float64", "float16", "int8"]


@pytest.mark.parametrize("of", TYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 3, 4), (0, 3)])
def test_there_and_back(device, rng, of, shape):
    x = np.asarray(rng.integers(-100, 100, shape)).astype(of)
    for data in (x, np.asarray(x, order="F"), x.astype(x.dtype.newbyteorder())):
        a = wf.array(data)
        assert a.dtype.name == of and a.shape == shape and a.size == x.size
        assert a.nbytes == x.nbytes and a.ndim == x.ndim
        np.testing.assert_array_equal(a.numpy(), x)
        np.testing.assert_array_equal(np.asarray(a), x)
    assert repr(wf.array(x)).startswith("wavefit.array(")


def test_bfloat16_rounds_to_nearest_even(device):
    """Without ml_dtypes it goes through float32, and by hand through its bits."""
    x = np.array([1, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-20, -3.1415927, 3.4e38,
                  np.inf, 1e-40], np.float32)
    want = np.array([1, 1, 1 + 2.0**-6, 1 + 2.0**-7, -3.140625, np.inf, np.inf, 2.0**-133],
                    np.float32)
    got = wf.array(x, "bf16").numpy().astype(np.float32)
    np.testing.assert_array_equal(got, want)
    assert np.isnan(wf.array(np.array([np.nan], np.float32), "bf16").numpy().astype(np.float32))
    assert wf.array(np.ones(3), "bfloat16").dtype is wf.bfloat16
    assert wf.bfloat16.itemsize == 2


@pytest.mark.skipif(_dtypes.ml_dtypes is None, reason="ml_dtypes is not installed")
def test_bfloat16_is_ml_dtypes(device):
    x = np.arange(5).astype(_dtypes.ml_dtypes.bfloat16)
    assert wf.array(x).dtype is wf.bfloat16
    assert wf.array(x).numpy().dtype == x.dtype


def test_conversions(device):
    assert wf.array([1, 2]).dtype in (wf.float64, wf.float32)
    assert wf.array([[1.5]], "f16").numpy().tolist() == [[1.5]]
    assert wf.array(np.arange(3), "int8").numpy().tolist() == [0, 1, 2]
    assert wf.array(np.array([True, False])).tolist() == [1.0, 0.0]
    with pytest.raises(TypeError, match="round them"):
        wf.array([1.5], "int8")
    with pytest.raises(OverflowError):
        wf.array([200], "int8")
    with pytest.raises(TypeError, match="real"):
        wf.array([1j], "f32")
    with pytest.raises(TypeError):
        wf.array(["a"])
    with pytest.raises(TypeError, match="there are float32"):
        wf.zeros(3, "float128")
    picture = np.array([[0, 255]], np.uint8)
    assert wf.array(picture).dtype is wf.float64 and wf.array(picture).tolist() == [[0.0, 255.0]]
    a = wf.array([1, 2], "f32")
    assert wf.asarray(a) is a and wf.asarray(a, "f32") is a
    assert wf.asarray(a, "f64").dtype is wf.float64
    assert wf.array(a, "f16").tolist() == [1.0, 2.0]


def test_made_full(device):
    for of in TYPES + ["bfloat16"]:
        assert wf.zeros((2, 3), of).numpy().astype(float).tolist() == [[0.0] * 3] * 2
        assert wf.ones(5, of).numpy().astype(float).tolist() == [1.0] * 5
        assert wf.full((3,), 7, of).numpy().astype(float).tolist() == [7.0] * 3
    with pytest.raises(ValueError, match="negative"):
        wf.empty((-1,))
    assert wf.full((), 1.5, "f64").item() == 1.5
    with pytest.raises(OverflowError, match="int8"):
        wf.full(2, 300, "i8")
    with pytest.raises(TypeError, match="round"):
        wf.full(2, 1.5, "i8")


def test_shapes(device, rng):
    x = rng.random((4, 6), np.float32)
    a = wf.array(x)
    np.testing.assert_array_equal(a.T.numpy(), x.T)
    np.testing.assert_array_equal(a.T.T.numpy(), x)
    np.testing.assert_array_equal(a.reshape(3, 8).numpy(), x.reshape(3, 8))
    np.testing.assert_array_equal(a.reshape(-1).numpy(), x.reshape(-1))
    np.testing.assert_array_equal(a.T.reshape((2, 12)).numpy(), x.T.reshape(2, 12))
    assert a.reshape(np.prod(x.shape)).shape == a.reshape([24]).shape == (24,)
    with pytest.raises(ValueError):
        a.reshape(5, 5)
    with pytest.raises(ValueError, match=".T"):
        wf.ones(3).T
    assert len(a) == 4 and [row.shape for row in a] == [(6,)] * 4
    with pytest.raises(TypeError):
        len(wf.full((), 1))


def test_indices_pick_as_numpy_does(device, rng):
    x = rng.random((9, 8, 4), np.float32)
    a = wf.array(x)
    for key in (0, -1, 3, slice(2, 5), slice(None, None, 2), slice(7, 2), (1, 2), (slice(1), 3),
                np.array([1, 4]), np.s_[..., 0], True, False, None):
        np.testing.assert_array_equal(a[key].numpy(), x[key])
    np.testing.assert_array_equal(a.mT[2].numpy(), x.swapaxes(1, 2)[2])
    assert a[2:5]._storage is a._storage  # 32-float rows: every alignment that devices ask for
    with pytest.raises(IndexError):
        a[9]


def test_writes_come_behind_what_is_queued(device, rng):
    a = wf.array(rng.random((200, 200), np.float32))
    b = a.numpy()
    products = [a @ a for _ in range(20)]
    a.write(np.zeros((200, 200), np.float32))
    for product in products:
        np.testing.assert_allclose(product.numpy(), b @ b, rtol=1e-4)
    assert not a.numpy().any()
    with pytest.raises(ValueError, match="do not fit"):
        a.write(np.zeros(3))


def test_vectors(device, rng):
    x, y = rng.random(1000, np.float32), rng.random(1000, np.float32)
    dx, dy = wf.array(x), wf.array(y)
    np.testing.assert_allclose(wf.dot(dx, dy).item(), x @ y, rtol=1e-5)
    dy += dx
    np.testing.assert_allclose(dy.numpy(), x + y, rtol=1e-6)
    dy -= dx
    np.testing.assert_allclose(dy.numpy(), y, rtol=1e-5, atol=1e-6)
    assert wf.axpy(0, dx, dy) is dy
    with pytest.raises(TypeError):
        wf.dot(dx, y)
    with pytest.raises(ValueError, match="share"):
        wf.axpy(1, dx, dx)
    assert wf.dot(wf.zeros(0), wf.zeros(0)).item() == 0


def test_views_and_dlpack(device, rng):
    x = rng.random((3, 4), np.float32)
    a = wf.array(x)
    mapped = a._storage.mapped is not None
    if not mapped:
        with pytest.raises(BufferError):
            a.view()
        with pytest.raises(BufferError):
            a.__dlpack__(dl_device=(1, 0), copy=False)
        with pytest.warns(wf.CopyWarning):
            np.testing.assert_array_equal(wf.from_dlpack(Foreign(a, dl_device=(1, 0))).numpy(), x)
        return
    view = a.view()
    view[0, 0] = 7  # the device's own memory
    assert a.numpy()[0, 0] == 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shared = np.from_dlpack(a)
    assert np.shares_memory(shared, view)
    np.testing.assert_array_equal(np.from_dlpack(a.T), view.T)
    del a
    assert view[0, 0] == 7 and shared[0, 0] == 7  # they keep the memory
    copy = wf.from_dlpack(x, copy=True)
    np.testing.assert_array_equal(copy.numpy(), x)
    assert copy.__dlpack_device__() == (1, 0)
    assert np.array(copy, copy=False).shape == (3, 4)


def test_buffers(device, rng):
    x = rng.random(8, np.float32)
    assert wf.array(memoryview(x)).tolist() == x.tolist()
    assert wf.array(bytearray(b"\x01\x02"), "int8").tolist() == [1, 2]
    a = wf.array(x)
    if a._storage.mapped is not None:
        assert a.__buffer__(0).tolist() == x.tolist()
        if sys.version_info >= (3, 12):
            assert memoryview(a).tolist() == x.tolist()


def test_devices(device):
    infos = wf.devices()
    assert device.info.name in [info.name for info in infos]
    info = infos[0]
    assert info.kind and info.max_invocations >= 128 and "max_invocations" in dir(info)
    assert isinstance(info.uuid, tuple) and repr(info).startswith("<0: ")
    with pytest.raises(AttributeError):
        info.no_such_thing
    assert device.available_bytes() > 0
    assert device.info.name in device._repr_html_()
    with pytest.raises(wf.NoDeviceError, match="no device matches"):
        wf.Device("no such device")
    with pytest.raises(ValueError, match="limits"):
        wf.Device(limits="none")


@pytest.mark.parametrize("of", TYPES + ["bfloat16"])
def test_copies_and_pickles(device, of):
    a = wf.array([[1, 2, 3], [4, 5, 6]], of)
    for made in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a)),
                 pickle.loads(pickle.dumps(a.T)).T):
        assert made.dtype is a.dtype and made.tolist() == a.tolist()
        made.write(np.zeros((2, 3), np.int8))
        assert a.tolist() == [[1, 2, 3], [4, 5, 6]]  # they share nothing
    assert copy.deepcopy(a.dtype) is pickle.loads(pickle.dumps(a.dtype)) is a.dtype
