# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers that other libraries read and write: the buffer protocol, NumPy, DLPack."""

import ctypes
import gc

import numpy as np
import pytest

from cuda.core import Buffer
from support.memory import HostMemoryResource


@pytest.fixture
def mr():
    return HostMemoryResource()


@pytest.fixture
def buffer(mr):
    return mr.allocate(64)


def test_memoryview_reads_and_writes(buffer):
    view = memoryview(buffer)
    assert (view.nbytes, view.format, view.readonly) == (64, "B", False)
    view[:3] = b"abc"
    assert ctypes.string_at(buffer.handle, 3) == b"abc"


def test_numpy_shares_the_memory(buffer):
    array = np.asarray(buffer)
    array[:] = np.arange(64)
    assert (array.dtype, array.shape) == (np.uint8, (64,))
    assert ctypes.string_at(buffer.handle, 64) == bytes(range(64))


def test_array_method_converts_and_copies(buffer):
    array = buffer.__array__(np.float32, copy=True)
    np.asarray(buffer)[:] = 7
    assert (array.dtype, array.sum()) == (np.float32, 0)


def test_empty_buffer_shows_no_bytes(mr):
    assert memoryview(mr.allocate(0)).tobytes() == b""
    assert np.asarray(Buffer.from_handle(0, 0)).shape == (0,)


def test_close_is_refused_while_a_view_looks(mr, buffer):
    view = memoryview(buffer)
    with pytest.raises(BufferError, match="1 memoryviews"):
        buffer.close()
    assert not buffer.is_closed
    view.release()
    buffer.close()
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
        with pytest.raises(BufferError, match="on a device"):
            view(buffer)
    buffer.close()


def test_view_of_a_slice_blocks_closing_the_parent(buffer):
    view = memoryview(buffer[16:32])
    with pytest.raises(BufferError, match="1 memoryviews"):
        buffer.close()
    view.release()
    buffer.close()
    assert buffer.is_closed


def test_dlpack_shares_the_memory_after_closing(mr, buffer):
    array = np.from_dlpack(buffer)
    buffer.close()
    array[:] = np.arange(64, dtype=np.int8)
    assert (array.dtype, array.sum(), mr.freed) == (np.int8, 2016, [])
    del array
    gc.collect()
    assert len(mr.freed) == 1
