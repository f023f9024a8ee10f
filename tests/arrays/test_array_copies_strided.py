# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between views: on the host, between host and device, and on the device."""

import numpy as np
import pytest

from cuda.core import Buffer, LegacyPinnedMemoryResource
from cuda.core.utils import StridedMemoryView
from support.memory import HostMemoryResource, read, write
from support.work import busy

SOURCE = np.arange(5 * 4 * 6, dtype=np.int32).reshape(5, 4, 6)

PARTS = {
    "all": lambda v: v,
    "rows": lambda v: v[:, :, 1:4],
    "planes": lambda v: v[1:4, 1:3, 2:5],
    "steps": lambda v: v[::2, ::3, ::2],
    "backwards": lambda v: v[::-1],
    "transposed": lambda v: v.transpose(2, 0, 1),
    "one": lambda v: v[2, 3, 4, ...],
    "none": lambda v: v[:0],
}


def view_of(array):
    return StridedMemoryView.from_dlpack(array, -1)


@pytest.fixture(params=PARTS)
def part(request):
    return PARTS[request.param]


def test_views_on_the_host_are_copied(part):
    target = np.zeros_like(SOURCE)
    view_of(part(target)).copy_from(view_of(part(SOURCE)), None)
    assert np.array_equal(part(target), part(SOURCE))
    assert target.sum() == part(SOURCE).sum()
    target = np.zeros(part(SOURCE).shape, np.int32)
    view_of(part(SOURCE)).copy_to(view_of(target))
    assert np.array_equal(target, part(SOURCE))


def test_types_may_be_unknown_on_one_side():
    buffer = HostMemoryResource().allocate(SOURCE.nbytes)
    untyped = StridedMemoryView.from_buffer(buffer, SOURCE.shape, itemsize=4)
    assert untyped.dtype is None
    source = np.broadcast_to(SOURCE[:1], SOURCE.shape)
    untyped.copy_from(view_of(source), None)
    assert bytes(buffer) == source.tobytes()
    target = np.zeros_like(SOURCE)
    untyped.copy_to(view_of(target))
    assert np.array_equal(target, source)


def test_wrong_copies_are_rejected():
    target, source = np.zeros((2, 3)), np.ones((2, 3))
    frozen = np.zeros((2, 3))
    frozen.flags.writeable = False
    overlapping = view_of(target).view(view_of(target)._layout[:1].broadcast_to((2, 3)))
    for other, error in [
        (view_of(source.T), ValueError),
        (view_of(source.astype("f4")), ValueError),
        (view_of(source.astype("i8")), ValueError),
        (source.T, ValueError),
        (source.tolist(), TypeError),
    ]:
        with pytest.raises(error):
            view_of(target).copy_from(other, None)
    with pytest.raises(TypeError, match="must be a view or an array"):
        view_of(target).copy_to(source.tolist())
    with pytest.raises(ValueError, match="read-only"):
        view_of(frozen).copy_from(view_of(source), None)
    with pytest.raises(ValueError, match="overlap"):
        overlapping.copy_from(view_of(source), None)
    with pytest.raises(TypeError, match="stream"):
        view_of(target).copy_from(view_of(source), 3)
    with pytest.raises(TypeError, match="allocator"):
        view_of(target).copy_from(view_of(source), None, allocator=3)
    with pytest.raises(TypeError, match="blocking"):
        view_of(target).copy_from(view_of(source), None, blocking=3)
    assert target.sum() == 0


def test_arrays_of_objects_are_not_copied_as_bytes():
    target, source = np.array([None] * 4), np.array([object() for _ in range(4)])
    view = StridedMemoryView.from_array_interface
    with pytest.raises(TypeError, match="refer to Python objects"):
        view(target).copy_from(view(source), None)
    with pytest.raises(TypeError, match="refer to Python objects"):
        view(target).copy_from(view(np.zeros(4, "u8")).view(dtype=np.dtype("V8")).view(dtype=np.dtype("O")), None)
    assert target.tolist() == [None] * 4


@pytest.mark.parametrize(
    "make",
    [
        lambda a: (a[::-1], a),
        lambda a: (a.T, a),
        lambda a: (a[1:, :2], a[:-1, 1:3]),
        lambda a: (a[:, 1:3], a[:, :2]),
    ],
    ids=["backwards", "transposed", "diagonal", "columns"],
)
def test_views_that_overlap_are_not_copied(make):
    array = np.arange(16).reshape(4, 4)
    target, source = make(array)
    with pytest.raises(ValueError, match="overlap"):
        view_of(target).copy_from(view_of(source), None)
    assert np.array_equal(array, np.arange(16).reshape(4, 4))


def test_views_that_interlock_are_copied():
    array = np.arange(24).reshape(4, 6)
    view_of(array[:, ::2]).copy_from(view_of(array[:, 1::2]), None)
    assert np.array_equal(array[:, ::2], array[:, 1::2])
    view_of(array).copy_from(view_of(array), None)
    view_of(array.T).copy_to(view_of(array.T))
    assert np.array_equal(array[:, 1::2], np.arange(24).reshape(4, 6)[:, 1::2])


def test_contiguous_host_views_may_overlap():
    array = np.arange(16)
    view_of(array[1:]).copy_from(view_of(array[:-1]), None)
    assert array.tolist() == [0, *range(15)]


# --- with a device ---


@pytest.fixture
def on_device(device, stream):
    """A function that returns a buffer with the bytes of an array, and a view of it with the array's shape."""

    def make(array):
        buffer = device.allocate(array.nbytes, stream=stream)
        write(buffer, array.tobytes(), stream)
        return buffer, StridedMemoryView.from_buffer(buffer, array.shape, dtype=array.dtype)

    return make


def device_part(view, part):
    """Index a view of SOURCE's shape in the way that ``part`` indexes an array."""
    chosen = part(SOURCE)
    start = (chosen.__array_interface__["data"][0] - SOURCE.ctypes.data) // 4 if chosen.size else 0
    wrapped = Buffer.from_handle(view.ptr + 4 * start, 4, owner=view)
    strides = tuple(stride // 4 for stride in chosen.strides)
    return StridedMemoryView.from_buffer(wrapped, chosen.shape, strides, dtype=view.dtype)


def test_copies_to_and_from_the_device(on_device, stream, part):
    buffer, whole = on_device(np.zeros_like(SOURCE))
    view = device_part(whole, part)
    view.copy_from(view_of(part(SOURCE)), stream)
    expected = np.zeros_like(SOURCE)
    part(expected)[...] = part(SOURCE)
    assert np.array_equal(np.frombuffer(read(buffer, stream), np.int32).reshape(SOURCE.shape), expected)
    target = np.zeros_like(SOURCE)
    view.copy_to(view_of(part(target)), stream)
    assert np.array_equal(target, expected)


def test_copies_on_the_device(on_device, stream, part):
    buffer, whole = on_device(np.zeros_like(SOURCE))
    _, source = on_device(SOURCE)
    device_part(whole, part).copy_from(device_part(source, part), stream)
    expected = np.zeros_like(SOURCE)
    part(expected)[...] = part(SOURCE)
    assert np.array_equal(np.frombuffer(read(buffer, stream), np.int32).reshape(SOURCE.shape), expected)


def test_transposition_on_the_device(on_device, stream):
    buffer, whole = on_device(np.zeros((6, 4), np.int32))
    _, source = on_device(SOURCE[0].copy())
    whole.copy_from(source.view(source._layout.permuted((1, 0))), stream)
    assert np.array_equal(np.frombuffer(read(buffer, stream), np.int32).reshape(6, 4), SOURCE[0].T)


def test_copies_on_the_device_do_not_wait(on_device, stream):
    _, target = on_device(SOURCE)
    _, source = on_device(SOURCE)
    with busy(stream):
        target.copy_from(source, stream)
        source.copy_to(target, stream, blocking=False)
        assert not stream.is_done
    source.copy_to(target, stream, blocking=True)
    assert stream.is_done


def test_copies_of_page_locked_memory_wait_by_default(on_device, stream):
    _, target = on_device(SOURCE)
    buffer = LegacyPinnedMemoryResource().allocate(SOURCE.nbytes)
    memoryview(buffer)[:] = SOURCE.tobytes()
    source = StridedMemoryView.from_buffer(buffer, SOURCE.shape, dtype=SOURCE.dtype)
    with busy(stream):
        target.copy_from(source, stream, blocking=False)
        assert not stream.is_done
    target.copy_from(source, stream)
    assert stream.is_done


def test_copies_on_the_host_accept_a_stream(stream):
    target = np.zeros_like(SOURCE)
    view_of(target).copy_from(view_of(SOURCE), stream)
    assert np.array_equal(target, SOURCE)


def test_device_copies_need_few_pieces(on_device, stream):
    _, one = on_device(np.zeros(1, np.int32))
    many = one.view(one._layout.broadcast_to((100_000,)))
    with pytest.raises(ValueError, match="driver calls"):
        many.copy_to(view_of(np.zeros(100_000, np.int32)), stream)


def test_views_that_overlap_on_the_device_are_not_copied(on_device, stream):
    buffer, whole = on_device(SOURCE)
    size = SOURCE.nbytes
    for target, source in [
        (buffer[4:].view(dtype="i4"), buffer[: size - 4].view(dtype="i4")),
        (whole.view(whole._layout.permuted((1, 0, 2))), buffer.view((4, 5, 6), "i4")),
    ]:
        with pytest.raises(ValueError, match="overlap"):
            target.copy_from(source, stream)
    whole.copy_from(whole, stream)
    assert read(buffer, stream) == SOURCE.tobytes()


def test_columns_are_copied_to_the_columns_between(on_device, stream):
    buffer, _ = on_device(SOURCE)
    even = StridedMemoryView.from_buffer(buffer[:-4], (60,), (2,), dtype=SOURCE.dtype)
    odd = StridedMemoryView.from_buffer(buffer[4:], (60,), (2,), dtype=SOURCE.dtype)
    even.copy_from(odd, stream)
    result = np.frombuffer(read(buffer, stream), np.int32)
    assert np.array_equal(result[::2], SOURCE.ravel()[1::2])
    assert np.array_equal(result[1::2], SOURCE.ravel()[1::2])
