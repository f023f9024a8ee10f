# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Misuse of textures and surfaces is reported, and invalid arrays are rejected."""

import numpy as np
import pytest

from support.compiled import Code, Program

pytestmark = pytest.mark.requires(software=True)

PROGRAM = '''
import numpy as np
from cuda.bindings import driver
from cuda.core import CUDAError, Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.texture import *

SOURCE = r"""
#include <texture_indirect_functions.h>
#include <surface_types.h>
extern "C" __global__ void plane(cudaTextureObject_t t, float* out)
{
    *out = tex2D<float>(t, 0.5f, 0.5f); // line 6
}
extern "C" __global__ void fetch(cudaTextureObject_t t, float* out) { *out = tex1Dfetch<float>(t, 0); }
extern "C" __global__ void volume(cudaTextureObject_t t, float* out) { *out = tex3D<float>(t, 0, 0, 0); }
extern "C" __global__ void gather(cudaTextureObject_t t, float* out) { *out = tex2Dgather<float4>(t, 1, 1).x; }
extern "C" __global__ void store(cudaSurfaceObject_t s, int x, int y)
{
    surf2Dwrite(1.0f, s, x, y); // line 13
}
extern "C" __global__ void level(cudaTextureObject_t t, unsigned* out)
{
    asm("txq.level.width.b32 %0, [%1], 7;" : "=r"(*out) : "l"(t)); // line 17
}
extern "C" __global__ void fetch_at(cudaTextureObject_t t, float* out, int i)
{
    *out = tex1Dfetch<float>(t, i); // line 21
}
"""
device = Device(0)
device.set_current()
stream = device.create_stream()
code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}", name="sampled.cu")).compile("cubin")
out = device.allocate(64, stream=stream)
buffer = device.allocate(4096, stream=stream)
array = device.create_opaque_array(
    {"shape": (8, 4), "format": "float32", "num_channels": 1, "is_surface_load_store": True})
resource = ResourceDescriptor.from_opaque_array(array)
texture = device.create_texture_object(resource=resource)
surface = device.create_surface_object(resource=resource)
linear = device.create_texture_object(
    resource=ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1))

def run(kernel, *arguments):
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel(kernel), *arguments)
    try:
        stream.sync()
    except CUDAError as error:
        print(error)
'''

MISTAKES = {
    "null": ("run('plane', 0, out)", "there is no texture object 0x0", 6),
    "foreign": ("run('plane', 0x123456789abc, out)", "there is no texture object 0x123456789abc", 6),
    "destroyed": ("n = texture.handle; texture.close(); device.sync(); run('plane', n, out)", "or it was destroyed", 6),
    "surface for a texture": ("run('plane', surface, out)", "it is a surface object", 6),
    "texture for a surface": ("run('store', texture, 0, 0)", "it is a texture object", 13),
    "destroyed array": (
        "driver.cuArrayDestroy(array.handle); run('plane', texture, out)",
        "the array of texture object .* was destroyed",
        6,
    ),
    "another shape": ("run('volume', texture, out)", "does not fit .* of two dimensions", None),
    "linear memory in two dimensions": ("run('plane', linear, out)", "linear memory, which tex1Dfetch reads", 6),
    "gather": ("run('gather', texture, out)", "not created with CUDA_ARRAY3D_TEXTURE_GATHER", None),
    "level": ("run('level', texture, out)", "has 1 levels, and no level 7", 17),
    "behind the row": ("run('store', surface, 32, 0)", "store of 4 bytes at .32 bytes, 0, 0. of surface object", 13),
    "before the rows": ("run('store', surface, 0, -1)", "store of 4 bytes at .0 bytes, -1, 0. of surface object", 13),
    "between elements": ("run('store', surface, 2, 0)", "misaligned store of 4 bytes", 13),
    "freed memory": ("driver.cuMemFree(buffer.handle); run('fetch', linear, out)", "load of 4 bytes .* freed", None),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_misuse_is_reported_with_its_line(child, mistake):
    import re

    code, report, line = MISTAKES[mistake]
    output = child(PROGRAM + code)
    assert re.search(report, output), output
    assert ("CUDA_ERROR_ILLEGAL_ADDRESS" if mistake == "freed memory" else "CUDA_ERROR_LAUNCH_FAILED") in output
    assert line is None or f"sampled.cu:{line}" in output


def test_correct_uses_are_not_reported(child):
    output = child(PROGRAM + "run('plane', texture, out); run('store', surface, 28, 3); run('fetch', linear, out)")
    assert output == ""


@pytest.mark.parametrize("index", [1024, -1, 1025, 70000, -(1 << 31)])
def test_fetch_outside_linear_memory_is_reported(child, index):
    """A GPU returns 0, so only CUDA_EMULATOR_CHECK=initialized reports it."""
    code = PROGRAM + f"buffer.fill(0, stream=stream); run('fetch_at', linear, out, np.int32({index}))"
    assert child(code) == ""
    output = child(code, CHECK="initialized")
    assert f"index out of bounds: element {index} of texture object" in output
    assert "which has 1024 elements" in output and "sampled.cu:21" in output
    assert child(code.replace(str(index), "1023"), CHECK="initialized") == ""


def test_texture_of_another_device_is_reported(child):
    code = """
other = Device(1)
other.set_current()
other_array = other.create_opaque_array({"shape": (8, 4), "format": "float32", "num_channels": 1})
other_texture = other.create_texture_object(resource=ResourceDescriptor.from_opaque_array(other_array))
device.set_current()
run('plane', other_texture, out)
"""
    assert "belongs to device 1" in child(PROGRAM + code)


REJECTED = {
    "no width": {"Width": 0},
    "three channels": {"NumChannels": 3},
    "depth without height": {"Height": 0, "Depth": 4},
    "layers without depth": {"Flags": 1},
    "cube of oblongs": {"Depth": 6, "Flags": 4},
    "gather of a volume": {"Depth": 6, "Flags": 8},
    "unknown flag": {"Flags": 1 << 20},
    "too wide": {"Width": 131073},
}


def description_of(driver, **changes):
    description = driver.CUDA_ARRAY3D_DESCRIPTOR()
    fields = {"Width": 8, "Height": 4, "Depth": 0, "NumChannels": 1, "Flags": 0, **changes}
    for name, value in fields.items():
        setattr(description, name, value)
    description.Format = changes.get("Format", driver.CUarray_format.CU_AD_FORMAT_FLOAT)
    return description


@pytest.mark.parametrize("what", REJECTED)
def test_invalid_arrays_are_rejected(driver, context, what):
    assert driver.result("cuArray3DCreate", description_of(driver, **REJECTED[what])) == "INVALID_VALUE"


def test_unimplemented_arrays_are_not_supported(driver, context):
    assert driver.result("cuArray3DCreate", description_of(driver, Flags=0x40)) == "NOT_SUPPORTED"
    packed = driver.CUarray_format.CU_AD_FORMAT_BC1_UNORM
    assert driver.result("cuArray3DCreate", description_of(driver, Format=packed)) == "NOT_SUPPORTED"


def test_destroyed_and_unknown_array_handles_are_rejected(driver, context):
    array = driver.cuArray3DCreate(description_of(driver))
    mipmap = driver.cuMipmappedArrayCreate(description_of(driver), 3)
    level = driver.cuMipmappedArrayGetLevel(mipmap, 1)
    assert driver.cuArrayGetDescriptor(level).Width == 4
    assert driver.result("cuArrayDestroy", level) == "INVALID_HANDLE"
    driver.cuMipmappedArrayDestroy(mipmap)
    assert driver.result("cuArrayGetDescriptor", level) == "INVALID_HANDLE"
    driver.cuArrayDestroy(array)
    for handle in (array, driver.CUarray(12345), driver.CUarray(0)):
        assert driver.result("cuArrayDestroy", handle) == "INVALID_HANDLE"
    assert driver.result("cuMipmappedArrayDestroy", mipmap) == "INVALID_HANDLE"


def test_memory_requirements_cover_all_elements_and_levels(driver, context):
    array = driver.cuArray3DCreate(description_of(driver, Width=1000, Height=1000))
    required = driver.cuArrayGetMemoryRequirements(array, 0)
    assert required.size >= 4_000_000 and required.size % required.alignment == 0
    driver.cuArrayDestroy(array)
    mipmap = driver.cuMipmappedArrayCreate(description_of(driver, Width=1000, Height=1000), 4)
    assert driver.cuMipmappedArrayGetMemoryRequirements(mipmap, 0).size >= 5_000_000
    driver.cuMipmappedArrayDestroy(mipmap)


def test_memory_of_arrays_is_counted_and_runs_out(driver, context):
    before = driver.cuMemGetInfo()[0]
    array = driver.cuArray3DCreate(description_of(driver, Width=1 << 14, Height=1 << 10))
    assert driver.cuMemGetInfo()[0] == before - (1 << 26)
    driver.cuArrayDestroy(array)
    assert driver.cuMemGetInfo()[0] == before
    huge = description_of(driver, Width=1 << 14, Height=1 << 14, Depth=1 << 14)
    assert driver.result("cuArray3DCreate", huge) == "OUT_OF_MEMORY"


def test_arrays_of_one_dimension_are_copied_by_offset_and_size(driver, context):
    import numpy as np

    arrays = [driver.cuArray3DCreate(description_of(driver, Height=0)) for _ in range(2)]
    source, target = np.arange(8, dtype=np.float32), np.zeros(6, dtype=np.float32)
    pointer = driver.cuMemAlloc(32)
    driver.cuMemcpyHtoA(arrays[0], 0, source.ctypes.data, 32)
    driver.cuMemcpyAtoA(arrays[1], 8, arrays[0], 0, 24)
    driver.cuMemcpyAtoD(pointer, arrays[1], 8, 24)
    driver.cuMemcpyDtoA(arrays[0], 8, pointer, 24)
    driver.cuMemcpyAtoH(target.ctypes.data, arrays[0], 8, 24)
    assert target.tolist() == [0, 1, 2, 3, 4, 5]
    driver.cuMemcpyHtoAAsync(arrays[0], 4, source.ctypes.data, 8, 0)
    driver.cuMemcpyAtoHAsync(target.ctypes.data, arrays[0], 0, 16, 0)
    driver.cuStreamSynchronize(0)
    assert target[:4].tolist() == [0, 0, 1, 1]
    assert driver.result("cuMemcpyAtoH", target.ctypes.data, arrays[0], 28, 8) == "INVALID_VALUE"
    assert driver.result("cuMemcpyAtoH", target.ctypes.data, driver.CUarray(0), 0, 8) == "INVALID_HANDLE"
    driver.cuMemFree(pointer)
    for array in arrays:
        driver.cuArrayDestroy(array)


def test_boxes_are_copied_within_the_array_only(driver, context):
    import numpy as np

    array = driver.cuArray3DCreate(description_of(driver, Depth=3))
    values = np.arange(96, dtype=np.float32).reshape(3, 4, 8)
    copy = driver.CUDA_MEMCPY3D()
    copy.srcMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcHost, copy.srcPitch, copy.srcHeight = values.ctypes.data, 32, 4
    copy.dstMemoryType, copy.dstArray = driver.CUmemorytype.CU_MEMORYTYPE_ARRAY, array
    copy.WidthInBytes, copy.Height, copy.Depth = 32, 4, 3
    driver.cuMemcpy3D(copy)
    part = np.zeros((2, 2, 3), dtype=np.float32)
    back = driver.CUDA_MEMCPY3D()
    back.srcMemoryType, back.srcArray = driver.CUmemorytype.CU_MEMORYTYPE_ARRAY, array
    back.srcXInBytes, back.srcY, back.srcZ = 20, 2, 1
    back.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_HOST
    back.dstHost, back.dstPitch, back.dstHeight = part.ctypes.data, 12, 2
    back.WidthInBytes, back.Height, back.Depth = 12, 2, 2
    driver.cuMemcpy3D(back)
    assert (part == values[1:3, 2:4, 5:8]).all()
    for field in ("srcXInBytes", "srcY", "srcZ"):
        value = getattr(back, field)
        setattr(back, field, value + 4 if field == "srcXInBytes" else value + 1)
        assert driver.result("cuMemcpy3D", back) == "INVALID_VALUE"
        setattr(back, field, value)
    driver.cuArrayDestroy(array)


def test_views_of_arrays_choose_levels_and_formats(driver, context):
    mipmap = driver.cuMipmappedArrayCreate(description_of(driver, Width=8, Height=8), 3)
    resource = driver.CUDA_RESOURCE_DESC()
    resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
    resource.res.mipmap.hMipmappedArray = mipmap
    view = driver.CUDA_RESOURCE_VIEW_DESC()
    view.format, view.width, view.height = driver.CUresourceViewFormat.CU_RES_VIEW_FORMAT_UINT_4X8, 8, 8
    view.firstMipmapLevel, view.lastMipmapLevel = 1, 2
    sampling = driver.CUDA_TEXTURE_DESC()
    sampling.flags = 2  # CU_TRSF_NORMALIZED_COORDINATES
    texture = driver.cuTexObjectCreate(resource, sampling, view)
    assert driver.cuTexObjectGetResourceViewDesc(texture).lastMipmapLevel == 2
    kind = driver.cuTexObjectGetResourceDesc(texture).resType
    assert kind == driver.CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
    driver.cuTexObjectDestroy(texture)
    assert driver.result("cuTexObjectGetTextureDesc", texture) == "INVALID_VALUE"
    for field, value in (("lastMipmapLevel", 3), ("width", 4), ("lastLayer", 1)):
        good = getattr(view, field)
        setattr(view, field, value)
        assert driver.result("cuTexObjectCreate", resource, sampling, view) == "INVALID_VALUE"
        setattr(view, field, good)
    # Also accepted without CU_TRSF_NORMALIZED_COORDINATES, as on an H200.
    driver.cuTexObjectDestroy(driver.cuTexObjectCreate(resource, driver.CUDA_TEXTURE_DESC(), view))
    view.format = driver.CUresourceViewFormat.CU_RES_VIEW_FORMAT_UINT_2X8
    assert driver.result("cuTexObjectCreate", resource, sampling, view) == "INVALID_VALUE"
    driver.cuMipmappedArrayDestroy(mipmap)


def test_integers_cannot_be_filtered_linearly(driver, context):
    array = driver.cuArray3DCreate(description_of(driver, Format=driver.CUarray_format.CU_AD_FORMAT_SIGNED_INT32))
    resource = driver.CUDA_RESOURCE_DESC()
    resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
    resource.res.array.hArray = array
    sampling = driver.CUDA_TEXTURE_DESC()
    sampling.filterMode = driver.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR
    assert driver.result("cuTexObjectCreate", resource, sampling, None) == "INVALID_VALUE"
    assert driver.result("cuSurfObjectCreate", resource) == "INVALID_VALUE"
    driver.cuArrayDestroy(array)
    assert driver.result("cuSurfObjectCreate", resource) == "INVALID_HANDLE"


def test_seamless_filters_need_a_cube_and_borders_are_unreadable(driver, context):
    """As on an H200."""
    array = driver.cuArray3DCreate(description_of(driver, Width=8, Height=8))
    resource = driver.CUDA_RESOURCE_DESC()
    resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
    resource.res.array.hArray = array
    sampling = driver.CUDA_TEXTURE_DESC()
    sampling.borderColor = [1.0, 2.0, 3.0, 4.0]
    texture = driver.cuTexObjectCreate(resource, sampling, None)
    assert list(driver.cuTexObjectGetTextureDesc(texture).borderColor) == [0.0] * 4
    driver.cuTexObjectDestroy(texture)
    sampling.flags = 64  # CU_TRSF_SEAMLESS_CUBEMAP
    assert driver.result("cuTexObjectCreate", resource, sampling, None) == "INVALID_VALUE"
    driver.cuArrayDestroy(array)


def test_border_mode_of_missing_axis_changes_linear_filter(driver, context):
    """As on an H200; ``cuda.core`` therefore sets another mode for axes that an array does not have."""
    source = 'extern "C" __global__ void line(cudaTextureObject_t t, float* out) { *out = tex1D<float>(t, 4.0f); }'
    code = Code(driver, Program(source, "-arch=sm_90").image)
    description = driver.CUDA_ARRAY_DESCRIPTOR()
    description.Width, description.NumChannels = 8, 1
    description.Format = driver.CUarray_format.CU_AD_FORMAT_FLOAT
    array = driver.cuArrayCreate(description)
    driver.cuMemcpyHtoA(array, 0, np.full(8, 6.0, np.float32), 32)
    resource = driver.CUDA_RESOURCE_DESC()
    resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
    resource.res.array.hArray = array
    sampling = driver.CUDA_TEXTURE_DESC()
    sampling.addressMode = [driver.CUaddress_mode.CU_TR_ADDRESS_MODE_BORDER] * 3
    sampling.borderColor = [2.0] * 4
    read = []
    for mode in (0, 1):
        sampling.filterMode = driver.CUfilter_mode(mode)
        texture = driver.cuTexObjectCreate(resource, sampling, None)
        out = np.zeros(1, np.float32)
        code("line", 1, 1, np.uint64(int(texture)), out)
        read += out.tolist()
        driver.cuTexObjectDestroy(texture)
    assert read == [6.0, 4.0]
    driver.cuArrayDestroy(array)
    code.close()


def test_destroyed_context_destroys_its_arrays_and_textures(child):
    code = """
import cuda.emulator as emulator
from cuda.bindings import driver
driver.cuInit(0)
_, context = driver.cuCtxCreate(None, 0, 0)
description = driver.CUDA_ARRAY3D_DESCRIPTOR()
description.Width, description.NumChannels = 8, 1
description.Format = driver.CUarray_format.CU_AD_FORMAT_FLOAT
_, array = driver.cuArray3DCreate(description)
driver.cuMipmappedArrayCreate(description, 2)
resource = driver.CUDA_RESOURCE_DESC()
resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
resource.res.array.hArray = array
driver.cuTexObjectCreate(resource, driver.CUDA_TEXTURE_DESC(), None)
print(sorted(line.split(" 0x")[0] for line in emulator.leaks()))
driver.cuCtxDestroy(context)
print(emulator.leaks())
"""
    assert child(code) == "['array', 'context', 'mipmapped array', 'texture object']\n[]\n"
