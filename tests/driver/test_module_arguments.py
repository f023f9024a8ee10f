# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments: accepted types, rejected values, and host arrays copied with the call."""

import gc
import weakref

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray, tools
from cuda.core.driver.compiler import SourceModule
from support.interpreter import run

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
struct pair { int a; double b; };
__global__ void scale(float *x, float f, int n) { int i = threadIdx.x; if (i < n) x[i] *= f; }
__global__ void add(float *out, const float *a, const float *b) { int i = threadIdx.x; out[i] = a[i] + b[i]; }
__global__ void take(double *out, char c, pair p, bool flag, short s) { out[0] = c + p.a + p.b + flag + s; }
"""


@pytest.fixture
def module():
    return SourceModule(SOURCE)


def test_scalars_and_structures_are_passed_at_offsets_of_kernel(module):
    out = np.zeros(1)
    pair = np.array((3, 0.5), np.dtype([("a", "i4"), ("b", "f8")], align=True))
    for struct in (pair, pair[()]):
        module.get_function("take")(drv.Out(out), np.int8(1), struct, np.bool_(True), np.int16(-2), block=(1, 1, 1))
        assert out[0] == 1 + 3 + 0.5 + 1 - 2


def test_host_arrays_are_copied_with_the_call(module):
    a, b, out = (np.arange(8, dtype=np.float32) for _ in range(3))
    module.get_function("add")(drv.Out(out), drv.In(a), drv.In(b), block=(8, 1, 1))
    assert (out == a + b).all()
    module.get_function("scale")(drv.InOut(a), np.float32(3), np.int32(8), block=(8, 1, 1))
    assert (a == b * 3).all()


def test_host_arrays_are_copied_on_the_stream_of_the_call(module):
    a, stream = np.arange(8, dtype=np.float32), drv.Stream(1)
    argument = drv.InOut(a)
    alive = weakref.ref(argument)
    module.get_function("scale")(argument, np.float32(2), np.int32(8), block=(8, 1, 1), stream=stream)
    del argument
    gc.collect()
    assert alive() is not None
    stream.synchronize()
    assert (a == np.arange(8) * 2).all()
    gc.collect()
    assert alive() is None


def test_handlers_can_be_subclassed(module):
    calls = []

    class Traced(drv.ArgumentHandler):
        def pre_call(self, stream):
            calls.append(("pre", stream))
            drv.memcpy_htod(self.get_device_alloc(), self.array)

        def post_call(self, stream):
            calls.append(("post", stream))
            drv.memcpy_dtoh(self.array, self.get_device_alloc())

    a = np.ones(4, np.float32)
    handler = Traced(a)
    assert handler.array is a and handler.dev_alloc is None
    module.get_function("scale")(handler, np.float32(5), np.int32(4), block=(4, 1, 1))
    assert calls == [("pre", None), ("post", None)] and (a == 5).all()
    assert handler.get_device_alloc() is handler.dev_alloc


def test_handler_must_define_pre_call():
    with pytest.raises(NotImplementedError, match="must define pre_call"):
        drv.ArgumentHandler(np.zeros(1)).pre_call(None)


def test_handlers_need_arrays(module):
    for handler in (drv.In, drv.Out, drv.InOut):
        with pytest.raises(TypeError, match="an array with nbytes, not list"):
            module.get_function("scale")(handler([1, 2]), np.float32(2), np.int32(2), block=(1, 1, 1))
    with pytest.raises(TypeError, match="an array with nbytes, not list"):
        drv.In([1, 2]).get_device_alloc()


def test_addresses_are_accepted_in_many_forms(module):
    memory = drv.to_device(np.ones(4, np.float32))
    scale = module.get_function("scale")

    class Array:
        gpudata = memory

    class Interface:
        __cuda_array_interface__ = {"data": (int(memory), False)}

    class Holder(drv.PointerHolderBase):
        def get_pointer(self):
            return int(memory)

    for pointer in (
        *(memory, np.intp(memory), np.uintp(memory), np.int64(int(memory))),
        *(Array(), Interface(), Holder(), gpuarray.GPUArray(4, np.float32, gpudata=memory)),
    ):
        scale(pointer, np.float32(2), np.int32(4), block=(4, 1, 1))
    assert drv.from_device(memory, 4, np.float32).tolist() == [256] * 4


def test_memory_of_all_kinds_is_an_argument(module):
    scale, pool = module.get_function("scale"), tools.DeviceMemoryPool()
    pooled = pool.allocate(16)
    assert isinstance(pooled, drv.PooledDeviceAllocation) and isinstance(drv.mem_alloc(16), drv.DeviceAllocation)
    managed = drv.managed_zeros(6, np.float32, mem_flags=drv.mem_attach_flags.GLOBAL)
    managed[...] = 1
    for memory in (pooled, drv.mem_alloc(16)):
        drv.memcpy_htod(memory, np.ones(4, np.float32))
        scale(memory, np.float32(2), np.int32(4), block=(4, 1, 1))
        assert drv.from_device(memory, 4, np.float32).tolist() == [2] * 4
    for array in (managed, managed[2:]):
        scale(array, np.float32(3), np.int32(4), block=(4, 1, 1))
    drv.Context.synchronize()
    assert managed.tolist() == [3, 3, 9, 9, 3, 3]
    array = gpuarray.to_gpu(np.ones(6, np.float32))
    scale(array + array, np.float32(2), np.int32(4), block=(4, 1, 1))
    scale(array[2:], np.float32(2), np.int32(2), block=(4, 1, 1))
    assert array.get().tolist() == [1, 1, 2, 2, 1, 1]


def test_structures_of_vectors_are_arguments():
    source = "__global__ void total(float *out, float3 v) { *out = v.x + v.y + v.z; }"
    out = np.zeros(1, np.float32)
    vector = gpuarray.vec.make_float3(1, 2, 4)
    SourceModule(source).get_function("total")(drv.Out(out), vector, block=(1, 1, 1))
    assert out[0] == 7


@pytest.mark.parametrize(
    ("value", "advice"),
    [(1, "numpy.int32"), (1.5, "numpy.float32"), (True, "numpy.bool_"), (None, "numpy.uintp"), (1j, "complex"),
     ("x", ""), ([1], "In"), (object(), "")],
)  # fmt: skip
def test_python_values_are_rejected_with_the_numpy_type_to_use(module, value, advice):
    memory = drv.mem_alloc(4)
    with pytest.raises(TypeError, match=rf"invalid type on parameter #1 \(0-based\).*{advice}"):
        module.get_function("scale")(memory, value, np.int32(1), block=(1, 1, 1))


@pytest.mark.requires(cuda=(12, 4))
def test_arguments_of_another_size_or_number_are_rejected(module):
    memory, scale = drv.mem_alloc(4), module.get_function("scale")
    with pytest.raises(TypeError, match=r"parameter #1 \(0-based\) of kernel 'scale' has 4 bytes.*float64 given has 8"):
        scale(memory, np.float64(1), np.int32(1), block=(1, 1, 1))
    with pytest.raises(TypeError, match=r"parameter #0 .*has 8 bytes, but the ndarray given has 12; .*write In\(array"):
        scale(np.zeros(3, np.float32), np.float32(1), np.int32(1), block=(1, 1, 1))
    for arguments in ((), (memory,), (memory, np.float32(1), np.int32(1), np.int32(1))):
        with pytest.raises(TypeError, match=f"takes 3 arguments, {len(arguments)} given"):
            scale(*arguments, block=(1, 1, 1))


@pytest.mark.requires(software=True)
def test_sizes_are_not_checked_where_driver_does_not_report_them():
    code = (
        "import numpy as np, cuda.core.driver as drv, cuda.core.driver.autoinit\n"
        "from cuda.core.driver.compiler import SourceModule\n"
        "f = SourceModule('__global__ void f(int *x, int n, char2 c) { *x = n + c.y; }').get_function('f')\n"
        "x = np.zeros(1, np.int32)\n"
        "f(drv.Out(x), np.int32(1), np.array([3, 4], np.int8), block=(1, 1, 1)); print(x)"
    )
    assert run(code, CUDA_EMULATOR_DRIVER_VERSION="12030") == "[5]\n"


def test_host_arrays_with_gaps_are_rejected(module):
    with pytest.raises(ValueError, match="not contiguous"):
        module.get_function("scale")(drv.In(np.zeros(8, np.float32)[::2]), np.float32(1), np.int32(4), block=(1, 1, 1))
