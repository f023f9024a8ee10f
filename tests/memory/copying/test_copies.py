# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies and fills. Wrong arguments are refused before a driver call, so most tests need no driver."""

import numpy as np
import pytest

from cuda.core._memory import Buffer
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from support.memory import read, write


@pytest.mark.parametrize("direction", ["to", "from"])
def test_different_sizes_are_refused(mr, direction):
    small, large = mr.allocate(8), mr.allocate(16)
    with pytest.raises(ValueError, match=r"8 bytes.*16 bytes|16 bytes.*8 bytes"):
        if direction == "to":
            small.copy_to(large, stream=LEGACY_DEFAULT_STREAM)
        else:
            small.copy_from(large, stream=LEGACY_DEFAULT_STREAM)


@pytest.mark.parametrize("distance", [1, 7, -1, -7])
def test_overlapping_memory_is_refused(distance):
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
def test_stream_of_wrong_type_is_refused(mr, stream):
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


def test_options_of_wrong_type_are_refused(mr):
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
