# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""KernelAttributes and KernelOccupancy."""

import ctypes
import os
import subprocess
import sys

import pytest
from cuda.bindings import driver

from cuda.core import CUDAError, Kernel, Program, ProgramOptions
from support.contract import KernelAttributes, KernelOccupancy, MaxPotentialBlockSizeOccupancyResult

SOURCE = """
__constant__ int table[64];
extern "C" __global__ void __launch_bounds__(256) f(int* out, int n) {
    __shared__ int part[128];
    part[threadIdx.x % 128] = table[n];
    __syncthreads();
    out[threadIdx.x] = part[n];
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered() {}
"""

ATTRIBUTES = {
    "max_threads_per_block": int,
    "shared_size_bytes": int,
    "const_size_bytes": int,
    "local_size_bytes": int,
    "num_regs": int,
    "ptx_version": int,
    "binary_version": int,
    "cache_mode_ca": bool,
    "max_dynamic_shared_size_bytes": int,
    "preferred_shared_memory_carveout": int,
    "cluster_size_must_be_set": bool,
    "required_cluster_width": int,
    "required_cluster_height": int,
    "required_cluster_depth": int,
    "non_portable_cluster_size_allowed": bool,
    "cluster_scheduling_policy_preference": int,
    "device_node_update_supported": bool,
    "shared_memory_mode": int,
}
NEEDS = dict.fromkeys(("device_node_update_supported", "shared_memory_mode"), pytest.mark.requires(cuda=(13, 2)))


SETTABLE = {
    "max_dynamic_shared_size_bytes": 60_000,
    "preferred_shared_memory_carveout": 50,
    "required_cluster_width": 2,
    "required_cluster_height": 1,
    "required_cluster_depth": 1,
    "non_portable_cluster_size_allowed": True,
    "cluster_scheduling_policy_preference": 1,
    "shared_memory_mode": 1,
}


@pytest.fixture
def code(device):
    return Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")


@pytest.fixture
def kernel(code):
    return code.get_kernel("f")


# Without a device


@pytest.mark.parametrize("cls", [KernelAttributes, KernelOccupancy])
def test_no_direct_construction(cls):
    with pytest.raises(RuntimeError, match=f"{cls.__name__} cannot be constructed directly; use Kernel"):
        cls()


def test_every_attribute_has_a_row_with_a_sentence():
    rows = {name: row for name, row in vars(KernelAttributes).items() if type(row).__name__ == "_Attribute"}
    assert {name: row.convert for name, row in rows.items()} == ATTRIBUTES
    assert len({row.code for row in rows.values()}) == len(rows)
    assert all(row.__doc__.startswith(f"{row.convert.__name__}: ") for row in rows.values())


def test_attributes_and_occupancy_are_cached_and_name_the_kernel():
    kernel = Kernel.from_handle(4096)
    assert kernel.attributes is kernel.attributes
    assert kernel.occupancy is kernel.occupancy
    assert repr(kernel.attributes) == "<KernelAttributes of kernel 0x1000 on the current device>"
    assert repr(kernel.attributes[3]) == "<KernelAttributes of kernel 0x1000 on device 3>"
    assert repr(kernel.occupancy) == "<KernelOccupancy of kernel 0x1000>"


@pytest.mark.parametrize("which", [None, "0", 1.5, True, object()])
def test_device_of_wrong_type(which):
    with pytest.raises(TypeError, match="device must be a Device or an int"):
        Kernel.from_handle(4096).attributes[which]


def test_negative_device():
    with pytest.raises(ValueError, match="device must be from 0 to .*, not -1"):
        Kernel.from_handle(4096).attributes[-1]


@pytest.mark.parametrize("name", [name for name in ATTRIBUTES if name not in SETTABLE])
def test_attributes_set_by_the_compiler_are_read_only(name):
    with pytest.raises(AttributeError, match=f"{name} is read-only"):
        setattr(Kernel.from_handle(4096).attributes, name, 1)


@pytest.mark.parametrize("name", SETTABLE)
@pytest.mark.parametrize("value", ["1", None, 1.5])
def test_attributes_of_wrong_type(name, value):
    with pytest.raises(TypeError, match=f"{name} must be"):
        setattr(Kernel.from_handle(4096).attributes, name, value)


@pytest.mark.parametrize("name", [name for name in SETTABLE if ATTRIBUTES[name] is int])
@pytest.mark.parametrize("value", [-2, 1 << 31])
def test_attributes_out_of_range(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        setattr(Kernel.from_handle(4096).attributes, name, value)


def test_carve_out_is_a_percentage():
    with pytest.raises(
        ValueError, match="preferred_shared_memory_carveout must be from 0 to 100 percent, or -1, not 101"
    ):
        Kernel.from_handle(4096).attributes.preferred_shared_memory_carveout = 101


@pytest.mark.parametrize("name", SETTABLE)
def test_attributes_of_a_closed_kernel_are_not_set(name):
    kernel = Kernel.from_handle(4096)
    attributes = kernel.attributes
    kernel.close()
    with pytest.raises(RuntimeError, match="this Kernel is closed"):
        setattr(kernel.attributes, name, 1)
    assert attributes is not kernel.attributes


def test_closed_kernel_is_rejected():
    kernel = Kernel.from_handle(4096)
    kernel.close()
    with pytest.raises(RuntimeError, match="this Kernel is closed"):
        _ = kernel.attributes.num_regs
    with pytest.raises(RuntimeError, match="this Kernel is closed"):
        kernel.occupancy.max_active_blocks_per_multiprocessor(32, 0)


QUERIES = {
    "block_size": lambda occupancy, value: occupancy.max_active_blocks_per_multiprocessor(value, 0),
    "dynamic_shared_memory_size": lambda occupancy, value: occupancy.max_active_blocks_per_multiprocessor(32, value),
    "dynamic_shared_memory_needed": lambda occupancy, value: occupancy.max_potential_block_size(value, 0),
    "block_size_limit": lambda occupancy, value: occupancy.max_potential_block_size(0, value),
    "num_blocks_per_multiprocessor": lambda occupancy, value: occupancy.available_dynamic_shared_memory_per_block(
        value, 32
    ),
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize(
    "value, kind", [("32", TypeError), (1.5, TypeError), (None, TypeError), (-1, ValueError), (1 << 31, ValueError)]
)
def test_wrong_counts_name_the_argument(name, value, kind):
    with pytest.raises(kind, match=f"{name} must be"):
        QUERIES[name](Kernel.from_handle(4096).occupancy, value)


@pytest.mark.parametrize("query", ["max_potential_cluster_size", "max_active_clusters"])
def test_stream_of_wrong_type(query):
    with pytest.raises(TypeError, match="stream must be a Stream"):
        getattr(Kernel.from_handle(4096).occupancy, query)(None, stream=None)


def test_results_are_named_tuples():
    assert MaxPotentialBlockSizeOccupancyResult._fields == ("min_grid_size", "max_block_size")


# With a device


@pytest.mark.parametrize("name", [pytest.param(name, marks=NEEDS.get(name, ())) for name in ATTRIBUTES])
def test_type_of_each_attribute(kernel, name):
    value = getattr(kernel.attributes, name)
    assert type(value) is ATTRIBUTES[name]
    assert getattr(kernel.attributes, name) == value


def test_attributes_follow_from_the_source(device, code, kernel):
    attributes = kernel.attributes
    assert attributes.max_threads_per_block == 256
    assert attributes.shared_size_bytes == 128 * 4
    assert attributes.const_size_bytes >= 64 * 4
    assert 0 < attributes.num_regs <= 255
    assert attributes.binary_version == int(device.arch)
    assert attributes.required_cluster_width == 0
    assert not attributes.cluster_size_must_be_set
    assert kernel.attributes.max_dynamic_shared_size_bytes > 0


@pytest.mark.requires(clusters=True)
def test_attributes_of_a_cluster_follow_from_the_source(code):
    attributes = code.get_kernel("clustered").attributes
    assert attributes.cluster_size_must_be_set
    shape = (attributes.required_cluster_width, attributes.required_cluster_height, attributes.required_cluster_depth)
    assert shape == (2, 1, 1)


@pytest.mark.parametrize("name", [name for name in SETTABLE if name.endswith(("_bytes", "carveout"))])
def test_attributes_are_set(device, kernel, name):
    setattr(kernel.attributes, name, SETTABLE[name])
    assert getattr(kernel.attributes, name) == SETTABLE[name]
    assert getattr(kernel.attributes[device], name) == SETTABLE[name]


def test_attributes_are_set_on_one_device(device, kernel):
    kernel.attributes[device].preferred_shared_memory_carveout = 25
    assert kernel.attributes[0].preferred_shared_memory_carveout == 25
    kernel.attributes[0].preferred_shared_memory_carveout = -1
    assert kernel.attributes.preferred_shared_memory_carveout == -1


@pytest.mark.requires(compute=(9, 0))
def test_attributes_of_clusters_are_set(kernel):
    attributes = kernel.attributes
    attributes.non_portable_cluster_size_allowed = True
    attributes.cluster_scheduling_policy_preference = 1
    assert attributes.non_portable_cluster_size_allowed is True
    assert attributes.cluster_scheduling_policy_preference == 1


@pytest.mark.requires(cuda=(13, 2))
def test_shared_memory_mode_is_set(kernel):
    kernel.attributes.shared_memory_mode = 1
    assert kernel.attributes.shared_memory_mode == 1
    assert kernel.attributes.device_node_update_supported in (False, True)


@pytest.mark.requires(software=True)
def test_attribute_raises_if_driver_is_older():
    program = f"""
from cuda.core import Device, NotSupportedError, Program, ProgramOptions
Device().set_current()
kernel = Program({SOURCE!r}, "c++", ProgramOptions(arch="sm_90")).compile("cubin").get_kernel("f")
try:
    kernel.attributes.shared_memory_mode
except NotSupportedError as error:
    print(error)
print(hasattr(kernel.attributes, "device_node_update_supported"))
"""
    environment = {**os.environ, "CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DRIVER_VERSION": "13.0"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    message = "the installed driver does not recognize the attribute shared_memory_mode of kernels"
    assert done.stdout.splitlines() == [message, "False"], done.stderr


def test_more_shared_memory_than_the_device_has_is_rejected(kernel):
    with pytest.raises(CUDAError, match="cuKernelSetAttribute"):
        kernel.attributes.max_dynamic_shared_size_bytes = 1 << 30


def test_attributes_of_one_device(device, kernel):
    by_ordinal, by_device = kernel.attributes[0], kernel.attributes[device]
    assert by_ordinal.num_regs == by_device.num_regs == kernel.attributes.num_regs


def test_attributes_of_a_missing_device_are_rejected(kernel):
    with pytest.raises(CUDAError, match="INVALID_DEVICE"):
        _ = kernel.attributes[10_000].num_regs


def test_attributes_outlive_the_kernel_object(kernel):
    attributes = kernel.attributes
    kernel.close()
    assert attributes.max_threads_per_block == 256


def test_blocks_per_multiprocessor(device, kernel):
    occupancy = kernel.occupancy
    blocks = occupancy.max_active_blocks_per_multiprocessor(256, 0)
    assert 1 <= blocks <= device.properties.max_threads_per_multiprocessor // 256
    assert occupancy.max_active_blocks_per_multiprocessor(256, 40_000) < blocks


def test_best_block_size(device, kernel):
    result = kernel.occupancy.max_potential_block_size(0, 0)
    assert isinstance(result, MaxPotentialBlockSizeOccupancyResult)
    assert 32 <= result.max_block_size <= 256
    assert result.min_grid_size >= device.properties.multiprocessor_count
    assert kernel.occupancy.max_potential_block_size(0, 64).max_block_size <= 64


def needed_by(block_size):
    """Return bytes in proportion to the block, so that a missing call or a wrong argument changes the result."""
    return 512 * block_size


@ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)
def c_function(block_size):
    return needed_by(block_size)


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


class Callback:
    """An object with the attributes of a C callback of Numba."""

    address = address_of(c_function)

    def __call__(self, block_size):
        raise AssertionError("the C function is to be called, not this one")


FUNCTIONS = {
    "ctypes": lambda: c_function,
    "address": lambda: driver.CUoccupancyB2DSize(address_of(c_function)),
    "pointer": lambda: driver.CUoccupancyB2DSize(_ptr=address_of(c_function)),
    "numba": lambda: Callback(),
    "python": lambda: needed_by,
}


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_best_block_size_with_a_function(kernel, kind):
    result = kernel.occupancy.max_potential_block_size(FUNCTIONS[kind](), 0)
    assert result != kernel.occupancy.max_potential_block_size(0, 0)
    left = kernel.occupancy.available_dynamic_shared_memory_per_block(1, result.max_block_size)
    assert 0 < needed_by(result.max_block_size) <= left


@pytest.mark.requires(module="cffi")
def test_best_block_size_with_a_function_of_cffi(kernel):
    import cffi

    ffi = cffi.FFI()
    pointer = ffi.callback("size_t(int)", needed_by)
    expected = kernel.occupancy.max_potential_block_size(needed_by, 0)
    assert kernel.occupancy.max_potential_block_size(pointer, 0) == expected
    with pytest.raises(TypeError, match="must be a pointer to a function, not 'int \\*'"):
        kernel.occupancy.max_potential_block_size(ffi.new("int*"), 0)
    with pytest.raises(ValueError, match="null pointer"):
        kernel.occupancy.max_potential_block_size(ffi.cast("size_t(*)(int)", 0), 0)


@pytest.mark.parametrize("wrong", [-1, 1 << 31, 1.5, "32", None], ids=str)
def test_block_size_function_must_return_bytes(kernel, wrong):
    with pytest.raises((TypeError, ValueError), match="the result of dynamic_shared_memory_needed must be"):
        kernel.occupancy.max_potential_block_size(lambda block_size: wrong, 0)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_errors_of_a_function_for_block_sizes_are_raised(kernel, error):
    calls = []

    def needed(block_size):
        calls.append(block_size)
        raise error("mine")

    with pytest.raises(error, match="mine"):
        kernel.occupancy.max_potential_block_size(needed, 0)
    assert len(calls) == 1


def test_block_size_function_must_be_a_non_null_c_function():
    occupancy = Kernel.from_handle(4096).occupancy
    null = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(0)
    with pytest.raises(ValueError, match="dynamic_shared_memory_needed must be a function, but is a null pointer"):
        occupancy.max_potential_block_size(null, 0)
    with pytest.raises(TypeError, match="must be an int or a callable, not list"):
        occupancy.max_potential_block_size([], 0)


@pytest.mark.parametrize("null", [driver.CUoccupancyB2DSize(0), driver.CUoccupancyB2DSize(_ptr=0)], ids=["0", "ptr"])
def test_null_bindings_function_counts_as_0_bytes(kernel, null):
    assert kernel.occupancy.max_potential_block_size(null, 0) == kernel.occupancy.max_potential_block_size(0, 0)


def test_more_blocks_leave_less_shared_memory_for_each(device, kernel):
    left = kernel.occupancy.available_dynamic_shared_memory_per_block(1, 256)
    assert 0 < left <= device.properties.max_shared_memory_per_multiprocessor
    assert kernel.occupancy.available_dynamic_shared_memory_per_block(8, 256) < left


@pytest.mark.requires(clusters=True)
def test_occupancy_of_clusters(device, stream, code):
    from cuda.core import LaunchConfig

    occupancy = code.get_kernel("f").occupancy
    assert occupancy.max_potential_cluster_size(LaunchConfig(grid=8, block=256), stream=stream) >= 8
    config = LaunchConfig(grid=8, cluster=2, block=256)
    assert 1 <= occupancy.max_active_clusters(config, stream=stream) <= device.properties.multiprocessor_count * 8
