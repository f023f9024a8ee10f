# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fills. Wrong arguments are refused before a driver call, and need no driver; the contents need a device."""

import array
import ctypes

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core._memory import Buffer, LegacyPinnedMemoryResource
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core._utils.cuda_utils import handle_return
from support.memory import read, write


@pytest.mark.parametrize("value", [-1, 256, 1 << 80])
def test_ints_out_of_range_are_refused(mr, value):
    with pytest.raises(OverflowError, match="value"):
        mr.allocate(8).fill(value, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("value", ["a", 1.0, None, [1]])
def test_other_types_are_refused(mr, value):
    with pytest.raises(TypeError, match="value"):
        mr.allocate(8).fill(value, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("value", [np.array([None]), memoryview(np.array([None])), (ctypes.py_object * 1)()])
def test_patterns_of_python_objects_are_refused(mr, value):
    with pytest.raises(TypeError, match="value must be plain data.*refers to Python objects"):
        mr.allocate(8).fill(value, stream=LEGACY_DEFAULT_STREAM)


def test_patterns_without_bytes_are_refused(mr):
    with pytest.raises(ValueError, match="at least one byte"):
        mr.allocate(8).fill(b"", stream=LEGACY_DEFAULT_STREAM)


def test_patterns_that_are_not_contiguous_are_refused(mr):
    with pytest.raises(BufferError):
        mr.allocate(8).fill(memoryview(b"abcd")[::2], stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize(("size", "value"), [(7, b"ab"), (6, b"abcd"), (8, b"abc"), (8, bytes(16))])
def test_sizes_that_are_no_multiple_are_refused(size, value):
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
def test_the_pattern_is_repeated(device, stream, value, pattern, count):
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


def test_a_captured_fill_keeps_its_wide_pattern(device, stream):
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


def test_the_error_of_a_float_suggests_a_numpy_type(device, stream):
    with (
        device.allocate(16, stream=stream) as buffer,
        pytest.raises(TypeError, match=r"not float; use np\.float32\(3\)"),
    ):
        buffer.fill(3.0, stream=stream)
