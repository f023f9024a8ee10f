# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory ranges: address and size, which are stored as objects, growth, closing, and access by other libraries."""

import ctypes
import gc
import threading

import numpy as np
import pytest

from cuda.core import Buffer

ARRAY = np.zeros(64, np.uint8)


@pytest.fixture
def buffer():
    return Buffer.from_handle(ARRAY.ctypes.data, 64, owner=ARRAY)


def test_members_are_the_same_objects_at_each_access(buffer):
    assert buffer.handle is buffer.handle
    assert (int(buffer.handle), buffer.size) == (ARRAY.ctypes.data, 64)


def test_members_follow_growth_and_closing(buffer):
    buffer._size = 32
    assert buffer.size == 32
    buffer.close()
    assert (int(buffer.handle), buffer.size, buffer.is_closed) == (0, 0, True)


def test_members_are_read_only(buffer):
    for name in ("handle", "size"):
        with pytest.raises(AttributeError):
            setattr(buffer, name, 1)


def test_members_outlive_the_buffer(buffer):
    handle, size = buffer.handle, buffer.size
    del buffer
    assert (int(handle), size) == (ARRAY.ctypes.data, 64)


def test_a_slice_does_not_grow(buffer):
    with pytest.raises(RuntimeError, match="cannot grow"):
        buffer[8:]._size = 16


def test_threads_that_close_and_read_see_one_of_two_sizes(buffer):
    sizes = set()
    reader = threading.Thread(target=lambda: sizes.update(buffer.size for _ in range(2000)))
    reader.start()
    buffer.close()
    reader.join()
    assert sizes <= {0, 64}


# Access for other libraries: the buffer protocol, NumPy, DLPack


@pytest.fixture
def block(mr):
    return mr.allocate(64)


def test_memoryview_reads_and_writes(block):
    view = memoryview(block)
    assert (view.nbytes, view.format, view.readonly) == (64, "B", False)
    view[:3] = b"abc"
    assert ctypes.string_at(block.handle, 3) == b"abc"


def test_numpy_shares_the_memory(block):
    array = np.asarray(block)
    array[:] = np.arange(64)
    assert (array.dtype, array.shape) == (np.uint8, (64,))
    assert ctypes.string_at(block.handle, 64) == bytes(range(64))


def test_array_method_converts_and_copies(block):
    array = block.__array__(np.float32, copy=True)
    np.asarray(block)[:] = 7
    assert (array.dtype, array.sum()) == (np.float32, 0)


def test_empty_buffer_exports_no_bytes(mr):
    assert memoryview(mr.allocate(0)).tobytes() == b""
    assert np.asarray(Buffer.from_handle(0, 0)).shape == (0,)


def test_close_is_refused_while_a_view_borrows_the_memory(mr, block):
    view = memoryview(block)
    with pytest.raises(BufferError, match="1 memoryviews"):
        block.close()
    assert not block.is_closed
    view.release()
    block.close()
    assert len(mr.freed) == 1


def test_view_keeps_the_memory_alive(mr):
    buffer = mr.allocate(8)
    view = memoryview(buffer)
    view[:] = b"12345678"
    del buffer
    gc.collect()
    assert mr.freed == []
    assert bytes(view) == b"12345678"
    view.release()
    del view
    gc.collect()
    assert len(mr.freed) == 1


def test_host_cannot_view_device_memory(device, stream):
    buffer = device.allocate(64, stream=stream)
    for view in (memoryview, np.asarray, bytes):
        with pytest.raises(BufferError, match="is device memory"):
            view(buffer)
    buffer.close()


def test_view_of_a_slice_blocks_closing_the_parent(block):
    view = memoryview(block[16:32])
    with pytest.raises(BufferError, match="1 memoryviews"):
        block.close()
    view.release()
    block.close()
    assert block.is_closed


def test_dlpack_shares_the_memory_after_closing(mr, block):
    array = np.from_dlpack(block)
    block.close()
    array[:] = np.arange(64, dtype=np.int8)
    assert (array.dtype, array.sum(), mr.freed) == (np.int8, 2016, [])
    del array
    gc.collect()
    assert len(mr.freed) == 1
