# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel calls: the fast path and the general path of unprepared calls, and the arguments of prepared calls."""

import inspect

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core import LEGACY_DEFAULT_STREAM
from cuda.core.driver import gpuarray
from cuda.core.driver._calls import FunctionCall, PreparedAsyncCall, PreparedCall
from cuda.core.driver.compiler import SourceModule
from support.threads import COUNT, run_in_threads

pytestmark = pytest.mark.usefixtures("context")

PARAMETERS = ", ".join(f"int a{k}" for k in range(40))
SOURCE = f"""
__global__ void scale(float *x, float f, int n) {{ int i = threadIdx.x; if (i < n) x[i] *= f; }}
__global__ void nothing() {{}}
__global__ void add(int *x, int n) {{ atomicAdd(x, n); }}
__global__ void many(int *out, {PARAMETERS}) {{ out[0] = a0 + a39; }}
"""


@pytest.fixture
def module():
    return SourceModule(SOURCE)


def test_scalars_allocations_and_arrays_take_the_fast_path(module):
    scale, stream = module.get_function("scale"), drv.Stream()
    array = gpuarray.to_gpu(np.ones(8, np.float32))
    result = array * 1
    for pointer in (array.gpudata, array, array[4:], result):
        for more in ({}, {"stream": stream}, {"grid": (1, 1), "shared": 64}, {"grid": [1], "texrefs": []}):
            assert scale(pointer, np.float32(2), np.int32(4), block=(4, 1, 1), **more) is None
        stream.synchronize()
    assert array.get().tolist() == [256] * 4 + [16] * 4 and result.get().tolist() == [16] * 4 + [1] * 4
    assert module.get_function("nothing")(block=(1, 1, 1)) is None


def test_other_arguments_take_the_general_path(module):
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


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize(
    "arguments, match",
    [
        (lambda x: (x, np.float64(2), np.int32(4)), r"parameter #1 \(0-based\) of kernel 'scale' has 4 bytes"),
        (lambda x: (x, np.float32(2)), "takes 3 arguments, 2 given"),
        (lambda x: (x, 2.0, np.int32(4)), "write numpy.float32"),
        (lambda x: (np.int32(1), np.float32(2), np.int32(4)), r"parameter #0 \(0-based\)"),
    ],
)
def test_arguments_that_do_not_match_are_named_in_the_error(module, arguments, match):
    with pytest.raises(TypeError, match=match):
        module.get_function("scale")(*arguments(drv.mem_alloc(16)), block=(4, 1, 1))


def test_freed_memory_is_rejected(module):
    scale, memory, array = module.get_function("scale"), drv.mem_alloc(16), gpuarray.zeros(4, np.float32)
    memory.free()
    array.gpudata.free()
    for pointer in (memory, array, array[1:]):
        with pytest.raises(drv.LogicError, match="freed|closed"):
            scale(pointer, np.float32(2), np.int32(4), block=(4, 1, 1))


def test_launch_rejected_by_the_driver_raises_the_classic_error(module):
    nothing = module.get_function("nothing")
    for _ in range(2):
        with pytest.raises(drv.LogicError, match="cuLaunchKernel"):
            nothing(block=(2000, 1, 1))
        assert nothing(block=(2, 1, 1)) is None


def test_stream_must_be_a_stream_or_none(module):
    with pytest.raises(TypeError, match="stream must be a Stream or None, not int"):
        module.get_function("nothing")(block=(1, 1, 1), stream=5)


def test_grids_and_blocks_in_lists_are_read_at_each_call(module):
    source = "__global__ void count(int *n) { atomicAdd(n, 1); }"
    count, n = SourceModule(source).get_function("count"), gpuarray.zeros(1, np.int32)
    grid, block = [1, 1], [1, 1, 1]
    for size in (1, 2, 3):
        grid[0], block[0] = size, size
        count(n, grid=grid, block=block)
    assert n.get()[0] == 1 + 4 + 9


def test_call_without_a_kernel_takes_the_general_path():
    class Recorder(FunctionCall):
        def _call_any(self, *args):
            return args

    assert Recorder()(1, block=(1, 1, 1)) == ((1,), (1, 1, 1), (1, 1), None, 0, False)
    with pytest.raises(TypeError):
        Recorder()._set_call(1, None, {})


# --- Prepared calls --------------------------------------------------------------------------------


@pytest.fixture
def scale(module):
    return module.get_function("scale").prepare("Pfi")


def test_arguments_of_prepared_calls_are_accepted_or_converted(scale):
    memory = drv.to_device(np.ones(4, np.float32))
    array = gpuarray.GPUArray(4, np.float32, gpudata=memory)
    for pointer in (memory, int(memory), np.uintp(int(memory)), array):
        for factor in (2.0, np.float32(0.5), np.float64(2), 1):
            for count in (4, np.int32(4), np.int64(4)):
                assert scale.prepared_call((1, 1), (4, 1, 1), pointer, factor, count) is None
    assert drv.from_device(memory, 4, np.float32).tolist() == [2.0**12] * 4


def test_prepared_kernels_may_have_many_parameters(module):
    out = drv.mem_alloc(4)
    many = module.get_function("many").prepare("P40i")
    many.prepared_call((1, 1), (1, 1, 1), out, *map(np.int64, range(40)))
    assert drv.from_device(out, 1, np.int32)[0] == 39


def test_equal_grids_share_a_launch_configuration(module):
    source = "__global__ void count(int *n) { atomicAdd(n, 1); }"
    count, n = SourceModule(source).get_function("count").prepare("P"), drv.to_device(np.zeros(1, np.int32))
    total = 0
    for repeat in range(3):
        for x, y in ((1, 1), (2, 1), (2, 3), (1, 3)):
            count.prepared_call((x, y), (1 + repeat, 1, 1), n)
            count.prepared_call(tuple([x, y, 1]), tuple([1 + repeat]), n, shared_size=0)
            count.prepared_call((np.int64(x), y), (1 + repeat, 1, 1), n)
            total += 3 * x * y * (1 + repeat)
    assert drv.from_device(n, 1, np.int32)[0] == total
    count.prepared_call((1, 3), (3, 1, 1), n, shared_size=64)
    assert drv.from_device(n, 1, np.int32)[0] == total + 9


def test_float_extents_are_rejected_even_if_equal_to_cached_ones(scale):
    memory = drv.to_device(np.ones(4, np.float32))
    scale.prepared_call((1, 1), (4, 1, 1), memory, 2.0, 4)
    for grid, block, shared in (
        ((1.0, 1), (4, 1, 1), 0),
        ((1, 1), (4.0, 1, 1), 0),
        ((1, 1), (4, 1, np.float32(1)), 0),
        ((1, 1), (4, 1, 1), 0.0),
    ):
        with pytest.raises(TypeError):
            scale.prepared_call(grid, block, memory, 2.0, 4, shared_size=shared)
        with pytest.raises(TypeError):
            scale(memory, np.float32(2), np.int32(4), grid=grid, block=block, shared=shared)
    for grid in ((), (1, 1, 1, 1), (0, 1), (-1, 1), (1 << 40, 1)):
        with pytest.raises((drv.LogicError, OverflowError)):
            scale.prepared_call(grid, (4, 1, 1), memory, 2.0, 4)
    assert drv.from_device(memory, 4, np.float32).tolist() == [2] * 4


def test_foreign_stream_handle_is_queried_on_every_call(scale, monkeypatch):
    memory, stream, other = drv.to_device(np.ones(4, np.float32)), drv.Stream(), drv.Stream()
    handles = []

    class Changing:
        def __cuda_stream__(self):
            handles.append((stream, other)[len(handles) % 2].handle)
            return 0, handles[-1]

    changing = Changing()
    for _ in range(2):
        for one in (stream, stream, None, other, LEGACY_DEFAULT_STREAM, changing, changing):
            scale.prepared_async_call((1, 1), (4, 1, 1), one, memory, 2.0, 4)
            drv.Context.synchronize()
    assert len(handles) == 4 and drv.from_device(memory, 4, np.float32).tolist() == [2**14] * 4
    with pytest.raises(TypeError, match="stream must be a Stream or None, not int"):
        scale.prepared_async_call((1, 1), (4, 1, 1), 5, memory, 2.0, 4)


def test_prepared_call_takes_shared_size_and_checks_arguments(scale):
    memory, stream = drv.to_device(np.ones(4, np.float32)), drv.Stream()
    more = (memory, 2.0, 4)
    scale.prepared_call((1, 1), (4, 1, 1), *more)
    scale.prepared_call.__call__((1, 1), (4, 1, 1), *more, shared_size=16)
    scale.prepared_async_call.__call__((1, 1), (4, 1, 1), stream, *more, shared_size=16)
    scale.prepared_async_call((1, 1), (4, 1, 1), stream, *more, shared_size=16)
    drv.Context.synchronize()
    assert drv.from_device(memory, 4, np.float32).tolist() == [16] * 4
    for call, before in ((scale.prepared_call, ()), (scale.prepared_async_call, (stream,))):
        with pytest.raises(TypeError, match="shared"):
            call((1, 1), (4, 1, 1), *before, *more, shared=3)
        with pytest.raises(TypeError):
            call((1, 1))
        with pytest.raises(TypeError):
            call()
        with pytest.raises(TypeError, match="3 arguments, but 2 were given"):
            call((1, 1), (4, 1, 1), *before, *more[:2])
        with pytest.raises(TypeError, match="block must be a tuple of ints, not list"):
            call((1, 1), [4, 1, 1], *before, *more)
    for name in ("prepared_call", "prepared_async_call"):
        assert "shared_size" in inspect.getdoc(getattr(drv.Function, name))


def test_prepared_calls_belong_to_a_function():
    for kind in (PreparedCall, PreparedAsyncCall):
        with pytest.raises(TypeError):
            kind(None)
        with pytest.raises(AttributeError, match="call prepare"):
            kind(FunctionCall())((1,), (1,), *([None] if kind is PreparedAsyncCall else []))


def test_preparing_checks_the_parameters():
    function = FunctionCall()
    for parameters in ([(int, 3, int)], [(int, int, None)]):
        with pytest.raises(TypeError, match="two types and a function"):
            function._set_types(parameters)


def test_preparing_again_changes_the_types_of_arguments(module):
    scale = module.get_function("scale")
    call, memory = scale.prepared_call, drv.to_device(np.ones(4, np.float32))
    scale.prepare("Pfi")
    call((1, 1), (4, 1, 1), memory, 2, 4)
    scale.prepare("Pii")  # the float is passed by its bits
    call((1, 1), (4, 1, 1), memory, 0x40000000, 4)
    assert drv.from_device(memory, 4, np.float32).tolist() == [4] * 4
    scale.note = "programs may add attributes"
    assert scale.note and scale.prepared_call is call


def test_threads_share_the_cache_of_the_latest_call(module, context):
    add, memory = module.get_function("add"), gpuarray.zeros(1, np.int32)
    add.prepare("Pi")

    def launch(number):
        context.push()
        try:
            stream = drv.Stream()
            for index in range(60):
                block = (1 + (number + index) % 3, 1, 1)  # another configuration for each thread
                add.prepared_async_call((1, 1), block, stream, memory.gpudata, 0)
                add.prepared_async_call((1, 1), (1, 1, 1), stream, memory.gpudata, 1)
                add(memory, np.int32(1), block=(1, 1, 1), stream=stream)
            stream.synchronize()
        finally:
            drv.Context.pop()

    assert run_in_threads(launch) == []
    assert memory.get()[0] == COUNT * 120
