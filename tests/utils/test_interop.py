# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Allocators of other libraries, which allocate from a memory resource."""

import ctypes
import gc
import sys
import types

import numpy as np
import pytest

from cuda.core import Buffer, DeviceMemoryResource, LegacyPinnedMemoryResource, LimitingMemoryResource, Stream
from cuda.core.utils import interop
from support.interpreter import run


@pytest.fixture
def pool(device):
    return DeviceMemoryResource(device, {})


def functions(resource):
    """Load the functions that PyTorch would call."""
    path, allocate, free = interop.allocator_functions(resource)
    library = ctypes.CDLL(path)
    allocate, free = getattr(library, allocate), getattr(library, free)
    allocate.restype, allocate.argtypes = ctypes.c_void_p, (ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
    free.restype, free.argtypes = None, (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
    return allocate, free


def test_functions_allocate_from_the_pool(pool, stream):
    allocate, free = functions(pool)
    before = pool.attributes.used_mem_current
    pointer = allocate(4096, 0, int(stream.handle))
    assert pool.attributes.used_mem_current - before >= 4096
    host = np.empty(4096, np.uint8)
    buffer = Buffer.from_handle(pointer, 4096)
    buffer.fill(9, stream=stream)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    assert host.min() == 9
    free(pointer, 4096, 0, int(stream.handle))
    stream.sync()
    assert pool.attributes.used_mem_current == before
    assert allocate(0, 0, int(stream.handle)) is None
    free(None, 0, 0, int(stream.handle))


def test_functions_call_other_resources(pool, stream):
    resource = LimitingMemoryResource(pool, 1 << 20)
    allocate, free = functions(resource)
    pointer = allocate(256, 0, int(stream.handle))
    assert pointer and pool.attributes.used_mem_current >= 256
    free(pointer, 256, 0, int(stream.handle))
    stream.sync()
    assert pool.attributes.used_mem_current == 0
    functions(pool)


def test_torch_gets_the_functions(pool, monkeypatch):
    made = []
    memory = types.ModuleType("torch.cuda.memory")
    memory.CUDAPluggableAllocator = lambda *arguments: made.append(arguments) or "allocator"
    for name, module in {"torch": None, "torch.cuda": None, "torch.cuda.memory": memory}.items():
        monkeypatch.setitem(sys.modules, name, module or types.ModuleType(name))
    assert interop.torch_allocator(pool) == "allocator"
    assert made == [interop.allocator_functions(pool)]


def test_cupy_memory_keeps_its_buffer(pool, stream, monkeypatch):
    cuda = types.ModuleType("cupy.cuda")
    cuda.get_current_stream = lambda: types.SimpleNamespace(ptr=int(stream.handle))
    cuda.UnownedMemory = lambda pointer, size, owner, device: (pointer, size, owner, device)
    cuda.MemoryPointer = lambda memory, offset: (memory, offset)
    monkeypatch.setitem(sys.modules, "cupy", types.ModuleType("cupy"))
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    before = pool.attributes.used_mem_current
    (pointer, size, owner, device), offset = interop.cupy_allocator(pool)(512)
    assert (int(owner.handle), owner.size, device, offset) == (pointer, 512, 0, 0) and size == 512
    owner.close()
    stream.sync()
    assert pool.attributes.used_mem_current == before


@pytest.mark.parametrize("wrap", [int, lambda address: types.SimpleNamespace(__cuda_stream__=lambda: (0, address))])
def test_rmm_calls_the_resource(pool, stream, monkeypatch, wrap):
    rmm, mr = types.ModuleType("rmm"), types.ModuleType("rmm.mr")
    mr.CallbackMemoryResource = lambda allocate, free: (allocate, free)
    monkeypatch.setitem(sys.modules, "rmm", rmm)
    monkeypatch.setitem(sys.modules, "rmm.mr", mr)
    allocate, free = interop.rmm_resource(pool)
    before = pool.attributes.used_mem_current
    pointer = allocate(1024, wrap(int(stream.handle)))
    assert pool.attributes.used_mem_current > before
    free(pointer, 1024, wrap(int(stream.handle)))
    stream.sync()
    assert pool.attributes.used_mem_current == before


class UpstreamOfRMM:
    """The documented part of ``rmm.mr.DeviceMemoryResource``."""

    def __init__(self, pool):
        self.pool, self.buffers, self.calls = pool, {}, []

    def allocate(self, nbytes, stream):
        self.calls.append(("allocate", nbytes, stream.address))
        buffer = self.pool.allocate(nbytes, stream=Stream.from_handle(stream.address))
        self.buffers[int(buffer.handle)] = buffer
        return int(buffer.handle)

    def deallocate(self, ptr, nbytes, stream):
        self.calls.append(("deallocate", nbytes, stream.address))
        self.buffers.pop(ptr).close(Stream.from_handle(stream.address))


@pytest.fixture
def rmm_stream(monkeypatch):
    """The documented part of ``rmm.pylibrmm.stream``."""
    module = types.ModuleType("rmm.pylibrmm.stream")

    class RMMStream:
        def __init__(self, obj):
            self.address = obj.__cuda_stream__()[1]

    module.Stream = RMMStream
    for name in ("rmm", "rmm.pylibrmm"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "rmm.pylibrmm.stream", module)


def test_buffers_come_from_a_resource_of_rmm(pool, stream, device, rmm_stream):
    upstream = UpstreamOfRMM(pool)
    resource = interop.from_rmm_resource(upstream)
    assert (resource.device_id, resource.is_device_accessible, resource.is_host_accessible) == (0, True, False)
    assert "UpstreamOfRMM" in repr(resource)
    buffer = resource.allocate(1024, stream=stream)
    buffer.fill(3, stream=stream)
    assert buffer.memory_resource is resource and list(upstream.buffers) == [int(buffer.handle)]
    other = device.create_stream()
    other.wait(stream)
    buffer.close(other)
    addresses = int(stream.handle), int(other.handle)
    assert upstream.calls == [("allocate", 1024, addresses[0]), ("deallocate", 1024, addresses[1])]
    assert upstream.buffers == {}


def test_resource_of_rmm_is_the_default(pool, device, rmm_stream, stream):
    upstream = UpstreamOfRMM(pool)
    before = device.memory_resource
    device.memory_resource = interop.from_rmm_resource(upstream)
    try:
        device.zeros(16, np.float32, stream=stream)
        gc.collect()
        assert [call[0] for call in upstream.calls] == ["allocate", "deallocate"]
    finally:
        device.memory_resource = before


def test_failure_of_rmm_is_raised(device, stream, rmm_stream):
    upstream = UpstreamOfRMM(None)

    def fail(nbytes, stream):
        raise MemoryError("std::bad_alloc")

    upstream.allocate = fail
    with pytest.raises(MemoryError, match="bad_alloc"):
        interop.from_rmm_resource(upstream).allocate(64, stream=stream)
    with pytest.raises(TypeError, match="resource must be a resource of RMM, not int"):
        interop.from_rmm_resource(3)
    with pytest.raises(TypeError, match="stream"):
        interop.from_rmm_resource(upstream).allocate(64, stream=3)


@pytest.mark.requires(module="rmm")
def test_memory_goes_through_rmm_and_back(pool, stream):
    resource = interop.from_rmm_resource(interop.rmm_resource(pool))
    before = pool.allocation_count
    buffer = resource.allocate(1024, stream=stream)
    assert pool.allocation_count == before + 1
    buffer.close()
    assert pool.allocation_count == before


@pytest.mark.parametrize(
    "make", [interop.torch_allocator, interop.cupy_allocator, interop.rmm_resource, interop.allocator_functions]
)
def test_resources_are_checked(device, make):
    with pytest.raises(TypeError, match="resource must be a MemoryResource, not int"):
        make(3)
    with pytest.raises(TypeError, match="of the memory of a device"):
        make(LegacyPinnedMemoryResource())


def test_closed_pool_is_rejected(pool):
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        interop.allocator_functions(pool)


PROGRAM = """
from cuda.core import Device, DeviceMemoryResource
from cuda.core.utils import interop
from support.interpreter import run
device = Device()
device.set_current()
pool = DeviceMemoryResource(device, {})
"""

TORCH = """
import torch
torch.cuda.memory.change_current_allocator(interop.torch_allocator(pool))
x = torch.ones(1 << 20, device="cuda")
print(pool.attributes.used_mem_current >= 4 << 20, float(x.sum()))
del x
torch.cuda.synchronize()
print(pool.attributes.used_mem_current)
"""

CUPY = """
import cupy
cupy.cuda.set_allocator(interop.cupy_allocator(pool))
x = cupy.ones(1 << 20, cupy.float32)
print(pool.attributes.used_mem_current >= 4 << 20, float(x.sum()))
del x
cupy.cuda.Device().synchronize()
print(pool.attributes.used_mem_current)
"""


@pytest.mark.requires(software=False)
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(TORCH, marks=pytest.mark.requires(module="torch"), id="torch"),
        pytest.param(CUPY, marks=pytest.mark.requires(module="cupy"), id="cupy"),
    ],
)
def test_library_allocates_from_the_pool(program):
    assert run(PROGRAM + program, timeout=300).split() == ["True", "1048576.0", "0"]
