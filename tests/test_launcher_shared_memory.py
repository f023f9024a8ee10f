# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Dynamic shared memory above the default limit: the first launch that needs it raises the limit of its kernel."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cuda.core import CUDAError, Device, LaunchConfig, ObjectCode, launch
from support.contexts import foreign_context
from support.graphs import capture
from support.kernels import HostMemory, compiled

SOURCE = """
extern "C" __global__ void reverse(int* out, int count)
{
    extern __shared__ int shared[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) shared[i] = i;
    __syncthreads();
    if (blockIdx.x == 0)
        for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = shared[count - 1 - i];
}
extern "C" __global__ void with_static(int* out)
{
    extern __shared__ int shared[];
    __shared__ int more[1024];
    more[threadIdx.x] = shared[threadIdx.x] = 1;
    *out = more[0] + shared[0];
}
extern "C" __global__ void nothing() {}
"""
THREADS = 256


@pytest.fixture
def code(device):
    """New code, so that no other test has set an attribute of its kernels."""
    return ObjectCode.from_cubin(compiled(SOURCE).code)


@pytest.fixture
def kernel(code):
    return code.get_kernel("reverse")


@pytest.fixture
def most(device):
    """The most shared memory that a block may have, in bytes, which is more than the default limit."""
    most = device.properties.max_shared_memory_per_block_optin
    assert most > device.properties.max_shared_memory_per_block
    return most


def is_reversed(memory, size):
    return memory.array(np.int32)[: size // 4].tolist() == list(range(size // 4 - 1, -1, -1))


WAYS = {
    "config": lambda fields: LaunchConfig(**fields),
    "dict": lambda fields: fields,
    "cooperative": lambda fields: LaunchConfig(**fields, is_cooperative=True),
    "cluster": lambda fields: LaunchConfig(**fields, cluster=1),
    "serialized": lambda fields: LaunchConfig(**fields, programmatic_stream_serialization=True),
}


@pytest.mark.requires(cooperative=True, clusters=True)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_launches_raise_the_limit_themselves(stream, kernel, most, way):
    memory = HostMemory(most)
    for size in (most // 8, most):
        launch(stream, way({"grid": 2, "block": THREADS, "shmem_size": size}), kernel, memory.buffer, size // 4)
        stream.sync()
        assert is_reversed(memory, size)


def test_bound_kernels_raise_the_limit_themselves(stream, kernel, most):
    memory = HostMemory(most)
    kernel.bind(LaunchConfig(grid=1, block=THREADS, shmem_size=most), stream=stream)(memory.buffer, most // 4)
    stream.sync()
    assert is_reversed(memory, most)


def test_captured_launches_raise_the_limit_themselves(stream, kernel, most):
    memory = HostMemory(most)
    with capture(stream) as graph:
        launch(stream, LaunchConfig(grid=1, block=THREADS, shmem_size=most), kernel, memory.buffer, most // 4)
    assert graph.node_kinds() == ["KERNEL"]
    graph.launch(stream)
    assert is_reversed(memory, most)
    graph.destroy()


@pytest.mark.requires(cuda=(12, 9))
def test_limit_is_raised_in_every_context_of_the_device(device, stream, kernel, most):
    memory = HostMemory(most)
    config = LaunchConfig(grid=1, block=THREADS, shmem_size=most)
    launch(stream, config, kernel, memory.buffer, most // 4)
    stream.sync()
    with foreign_context() as context:
        previous = device.set_current(context)
        other = device.create_stream()
        launch(other, config, kernel, memory.buffer, most // 4)
        other.sync()
        other.close()
        device.set_current(previous)
    assert is_reversed(memory, most)


@pytest.mark.requires(devices=2)
def test_limit_is_raised_on_every_device(devices, kernel, most):
    for device in devices:
        device.set_current()
        stream, memory = device.create_stream(), HostMemory(most)
        launch(stream, LaunchConfig(grid=1, block=THREADS, shmem_size=most), kernel, memory.buffer, most // 4)
        stream.sync()
        assert is_reversed(memory, most)
        stream.close()
    devices[0].set_current()


def test_threads_can_launch_with_different_sizes_concurrently(device, code, kernel, most):
    def work(size):
        Device(0).set_current()
        stream, memory = Device(0).create_stream(), HostMemory(size)
        for _ in range(5):
            launch(stream, LaunchConfig(grid=1, block=THREADS, shmem_size=size), kernel, memory.buffer, size // 4)
        stream.sync()
        return is_reversed(memory, size)

    with ThreadPoolExecutor(3) as executor:
        assert list(executor.map(work, [most, most // 2, most - 4096])) == [True] * 3


def test_limit_is_raised_to_the_maximum_in_one_step(stream, kernel, most):
    assert kernel.attributes.max_dynamic_shared_size_bytes < most
    memory = HostMemory(most)
    launch(stream, LaunchConfig(grid=1, block=THREADS, shmem_size=most // 2), kernel, memory.buffer, 1)
    # Thus a later launch with more is not rejected.
    assert kernel.attributes.max_dynamic_shared_size_bytes == most
    stream.sync()


@pytest.mark.requires(software=True)
def test_later_launches_make_no_further_driver_call(stream, kernel, most):
    from cuda import emulator

    memory = HostMemory(most)
    config = LaunchConfig(grid=1, block=THREADS, shmem_size=most // 2)
    launch(stream, config, kernel, memory.buffer, 1)
    config.shmem_size = most
    with emulator.fail("*", nth=2) as plan:
        launch(stream, config, kernel, memory.buffer, 1)
    assert (plan.matched, plan.fired) == (1, 0)
    stream.sync()


@pytest.mark.requires(cooperative=True, clusters=True)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", ["reverse", "with_static"])
def test_size_above_the_maximum_is_rejected_with_the_maximum(stream, code, most, way, name):
    kernel, memory = code.get_kernel(name), HostMemory(4)
    arguments = (memory.buffer, 1) if name == "reverse" else (memory.buffer,)
    limit = most - kernel.attributes.shared_size_bytes
    for _ in range(2):
        with pytest.raises(CUDAError, match=f"shmem_size must be at most {limit} bytes .* not {limit + 1}"):
            launch(stream, way({"grid": 1, "block": 32, "shmem_size": limit + 1}), kernel, *arguments)
    launch(stream, way({"grid": 1, "block": 32, "shmem_size": limit}), kernel, *arguments)
    launch(stream, way({"grid": 1, "block": 32}), code.get_kernel("nothing"))
    stream.sync()
    assert stream.is_done


@pytest.mark.requires(cooperative=True)
def test_cooperative_grid_with_shared_memory_may_be_too_large(stream, kernel, most):
    config = LaunchConfig(grid=100_000, block=32, shmem_size=most, is_cooperative=True)
    with pytest.raises(ValueError, match="resident at the same time"):
        launch(stream, config, kernel, HostMemory(4).buffer, 1)
    with pytest.raises(CUDAError, match="INVALID_VALUE"):
        launch(stream, LaunchConfig(grid=1, block=4096, shmem_size=1024), kernel, HostMemory(4).buffer, 1)
