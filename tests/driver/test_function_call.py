# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Unprepared calls: those that launch at once give what the general way gives."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import _module, gpuarray
from cuda.core.driver._function_call import FunctionCall
from cuda.core.driver.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")

PARAMETERS = ", ".join(f"int a{k}" for k in range(40))
SOURCE = f"""
__global__ void scale(float *x, float f, int n) {{ int i = threadIdx.x; if (i < n) x[i] *= f; }}
__global__ void nothing() {{}}
__global__ void many(int *out, {PARAMETERS}) {{ out[0] = a0 + a39; }}
"""


@pytest.fixture
def module():
    return SourceModule(SOURCE)


@pytest.fixture
def count_of_general_calls(monkeypatch):
    calls = []
    convert = _module.convert
    monkeypatch.setattr(_module, "convert", lambda *args: calls.append(args) or convert(*args))
    return calls


def test_scalars_allocations_and_arrays_launch_at_once(module, count_of_general_calls):
    scale, stream = module.get_function("scale"), drv.Stream()
    array = gpuarray.to_gpu(np.ones(8, np.float32))
    result = array * 1
    for pointer in (array.gpudata, array, array[4:], result):
        for more in ({}, {"stream": stream}, {"grid": (1, 1), "shared": 64}, {"grid": [1], "texrefs": []}):
            assert scale(pointer, np.float32(2), np.int32(4), block=(4, 1, 1), **more) is None
        stream.synchronize()
    assert array.get().tolist() == [256] * 4 + [16] * 4 and result.get().tolist() == [16] * 4 + [1] * 4
    assert module.get_function("nothing")(block=(1, 1, 1)) is None
    assert count_of_general_calls == []


def test_others_take_the_general_way(module, count_of_general_calls):
    scale, array = module.get_function("scale"), np.ones(4, np.float32)
    scale(drv.InOut(array), np.float32(2), np.int32(4), block=(4, 1, 1))
    assert array.tolist() == [2] * 4
    device = gpuarray.to_gpu(array)
    scale(np.intp(device.ptr), np.float32(2), np.int32(4), block=(4, 1, 1))
    assert scale(device, np.float32(2), np.int32(4), block=(4, 1, 1), time_kernel=True) >= 0
    assert device.get().tolist() == [8] * 4
    out = gpuarray.zeros(1, np.int32)
    module.get_function("many")(out, *map(np.int32, range(40)), block=(1, 1, 1))
    assert out.get()[0] == 39
    assert len(count_of_general_calls) == 3  # an integer of the size of an address launches at once


@pytest.mark.parametrize(
    "arguments, match",
    [
        (lambda x: (x, np.float64(2), np.int32(4)), r"parameter #1 \(0-based\) of kernel 'scale' has 4 bytes"),
        (lambda x: (x, np.float32(2)), "takes 3 arguments, 2 given"),
        (lambda x: (x, 2.0, np.int32(4)), "write numpy.float32"),
        (lambda x: (np.int32(1), np.float32(2), np.int32(4)), r"parameter #0 \(0-based\)"),
    ],
)
def test_what_does_not_fit_is_named_as_ever(module, arguments, match):
    with pytest.raises(TypeError, match=match):
        module.get_function("scale")(*arguments(drv.mem_alloc(16)), block=(4, 1, 1))


def test_freed_memory_is_refused(module):
    scale, memory, array = module.get_function("scale"), drv.mem_alloc(16), gpuarray.zeros(4, np.float32)
    memory.free()
    array.gpudata.free()
    for pointer in (memory, array, array[1:]):
        with pytest.raises(drv.LogicError, match="freed|closed"):
            scale(pointer, np.float32(2), np.int32(4), block=(4, 1, 1))


def test_launches_that_the_driver_refuses_are_errors_of_the_classic_classes(module):
    nothing = module.get_function("nothing")
    for _ in range(2):
        with pytest.raises(drv.LogicError, match="cuLaunchKernel"):
            nothing(block=(2000, 1, 1))
        assert nothing(block=(2, 1, 1)) is None


def test_a_stream_must_be_one(module):
    with pytest.raises(TypeError, match="stream must be a Stream or None, not int"):
        module.get_function("nothing")(block=(1, 1, 1), stream=5)


def test_a_list_may_be_another_grid_at_the_next_call(module):
    source = "__global__ void count(int *n) { atomicAdd(n, 1); }"
    count, n = SourceModule(source).get_function("count"), gpuarray.zeros(1, np.int32)
    grid, block = [1, 1], [1, 1, 1]
    for size in (1, 2, 3):
        grid[0], block[0] = size, size
        count(n, grid=grid, block=block)
    assert n.get()[0] == 1 + 4 + 9


def test_a_call_without_a_kernel_goes_the_general_way():
    class Recorder(FunctionCall):
        def _call_any(self, *args):
            return args

    assert Recorder()(1, block=(1, 1, 1)) == ((1,), (1, 1, 1), (1, 1), None, 0, False)
    with pytest.raises(TypeError):
        Recorder()._set_call(1, None, {})
