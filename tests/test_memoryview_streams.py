# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Exports of views and buffers: the streams of consumers, devices and copies, as DLPack and the array API say."""

import gc

import numpy as np
import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, LegacyPinnedMemoryResource
from cuda.core.utils import StridedMemoryView
from support.contexts import no_context
from support.graph_work import is_released

HOST = (1, 0)


class Other:
    """An array of another library: what its protocols say."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OtherInterface:
    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def from_dlpack(array, stream):
    return StridedMemoryView.from_dlpack(Other(array), stream_ptr=stream)


@pytest.fixture
def gate(device):
    """A flag that pending work waits for; opened at the end."""
    flag = device.zeros((), np.int32, pinned=True)
    yield flag
    np.asarray(flag)[...] = 1
    device.sync()


def busy_array(device, gate, stream):
    """Return an array on a stream whose work waits for the gate."""
    array = device.zeros(8, np.int32, stream=stream)
    stream.wait_value(gate, 1)
    array.fill(5, stream=stream)
    return array


EXPORTS = {
    "view": lambda array, stream: array.__dlpack__(stream=stream),
    "versioned": lambda array, stream: array.__dlpack__(
        stream=stream, max_version=(1, 0), dl_device=(2, 0), copy=False
    ),
    "part": lambda array, stream: array[2:].__dlpack__(stream=stream),
    "buffer": lambda array, stream: array.exporting_obj.__dlpack__(stream=stream),
    "from_dlpack": lambda array, stream: from_dlpack(array, stream),
    "from_any_interface": lambda array, stream: StridedMemoryView.from_any_interface(Other(array), stream_ptr=stream),
    "CUDA array interface": lambda array, stream: StridedMemoryView.from_cuda_array_interface(
        OtherInterface(array), stream_ptr=stream
    ),
    "view of a view": lambda array, stream: from_dlpack(array, -1).__dlpack__(stream=stream),
    "view of an interface": lambda array, stream: StridedMemoryView.from_cuda_array_interface(
        OtherInterface(array), stream_ptr=-1
    ).__dlpack__(stream=stream),
}


@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
def test_export_orders_the_consumer_after_the_stream_of_memory(device, stream, gate, export):
    array, consumer = busy_array(device, gate, stream), device.create_stream()
    export(array, -1)
    assert consumer.is_done and LEGACY_DEFAULT_STREAM.is_done and PER_THREAD_DEFAULT_STREAM.is_done
    export(array, int(consumer.handle))
    assert not consumer.is_done and LEGACY_DEFAULT_STREAM.is_done and PER_THREAD_DEFAULT_STREAM.is_done
    export(array, 2)
    assert not PER_THREAD_DEFAULT_STREAM.is_done
    np.asarray(gate)[...] = 1
    assert array.to_host(stream=consumer).tolist() == [5] * 8


@pytest.mark.parametrize("number", [None, 1])
def test_no_stream_means_the_legacy_default_stream(device, stream, gate, number):
    array = busy_array(device, gate, stream)
    assert LEGACY_DEFAULT_STREAM.is_done
    array.__dlpack__(stream=number)
    assert not LEGACY_DEFAULT_STREAM.is_done


def test_own_stream_of_memory_needs_no_order(device, stream):
    array = device.zeros(8, np.int32, stream=stream)
    for number in (None, -1, 1, 2, int(stream.handle)):
        assert "dltensor" in repr(array.__dlpack__(stream=number))
    legacy = device.zeros(8, np.int32, stream=LEGACY_DEFAULT_STREAM)
    with no_context():
        assert "dltensor" in repr(legacy.__dlpack__())  # without a context, there is no default stream
        assert "dltensor" in repr(legacy.__dlpack__(stream=int(stream.handle)))
    stream.sync()


@pytest.mark.parametrize(
    ("stream", "error"),
    [(0, ValueError), (-2, ValueError), (-5, ValueError), (1 << 64, ValueError), (True, TypeError), ("1", TypeError),
     (1.0, TypeError)],
)  # fmt: skip
def test_streams_that_the_protocol_lacks_are_rejected(device, stream, error):
    array = device.zeros(8, np.int32, stream=device.create_stream())
    for exporter in (array, array[1:], array.exporting_obj, device.zeros(8, np.int32, pinned=True)):
        with pytest.raises(error, match="stream must be"):
            exporter.__dlpack__(stream=stream)
    with pytest.raises(error, match="stream must be"):
        StridedMemoryView.from_any_interface(np.zeros(3), stream_ptr=-1).__dlpack__(stream=stream)


def test_interface_names_the_stream_of_the_memory(device, stream):
    for which, number in ((stream, int(stream.handle)), (LEGACY_DEFAULT_STREAM, 1), (PER_THREAD_DEFAULT_STREAM, 2)):
        array = device.zeros((4, 4), np.int32, stream=which)
        for part in (array, array[1:], array[:, ::2]):
            assert part.__cuda_array_interface__["stream"] == number
    again = StridedMemoryView.from_cuda_array_interface(OtherInterface(array), stream_ptr=-1)
    assert again.__cuda_array_interface__["stream"] == 2


def test_numpy_gets_elements_on_the_host(device, stream, gate):
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    array = device.to_device(base, stream=stream)
    managed = from_dlpack(array, int(stream.handle))
    sources = {"array": array, "part": array[1:, ::2], "imported": managed, "empty": array[:0], "scalar": array[1, 2]}
    expected = {"array": base, "part": base[1:, ::2], "imported": base, "empty": base[:0], "scalar": base[1, 2]}
    for name, source in sources.items():
        for options in ({"device": "cpu"}, {"device": "cpu", "copy": True}):
            result = np.from_dlpack(source, **options)
            assert np.array_equal(result, expected[name]) and result.flags.writeable and result.flags.c_contiguous
        with pytest.raises(BufferError, match="copy must not be False"):
            source.__dlpack__(dl_device=HOST, copy=False)


def test_export_to_the_host_waits_for_the_stream_of_memory(device):
    import threading

    stream = device.create_stream()
    gate = device.zeros((), np.int32, pinned=True)
    for _ in range(3):
        np.asarray(gate)[...] = 0
        array = busy_array(device, gate, stream)
        threading.Timer(0.05, lambda: np.asarray(gate).fill(1)).start()
        assert np.from_dlpack(array, device="cpu").tolist() == [5] * 8


def test_page_locked_memory_is_exported_with_and_without_copy(device):
    array = device.zeros(3, np.int32, pinned=True)
    own = np.asarray(array)
    for options in ({}, {"copy": False}, {"device": "cpu"}, {"device": "cpu", "copy": False}):
        shared = np.from_dlpack(array, **options)
        own += 1
        assert shared.tolist() == own.tolist() and shared.ctypes.data == array.ptr
    for options in ({"copy": True}, {"device": "cpu", "copy": True}):
        copy = np.from_dlpack(array, **options)
        own += 1
        assert (copy + 1).tolist() == own.tolist() and copy.ctypes.data != array.ptr


def test_host_memory_is_exported_with_and_without_copy():
    base = np.arange(6).reshape(2, 3)
    view = StridedMemoryView.from_any_interface(base.T, stream_ptr=-1)
    assert np.from_dlpack(view).ctypes.data == base.ctypes.data
    assert np.from_dlpack(view, device="cpu", copy=False).ctypes.data == base.ctypes.data
    copy = np.from_dlpack(view, copy=True)
    assert np.array_equal(copy, base.T) and copy.ctypes.data != base.ctypes.data and copy.flags.c_contiguous


def test_copies_in_device_memory_are_ordered_on_the_consumer(device, stream, gate):
    array, consumer = busy_array(device, gate, stream), device.create_stream()
    capsule = array.__dlpack__(stream=int(consumer.handle), copy=True, max_version=(1, 0))
    assert not consumer.is_done and "dltensor_versioned" in repr(capsule)

    class Exporter:
        def __dlpack__(self, **options):
            return capsule

        def __dlpack_device__(self):
            return array.__dlpack_device__()

    view = StridedMemoryView.from_dlpack(Exporter(), stream_ptr=-1)
    assert view.ptr != array.ptr and view.device_id == 0 and not view.readonly
    np.asarray(gate)[...] = 1
    array.fill(9, stream=consumer)
    assert view.to_host(stream=consumer).tolist() == [5] * 8
    for number in (None, -1, 1, 2):
        copy = array.__dlpack__(stream=number, copy=True)
        assert '"dltensor"' in repr(copy)


@pytest.mark.requires(managed_mempool=True)
def test_managed_memory_is_exported_with_and_without_copy(device, stream):
    from cuda.core import ManagedMemoryResource

    array = ManagedMemoryResource().allocate(32, stream=stream).view(8, np.int32)
    array.fill(3, stream=stream)
    stream.sync()
    shared, copy = np.from_dlpack(array, device="cpu"), np.from_dlpack(array, copy=True)
    assert shared.tolist() == copy.tolist() == [3] * 8
    assert shared.ctypes.data == array.ptr != copy.ctypes.data
    assert array.__dlpack_device__()[0] == 13


def test_copies_are_released_with_their_consumers(device, stream):
    import weakref

    resource = LegacyPinnedMemoryResource()
    buffer = resource.allocate(16)
    alive = weakref.ref(buffer)
    result = np.from_dlpack(buffer.view(4, np.int32), copy=True)
    del buffer
    assert is_released(alive)
    result[:] = 1
    del result
    gc.collect()


@pytest.mark.parametrize("device_of_consumer", [(2, 1), (1, 1), (3, 0), (13, 0), (), (1,), ("cpu", 0)])
def test_other_devices_of_exports_are_rejected(device, stream, device_of_consumer):
    array = device.zeros(4, np.int32, stream=stream)
    for copy in (None, True, False):
        with pytest.raises(BufferError, match="dl_device must be"):
            array.__dlpack__(dl_device=device_of_consumer, copy=copy)


def test_types_without_dlpack_are_not_copied(device, stream):
    array = device.to_device(np.zeros(3, "i4,f4"), stream=stream)
    with pytest.raises(BufferError, match="cannot be exported"):
        array.__dlpack__(dl_device=HOST)


def test_views_have_the_sizes_of_arrays(device, stream):
    base = np.zeros((3, 4, 5), np.float32)
    array = device.to_device(base, stream=stream)
    host = StridedMemoryView.from_any_interface(base, stream_ptr=-1)
    for key in ((), (0,), (slice(None), slice(None, None, 2)), (slice(0),), (1, 2, 3)):
        for view in (array[key], host[key]):
            part = np.asarray(base[key])
            expected = (part.nbytes, part.ndim, part.itemsize, part.size)
            assert (view.nbytes, view.ndim, view.itemsize, view.size) == expected
