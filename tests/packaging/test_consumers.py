# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Extensions of other packages, in Cython and C++, accept and return streams, buffers and memory resources."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from cuda.core import Buffer, LegacyPinnedMemoryResource, Stream
from support.build import build_extension
from support.memory import HostMemoryResource

CONSUMERS = Path(__file__).with_name("consumers")

pytestmark = pytest.mark.requires(extensions=True, device=True)


@pytest.fixture(
    scope="module",
    params=["cython", pytest.param("cpp", marks=pytest.mark.requires(module="pybind11"))],
)
def consumer(request):
    if request.param == "cython":
        return build_extension(CONSUMERS / "cython_consumer.pyx")
    import pybind11

    return build_extension(CONSUMERS / "cpp_consumer.cpp", pybind11.get_include())


class Foreign:
    """A stream of another library."""

    def __init__(self, address):
        self.address = address

    def __cuda_stream__(self):
        return 0, self.address


def address_of(stream) -> int:
    return stream.__cuda_stream__()[1]


def test_streams_are_accepted(consumer, stream):
    assert consumer.stream_address(stream) == address_of(stream)
    assert consumer.stream_address(Foreign(address_of(stream))) == address_of(stream)


def test_streams_are_returned(consumer, stream):
    wrapped = consumer.wrap_stream(address_of(stream))
    assert type(wrapped) is Stream
    assert address_of(wrapped) == address_of(stream)
    wrapped.sync()


def test_buffers_are_accepted(consumer, stream):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    assert consumer.range_of(buffer) == (int(buffer.handle), 64)


def test_returned_buffers_keep_their_memory_alive(consumer, stream):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    address, reference = int(buffer.handle), weakref.ref(buffer)
    half = consumer.second_half(buffer)
    assert (type(half), int(half.handle), half.size) == (Buffer, address + 32, 32)
    del buffer
    gc.collect()
    assert reference() is not None
    del half
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("make", [LegacyPinnedMemoryResource, HostMemoryResource])
def test_memory_resources_allocate(consumer, stream, make):
    resource = make()
    buffer = consumer.allocate(resource, 128, stream)
    assert type(buffer) is Buffer
    assert buffer.size >= 128
    assert buffer.memory_resource is resource


def test_closed_objects_raise(consumer, device):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    buffer.close()
    stream = device.create_stream()
    stream.close()
    with pytest.raises(RuntimeError, match="closed"):
        consumer.range_of(buffer)
    with pytest.raises(RuntimeError, match="closed"):
        consumer.stream_address(stream)


@pytest.mark.parametrize("name", ["range_of", "second_half"])
def test_objects_of_other_types_raise(consumer, name):
    with pytest.raises(TypeError, match="Buffer.*int"):
        getattr(consumer, name)(3)


def test_failures_of_a_resource_reach_the_caller(consumer, stream):
    class Broken(HostMemoryResource):
        def allocate(self, size, *, stream):
            raise MemoryError("no memory is left")

    with pytest.raises(MemoryError, match="no memory is left"):
        consumer.allocate(Broken(), 8, stream)
    with pytest.raises(TypeError):
        consumer.allocate(object(), 8, stream)
