# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies and fills. What is refused is refused before the driver is asked, so most tests need none."""

import array

import numpy as np
import pytest

from cuda.core._memory import Buffer
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from support.memory import HostMemoryResource, read, write


@pytest.fixture
def mr():
    return HostMemoryResource()


@pytest.mark.parametrize("way", ["to", "from"])
def test_sizes_have_to_agree(mr, way):
    small, large = mr.allocate(8), mr.allocate(16)
    with pytest.raises(ValueError, match=r"8 bytes.*16 bytes|16 bytes.*8 bytes"):
        if way == "to":
            small.copy_to(large, stream=LEGACY_DEFAULT_STREAM)
        else:
            small.copy_from(large, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("other", [b"12345678", 4096, np.zeros(8, np.uint8)])
def test_only_buffers_are_copied(mr, other):
    buffer = mr.allocate(8)
    with pytest.raises(TypeError, match="dst"):
        buffer.copy_to(other, stream=LEGACY_DEFAULT_STREAM)
    with pytest.raises(TypeError, match="src"):
        buffer.copy_from(other, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("stream", [None, 1, object()])
def test_stream_has_to_be_a_stream(mr, stream):
    buffer, other = mr.allocate(8), mr.allocate(8)
    for use in (lambda: buffer.copy_to(other, stream=stream), lambda: buffer.copy_from(other, stream=stream),
                lambda: buffer.fill(0, stream=stream)):
        with pytest.raises(TypeError, match="stream"):
            use()


def test_stream_is_required(mr):
    buffer = mr.allocate(8)
    for use in (lambda: buffer.copy_to(buffer), lambda: buffer.copy_from(buffer), lambda: buffer.fill(0)):
        with pytest.raises(TypeError, match="stream"):
            use()


def test_options_are_refused(mr):
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
    assert empty.fill(b"abcd", stream=LEGACY_DEFAULT_STREAM) is None


@pytest.mark.parametrize("value", [-1, 256, 1 << 80])
def test_fill_refuses_ints_out_of_range(mr, value):
    with pytest.raises(OverflowError, match="value"):
        mr.allocate(8).fill(value, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("value", ["a", 1.0, None, [1]])
def test_fill_refuses_other_types(mr, value):
    with pytest.raises(TypeError, match="value"):
        mr.allocate(8).fill(value, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("value", [b"", b"abc", b"abcdefgh", np.float64(1)])
def test_fill_refuses_patterns_of_other_lengths(mr, value):
    with pytest.raises(ValueError, match="1, 2 or 4 bytes"):
        mr.allocate(8).fill(value, stream=LEGACY_DEFAULT_STREAM)


def test_fill_refuses_patterns_that_are_not_contiguous(mr):
    with pytest.raises(BufferError):
        mr.allocate(8).fill(memoryview(b"abcd")[::2], stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize(("size", "value"), [(7, b"ab"), (6, b"abcd")])
def test_fill_refuses_a_size_that_is_no_multiple(size, value):
    with pytest.raises(ValueError, match="multiple"):
        Buffer.from_handle(4096, size).fill(value, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize(("address", "value"), [(4097, b"ab"), (4098, b"abcd")])
def test_fill_refuses_an_address_that_is_not_aligned(address, value):
    with pytest.raises(ValueError, match="address"):
        Buffer.from_handle(address, 8).fill(value, stream=LEGACY_DEFAULT_STREAM)


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
    ],
)
def test_fill_repeats_the_pattern(device, stream, value, pattern):
    buffer = device.allocate(64, stream=stream)
    buffer.fill(value, stream=stream)
    assert read(buffer, stream) == pattern * (64 // len(pattern))
