# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Each driver call of work on memory fails in turn: the error is clear, nothing leaks, and later calls work."""

import contextlib

import numpy as np
import pytest

from cuda.core import (
    Buffer,
    DeviceMemoryResource,
    Host,
    LegacyPinnedMemoryResource,
    ManagedBuffer,
    ManagedMemoryResource,
    PinnedMemoryResource,
)
from cuda.core.utils import (
    CopyOptions,
    StridedMemoryView,
    copy_batch,
    discard_batch,
    discard_prefetch_batch,
    prefetch_batch,
)
from support.bindings import call_driver
from support.failures import CODES, fail_each_call
from support.tensors import CudaInterface

pytestmark = [pytest.mark.requires(software=True), pytest.mark.requires(device=True)]
each_code = pytest.mark.parametrize("code", CODES)

SIZE = 4096
ROWS = 64


def array_on(buffer, stream):
    """Return the memory of a buffer as an array of another library that works on a stream."""
    return CudaInterface(np.empty(0, np.uint8), data=(buffer.handle, False), shape=(SIZE,), stream=int(stream.handle))


@pytest.fixture
def memory(device, stream):
    """A function that allocates buffers of each kind of memory, which are closed after the test."""
    makers = {
        "device": DeviceMemoryResource(0).allocate,
        "pinned": PinnedMemoryResource().allocate,
        "managed": ManagedMemoryResource().allocate,
        "legacy": LegacyPinnedMemoryResource().allocate,
    }
    with contextlib.ExitStack() as stack:
        yield lambda kind="device", size=SIZE: stack.enter_context(makers[kind](size, stream=stream))
        stream.sync()


# Copies


@pytest.mark.requires(cuda=(13, 0))
@each_code
@pytest.mark.parametrize("kind", ["device", "pinned", "managed", "legacy"])
def test_each_call_of_copies_between_buffers_may_fail(memory, stream, kind, code):
    first, second = memory("device"), memory(kind)
    first.fill(7, stream=stream)

    def program():
        second.copy_from(first, stream=stream)
        first.copy_to(second, stream=stream, options=CopyOptions(src_access_order="any"))
        with second.copy_to(stream=stream) as third:
            assert third.size == SIZE
        stream.sync()

    failed = fail_each_call(program, code, overcome=["cuCtxGetCurrent"])
    assert failed >= {"cuMemcpyAsync", "cuStreamSynchronize"}


def contiguous():
    return np.zeros(SIZE, np.uint8)


def strided():
    return np.zeros((ROWS, 2 * SIZE // ROWS), np.uint8)[:, ::2]


def rows():
    return np.zeros((ROWS, 2 * SIZE // ROWS), np.uint8)[:, : SIZE // ROWS]


def planes():
    return np.zeros((8, 64, 64), np.uint8)[::2, ::2, :32]


ARRAYS = {"contiguous": contiguous, "strided": strided, "rows": rows, "planes": planes}


@pytest.mark.requires(cuda=(13, 0))
@each_code
@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_each_call_of_copies_with_host_arrays_may_fail(memory, stream, make, code):
    buffer, array = memory(), make()

    def program():
        buffer.copy_from(array, stream=stream)
        buffer.copy_to(array, stream=stream)
        stream.sync()

    assert fail_each_call(program, code) & {"cuMemcpyAsync", "cuMemcpy3DAsync_v2"}


@pytest.mark.requires(cuda=(13, 0))
@each_code
def test_each_call_of_copies_with_device_arrays_may_fail(memory, device, stream, code):
    buffer, other = memory(), memory()
    producer = device.create_stream()
    array = array_on(other, producer)

    def program():
        buffer.copy_from(array, stream=stream)
        stream.sync()

    assert fail_each_call(program, code) >= {"cuMemcpyAsync", "cuStreamWaitEvent", "cuEventRecord"}


@pytest.mark.requires(cuda=(13, 2))
@each_code
@pytest.mark.parametrize("options", [None, CopyOptions(src_location_hint=Host())], ids=["plain", "hinted"])
def test_each_call_of_batched_copies_may_fail(memory, stream, options, code):
    sources, targets = [memory() for _ in range(3)], [memory("pinned") for _ in range(3)]

    def program():
        copy_batch(stream, sources, targets, options=options)
        stream.sync()

    assert fail_each_call(program, code) >= {"cuMemcpyBatchAsync_v2", "cuStreamIsCapturing"}


# Fills

PATTERNS = {"byte": 3, "two": b"ab", "four": b"abcd", "eight": b"abcdefgh", "wide": bytes(range(128))}


@pytest.mark.requires(cuda=(13, 0))
@each_code
@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_each_call_of_fills_may_fail(memory, stream, pattern, code):
    buffer = memory()

    def program():
        buffer.fill(pattern, stream=stream)
        stream.sync()

    assert len(fail_each_call(program, code)) >= 2


# Managed memory


@pytest.fixture
def managed(device, stream):
    """Managed memory that belongs to no pool, because drivers reject advice about pool memory."""
    pointers = [call_driver("cuMemAllocManaged", SIZE, 1) for _ in range(3)]
    yield [ManagedBuffer.from_handle(pointer, SIZE) for pointer in pointers]
    stream.sync()
    for pointer in pointers:
        call_driver("cuMemFree", pointer)


def advise(buffer, place):
    buffer.read_mostly = not buffer.read_mostly
    buffer.preferred_location = place
    assert buffer.preferred_location == place
    buffer.preferred_location = None
    buffer.accessed_by = [place]
    buffer.accessed_by.add(Host())
    assert place in buffer.accessed_by
    buffer.accessed_by.clear()


@each_code
def test_each_call_of_advice_may_fail(managed, device, code):
    failed = fail_each_call(lambda: advise(managed[0], device), code)
    assert failed >= {"cuMemAdvise_v2", "cuMemRangeGetAttribute"}


@pytest.mark.requires(cuda=(13, 0))
@each_code
def test_each_call_of_migration_may_fail(managed, device, stream, code):
    def program():
        managed[0].prefetch(device, stream=stream)
        managed[0].discard(stream=stream)
        managed[0].discard_prefetch(Host(), stream=stream)
        prefetch_batch(stream, managed, [device, Host(), device])
        discard_batch(stream, managed)
        discard_prefetch_batch(stream, managed, device)
        stream.sync()

    failed = fail_each_call(program, code)
    assert failed >= {"cuMemPrefetchBatchAsync", "cuMemDiscardBatchAsync", "cuMemDiscardAndPrefetchBatchAsync"}


# Protocols


@pytest.mark.requires(cuda=(13, 0))
@each_code
@pytest.mark.parametrize("resource", [PinnedMemoryResource, ManagedMemoryResource])
def test_each_call_of_exports_may_fail(device, stream, resource, code):
    pool = resource()

    def program():
        buffer = pool.allocate(SIZE, stream=stream)
        array = np.from_dlpack(buffer)
        array[:] = 1
        assert bytes(memoryview(buffer)[:2]) == bytes(np.asarray(buffer)[:2]) == b"\1\1"
        buffer.__dlpack__(max_version=(1, 0))
        del array
        buffer.close()

    assert fail_each_call(program, code) >= {"cuMemAllocFromPoolAsync", "cuMemFreeAsync"}


@pytest.mark.requires(cuda=(13, 0))
@each_code
def test_each_call_of_views_may_fail(memory, device, stream, code):
    buffer, other = memory(), memory()
    producer = device.create_stream()

    def program():
        view = StridedMemoryView.from_any_interface(buffer, stream_ptr=int(stream.handle))
        assert view.shape == (SIZE,)
        array = array_on(other, producer)
        assert StridedMemoryView.from_cuda_array_interface(array, stream_ptr=int(stream.handle)).ptr == other.handle

    assert "cuStreamWaitEvent" in fail_each_call(program, code)


@pytest.mark.requires(cuda=(13, 0))
@each_code
@pytest.mark.parametrize("kind", ["device", "pinned", "managed"])
def test_each_query_of_wrapped_memory_may_fail(memory, kind, code):
    known = memory(kind)

    def program():
        buffer = Buffer.from_handle(known.handle, SIZE)
        assert buffer.is_device_accessible
        assert buffer.is_host_accessible == (kind != "device")
        assert buffer.is_managed == (kind == "managed")
        assert buffer.device_id >= -1
        assert buffer.__dlpack_device__()

    assert fail_each_call(program, code) == {"cuPointerGetAttributes"}
