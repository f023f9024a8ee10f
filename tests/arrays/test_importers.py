# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The table of importers: types that users register, for views, copies and launches."""

import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, launch
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory, register_importer
from support.kernels import compiled
from support.memory import read, write
from support.tensors import CudaInterface, DLPackExporter

from_any = StridedMemoryView.from_any_interface

SCALE = """
extern "C" __global__ void scale(float* x, float factor, int count)
{
    if (threadIdx.x < count)
        x[threadIdx.x] *= factor;
}"""


def scale_kernel():
    return compiled(SCALE).get_kernel("scale")


class Image:
    """An array of a library without protocols."""

    def __init__(self, pixels):
        self.pixels = pixels


class Photo(Image):
    pass


@pytest.fixture
def calls():
    """The arguments of all calls of an importer of Image, which is registered for the test."""
    seen = []

    def importer(image, stream_ptr):
        seen.append((image, stream_ptr))
        return image.pixels

    register_importer(Image, importer)
    yield seen
    register_importer(Image, None)


@pytest.mark.parametrize("cls", [Image, Photo])
@pytest.mark.parametrize(
    "wrap", [lambda a: a, CudaInterface, lambda a: StridedMemoryView.from_dlpack(a, -1), bytearray]
)
def test_arrays_of_a_registered_type_are_viewed(calls, cls, wrap):
    array = np.arange(6, dtype=np.uint8)
    image = cls(wrap(array))
    view = from_any(image, -1)
    assert (view.shape, view.dtype, view.exporting_obj is image) == ((6,), np.dtype(np.uint8), True)
    assert calls == [(image, -1)]
    assert StridedMemoryView.from_dlpack(image, -1).ptr == view.ptr
    proxy = args_viewable_as_strided_memory((0,))(lambda proxy: proxy)(image)
    assert (proxy.view(-1).ptr, proxy.has_dlpack) == (view.ptr, False)


def test_view_keeps_the_importers_result():
    class Pixels(np.ndarray):
        pass

    class Lazy:
        pass

    kept = []

    def importer(lazy, stream_ptr):
        pixels = np.arange(4).view(Pixels)
        kept.append(weakref.ref(pixels))
        return pixels

    register_importer(Lazy, importer)
    view = from_any(Lazy(), -1)
    gc.collect()
    assert kept[0]() is not None
    assert np.from_dlpack(view).tolist() == [0, 1, 2, 3]
    del view
    gc.collect()
    assert kept[0]() is None
    register_importer(Lazy, None)


def test_type_is_registered_again_and_removed(calls):
    register_importer(Image, lambda image, stream_ptr: np.zeros(3))
    assert from_any(Image(np.zeros(2)), -1).shape == (3,)
    register_importer(Image, None)
    with pytest.raises(BufferError, match="Image has neither"):
        from_any(Image(np.zeros(2)), -1)
    register_importer(Image, None)  # again, to no effect


def test_nearest_base_decides(calls):
    register_importer(Photo, lambda photo, stream_ptr: np.zeros(9))
    assert from_any(Photo(np.zeros(2)), -1).shape == (9,)
    assert from_any(Image(np.zeros(2)), -1).shape == (2,)
    register_importer(Photo, None)
    assert from_any(Photo(np.zeros(2)), -1).shape == (2,)


def test_errors_of_importers_are_raised(calls):
    with pytest.raises(BufferError, match="the importer of Image returned a int, which has neither DLPack"):
        from_any(Image(3), -1)
    with pytest.raises(AttributeError, match="pixels"):
        from_any(Image.__new__(Photo), -1)
    with pytest.raises(BufferError, match="ambiguous"):
        from_any(Image(np.zeros(2)))
    # An importer that returns its own type would recurse forever.
    with pytest.raises(BufferError, match="returned a Image, which has neither"):
        from_any(Image(Image(np.zeros(2))), -1)


def test_exporter_gets_the_stream(calls):
    exporter = DLPackExporter((2, 0))
    from_any(Image(exporter), 77)
    assert (calls[-1][1], exporter.calls[-1]["stream"]) == (77, 77)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, len), "cls must be a type, not int"),
        ((Image, 3), "importer must be a function or None, not int"),
        ((np.ndarray, len), "cls must not be ndarray, because cuda.core imports arrays of this type itself"),
        ((StridedMemoryView, len), "cls must not be StridedMemoryView, because cuda.core imports"),
    ],
)
def test_wrong_registrations_are_rejected(arguments, message):
    with pytest.raises(TypeError, match=message):
        register_importer(*arguments)


def test_number_of_importers_is_limited():
    code = """
from cuda.core.utils import register_importer, StridedMemoryView
import numpy as np
kinds = [type(f"Kind{i}", (), {}) for i in range(200)]
count = 0
try:
    for kind in kinds:
        register_importer(kind, lambda array, stream_ptr: np.zeros(2))
        count += 1
except RuntimeError as error:
    assert "register a common base" in str(error)
assert 100 < count < 130, count
assert StridedMemoryView.from_any_interface(kinds[count - 1](), -1).shape == (2,)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_types_are_registered_while_others_are_viewed(calls):
    kinds = [type(f"Kind{i}", (Image,), {}) for i in range(8)]
    wrong = []

    def view(kind):
        for i in range(300):
            if i == 150:
                register_importer(kind, lambda array, stream_ptr: np.zeros(5))
            if from_any(kind(np.zeros(5)), -1).shape != (5,):
                wrong.append(kind)

    threads = [threading.Thread(target=view, args=(kind,)) for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for kind in kinds:
        register_importer(kind, None)
    assert wrong == []


def test_copies_accept_registered_types(device, stream, calls):
    array = np.arange(16, dtype=np.uint8)
    buffer = device.allocate(16, stream=stream)
    buffer.copy_from(Image(array), stream=stream)
    assert read(buffer, stream) == array.tobytes()
    target = np.zeros(32, np.uint8)
    buffer.copy_to(Photo(target[::2]), stream=stream)
    stream.sync()
    assert target[::2].tolist() == array.tolist() and target[1::2].sum() == 0
    assert [stream_ptr for _, stream_ptr in calls] == [int(stream.handle)] * 2


# --- launches ---


class DeviceArray:
    """Device memory with ``__cuda_array_interface__``."""

    def __init__(self, buffer, count):
        self.__cuda_array_interface__ = {
            "shape": (count,), "typestr": "<f4", "data": (buffer.handle, False), "version": 3, "stream": None,
        }  # fmt: skip


@pytest.mark.parametrize(
    "wrap",
    [
        lambda buffer: DeviceArray(buffer, 64),
        lambda buffer: buffer.view((64,), np.float32),
        lambda buffer: Image(buffer),
        lambda buffer: DLPackExporter((2, 0), shape=(64,), data=buffer.handle),
    ],
    ids=["interface", "view", "registered", "dlpack"],
)
def test_kernels_accept_device_arrays(device, stream, calls, wrap):
    buffer = device.allocate(256, stream=stream)
    write(buffer, np.arange(64, dtype=np.float32).tobytes(), stream)
    launch(stream, LaunchConfig(grid=1, block=64), scale_kernel(), wrap(buffer), np.float32(3), 64)
    assert np.frombuffer(read(buffer, stream), np.float32).tolist() == [3.0 * i for i in range(64)]
    assert all(stream_ptr == -1 for _, stream_ptr in calls)


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("make", [lambda: np.zeros(3), lambda: bytearray(3), lambda: Image(np.zeros(2))])
def test_kernels_reject_host_arrays(device, stream, calls, make):
    with pytest.raises(
        TypeError,
        match="argument 0 of kernel .* is in host memory .*, which the device",
    ):
        launch(stream, LaunchConfig(grid=1, block=1), scale_kernel(), make(), np.float32(3), 1)


def test_kernels_accept_page_locked_arrays(device, stream):
    array = np.from_dlpack(LegacyPinnedMemoryResource().allocate(256)).view(np.float32)
    array[:] = 2
    launch(stream, LaunchConfig(grid=1, block=64), scale_kernel(), array, np.float32(3), 64)
    stream.sync()
    assert (array == 6).all()


def test_kernels_accept_page_locked_struct_arrays(device, stream):
    pair = np.dtype([("x", np.float32), ("y", np.float32)])
    array = np.from_dlpack(LegacyPinnedMemoryResource().allocate(256)).view(pair)
    array[:] = (2, 1)
    launch(stream, LaunchConfig(grid=1, block=64), scale_kernel(), array, np.float32(3), 64)
    stream.sync()
    assert (array["x"] == 6).all() and (array["y"] == 3).all()


@pytest.mark.parametrize("shape", [(), (1,)])
def test_kernels_reject_structs_from_host_arrays(device, stream, shape):
    array = np.zeros(shape, np.dtype([("x", np.float32), ("y", np.int32)]))
    with pytest.raises(TypeError, match="host memory .* pass a structure as bytes or numpy.void"):
        launch(stream, LaunchConfig(grid=1, block=1), scale_kernel(), array, np.float32(3), 1)


@pytest.mark.requires(cuda=(12, 4))
def test_array_is_rejected_for_parameter_narrower_than_a_pointer(device, stream):
    buffer = device.allocate(256, stream=stream)
    with pytest.raises(TypeError, match="parameter 2 .* is a float; got DeviceArray"):
        launch(stream, LaunchConfig(grid=1, block=1), scale_kernel(), buffer, DeviceArray(buffer, 64), 1)


def test_imports_leak_no_references(calls):
    array = np.zeros(4)
    image = Image(array)
    before = sys.getrefcount(array), sys.getrefcount(image)
    for _ in range(100):
        from_any(image, -1)
    calls.clear()
    gc.collect()
    assert (sys.getrefcount(array), sys.getrefcount(image)) == before


def test_classes_may_have_a_custom_metaclass():
    class Meta(type):
        """A metaclass."""

    class Array(metaclass=Meta):
        """An array whose class has a metaclass."""

        def __init__(self):
            self.values = np.arange(4)

        @property
        def __array_interface__(self):
            return self.values.__array_interface__

    register_importer(Array, lambda array, stream_ptr: array.values)
    assert np.array_equal(np.from_dlpack(StridedMemoryView.from_any_interface(Array(), stream_ptr=-1)), np.arange(4))
