# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies, hints and fills. Wrong arguments are rejected before a driver call, so many tests need no driver."""

import array
import ctypes

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, Host, LegacyPinnedMemoryResource, Stream
from cuda.core.utils import CopyOptions
from support.bindings import driver_version, handle_return
from support.memory import HostMemoryResource, read, write


@pytest.mark.parametrize("direction", ["to", "from"])
def test_different_sizes_are_rejected(mr, direction):
    small, large = mr.allocate(8), mr.allocate(16)
    with pytest.raises(ValueError, match=r"8 bytes.*16 bytes|16 bytes.*8 bytes"):
        if direction == "to":
            small.copy_to(large, stream=LEGACY_DEFAULT_STREAM)
        else:
            small.copy_from(large, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("distance", [1, 7, -1, -7])
def test_overlapping_memory_is_rejected(distance):
    first, second = Buffer.from_handle(4096, 8), Buffer.from_handle(4096 + distance, 8)
    with pytest.raises(ValueError, match="overlap"):
        first.copy_to(second, stream=LEGACY_DEFAULT_STREAM)
    with pytest.raises(ValueError, match="overlap"):
        first.copy_from(second, stream=LEGACY_DEFAULT_STREAM)


def test_copy_to_itself_does_nothing(mr):
    buffer = mr.allocate(8)
    memoryview(buffer)[:] = b"12345678"
    assert buffer.copy_to(buffer, stream=LEGACY_DEFAULT_STREAM) is buffer
    assert bytes(memoryview(buffer)) == b"12345678"


@pytest.mark.parametrize("stream", [None, 1, object()])
def test_stream_of_wrong_type_is_rejected(mr, stream):
    buffer, other = mr.allocate(8), mr.allocate(8)
    for use in (
        lambda: buffer.copy_to(other, stream=stream),
        lambda: buffer.copy_from(other, stream=stream),
        lambda: buffer.fill(0, stream=stream),
    ):
        with pytest.raises(TypeError, match="stream"):
            use()


def test_stream_is_required(mr):
    buffer = mr.allocate(8)
    for use in (lambda: buffer.copy_to(buffer), lambda: buffer.copy_from(buffer), lambda: buffer.fill(0)):
        with pytest.raises(TypeError, match="stream"):
            use()


def test_options_of_wrong_type_are_rejected(mr):
    buffer, other = mr.allocate(8), mr.allocate(8)
    for copy in (buffer.copy_to, buffer.copy_from):
        with pytest.raises(TypeError, match="options"):
            copy(other, stream=LEGACY_DEFAULT_STREAM, options={})


def test_copy_without_destination_needs_a_resource():
    with pytest.raises(ValueError, match="dst"):
        Buffer.from_handle(4096, 8).copy_to(stream=LEGACY_DEFAULT_STREAM)


def test_empty_copy_and_fill_do_nothing(mr):
    empty = mr.allocate(0)
    assert empty.copy_to(stream=LEGACY_DEFAULT_STREAM).size == 0
    assert empty.copy_from(b"", stream=LEGACY_DEFAULT_STREAM) is None
    assert empty.fill(b"abcd", stream=LEGACY_DEFAULT_STREAM) is None


# Contents, on a device


def test_copy_round_trip(device, stream):
    data = np.random.default_rng(1).integers(0, 256, 1 << 16, dtype=np.uint8).tobytes()
    first, second = (device.allocate(len(data), stream=stream) for _ in range(2))
    write(first, data, stream)
    assert first.copy_to(second, stream=stream) is second
    assert read(second, stream) == data
    third = second.copy_to(stream=stream)
    assert third.memory_resource is second.memory_resource
    assert read(third, stream) == data


def test_copy_from_and_to_pageable_memory(device, stream):
    source = np.arange(1000, dtype=np.uint8)
    target = np.zeros_like(source)
    buffer = device.allocate(1000, stream=stream)
    buffer.copy_from(Buffer.from_handle(source.ctypes.data, 1000, owner=source), stream=stream)
    buffer.copy_to(Buffer.from_handle(target.ctypes.data, 1000, owner=target), stream=stream)
    stream.sync()
    assert np.array_equal(source, target)


def test_copy_on_the_default_stream(device):
    buffer, other = (device.allocate(64, stream=LEGACY_DEFAULT_STREAM) for _ in range(2))
    buffer.fill(9, stream=LEGACY_DEFAULT_STREAM)
    other.copy_from(buffer, stream=LEGACY_DEFAULT_STREAM)
    assert read(other, LEGACY_DEFAULT_STREAM) == b"\t" * 64


@pytest.mark.parametrize("options", [{}, "any", 3])
def test_only_copy_options_are_options(options):
    mr = HostMemoryResource()
    for copy in (mr.allocate(8).copy_to, mr.allocate(8).copy_from):
        with pytest.raises(TypeError, match="options"):
            copy(mr.allocate(8), stream=LEGACY_DEFAULT_STREAM, options=options)


@pytest.mark.parametrize("stream", [LEGACY_DEFAULT_STREAM, Stream.from_handle(0)])
def test_options_are_rejected_on_the_legacy_default_stream(stream):
    mr = HostMemoryResource()
    with pytest.raises(TypeError, match="legacy default stream"):
        mr.allocate(8).copy_to(mr.allocate(8), stream=stream, options=CopyOptions())


def test_hint_must_be_a_location():
    mr = HostMemoryResource()
    with pytest.raises(TypeError, match="location"):
        mr.allocate(8).copy_to(
            mr.allocate(8), stream=LEGACY_DEFAULT_STREAM, options=CopyOptions(src_location_hint="host")
        )


def test_options_are_rejected_on_a_capturing_stream(device, stream):
    buffer, other = (device.allocate(64, stream=stream) for _ in range(2))
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    handle_return(driver.cuStreamBeginCapture(stream.handle, mode))
    try:
        with pytest.raises(TypeError, match="capturing"):
            buffer.copy_to(other, stream=stream, options=CopyOptions())
    finally:
        handle_return(driver.cuGraphDestroy(handle_return(driver.cuStreamEndCapture(stream.handle))))


@pytest.mark.parametrize("order", ["stream", "any"])
def test_copies_with_hints_copy_the_bytes(device, stream, order):
    options = CopyOptions(order, Host(), device, "prefer_overlap_with_compute")
    source, target = np.arange(256, dtype=np.uint8), np.zeros(256, np.uint8)
    first, second = (device.allocate(256, stream=stream) for _ in range(2))
    first.copy_from(source, stream=stream, options=options)
    first.copy_to(second, stream=stream, options=CopyOptions(order))
    assert read(second, stream) == source.tobytes()
    second.copy_to(target, stream=stream, options=CopyOptions(order))
    stream.sync()
    assert np.array_equal(source, target)


def test_source_read_during_the_call_may_change_afterwards(device, stream):
    source = np.full(1 << 16, 1, np.uint8)
    target = device.allocate(1 << 16, stream=stream)
    options = CopyOptions("during_api_call")
    if driver_version() < (13, 2):
        with pytest.raises(RuntimeError, match=r"during_api_call.*13\.2"):
            target.copy_from(source, stream=stream, options=options)
    else:
        target.copy_from(source, stream=stream, options=options)
        source[:] = 2
        assert set(read(target, stream)) == {1}


@pytest.mark.parametrize("value", [-1, 256, 1 << 80])
def test_ints_out_of_range_are_rejected(mr, value):
    with pytest.raises(OverflowError, match="value"):
        mr.allocate(8).fill(value, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("value", ["a", 1.0, None, [1]])
def test_other_types_are_rejected(mr, value):
    with pytest.raises(TypeError, match="value"):
        mr.allocate(8).fill(value, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("value", [np.array([None]), memoryview(np.array([None])), (ctypes.py_object * 1)()])
def test_patterns_of_python_objects_are_rejected(mr, value):
    with pytest.raises(TypeError, match="value must be plain data.*refers to Python objects"):
        mr.allocate(8).fill(value, stream=LEGACY_DEFAULT_STREAM)


def test_patterns_without_bytes_are_rejected(mr):
    with pytest.raises(ValueError, match="at least one byte"):
        mr.allocate(8).fill(b"", stream=LEGACY_DEFAULT_STREAM)


def test_noncontiguous_patterns_are_rejected(mr):
    with pytest.raises(BufferError):
        mr.allocate(8).fill(memoryview(b"abcd")[::2], stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize(("size", "value"), [(7, b"ab"), (6, b"abcd"), (8, b"abc"), (8, bytes(16))])
def test_sizes_other_than_multiples_are_rejected(size, value):
    with pytest.raises(ValueError, match="multiple"):
        Buffer.from_handle(4096, size).fill(value, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        (0, b"\0"),
        (255, b"\xff"),
        (True, b"\1"),
        (b"a", b"a"),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"abcd"), b"abcd"),
        (np.float32(1), np.float32(1).tobytes()),
        (np.int16(-2), np.int16(-2).tobytes()),
        (array.array("I", [0x01020304]), array.array("I", [0x01020304]).tobytes()),
        (np.float64(1.1), np.float64(1.1).tobytes()),
        (np.float64(0), bytes(8)),
        (np.complex128(1 + 2j), np.complex128(1 + 2j).tobytes()),
        (b"abc", b"abc"),
        (bytes(range(64)), bytes(range(64))),
        (bytes(range(96)), bytes(range(96))),
        (bytes(range(192)), bytes(range(192))),
    ],
)
@pytest.mark.parametrize("count", [1, 3, 64])
def test_pattern_is_repeated(device, stream, value, pattern, count):
    buffer = device.allocate(count * len(pattern), stream=stream)
    buffer.fill(value, stream=stream)
    assert read(buffer, stream) == pattern * count


@pytest.mark.parametrize("offset", [1, 2, 3])
@pytest.mark.parametrize("pattern", [b"ab", b"abcd", b"abcdefgh"])
def test_addresses_need_not_be_aligned(device, stream, offset, pattern):
    whole = device.allocate(64, stream=stream)
    write(whole, b"." * 64, stream)
    Buffer.from_handle(whole.handle + offset, 40, owner=whole).fill(pattern, stream=stream)
    assert read(whole, stream) == (b"." * offset + pattern * (40 // len(pattern))).ljust(64, b".")


def test_captured_fill_keeps_its_wide_pattern(device, stream):
    target = LegacyPinnedMemoryResource().allocate(256)
    ctypes.memset(target.handle, 0, 256)
    pattern = bytes(range(128))
    handle_return(driver.cuStreamBeginCapture(stream.handle, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
    try:
        target.fill(bytearray(pattern), stream=stream)
    finally:
        graph = handle_return(driver.cuStreamEndCapture(stream.handle))
    launchable = handle_return(driver.cuGraphInstantiate(graph, 0))
    handle_return(driver.cuGraphLaunch(launchable, stream.handle))
    stream.sync()
    handle_return(driver.cuGraphExecDestroy(launchable))
    handle_return(driver.cuGraphDestroy(graph))
    assert bytes(memoryview(target)) == pattern * 2


def test_error_of_a_float_suggests_a_numpy_type(device, stream):
    with (
        device.allocate(16, stream=stream) as buffer,
        pytest.raises(TypeError, match=r"not float; use np\.float32\(3\)"),
    ):
        buffer.fill(3.0, stream=stream)


class Offset(ctypes.Structure):
    _fields_ = (("Offset", ctypes.c_int), ("x:O:y", ctypes.c_int))


class WithObject(Offset):
    _fields_ = (("plain", ctypes.c_int), ("items", ctypes.py_object * 2))


class Either(ctypes.Union):
    _fields_ = (("number", ctypes.c_long), ("nested", WithObject))


def check_plain(mr, exporter, *, is_plain):
    """Check whether a buffer is filled with an object, even if the buffer's size is not a multiple of the object's."""
    error, text = (ValueError, "must be a multiple") if is_plain else (TypeError, "refers to Python objects")
    with pytest.raises(error, match=text):
        mr.allocate(memoryview(exporter).nbytes + 1).fill(exporter, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize(
    "exporter", [Offset(), (Offset * 3)(), memoryview((Offset * 3)()), (ctypes.POINTER(ctypes.py_object) * 2)()]
)
def test_ctypes_with_an_o_in_a_name_or_with_pointers_are_plain(mr, exporter):
    check_plain(mr, exporter, is_plain=True)


@pytest.mark.parametrize("exporter", [WithObject(), (WithObject * 2 * 2)(), Either(), (ctypes.py_object * 2)()])
def test_ctypes_with_a_py_object_anywhere_are_not_plain(mr, exporter):
    check_plain(mr, exporter, is_plain=False)


def test_dtype_of_numpy_arrays_decides(mr):
    check_plain(mr, np.zeros(2, "O,i4"), is_plain=False)
    check_plain(mr, np.zeros(2, [("Offset", "i4")]), is_plain=True)
