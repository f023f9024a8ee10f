# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Prepared launches: which arguments are taken, converted or refused, and what is found once for many calls."""

import numpy as np
import pytest

from cuda.core import Buffer, LaunchConfig, Program
from cuda.core._launch._arguments import register_buffer_class
from cuda.core._launch._prepared import PreparedLaunch

POINTER = (int, Buffer, lambda value: value.address)


class Address:
    def __init__(self, address):
        self.address = address


@pytest.fixture
def kernel(device):
    source = 'extern "C" __global__ void f(float* x, float f, int n) { if (threadIdx.x < n) x[threadIdx.x] *= f; }'
    return Program(source, "c++").compile("cubin").get_kernel("f")


@pytest.fixture
def memory(device, stream):
    buffer = device.allocate(16, stream=stream)
    buffer.copy_from(np.ones(4, np.float32), stream=stream)
    yield buffer
    buffer.close(stream)


class Found:
    """Counts the configurations and streams that calls ask for."""

    def __init__(self, stream):
        self.stream = stream
        self.configs = []
        self.streams = []

    def config(self, grid, block, shared):
        self.configs.append((grid, block, shared))
        return LaunchConfig(grid=tuple(grid), block=tuple(block), shmem_size=shared)

    def of_argument(self, argument):
        self.streams.append(argument)
        return self.stream


@pytest.fixture
def found(stream):
    return Found(stream)


def prepare(kernel, found, has_stream=False, translate=lambda error: error):
    number = (np.float32, np.float32, np.float32), (int, np.int32, int)
    find_stream = found.of_argument if has_stream else None
    return PreparedLaunch(kernel, (POINTER, *number), found.config, find_stream, found.stream, translate)


def content(memory, stream):
    host = np.empty(4, np.float32)
    memory.copy_to(host, stream=stream)
    stream.sync()
    return host.tolist()


def test_arguments_are_taken_or_converted(kernel, found, memory, stream):
    call = prepare(kernel, found)
    grid, block = (1, 1), (4, 1, 1)
    for pointer in (memory, memory.handle, Address(memory.handle)):
        for factor in (2.0, np.float32(0.5), np.float64(2), 1):
            for count in (4, np.int32(4), np.int64(4)):
                assert call(grid, block, pointer, factor, count) is None
    assert content(memory, stream) == [2.0**9] * 4
    assert len(found.configs) == 1


def test_floats_of_python_are_narrowed_where_that_is_said(kernel, found, memory, stream):
    narrowing = (np.float32, np.float32, str, True)
    call = PreparedLaunch(kernel, (POINTER, narrowing, (int, int, int)), found.config, None, stream, str)
    call((1, 1), (4, 1, 1), memory, 0.1, 4)
    assert content(memory, stream) == [float(np.float32(0.1))] * 4


def test_kernels_may_have_many_parameters(device, found, memory, stream):
    count = 40
    parameters = ", ".join(f"float p{index}" for index in range(count))
    total = " + ".join(f"p{index}" for index in range(count))
    source = f'extern "C" __global__ void f(float* x, {parameters}) {{ x[0] = {total}; }}'
    kernel = Program(source, "c++").compile("cubin").get_kernel("f")
    number = (np.float32, np.float32, np.float32, True)
    call = PreparedLaunch(kernel, (POINTER, *[number] * count), found.config, None, stream, str)
    call((1, 1), (1, 1, 1), memory, *[1.0, 1] * (count // 2))
    assert content(memory, stream)[0] == count


def test_configurations_are_found_once_for_the_same_tuples(kernel, found, memory):
    call = prepare(kernel, found)
    grid, block = (1, 1), (4, 1, 1)
    for _ in range(3):
        call(grid, block, memory, 1.0, 4)
        call(grid, block, memory, 1.0, 4, shared_size=0)
    assert found.configs == [(grid, block, 0)]
    call(grid, block, memory, 1.0, 4, shared_size=16)
    assert found.configs[1:] == [(grid, block, 16)]
    extents = [1, 1]
    for _ in range(2):
        call(extents, block, memory, 1.0, 4)
    assert len(found.configs) == 4


def test_streams_are_found_once_for_the_same_argument(kernel, found, memory):
    call = prepare(kernel, found, has_stream=True)
    key = object()
    for _ in range(3):
        call((1, 1), (4, 1, 1), key, memory, 1.0, 4)
    assert found.streams == [key]
    call((1, 1), (4, 1, 1), None, memory, 1.0, 4)
    assert found.streams == [key, None]


def test_the_method_does_what_a_call_does(kernel, found, memory, stream):
    prepare(kernel, found).__call__((1, 1), (4, 1, 1), memory, 3.0, 4, shared_size=8)
    assert content(memory, stream) == [3] * 4 and found.configs[0][2] == 8


@pytest.mark.parametrize("has_stream", [False, True])
def test_wrong_numbers_of_arguments_are_refused(kernel, found, memory, has_stream):
    call = prepare(kernel, found, has_stream)
    with pytest.raises(TypeError, match="takes grid"):
        call((1, 1))
    with pytest.raises(TypeError, match="was prepared for 3 arguments, 1 given"):
        call((1, 1), (1, 1, 1), *([None] if has_stream else []), memory)
    with pytest.raises(TypeError, match="no keyword argument 'shared'"):
        call((1, 1), (1, 1, 1), memory, 1.0, 1, shared=3)


def test_failures_are_translated(kernel, found, memory, stream):
    call = prepare(kernel, found, translate=lambda error: KeyError(str(error)))
    memory.close(stream)
    with pytest.raises(KeyError, match="closed"):
        call((1, 1), (1, 1, 1), memory, 1.0, 1)
    with pytest.raises(AttributeError):
        call((1, 1), (1, 1, 1), "no address", 1.0, 1)


def test_preparing_checks_what_it_gets(kernel, found, stream):
    for parameters in ([(int, 3, int)], [(int, int, None)]):
        with pytest.raises(TypeError, match="two types and a function"):
            PreparedLaunch(kernel, parameters, found.config, None, stream, str)
    with pytest.raises(TypeError):
        PreparedLaunch(None, [], found.config, None, stream, str)
    call = prepare(kernel, found)
    with pytest.raises(RuntimeError, match="initialised already"):
        call.__init__(kernel, [], found.config, None, stream, str)
    with pytest.raises(RuntimeError, match="has no kernel"):
        PreparedLaunch.__new__(PreparedLaunch)()
    assert "3 parameters" in repr(call)


def test_subclasses_of_buffers_are_registered(kernel, found, memory, stream):
    class Mine(Buffer):
        pass

    register_buffer_class(Mine)
    mine = Mine._init(memory.handle, 16)
    prepare(kernel, found)((1, 1), (4, 1, 1), memory, 5.0, 4)
    PreparedLaunch(
        kernel, ((Mine, Mine, str), (np.float32, np.float32, np.float32), (int, int, int)),
        found.config, None, stream, str,
    )((1, 1), (4, 1, 1), mine, 2.0, 4)  # fmt: skip
    assert content(memory, stream) == [10] * 4
    for bad in (int, 3):
        with pytest.raises(TypeError, match="must be a subclass of Buffer"):
            register_buffer_class(bad)


def test_subclasses_of_buffers_are_taken_as_they_are(kernel, found, memory, stream):
    class Child(Buffer):
        pass

    class Grandchild(Child):
        pass

    converted = []

    def convert(value):
        converted.append(value)
        raise TypeError("another buffer")

    parameters = [(int, Child, convert), (np.float32, np.float32, float), (int, int, int)]
    call = PreparedLaunch(kernel, parameters, found.config, None, stream, str)
    for kind in (Child, Grandchild):
        call((1, 1), (4, 1, 1), kind._init(int(memory.handle), 16), np.float32(2), 4)
    assert not converted and content(memory, stream) == [4] * 4
    with pytest.raises(TypeError, match="another buffer"):
        call((1, 1), (4, 1, 1), memory, np.float32(2), 4)
    assert len(converted) == 1 and converted[0] is memory
