# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Batches of copies."""

from collections.abc import Sequence

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, Buffer
from cuda.core.utils import CopyOptions, copy_batch
from support.bindings import handle_return
from support.memory import HostMemoryResource, ShortList, read, write


@pytest.fixture
def pair():
    mr = HostMemoryResource()
    return mr.allocate(8), mr.allocate(8)


@pytest.mark.parametrize("stream", [None, 1, object()])
def test_streams_of_wrong_type_are_rejected(pair, stream):
    with pytest.raises(TypeError, match="stream"):
        copy_batch(stream, pair[:1], pair[1:])


def test_legacy_default_stream_is_rejected(pair):
    with pytest.raises(TypeError, match="legacy default stream"):
        copy_batch(LEGACY_DEFAULT_STREAM, pair[:1], pair[1:])


def test_closed_streams_are_rejected(pair, stream):
    stream.close()
    with pytest.raises(RuntimeError, match="closed"):
        copy_batch(stream, pair[:1], pair[1:])


def test_other_objects_than_sequences_of_buffers_are_rejected(pair):
    first, second = pair
    for wrong in (first, iter([first]), {first}, None, [3], [first, b"x"]):
        with pytest.raises(TypeError, match="srcs"):
            copy_batch(PER_THREAD_DEFAULT_STREAM, wrong, [second])
        with pytest.raises(TypeError, match="dsts"):
            copy_batch(PER_THREAD_DEFAULT_STREAM, [second], wrong)


def test_empty_sequences_are_rejected(pair):
    with pytest.raises(ValueError, match="srcs"):
        copy_batch(PER_THREAD_DEFAULT_STREAM, [], [])


def test_different_numbers_of_buffers_are_rejected(pair):
    with pytest.raises(ValueError, match="same number"):
        copy_batch(PER_THREAD_DEFAULT_STREAM, pair, pair[:1])


def test_closed_buffers_are_rejected(pair):
    pair[0].close()
    with pytest.raises(RuntimeError, match="closed"):
        copy_batch(PER_THREAD_DEFAULT_STREAM, pair[:1], pair[1:])


@pytest.mark.parametrize("options", [3, "any", {}, [3], [None]])
def test_options_of_wrong_type_are_rejected(pair, options):
    with pytest.raises(TypeError, match="options"):
        copy_batch(PER_THREAD_DEFAULT_STREAM, pair[:1], pair[1:], options=options)


def test_wrong_numbers_of_options_are_rejected(pair):
    with pytest.raises(ValueError, match="options"):
        copy_batch(PER_THREAD_DEFAULT_STREAM, pair[:1], pair[1:], options=[CopyOptions()] * 2)


def test_lists_of_options_that_get_shorter_are_rejected(stream):
    buffers = [HostMemoryResource().allocate(8) for _ in range(4)]
    for options in (ShortList([CopyOptions()]), ShortList([])):
        with pytest.raises(ValueError, match="options must be one CopyOptions or 2, one for each copy, not"):
            copy_batch(stream, buffers[:2], buffers[2:], options=options)


def test_different_sizes_are_rejected(stream):
    with pytest.raises(ValueError, match="copy 1 has 8 bytes in srcs and 9 bytes in dsts"):
        copy_batch(
            stream,
            [Buffer.from_handle(4096, 8), Buffer.from_handle(5000, 8)],
            [Buffer.from_handle(6000, 8), Buffer.from_handle(7000, 9)],
        )


def test_overlaps_are_rejected(stream):
    with pytest.raises(ValueError, match="overlap"):
        copy_batch(stream, [Buffer.from_handle(4096, 8)], [Buffer.from_handle(4100, 8)])


def test_capturing_stream_is_rejected(stream, pair):
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    handle_return(driver.cuStreamBeginCapture(stream.handle, mode))
    try:
        with pytest.raises(TypeError, match="capturing"):
            copy_batch(stream, pair[:1], pair[1:])
    finally:
        handle_return(driver.cuGraphDestroy(handle_return(driver.cuStreamEndCapture(stream.handle))))


OPTIONS = {
    "none": None,
    "one": CopyOptions("any", overlap_mode="prefer_overlap_with_compute"),
    "each": [CopyOptions(order) for order in ("stream", "any", "stream", "any")],
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_all_buffers_are_copied(device, stream, options):
    sizes = (100, 0, 4096, 77)
    random = np.random.default_rng(3)
    contents = [random.integers(0, 256, size, dtype=np.uint8).tobytes() for size in sizes]
    sources, targets = ([device.allocate(size, stream=stream) for size in sizes] for _ in range(2))
    for source, content in zip(sources, contents, strict=True):
        write(source, content, stream)
    copy_batch(stream, sources, tuple(targets), options=options)
    assert [read(target, stream) for target in targets] == contents


class OneTimeSequence(Sequence):
    """A sequence that gives its items to the first iteration only."""

    def __init__(self, things):
        self.things = things

    def __getitem__(self, index):
        return self.things[index]

    def __len__(self):
        return len(self.things)

    def __iter__(self):
        things, self.things = self.things, [None]
        return iter(things)


def test_sequences_are_iterated_over_once(device, stream):
    first, second = (device.allocate(8, stream=stream) for _ in range(2))
    first.fill(6, stream=stream)
    copy_batch(stream, OneTimeSequence([first]), OneTimeSequence([second]))
    assert read(second, stream) == bytes([6]) * 8


def test_pageable_memory_is_copied(device, stream):
    source, target = HostMemoryResource().allocate(8), device.allocate(8, stream=stream)
    memoryview(source)[:] = bytes(range(8))
    copy_batch(stream, [source], [target])
    assert read(target, stream) == bytes(range(8))


def test_empty_copies_and_copies_to_itself_do_nothing(device, stream):
    empty = [device.allocate(0, stream=stream) for _ in range(2)]
    buffer = device.allocate(8, stream=stream)
    buffer.fill(5, stream=stream)
    copy_batch(stream, empty, empty)
    copy_batch(stream, [buffer], [buffer])
    assert read(buffer, stream) == bytes([5]) * 8


@pytest.mark.requires(device=True)
def test_per_thread_default_stream_is_accepted(device):
    first, second = (device.allocate(64, stream=PER_THREAD_DEFAULT_STREAM) for _ in range(2))
    first.fill(7, stream=PER_THREAD_DEFAULT_STREAM)
    copy_batch(PER_THREAD_DEFAULT_STREAM, [first], [second])
    assert read(second, PER_THREAD_DEFAULT_STREAM) == bytes([7]) * 64
