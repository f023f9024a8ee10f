# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays that texture references read, with elements of 64 and 128 bits in channels of 32."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver.compiler import SourceModule, compile

pytestmark = pytest.mark.usefixtures("context")

HELPERS = """
#include <pycuda-helpers.hpp>
extern "C" {
texture<fp_tex_float, 1, cudaReadModeElementType> floats;
texture<fp_tex_double, 1, cudaReadModeElementType> doubles;
texture<fp_tex_cfloat, 1, cudaReadModeElementType> cfloats;
texture<fp_tex_cdouble, 1, cudaReadModeElementType> cdoubles;
texture<fp_tex_double, 2, cudaReadModeElementType> image;
texture<fp_tex_cdouble, 3, cudaReadModeElementType> volume;
texture<fp_tex_double, cudaTextureType2DLayered, cudaReadModeElementType> layers;
surface<void, cudaSurfaceType2DLayered> layered;
surface<void, cudaSurfaceType3D> solid;
}
extern "C" __global__ void read_floats(float *out) { out[threadIdx.x] = fp_tex1Dfetch(floats, threadIdx.x); }
extern "C" __global__ void read_doubles(double *out) { out[threadIdx.x] = fp_tex1Dfetch(doubles, threadIdx.x); }
extern "C" __global__ void read_cfloats(pycuda::complex<float> *out)
{
    out[threadIdx.x] = fp_tex1Dfetch(cfloats, threadIdx.x);
}
extern "C" __global__ void read_cdoubles(pycuda::complex<double> *out)
{
    out[threadIdx.x] = fp_tex1Dfetch(cdoubles, threadIdx.x);
}
extern "C" __global__ void read_image(double *out)
{
    out[threadIdx.y * 4 + threadIdx.x] = fp_tex2D(image, threadIdx.x, threadIdx.y);
}
extern "C" __global__ void read_layers(double *out)
{
    const int x = threadIdx.x, y = threadIdx.y, layer = threadIdx.z;
    out[(layer * 3 + y) * 4 + x] = fp_tex2DLayered(layers, x, y, layer);
}
extern "C" __global__ void read_volume(pycuda::complex<double> *out)
{
    out[(threadIdx.z * 3 + threadIdx.y) * 4 + threadIdx.x] = fp_tex3D(volume, threadIdx.x, threadIdx.y, threadIdx.z);
}
template <class T> __device__ void swap(T *data, bool is_writing)
{
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, k = (z * 3 + y) * 4 + x;
    if (is_writing) fp_surf3Dwrite(data[k], solid, x, y, z, cudaBoundaryModeClamp);
    else fp_surf3Dread(&data[k], solid, x, y, z, cudaBoundaryModeClamp);
}
template <class T> __device__ void swap_layers(T *data, bool is_writing)
{
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, k = (z * 3 + y) * 4 + x;
    if (is_writing) fp_surf2DLayeredwrite(data[k], layered, x, y, z);
    else fp_surf2DLayeredread(&data[k], layered, x, y, z);
}
extern "C" __global__ void swap_doubles(double *data, int is_writing) { swap(data, is_writing); }
extern "C" __global__ void swap_complex(pycuda::complex<double> *data, int is_writing) { swap(data, is_writing); }
extern "C" __global__ void swap_floats(float *data, int is_writing) { swap_layers(data, is_writing); }
"""
SOURCE = """
texture<unsigned char, 1, cudaReadModeElementType> bytes;
texture<float4, 1, cudaReadModeElementType> quads;
__global__ void read_bytes(int *out, int offset) { out[threadIdx.x] = tex1Dfetch(bytes, threadIdx.x + offset); }
__global__ void read_quads(float *out) { out[threadIdx.x] = tex1Dfetch(quads, threadIdx.x).w; }
"""


@pytest.fixture
def helpers():
    return SourceModule(HELPERS, no_extern_c=True)


@pytest.fixture
def module():
    return SourceModule(SOURCE)


def layered_like(array, flags=0):
    """Return a new layered array with the extents and the format of another array."""
    descriptor, layered = array.get_descriptor_3d(), drv.ArrayDescriptor3D()
    for field in ("width", "height", "depth", "format", "num_channels"):
        setattr(layered, field, getattr(descriptor, field))
    layered.flags = drv.array3d_flags.ARRAY3D_LAYERED | flags
    return drv.Array(layered)


@pytest.mark.parametrize(
    "dtype, name, hacks",
    [
        ("f4", "floats", {}),
        ("f8", "doubles", {"allow_double_hack": True}),
        ("c8", "cfloats", {"allow_complex_hack": True}),
        ("c16", "cdoubles", {"allow_complex_hack": True}),
    ],
)
def test_elements_of_all_floating_types_are_fetched(helpers, dtype, name, hacks):
    host = (np.linspace(-1, 2, 8) * (1 if dtype[0] == "f" else 1 - 2j)).astype(dtype)
    texture = helpers.get_texref(name)
    assert gpuarray.to_gpu(host).bind_to_texref_ext(texture, **hacks) == 0
    out = np.zeros_like(host)
    helpers.get_function(f"read_{name}")(drv.Out(out), block=(8, 1, 1), texrefs=[texture])
    assert np.array_equal(out, host)


def test_arrays_of_doubles_are_read_in_two_and_three_dimensions(helpers):
    matrix, out = np.linspace(0, 1, 12).reshape(3, 4), np.zeros((3, 4))
    image = helpers.get_texref("image")
    drv.bind_array_to_texref(drv.np_to_array(matrix, "C"), image)
    helpers.get_function("read_image")(drv.Out(out), block=(4, 3, 1))
    assert np.array_equal(out, matrix)
    volume = np.linspace(0, 1, 24).reshape(2, 3, 4) * (1 + 3j)
    texture, result = helpers.get_texref("volume"), np.zeros_like(volume)
    texture.set_array(drv.np_to_array(volume, "C"))
    helpers.get_function("read_volume")(drv.Out(result), block=(4, 3, 2))
    assert np.array_equal(result, volume)


@pytest.mark.parametrize("name, dtype", [("doubles", "f8"), ("complex", "c16")])
def test_surfaces_store_elements_by_their_index(helpers, name, dtype):
    array = drv.np_to_array(np.zeros((2, 3, 4), dtype), "C", allowSurfaceBind=True)
    helpers.get_surfref("solid").set_array(array)
    host = (np.arange(24).reshape(2, 3, 4) * (0.5 if dtype == "f8" else 0.5 - 1j)).astype(dtype)
    out, swap = np.zeros_like(host), helpers.get_function(f"swap_{name}")
    swap(drv.In(host), np.int32(1), block=(4, 3, 2))
    swap(drv.Out(out), np.int32(0), block=(4, 3, 2))
    assert np.array_equal(out, host)


def test_layers_store_elements_by_their_index(helpers):
    array = drv.np_to_array(np.zeros((2, 3, 4), "f4"), "C", allowSurfaceBind=True)
    host, out = np.arange(24, dtype="f4").reshape(2, 3, 4), np.zeros((2, 3, 4), "f4")
    layered = layered_like(array, drv.array3d_flags.SURFACE_LDST)
    helpers.get_surfref("layered").set_array(layered)
    swap = helpers.get_function("swap_floats")
    swap(drv.In(host), np.int32(1), block=(4, 3, 2))
    swap(drv.Out(out), np.int32(0), block=(4, 3, 2))
    assert np.array_equal(out, host)


def test_integers_are_fetched_from_first_element_of_array(module):
    texture, out = module.get_texref("bytes"), np.zeros(4, np.int32)
    array = gpuarray.to_gpu(np.arange(100, dtype=np.uint8))
    read = module.get_function("read_bytes")
    assert array.bind_to_texref_ext(texture) == 0
    read(drv.Out(out), np.int32(3), block=(4, 1, 1), texrefs=[texture])
    assert out.tolist() == [3, 4, 5, 6]
    offset = array[5:].bind_to_texref_ext(texture, allow_offset=True)
    assert offset == 5
    read(drv.Out(out), np.int32(offset), block=(4, 1, 1), texrefs=[texture])
    assert out.tolist() == [5, 6, 7, 8]
    with pytest.raises(drv.LogicError, match="not a multiple of"):
        array[5:].bind_to_texref_ext(texture)


def test_channels_are_fetched_together_in_a_preset_format(module):
    texture, out = module.get_texref("quads"), np.zeros(3, np.float32)
    array = gpuarray.to_gpu(np.arange(12, dtype=np.float32))
    assert array.bind_to_texref_ext(texture, channels=4) == 0
    read = module.get_function("read_quads")
    read(drv.Out(out), block=(3, 1, 1), texrefs=[texture])
    assert out.tolist() == [3, 7, 11]
    texture.set_format(drv.array_format.FLOAT, 4)
    assert (array + 1).bind_to_texref(texture) == 0  # the binding keeps the array
    read(drv.Out(out), block=(3, 1, 1), texrefs=[texture])
    assert out.tolist() == [4, 8, 12]


def test_layers_of_doubles_are_read(helpers):
    stack = np.linspace(0, 1, 24).reshape(2, 3, 4)
    array = drv.np_to_array(stack, "C", allowSurfaceBind=True)
    layers, copy = layered_like(array), drv.Memcpy3D()
    copy.set_src_host(stack)
    copy.set_dst_array(layers)
    copy.src_pitch = copy.width_in_bytes = 32
    copy.src_height = copy.height = 3
    copy.depth = 2
    copy()
    texture, out = helpers.get_texref("layers"), np.zeros_like(stack)
    texture.set_array(layers)
    helpers.get_function("read_layers")(drv.Out(out), block=(4, 3, 2))
    assert np.array_equal(out, stack)


def test_sources_with_helpers_compile():
    assert compile(HELPERS, no_extern_c=True, arch="sm_90", cache_dir=False)
    inside = "#include <pycuda-helpers.hpp>\ntexture<fp_tex_double, 1> t;\n" + (
        "__global__ void f(double *x) { *x = fp_tex1Dfetch(t, 0); }"
    )
    assert compile(inside, arch="sm_90", cache_dir=False)


def test_arrays_that_textures_cannot_read_are_rejected(module):
    texture = module.get_texref("quads")
    array = gpuarray.zeros((4, 4), np.float32)
    for bind in (array.bind_to_texref, array.bind_to_texref_ext):
        with pytest.raises(TypeError, match="texref must be a TextureReference, not int"):
            bind(1)
    with pytest.raises(ValueError, match="channels must be 1, 2 or 4, not 3"):
        array.bind_to_texref_ext(texture, 3)
    with pytest.raises(drv.LogicError, match="not contiguous"):
        array[:, ::2].bind_to_texref(texture)
    with pytest.raises(drv.LogicError, match="no elements"):
        array[:0].bind_to_texref(texture)
    with pytest.raises(drv.LogicError, match="begins 4 bytes past an aligned address"):
        array.view(np.uint8).reshape(64)[4:36].view("V8").bind_to_texref(texture, allow_offset=True)
    with pytest.raises(TypeError, match="pass allow_double_hack=True"):
        gpuarray.zeros(4, np.float64).bind_to_texref_ext(texture)
    with pytest.raises(TypeError, match="pass allow_complex_hack=True"):
        gpuarray.zeros(4, np.complex64).bind_to_texref_ext(texture, allow_double_hack=True)
    with pytest.raises(ValueError, match="channels must be 1 for elements of type float64"):
        gpuarray.zeros(4, np.float64).bind_to_texref_ext(texture, 2, allow_double_hack=True)
    with pytest.raises(TypeError, match="int64"):
        gpuarray.zeros(4, np.int64).bind_to_texref_ext(texture)
