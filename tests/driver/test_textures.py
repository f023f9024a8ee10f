# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Texture and surface references, as older sources declare them."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver.compiler import SourceModule, compile

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
texture<float, 2> image;
texture<int, 1, cudaReadModeElementType> line;
texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat> bytes;
surface<void, 2> target;
__global__ void read(float *out, float x, float y) { out[0] = tex2D(image, x, y); }
__global__ void fetch(int *out, int offset) { out[threadIdx.x] = tex1Dfetch(line, threadIdx.x + offset); }
__global__ void read_bytes(float *out) { out[0] = tex2D(bytes, 0.5f, 0.5f); }
__global__ void store() { surf2Dwrite(threadIdx.x + 0.5f, target, threadIdx.x * 4, 1); }
"""


@pytest.fixture
def module():
    return SourceModule(SOURCE)


@pytest.fixture
def matrix():
    return np.arange(12, dtype=np.float32).reshape(3, 4)


def read(module, x, y):
    out = np.zeros(1, np.float32)
    module.get_function("read")(drv.Out(out), np.float32(x), np.float32(y), block=(1, 1, 1), texrefs=[])
    return out[0]


def test_matrix_is_read_through_a_texture(module, matrix):
    image = module.get_texref("image")
    assert image is module.get_texref("image") and "of a module" in repr(image)
    drv.matrix_to_texref(matrix, image, order="C")
    assert read(module, 2.5, 1.5) == 6 and read(module, 99, -5) == 3
    image.set_filter_mode(drv.filter_mode.LINEAR)
    assert read(module, 2.0, 1.5) == 5.5
    image.set_address_mode(0, drv.address_mode.BORDER)
    assert read(module, 99, 1.5) == 0
    image.set_flags(drv.TRSF_NORMALIZED_COORDINATES)
    assert read(module, 0.375, 0.5) == 5
    drv.matrix_to_texref(matrix + 100, image, order="C")
    assert read(module, 0.375, 0.5) == 105
    assert image.get_format() == (drv.array_format.FLOAT, 1)
    assert image.get_filter_mode() is drv.filter_mode.POINT and image.get_flags() == drv.TRSF_NORMALIZED_COORDINATES
    assert image.get_address_mode(1) is drv.address_mode.CLAMP and isinstance(image.get_array(), drv.Array)


def test_linear_memory_is_fetched(module):
    memory, out = drv.to_device(np.arange(8, dtype=np.int32)), np.zeros(4, np.int32)
    line, fetch = module.get_texref("line"), module.get_function("fetch")
    line.set_format(drv.array_format.SIGNED_INT32, 1)
    assert line.set_address(memory, 32) == 0
    fetch(drv.Out(out), np.int32(2), block=(4, 1, 1), texrefs=[line])
    assert out.tolist() == [2, 3, 4, 5] and line.get_address() == int(memory)
    with pytest.raises(drv.LogicError, match="not a multiple of"):
        line.set_address(int(memory) + 4, 16)
    assert line.set_address(int(memory) + 4, 16, allow_offset=True) == 4


def test_integers_are_read_as_fractions_in_normalized_mode(module):
    image = np.full((2, 2), 51, np.uint8)
    texture, out = module.get_texref("bytes"), np.zeros(1, np.float32)
    drv.bind_array_to_texref(drv.matrix_to_array(image, "C"), texture)
    module.get_function("read_bytes")(drv.Out(out), block=(1, 1, 1))
    assert out[0] == pytest.approx(0.2)


def test_rows_in_linear_memory_are_read(module, device):
    pitch = device.properties.texture_pitch_alignment * 4
    host = np.zeros((3, pitch // 4), np.float32)
    host[:, :4] = np.arange(12).reshape(3, 4)
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.height, descriptor.num_channels = 4, 3, 1
    descriptor.format = drv.array_format.FLOAT
    memory = drv.to_device(host)
    module.get_texref("image").set_address_2d(memory, descriptor, pitch)
    assert read(module, 1.5, 2.5) == 9


def test_prepared_calls_read_the_bound_array(module, matrix):
    function = module.get_function("read").prepare("Pff")
    image = module.get_texref("image")
    memory = drv.mem_alloc(4)
    for added in (0, 100):
        drv.matrix_to_texref(matrix + added, image, order="C")
        function.prepared_call((1, 1), (1, 1, 1), memory, 0.5, 1.5)
        assert drv.from_device(memory, 1, np.float32)[0] == 4 + added
    again = module.get_function("read").prepare("Pff", texrefs=[image])
    drv.matrix_to_texref(matrix - 1, image, order="C")
    again.prepared_async_call((1, 1), (1, 1, 1), None, memory, 0.5, 1.5)
    assert drv.from_device(memory, 1, np.float32)[0] == 3
    function.param_set_texref(image)
    with pytest.raises(TypeError, match="t must be a TextureReference"):
        function.param_set_texref(3)


def test_surfaces_are_written(module):
    array = drv.np_to_array(np.zeros((2, 4), np.float32), "C")
    target = module.get_surfref("target")
    assert isinstance(target, drv.SurfaceReference)
    with pytest.raises(drv.LogicError, match="no array is bound"):
        target.get_array()
    target.set_array(array)
    with pytest.raises(drv.LogicError, match="cuSurfObjectCreate failed"):
        module.get_function("store")(block=(4, 1, 1))
    descriptor = drv.ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.num_channels = 4, 2, 1
    descriptor.format, descriptor.flags = drv.array_format.FLOAT, drv.array3d_flags.SURFACE_LDST
    array = drv.Array(descriptor)
    target.set_array(array)
    assert target.get_array() is array
    module.get_function("store")(block=(4, 1, 1))
    out = np.zeros((2, 4), np.float32)
    copy = drv.Memcpy2D()
    copy.set_src_array(array)
    copy.set_dst_host(out)
    copy.width_in_bytes = copy.dst_pitch = 16
    copy.height = 2
    copy()
    assert out[1].tolist() == [0.5, 1.5, 2.5, 3.5]


def test_invalid_references_and_settings_are_rejected(module):
    with pytest.raises(drv.LogicError, match="cuModuleGetGlobal failed"):
        module.get_texref("nothing")
    other = SourceModule("__device__ int x; __global__ void f(int *y) { y[0] = x; }")
    with pytest.raises(drv.LogicError, match="not a texture reference"):
        other.get_texref("x")
    reference = drv.TextureReference()
    for use in (reference.get_array, reference.get_address, lambda: reference.set_address_mode(3, 0)):
        with pytest.raises(drv.LogicError, match="the texture reference failed"):
            use()
    with pytest.raises(drv.LogicError, match="9 is not a filter_mode"):
        reference.set_filter_mode(9)
    with pytest.raises(TypeError, match="array must be an Array"):
        reference.set_array(None)


def test_linear_memory_smaller_than_an_element_is_rejected(module):
    line = module.get_texref("line")
    line.set_address(drv.mem_alloc(64), 2)
    line.set_format(drv.array_format.SIGNED_INT32, 1)
    with pytest.raises(drv.LogicError, match="cuTexObjectCreate failed"):
        module.get_function("fetch")(drv.Out(np.zeros(1, np.int32)), np.int32(0), block=(1, 1, 1))


def test_sources_with_references_compile():
    assert compile(SOURCE, arch="sm_90", cache_dir=False)
