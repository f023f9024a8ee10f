# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Loading modules and launching kernels through the driver API."""

import ctypes

import numpy as np
import pytest

ONE = (1, 1, 1)


@pytest.fixture
def out(driver, context):
    pointer = driver.zeros(64)
    yield int(pointer)
    driver.raw.cuMemFree(pointer)


def read(driver, pointer, kind="i4", count=1):
    array = np.zeros(count, kind)
    driver.cuMemcpyDtoH(array.ctypes.data, pointer, array.nbytes)
    return array


def result(driver, kernel, grid=ONE, block=ONE, shared=0, arguments=0, extra=0):
    return driver.result("cuLaunchKernel", kernel, *grid, *block, shared, driver.CUstream(0), arguments, extra)


# The driver also rejected these on an H200.
REJECTED = [
    ("nothing", (0, 1, 1), ONE, 0),
    ("nothing", ONE, (0, 1, 1), 0),
    ("nothing", ONE, (2048, 1, 1), 0),
    ("nothing", ONE, (1, 1, 65), 0),
    ("nothing", ONE, (64, 64, 1), 0),
    ("nothing", (1, 70000, 1), ONE, 0),
    ("nothing", ONE, ONE, 49153),
    ("bounded", ONE, (256, 1, 1), 0),
    ("add", ONE, ONE, 0),
]


@pytest.mark.parametrize(("name", "grid", "block", "shared"), REJECTED)
def test_invalid_launches_are_rejected(driver, context, kernel, name, grid, block, shared):
    assert result(driver, kernel(name), grid, block, shared) == "INVALID_VALUE"
    driver.cuCtxSynchronize()


@pytest.mark.parametrize("shared", [0, 49152])
def test_launches_at_the_limits_are_accepted(driver, context, kernel, shared):
    assert result(driver, kernel("nothing"), (3, 2, 2), (1024, 1, 1), shared) == "SUCCESS"
    driver.cuCtxSynchronize()


def test_more_shared_memory_needs_an_attribute_of_the_kernel(driver, context, kernel):
    function = kernel("nothing")
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    raw = driver.CUkernel(int(function))
    assert driver.cuKernelGetAttribute(attribute, raw, 0) == 49152
    for bad in (-1, 232449):
        assert driver.result("cuKernelSetAttribute", attribute, bad, raw, 0) == "INVALID_VALUE"
    driver.cuKernelSetAttribute(attribute, 232448, raw, 0)
    assert result(driver, function, ONE, ONE, 232448) == "SUCCESS"
    assert driver.cuKernelGetAttribute(attribute, raw, 1) == 49152
    driver.cuCtxSynchronize()


def test_parameters_of_every_size_are_passed(driver, out, kernel):
    types = (
        ctypes.c_void_p,
        ctypes.c_char,
        ctypes.c_short,
        ctypes.c_int,
        ctypes.c_longlong,
        ctypes.c_float,
        ctypes.c_double,
    )
    values = (out, 1, -2, 3, -(1 << 40), 5.0, -6.0)
    assert result(driver, kernel("store"), arguments=(values, types)) == "SUCCESS"
    assert list(read(driver, out, "i8", 6)) == [1, -2, 3, -(1 << 40), 5, -6]


def packed(buffer, size):
    keep = ctypes.c_size_t(size)
    items = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(keep), 0)
    return items, keep


@pytest.mark.parametrize(("size", "expected"), [(12, "SUCCESS"), (16, "SUCCESS"), (8, "LAUNCH_OUT_OF_RESOURCES")])
def test_parameters_can_be_packed_in_one_buffer(driver, out, kernel, size, expected):
    buffer = ctypes.create_string_buffer(np.array([out], "u8").tobytes() + np.array([4, 0], "i4").tobytes())
    items, keep = packed(buffer, size)
    assert result(driver, kernel("add"), extra=ctypes.addressof(items)) == expected
    assert read(driver, out) == [4 if expected == "SUCCESS" else 0]
    both = ((out, 1), (ctypes.c_void_p, ctypes.c_int))
    assert result(driver, kernel("add"), arguments=both, extra=ctypes.addressof(items)) == "INVALID_VALUE"
    del keep


def test_layout_of_parameters_can_be_queried(driver, context, kernel):
    function = driver.CUkernel(int(kernel("store")))
    assert driver.cuKernelGetParamCount(function) == 7
    rows = [driver.cuKernelGetParamInfo(function, i) for i in range(7)]
    assert rows == [(0, 8), (8, 1), (10, 2), (12, 4), (16, 8), (24, 4), (32, 8)]
    assert driver.result("cuKernelGetParamInfo", function, 7) == "INVALID_VALUE"


def test_oversized_cooperative_grid_is_rejected(driver, context, kernel):
    def launch(blocks):
        return driver.result(
            "cuLaunchCooperativeKernel", kernel("nothing"), blocks, 1, 1, 64, 1, 1, 0, driver.CUstream(0), 0
        )

    assert launch(2) == "SUCCESS"
    assert launch(100000) == "COOPERATIVE_LAUNCH_TOO_LARGE"
    driver.cuCtxSynchronize()


def configuration(driver, grid, block, *attributes):
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.hStream = driver.CUstream(0)
    config.attrs = list(attributes)
    config.numAttrs = len(attributes)
    return config


def test_launch_accepts_a_configuration(driver, out, kernel):
    config = configuration(driver, (4, 1, 1), (32, 1, 1))
    driver.cuLaunchKernelEx(config, kernel("add"), ((out, 2), (ctypes.c_void_p, ctypes.c_int)), 0)
    assert read(driver, out) == [256]


def test_clusters_are_accepted_if_device_supports_them(driver, context, kernel):
    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z = 2, 1, 1
    supported = driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0)
    config = configuration(driver, (4, 1, 1), (32, 1, 1), attribute)
    assert driver.result("cuLaunchKernelEx", config, kernel("nothing"), 0, 0) == (
        "SUCCESS" if supported else "NOT_SUPPORTED"
    )
    uneven = configuration(driver, (3, 1, 1), (32, 1, 1), attribute)
    assert driver.result("cuLaunchKernelEx", uneven, kernel("nothing"), 0, 0) == "INVALID_VALUE"
    driver.cuCtxSynchronize()


def test_attributes_of_a_kernel_can_be_queried(driver, context, kernel):
    names = driver.CUfunction_attribute

    def get(name, function):
        return driver.cuKernelGetAttribute(getattr(names, f"CU_FUNC_ATTRIBUTE_{name}"), function, 0)

    bounded = driver.CUkernel(int(kernel("bounded")))
    assert get("MAX_THREADS_PER_BLOCK", bounded) == 128
    shared = driver.CUkernel(int(kernel("shared_bytes")))
    assert get("SHARED_SIZE_BYTES", shared) == 256
    assert get("MAX_DYNAMIC_SHARED_SIZE_BYTES", shared) == 49152 - 256
    assert get("BINARY_VERSION", shared) == 90
    assert get("NUM_REGS", shared) > 0


# The number of blocks per multiprocessor of an H200 for a number of threads, without shared memory.
@pytest.mark.parametrize(("threads", "blocks"), [(1, 32), (64, 32), (128, 16), (1024, 2), (1025, 0)])
def test_occupancy_depends_on_the_number_of_threads(driver, context, kernel, threads, blocks):
    assert driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel("nothing"), threads, 0) == blocks


def test_occupancy_depends_on_shared_memory(driver, context, kernel):
    function = kernel("nothing")
    assert driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 64, 49152) == 4
    assert driver.result("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, 0, 0) == "INVALID_VALUE"
    free = driver.cuOccupancyAvailableDynamicSMemPerBlock(function, 2, 64)
    assert driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 64, min(free, 49152)) >= 2
    grid, block = driver.cuOccupancyMaxPotentialBlockSize(function, driver.CUoccupancyB2DSize(0), 0, 0)
    assert (grid, block) == (264, 1024)


def test_launch_runs_on_the_device_of_its_stream(driver, kernel, there):
    driver.cuCtxPushCurrent(there)
    stream, pointer = driver.cuStreamCreate(0), driver.zeros(64)
    driver.cuCtxPopCurrent()
    driver.cuLaunchKernel(
        kernel("add"), 1, 1, 1, 1, 1, 1, 0, stream, ((int(pointer), 3), (ctypes.c_void_p, ctypes.c_int)), 0
    )
    driver.cuStreamSynchronize(stream)
    assert read(driver, pointer) == [3]


# ------------------------------------------------------------------- libraries and modules


def test_invalid_images_and_missing_files_are_rejected(driver, context, tmp_path):
    assert driver.result("cuModuleLoadData", b"junkjunkjunk\0") == "INVALID_IMAGE"
    assert driver.result("cuLibraryLoadData", b"junkjunkjunk\0", [], [], 0, [], [], 0) == "INVALID_IMAGE"
    ptx = b"// Generated by NVIDIA NVVM Compiler\n.version 8.0\n.target sm_90\n.visible .entry k(){ret;}\0"
    assert driver.result("cuModuleLoadData", ptx) == "NO_BINARY_FOR_GPU"
    missing = str(tmp_path / "missing").encode()
    assert driver.result("cuLibraryLoadFromFile", missing, [], [], 0, [], [], 0) == "FILE_NOT_FOUND"
    assert driver.result("cuModuleLoad", missing) == "FILE_NOT_FOUND"


def test_library_is_loaded_from_a_file(driver, context, image, tmp_path):
    path = tmp_path / "kernels.bin"
    path.write_bytes(image)
    library = driver.cuLibraryLoadFromFile(str(path).encode(), [], [], 0, [], [], 0)
    names = {driver.cuKernelGetName(k) for k in driver.cuLibraryEnumerateKernels(20, library) if int(k)}
    assert {b"add", b"store", b"nothing"} <= names
    assert driver.cuLibraryGetKernelCount(library) == len(names)
    assert driver.result("cuLibraryGetKernel", library, b"zz") == "NOT_FOUND"
    driver.cuLibraryUnload(library)
    assert driver.result("cuLibraryGetKernel", library, b"add") == "INVALID_HANDLE"


def test_library_loads_without_context(driver, library):
    kernel = driver.cuLibraryGetKernel(library, b"add")
    assert driver.cuKernelGetParamCount(kernel) == 2
    assert int(driver.cuKernelGetLibrary(kernel)) == int(library)


def test_variables_have_a_value_per_device(driver, context, library, kernel, out):
    pointer, size = driver.cuLibraryGetGlobal(library, b"counter")
    assert size == 4
    assert read(driver, pointer) == [7]
    driver.cuLaunchKernel(kernel("count"), 1, 1, 1, 5, 1, 1, 0, driver.CUstream(0), ((out,), (ctypes.c_void_p,)), 0)
    assert read(driver, pointer) == [12]
    names = driver.CUpointer_attribute
    assert int(driver.cuPointerGetAttribute(names.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer)) == 2
    other = driver.cuCtxCreate(None, 0, 1)
    assert read(driver, driver.cuLibraryGetGlobal(library, b"counter")[0]) == [7]
    driver.cuCtxDestroy(other)
    assert driver.result("cuLibraryGetGlobal", library, b"zz") == "NOT_FOUND"


def test_modules_have_functions_and_variables_until_unloaded(driver, context, image, out):
    module = driver.cuModuleLoadData(image)
    function = driver.cuModuleGetFunction(module, b"add")
    assert int(driver.cuFuncGetModule(function)) == int(module)
    assert driver.cuFuncGetName(function) == b"add"
    assert driver.result("cuModuleGetFunction", module, b"zz") == "NOT_FOUND"
    pointer, _ = driver.cuModuleGetGlobal(module, b"table")
    assert list(read(driver, pointer, "f4", 4)) == [1, 2, 3, 4]
    driver.cuModuleUnload(module)
    assert driver.result("cuModuleGetFunction", module, b"add") == "INVALID_HANDLE"
    assert result(driver, function, arguments=((out, 1), (ctypes.c_void_p, ctypes.c_int))) == "INVALID_HANDLE"


def test_wild_store_ends_the_context_and_a_new_one_works(driver, context, kernel, out, library, capfd):
    arguments = ((out, 100), (ctypes.c_void_p, ctypes.c_longlong))
    driver.cuLaunchKernel(kernel("wild"), 1, 1, 1, 1, 1, 1, 0, driver.CUstream(0), arguments, 0)
    assert driver.result("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
    assert "wild" in capfd.readouterr().err
    assert driver.result("cuMemAlloc", 64) == "ILLEGAL_ADDRESS"
    assert driver.result("cuStreamCreate", 0) == "ILLEGAL_ADDRESS"
    new = driver.cuCtxCreate(None, 0, 0)
    pointer = driver.zeros(64)
    assert result(driver, kernel("add"), arguments=((int(pointer), 1), (ctypes.c_void_p, ctypes.c_int))) == "SUCCESS"
    assert read(driver, pointer) == [1]
    driver.cuCtxDestroy(new)


# As an H200: a block has at most 48 KiB, or what its kernel asked for; the driver reserves 1 KiB for each block.
@pytest.mark.parametrize(
    ("most", "blocks", "left"),
    [(None, 1, 49152), (None, 4, 49152), (None, 8, 28160), (None, 32, 6272)]
    + [(60000, 1, 60000), (60000, 4, 57344), (200000, 1, 200000), (200000, 2, 115712)],
)
def test_shared_memory_is_divided_among_resident_blocks(driver, context, kernel, most, blocks, left):
    function = kernel("nothing")
    name = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    driver.cuFuncSetAttribute(function, name, 49152 if most is None else most)
    assert driver.cuOccupancyAvailableDynamicSMemPerBlock(function, blocks, 32) == left


@pytest.mark.parametrize(("blocks", "threads"), [(0, 32), (1, 0), (33, 32), (1, 1025)])
def test_blocks_too_large_for_multiprocessor_are_rejected(driver, context, kernel, blocks, threads):
    result = driver.result("cuOccupancyAvailableDynamicSMemPerBlock", kernel("nothing"), blocks, threads)
    assert result == "INVALID_VALUE"
