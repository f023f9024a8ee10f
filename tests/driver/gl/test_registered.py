# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""OpenGL buffers and images in the classic style."""

import gc
from types import SimpleNamespace

import numpy as np
import pytest

import cuda.core.driver as drv
import cuda.core.driver.gl as cuda_gl
from cuda.core import Device
from cuda.core.driver import compiler, gpuarray
from cuda.core.driver.gl import _registered
from cuda.core.texture import OpaqueArrayOptions
from support.opengl import GL_TEXTURE_2D, RealImage, make_buffer

pytestmark = [pytest.mark.requires(graphics_buffers=True), pytest.mark.usefixtures("context")]


@pytest.fixture
def buffer(context):
    buffer = make_buffer(256)
    yield buffer
    buffer.delete()


@pytest.fixture
def registered(buffer):
    return cuda_gl.RegisteredBuffer(buffer.name)


def test_opengl_reads_kernel_output(buffer, registered):
    assert drv.have_gl_ext() and registered.gl_handle() == buffer.name
    kernel = compiler.SourceModule("__global__ void count(int *p) { p[threadIdx.x] = 3 * threadIdx.x; }")
    mapping = registered.map()
    pointer, size = mapping.device_ptr_and_size()
    assert size == 256
    kernel.get_function("count")(np.uintp(pointer), block=(64, 1, 1))
    mapping.unmap()
    drv.Context.synchronize()
    assert np.frombuffer(buffer.read(), "i4").tolist() == list(range(0, 192, 3))
    registered.unregister()


def test_kernels_read_opengl_output_on_a_stream(buffer, registered):
    buffer.write(np.arange(64, dtype="i4").tobytes())
    stream = drv.Stream()
    mapping = registered.map(stream)
    array = gpuarray.GPUArray(64, "i4", gpudata=mapping.device_ptr_and_size()[0], base=mapping)
    assert (array * 2).get().tolist() == list(range(0, 128, 2))
    del array
    mapping.unmap(stream)
    again = registered.map()
    assert "mapped" in repr(again)
    again.unmap()


@pytest.mark.parametrize("flags", [cuda_gl.graphics_map_flags.READ_ONLY, 2, np.int32(0)])
def test_flags_are_members_or_ints(buffer, flags):
    registered = cuda_gl.RegisteredBuffer(buffer.name, flags)
    mapping = registered.map()
    assert mapping.device_ptr_and_size()[1] == 256
    mapping.unmap()


def test_mapping_ends_when_it_is_unreachable(buffer, registered):
    registered.map()
    gc.collect()
    mapping = registered.map()
    with pytest.raises(drv.LogicError, match="already mapped"):
        registered.map()
    registered.unregister()
    with pytest.raises(drv.LogicError, match="no longer mapped"):
        mapping.unmap()


def test_unmapped_and_unregistered_objects_are_rejected(registered):
    mapping = registered.map()
    mapping.unmap()
    for use in (mapping.unmap, mapping.device_ptr_and_size, lambda: mapping.array(0, 0)):
        with pytest.raises(drv.LogicError, match="no longer mapped"):
            use()
    assert "unmapped" in repr(mapping)
    registered.unregister()
    for use in (registered.unregister, registered.map):
        with pytest.raises(drv.LogicError, match="no longer registered"):
            use()
    assert "unregistered" in repr(registered)


def test_registrations_end_with_their_context(buffer):
    mine = drv.Device(0).make_context()
    registered = cuda_gl.RegisteredBuffer(buffer.name)
    mapping = registered.map()
    mine.detach()
    with pytest.raises(drv.LogicError, match="no longer mapped"):
        mapping.device_ptr_and_size()
    with pytest.raises(drv.LogicError, match="no longer registered"):
        registered.map()


def test_arguments_are_checked(buffer, registered):
    with pytest.raises(drv.Error, match="cuGraphicsGLRegisterBuffer failed"):
        cuda_gl.RegisteredBuffer(987654321)
    with pytest.raises(drv.LogicError, match="is not a graphics_map_flags"):
        cuda_gl.RegisteredBuffer(buffer.name, 77)
    with pytest.raises(drv.LogicError, match="bufobj must be from 0 to 4294967295"):
        cuda_gl.RegisteredBuffer(1 << 40)
    with pytest.raises(TypeError, match="bufobj must be an int, not str"):
        cuda_gl.RegisteredBuffer("name")
    with pytest.raises(TypeError, match="target must be an int, not NoneType"):
        cuda_gl.RegisteredImage(buffer.name, None)
    with pytest.raises(TypeError, match=r"must be a RegisteredBuffer or RegisteredImage"):
        cuda_gl.RegisteredMapping(None, None, None)
    mapping = registered.map()
    with pytest.raises(drv.LogicError, match="a buffer is not an array"):
        mapping.array(0, 0)
    with pytest.raises(TypeError, match="stream must be"):
        mapping.unmap("stream")
    mapping.unmap()


def test_contexts_are_made_for_opengl():
    context = cuda_gl.make_context(drv.Device(0))
    assert drv.Context.get_current() is context
    context.detach()
    with pytest.raises(TypeError, match="dev must be a Device"):
        cuda_gl.make_context(0)


def test_classes_of_cuda_2_are_rejected():
    with pytest.raises(drv.NotSupportedError, match="RegisteredBuffer"):
        cuda_gl.init()
    for kind in (cuda_gl.BufferObject, cuda_gl.BufferObjectMapping):
        with pytest.raises(drv.NotSupportedError, match="RegisteredBuffer"):
            kind(3)
        assert "not supported by CUDA 13" in repr(kind.__new__(kind))


@pytest.mark.requires(opengl=True)
def test_kernels_read_images_of_opengl(context):
    image = RealImage(16, 8)
    registered = cuda_gl.RegisteredImage(image.name, GL_TEXTURE_2D, cuda_gl.graphics_map_flags.READ_ONLY)
    mapping = registered.map()
    array = mapping.array(0, 0)
    assert (array.get_descriptor().width, array.get_descriptor().height) == (16, 8)
    with pytest.raises(drv.LogicError, match="an image has no address"):
        mapping.device_ptr_and_size()
    with pytest.raises(drv.Error):
        mapping.array(5, 7)
    mapping = None
    registered.unregister()
    image.delete()


class Image:
    """A stand-in for a registered image: each subresource (index, level) is its own array."""

    is_closed = False
    mapped = None

    def __init__(self, name, target, flags):
        self.made_of = (name, target, flags)
        self.subresources = []

    @property
    def is_mapped(self):
        return self.mapped is not None and not self.mapped.is_closed

    def map_array(self, *, stream, index=0, level=0):
        if level > 3:
            raise drv.Error("no such level", code=1, name="CUDA_ERROR_INVALID_VALUE", api="cuGraphicsMapResources")
        self.subresources.append((index, level))
        self.mapped = Device(0).create_opaque_array(
            OpaqueArrayOptions(shape=(16 >> level, 8 >> level), format="uint8", num_channels=4)
        )
        return self.mapped

    def unmap(self, *, stream):
        self.mapped.close()

    def close(self):
        self.is_closed = True
        if self.is_mapped:
            self.mapped.close()


def test_images_are_mapped_one_subresource_at_a_time(context, monkeypatch):
    monkeypatch.setattr(_registered, "GraphicsResource", SimpleNamespace(from_gl_image=Image))
    registered = cuda_gl.RegisteredImage(7, GL_TEXTURE_2D, cuda_gl.graphics_map_flags.WRITE_DISCARD)
    assert registered._resource.made_of == (7, GL_TEXTURE_2D, "write_discard")
    mapping = registered.map()
    with pytest.raises(drv.LogicError, match="an image has no address"):
        mapping.device_ptr_and_size()
    whole = mapping.array(0, 0)
    descriptor = whole.get_descriptor_3d()
    assert (descriptor.width, descriptor.height, descriptor.depth) == (16, 8, 0)
    assert (descriptor.format, descriptor.num_channels) == (drv.array_format.UNSIGNED_INT8, 4)
    smaller = mapping.array(0, 2)
    assert smaller.get_descriptor().width == 4 and mapping.array(0, 2).handle == smaller.handle
    with pytest.raises(drv.LogicError, match="the array was freed"):
        whole.get_descriptor()
    assert registered._resource.subresources == [(0, 0), (0, 2)]
    with pytest.raises(drv.LogicError, match="cuGraphicsMapResources failed"):
        mapping.array(0, 7)
    with pytest.raises(drv.LogicError, match="no longer mapped"):
        mapping.unmap()
    registered.unregister()
    assert registered._resource.is_closed
