# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory for other devices: dma-bufs, and synchronous copies that wait."""

import os

import numpy as np
import pytest

from cuda.core import CUDAError, ExternalMemory, VirtualMemoryResource
from support.memory import _SynchronousMemoryResource


@pytest.fixture
def virtual(device):
    buffer = VirtualMemoryResource(device).allocate(2 << 20)
    yield buffer
    buffer.close()


@pytest.mark.requires(software=True)
def test_dma_buf_is_the_memory(virtual, stream):
    file = virtual.dmabuf_fd()
    with ExternalMemory.from_fd(file, virtual.size, kind="dmabuf_fd") as memory:
        other = memory.map(4096, 8)
    os.close(file)
    other.fill(np.int32(5), stream=stream)
    stream.sync()
    host = np.zeros(virtual.size // 4, np.int32)
    virtual.copy_to(host, stream=stream)
    stream.sync()
    assert host[1023:1027].tolist() == [0, 5, 5, 0]
    other.close()


@pytest.mark.requires(software=True)
def test_dma_buf_needs_suitable_memory(device, stream, virtual):
    pooled = device.allocate(8192, stream=stream)
    with pytest.raises(CUDAError, match="cuMemGetHandleForAddressRange"):
        pooled.dmabuf_fd()
    with pytest.raises(CUDAError, match="cuMemGetHandleForAddressRange"):
        virtual.dmabuf_fd(is_pcie=True)
    with pytest.raises(TypeError, match="is_pcie must be a bool"):
        virtual.dmabuf_fd(is_pcie=1)


def test_sync_memops_is_set(device):
    buffer = _SynchronousMemoryResource(0).allocate(64)
    for value in (True, False):
        buffer.sync_memops = value
        assert buffer.sync_memops is value
    with pytest.raises(TypeError, match="sync_memops must be a bool"):
        buffer.sync_memops = 1


def test_closed_memory_is_not_shared(device):
    buffer = _SynchronousMemoryResource(0).allocate(64)
    buffer.close()
    for use in (buffer.dmabuf_fd, lambda: buffer.sync_memops, lambda: setattr(buffer, "sync_memops", True)):
        with pytest.raises(RuntimeError, match="closed"):
            use()
