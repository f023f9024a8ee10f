# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Modules, functions and their calls."""

import gc

import numpy as np
import pytest

import cuda.core
import cuda.core.driver as drv
import cuda.emulator
from cuda.core.driver import compiler
from support.work import settle

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
__device__ int counter = 5;
__constant__ float table[4];
__global__ void scale(float *x, float f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= f;
}
__global__ void read_table(float *out) { out[threadIdx.x] = table[threadIdx.x]; }
__global__ void where(int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = gridDim.x * 100 + gridDim.y * 10 + gridDim.z;
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x];
}
"""


@pytest.fixture
def module():
    return drv.Module(compiler.compile(SOURCE))


@pytest.fixture
def scale(module):
    return module.get_function("scale")


def test_code_is_loaded_from_memory_and_files(tmp_path):
    image = compiler.compile(SOURCE)
    (tmp_path / "code.cubin").write_bytes(image)
    for module in (
        drv.Module(image), drv.module_from_buffer(bytearray(image)), drv.module_from_file(tmp_path / "code.cubin"),
    ):  # fmt: skip
        assert module.get_function("scale").num_regs > 0
    assert "cubin" in repr(module)


@pytest.mark.requires(software=True)
def test_dropped_modules_are_unloaded():
    image = compiler.compile(SOURCE)

    def libraries():
        gc.collect()
        settle()
        return sum(text.startswith("library") for text in cuda.emulator.leaks())

    before = libraries()
    kept = drv.module_from_buffer(image).get_function("scale")
    for _ in range(3):
        drv.Module(image).get_global("counter")
    assert libraries() == before + 1
    assert kept.num_regs > 0


def test_missing_files_and_invalid_code_are_rejected(tmp_path):
    with pytest.raises(drv.RuntimeError, match="cuModuleLoad failed: file not found"):
        drv.module_from_file(tmp_path / "none")
    with pytest.raises(drv.Error):
        drv.Module(b"")
    with pytest.raises(TypeError):
        drv.Module(None)


def test_functions_are_found_by_name_and_keep_the_code(module):
    function = module.get_function("scale")
    assert module.get_function("scale") is function and "scale" in repr(function)
    with pytest.raises(drv.LogicError, match="cuModuleGetFunction failed"):
        module.get_function("nothing")


def test_variables_are_addresses_with_sizes(module):
    pointer, size = module.get_global("counter")
    assert isinstance(pointer, int) and size == 4 == len(pointer)
    assert drv.from_device(pointer, 1, np.int32)[0] == 5
    table, size = module.get_global("table")
    drv.memcpy_htod(table, np.arange(4, dtype=np.float32))
    out = np.zeros(4, np.float32)
    module.get_function("read_table")(drv.Out(out), block=(4, 1, 1))
    assert out.tolist() == [0, 1, 2, 3]
    with pytest.raises(drv.LogicError, match="cuModuleGetGlobal failed"):
        module.get_global("nothing")


def test_address_of_a_variable_is_an_argument(module, scale):
    table, _ = module.get_global("table")
    drv.memcpy_htod(table, np.ones(4, np.float32))
    scale(table, np.float32(3), np.int32(4), block=(4, 1, 1))
    assert drv.from_device(table, 4, np.float32).tolist() == [3] * 4


@pytest.mark.parametrize(
    ("grid", "number"), [((2, 3), 231), ((2,), 211), (2, 211), ([2, 3, 4], 234), ((np.int32(2), np.int64(1)), 211)]
)
@pytest.mark.parametrize("block", [(4, 1, 1), (4, 1), (4,), 4, [4, 1, 1], (np.int32(4), 1, 1)])
def test_extents_are_accepted_in_many_forms(module, grid, number, block):
    out = np.zeros(4, np.int32)
    module.get_function("where")(drv.Out(out), block=block, grid=grid, shared=16)
    assert out.tolist() == [number] * 4


def test_one_block_is_the_default(module):
    out = np.zeros(4, np.int32)
    module.get_function("where")(drv.Out(out), block=(4, 1, 1), shared=np.int32(16))
    assert out.tolist() == [111] * 4


def test_call_needs_a_block_and_rejects_unknown_keywords(scale):
    with pytest.raises(ValueError, match="must specify block size"):
        scale()
    with pytest.raises(ValueError, match="extra keyword arguments: blocks"):
        scale(block=(1, 1, 1), blocks=3)


@pytest.mark.parametrize(
    "extents",
    [{"block": (0, 1, 1)}, {"block": (1, 1, 1), "grid": (1, 1, 1, 1)}, {"block": (-1,)}, {"block": (4096, 1, 1)},
     {"block": ()}, {"block": (1, 1, 1), "shared": -1}],
)  # fmt: skip
def test_invalid_extents_are_rejected(scale, extents):
    with pytest.raises(drv.Error, match="cuLaunchKernel failed"):
        scale(drv.mem_alloc(4), np.float32(1), np.int32(1), **extents)


def test_call_is_timed(scale):
    memory = drv.mem_alloc(4)
    arguments = memory, np.float32(1), np.int32(1)
    assert scale(*arguments, block=(1, 1, 1)) is None
    assert 0 < scale(*arguments, block=(1, 1, 1), time_kernel=True) < 60
    with pytest.raises(AssertionError, match="stream must be None"):
        scale(*arguments, block=(1, 1, 1), time_kernel=True, stream=drv.Stream())


def test_attributes_are_read_and_set(scale):
    assert scale.get_attribute(drv.function_attribute.NUM_REGS) == scale.get_attribute(4) == scale.num_regs
    assert scale.max_threads_per_block > 0 and scale.shared_size_bytes == 0
    scale.set_attribute(drv.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024)
    assert scale.max_dynamic_shared_size_bytes == 1024
    scale.set_cache_config(drv.func_cache.PREFER_L1)
    scale.set_shared_config(drv.shared_config.EIGHT_BYTE_BANK_SIZE)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        scale.nothing  # noqa: B018
    with pytest.raises(drv.LogicError):
        scale.set_attribute(drv.function_attribute.NUM_REGS, 3)


def test_objects_of_a_detached_context_are_invalid(module, scale, context):
    memory = drv.mem_alloc(4)
    other = drv.Device(0).retain_primary_context()
    context.detach()
    other.push()
    for use in (
        lambda: module.get_function("scale"),
        lambda: module.get_global("counter"),
        lambda: scale(memory, np.float32(1), np.int32(1), block=(1, 1, 1)),
    ):
        with pytest.raises(drv.LogicError):
            use()
    other.detach()


def test_cuda_core_launch_accepts_classic_kernels(scale, stream):
    memory = drv.to_device(np.ones(4, np.float32))
    drv.Context.synchronize()  # the stream does not wait for the default stream, which may not have completed the copy
    cuda.core.launch(stream, cuda.core.LaunchConfig(grid=1, block=4), scale.kernel, memory, np.float32(2), 4)
    stream.sync()
    assert drv.from_device(memory, 4, np.float32).tolist() == [2] * 4


# --- Prepared calls --------------------------------------------------------------------------------


@pytest.mark.parametrize("types", ["Pfi", [np.intp, np.float32, np.int32], ["P", "f", "i"], ("P", np.dtype("f4"), "i")])
def test_prepared_calls_accept_python_values(scale, types):
    memory, stream = drv.to_device(np.ones(8, np.float32)), drv.Stream()
    assert scale.prepare(types) is scale
    scale.prepared_call((2, 1), (4, 1, 1), memory, 2.0, 8)
    drv.Context.synchronize()
    scale.prepared_async_call((1, 1), (8, 1, 1), stream, int(memory), 3, np.int64(8))
    stream.synchronize()
    scale.prepared_async_call((1, 1), (8, 1, 1), None, memory, np.float32(0.5), 8)
    seconds = scale.prepared_timed_call((1, 1), (8, 1, 1), memory, 2, 8, shared_size=16)
    assert seconds() >= 0
    assert drv.from_device(memory, 8, np.float32).tolist() == [6] * 8


def test_prepared_calls_need_prepare(scale):
    for call, more in (
        (scale.prepared_call, ()),
        (scale.prepared_async_call, (None,)),
        (scale.prepared_timed_call, ()),
    ):
        with pytest.raises(AttributeError, match=r"'scale'> is not prepared; call prepare\(\) first"):
            call((1, 1), (1, 1, 1), *more, 0, 1.0, 1)


def test_each_attribute_of_functions_is_a_property(scale):
    names = """
        binary_version cache_mode_ca cluster_scheduling_policy_preference cluster_size_must_be_set const_size_bytes
        device_node_update_supported local_size_bytes max_dynamic_shared_size_bytes max_threads_per_block
        non_portable_cluster_size_allowed num_regs preferred_shared_memory_carveout ptx_version required_cluster_depth
        required_cluster_height required_cluster_width shared_memory_mode shared_size_bytes
    """.split()
    assert {*names, "max"} == {name.lower() for name in drv.function_attribute.names}
    for name in names:
        assert isinstance(getattr(drv.Function, name), property) and getattr(drv.Function, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'num_reg'"):
        scale.num_reg  # noqa: B018


def test_prepared_calls_check_their_arguments(scale):
    memory = drv.mem_alloc(4)
    scale.prepare("Pfi")
    assert scale.arg_format == "Pfi" and scale.texrefs == []
    with pytest.raises(TypeError, match="3 arguments, but 1 were given"):
        scale.prepared_call((1, 1), (1, 1, 1), memory)
    with pytest.raises(TypeError, match="block must be a tuple"):
        scale.prepared_call((1, 1), [1, 1, 1], memory, 1.0, 1)
    with pytest.raises(TypeError, match="2 were given after grid and block"):
        scale.prepared_call((1, 1), memory, 1.0, 1)
    with pytest.raises(TypeError, match="a device pointer must be"):
        scale.prepared_call((1, 1), (1, 1, 1), 1.5, 1.0, 1)


@pytest.mark.requires(cuda=(12, 4))
def test_preparing_checks_the_types(scale):
    with pytest.raises(TypeError, match="takes 3 arguments, 2 types given"):
        scale.prepare("Pf")
    for keyword in ("shared", "block"):
        with pytest.warns(DeprecationWarning, match=f"the {keyword} argument of prepare"):
            scale.prepare("Pfi", **{keyword: 1})
    memory = drv.mem_alloc(4)
    for bad in ("1", None, 1.5, 1 << 40):
        with pytest.raises((TypeError, OverflowError)):
            scale.prepared_call((1, 1), (1, 1, 1), memory, 1.0, bad)
    memory.free()
    with pytest.raises(drv.LogicError, match="cuLaunchKernel failed: invalid resource handle"):
        scale.prepared_call((1, 1), (1, 1, 1), memory, 1.0, 1)


def test_structures_are_prepared():
    source = "struct pair { int a; double b; }; __global__ void f(double *x, pair p) { x[0] = p.a + p.b; }"
    pair = np.dtype([("a", "i4"), ("b", "f8")], align=True)
    function = compiler.SourceModule(source).get_function("f").prepare(["P", pair])
    memory = drv.mem_alloc(8)
    for value in (np.array((1, 0.5), pair), np.array((1, 0.5), pair)[()], (1, 0.5)):
        drv.memset_d8(memory, 0, 8)
        function.prepared_call((1, 1), (1, 1, 1), memory, value)
        assert drv.from_device(memory, 1, float)[0] == 1.5


def test_prepared_functions_are_functions(scale):
    assert drv.PreparedFunction is drv.Function
    scale.prepare("Pfi")
    memory = drv.to_device(np.ones(4, np.float32))
    scale(memory, np.float32(2), np.int32(4), block=(4, 1, 1))
    assert drv.from_device(memory, 4, np.float32).tolist() == [2] * 4


def test_function_attributes_have_upper_case_names(scale):
    names = ("NUM_REGS", "SHARED_SIZE_BYTES", "LOCAL_SIZE_BYTES", "CONST_SIZE_BYTES", "MAX_THREADS_PER_BLOCK")
    for name in names:
        assert getattr(scale, name) == getattr(scale, name.lower())
    for name in ("Num_Regs", "NO_SUCH_NAME", "_private", "num_registers"):
        with pytest.raises(AttributeError, match=name):
            getattr(scale, name)
