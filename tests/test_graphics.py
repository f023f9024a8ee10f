# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""OpenGL buffers and images: registered, mapped, unmapped, and kept alive while they are in use.

On a GPU the buffers belong to an OpenGL context without a window; on the software device they are
``cuda.emulator.GraphicsBuffer``.
"""

import gc
import pickle
import warnings
import weakref

import numpy as np
import pytest

from cuda.core import Buffer, CUDAError, GraphicsResource, LaunchConfig, launch
from cuda.core.texture import ResourceDescriptor
from support.contract import _parse_register_flags
from support.interpreter import run
from support.kernels import compiled
from support.opengl import GL_TEXTURE_2D, RealImage, make_buffer
from support.threads import in_thread

needs_buffers = pytest.mark.requires(graphics_buffers=True)


@pytest.fixture
def gl_buffer(device):
    """A buffer of 256 zeros."""
    buffer = make_buffer(256)
    yield buffer
    buffer.delete()


@pytest.fixture
def resource(gl_buffer):
    resource = GraphicsResource.from_gl_buffer(gl_buffer.name)
    yield resource
    resource.close()


FLAGS = [
    (None, 0),
    ((), 0),
    ("none", 0),
    ("read_only", 1),
    ("write_discard", 2),
    (("read_only", "surface_load_store"), 5),
    (["texture_gather", "none"], 8),
    ({"read_only"}, 1),
    (("write_discard", "write_discard"), 2),
]


@pytest.mark.parametrize("flags, bits", FLAGS)
def test_flags_become_the_driver_bits(flags, bits):
    assert _parse_register_flags(flags) == bits


@pytest.mark.parametrize("flags", ["READ_ONLY", "bad", ("read_only", "bad"), ("read_only", 42), [None], b"read_only"])
def test_unknown_flags_are_rejected_before_any_driver_call(flags):
    with pytest.raises(ValueError, match="flags must be"):
        GraphicsResource.from_gl_buffer(1, flags=flags)
    with pytest.raises(ValueError, match="flags must be"):
        GraphicsResource.from_gl_image(1, GL_TEXTURE_2D, flags=flags)


def test_flags_of_another_type_are_rejected():
    with pytest.raises(TypeError, match="flags must be a str"):
        GraphicsResource.from_gl_buffer(1, flags=3)


@pytest.mark.parametrize("name", [-1, 1 << 32])
def test_names_out_of_range_are_rejected(name):
    with pytest.raises(ValueError, match="gl_buffer must be from 0"):
        GraphicsResource.from_gl_buffer(name)
    with pytest.raises(ValueError, match="target must be from 0"):
        GraphicsResource.from_gl_image(1, name)


@pytest.mark.parametrize("name", ["x", None, 1.5, True])
def test_names_of_another_type_are_rejected(name):
    with pytest.raises(TypeError, match="gl_buffer must be an int"):
        GraphicsResource.from_gl_buffer(name)
    with pytest.raises(TypeError, match="image must be an int"):
        GraphicsResource.from_gl_image(name, GL_TEXTURE_2D)


def test_stream_of_another_type_is_rejected():
    with pytest.raises(TypeError, match="stream must be a Stream or None"):
        GraphicsResource.from_gl_buffer(1, stream=3)


def test_no_direct_construction():
    with pytest.raises(RuntimeError, match="from_gl_buffer"):
        GraphicsResource()


def test_driver_rejects_unknown_names(device):
    with pytest.raises(CUDAError):
        GraphicsResource.from_gl_buffer(0x7FFFFFF0)
    with pytest.raises(CUDAError):
        GraphicsResource.from_gl_image(0x7FFFFFF0, GL_TEXTURE_2D)


@pytest.mark.requires(software=True, cuda=(12, 9))
def test_software_device_says_that_it_has_no_opengl():
    # In a new process: here a buffer of another test may still exist.
    out = run(
        """
from cuda.core import Device, GraphicsResource, NotSupportedError
Device().set_current()
for register in (lambda: GraphicsResource.from_gl_image(1, 0x0DE1), lambda: GraphicsResource.from_gl_buffer(1)):
    try:
        register()
    except NotSupportedError as error:
        print("GraphicsBuffer" in str(error))
"""
    )
    assert out.split() == ["False", "True"]


@needs_buffers
class TestBuffer:
    def test_resource_shows_whether_it_is_mapped_or_closed(self, resource, stream):
        assert type(resource.handle) is int and resource.handle == resource.resource_handle != 0
        assert not resource.is_mapped and not resource.is_closed
        assert repr(resource) == f"<GraphicsResource handle={resource.handle:#x}>"
        resource.map(stream=stream)
        assert resource.is_mapped
        assert repr(resource) == f"<GraphicsResource handle={resource.handle:#x} mapped>"
        resource.close()
        assert resource.is_closed and not resource.is_mapped
        assert (resource.handle, resource.resource_handle) == (0, 0)
        assert repr(resource) == "<GraphicsResource handle=0x0 closed>"
        resource.close()

    def test_opengl_and_kernels_use_the_memory_in_turn(self, resource, gl_buffer, stream):
        gl_buffer.write(bytes(range(256)))
        buffer = resource.map(stream=stream)
        assert type(buffer) is Buffer and buffer.size == 256
        assert buffer.owner is None and buffer.memory_resource is None
        assert buffer.handle != resource.handle
        kernel = compiled(
            'extern "C" __global__ void turn(unsigned char* p) { p[threadIdx.x] = 255 - p[threadIdx.x]; }'
        ).get_kernel("turn")
        launch(stream, LaunchConfig(grid=1, block=256), kernel, buffer)
        resource.unmap()
        stream.sync()
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, True)
        assert gl_buffer.read() == bytes(range(255, -1, -1))

    def test_with_block_maps_if_a_stream_was_given(self, gl_buffer, stream):
        resource = GraphicsResource.from_gl_buffer(gl_buffer.name, flags="write_discard", stream=stream)
        assert not resource.is_mapped
        with resource as buffer:
            assert isinstance(buffer, Buffer) and resource.is_mapped
            buffer.fill(7, stream=stream)
            with pytest.raises(RuntimeError, match="is already mapped"):
                resource.__enter__()
        assert buffer.is_closed and resource.is_closed
        stream.sync()
        assert gl_buffer.read() == b"\7" * 256

    def test_with_block_without_a_stream_returns_the_resource(self, gl_buffer):
        with GraphicsResource.from_gl_buffer(gl_buffer.name) as resource:
            assert isinstance(resource, GraphicsResource) and not resource.is_mapped
        assert resource.is_closed
        with pytest.raises(RuntimeError, match="GraphicsResource is closed"):
            resource.__enter__()

    def test_exception_in_a_with_block_propagates_and_unmaps(self, gl_buffer, stream):
        with pytest.raises(ZeroDivisionError), GraphicsResource.from_gl_buffer(gl_buffer.name, stream=stream) as buffer:
            raise ZeroDivisionError
        assert buffer.is_closed
        stream.sync()
        assert len(gl_buffer.read()) == 256

    def test_with_block_of_the_mapped_buffer_unmaps(self, resource, stream):
        for _ in range(2):
            with resource.map(stream=stream) as buffer:
                buffer.fill(1, stream=stream)
            assert buffer.is_closed and not resource.is_mapped and not resource.is_closed

    def test_buffer_keeps_the_registration(self, gl_buffer, stream):
        with GraphicsResource.from_gl_buffer(gl_buffer.name).map(stream=stream) as buffer:
            gc.collect()
            buffer.fill(9, stream=stream)
            stream.sync()
        stream.sync()
        assert gl_buffer.read() == b"\x09" * 256

    def test_dropping_the_mapped_buffer_does_not_unmap(self, resource, stream):
        resource.map(stream=stream)
        gc.collect()
        assert resource.is_mapped
        with pytest.raises(RuntimeError, match="unmap it first"):
            resource.map(stream=stream)
        resource.unmap()
        assert not resource.is_mapped
        with pytest.raises(RuntimeError, match="is not mapped"):
            resource.unmap()

    def test_the_mapping_may_end_on_another_stream(self, resource, device, stream):
        other = device.create_stream()
        buffer = resource.map(stream=stream)
        buffer.close(other)
        assert not resource.is_mapped
        resource.map(stream=stream)
        resource.unmap(stream=other)
        resource.map(stream=stream)
        resource.close(other)
        other.sync()
        stream.sync()

    def test_wrong_streams_are_rejected_without_effect(self, resource, stream):
        for wrong in (None, 3, stream.create_graph_builder()):
            with pytest.raises(TypeError, match="stream must be a Stream"):
                resource.map(stream=wrong)
        with pytest.raises(TypeError):
            resource.map()
        resource.map(stream=stream)
        with pytest.raises(TypeError, match="stream must be a Stream"):
            resource.unmap(stream=3)
        with pytest.raises(TypeError):
            resource.close(3)
        assert resource.is_mapped and not resource.is_closed

    def test_closed_objects_are_rejected(self, resource, device, stream):
        closed = device.create_stream()
        closed.close()
        with pytest.raises(RuntimeError, match="Stream is closed"):
            resource.map(stream=closed)
        resource.close("not a stream, which is not needed as nothing is mapped")
        for call in (lambda: resource.map(stream=stream), resource.unmap, lambda: resource.map_array(stream=stream)):
            with pytest.raises(RuntimeError, match="GraphicsResource is closed"):
                call()

    def test_a_buffer_cannot_be_mapped_as_an_array(self, resource, stream):
        with pytest.raises(CUDAError):
            resource.map_array(stream=stream)
        assert not resource.is_mapped
        resource.map(stream=stream)  # the failed call has unmapped
        for change in ({"index": 1.0}, {"level": "0"}):
            with pytest.raises(TypeError):
                resource.map_array(stream=stream, **change)

    def test_collection_unregisters_silently(self, gl_buffer, stream):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            resource = GraphicsResource.from_gl_buffer(gl_buffer.name)
            del resource
            gc.collect()
            resource = GraphicsResource.from_gl_buffer(gl_buffer.name)
            resource.map(stream=stream)
            ended = weakref.ref(resource)
            del resource
            gc.collect()
            assert ended() is None

    @pytest.mark.requires(software=True)  # NVIDIA's driver needs a thread with a current OpenGL context
    def test_any_thread_may_close(self, resource, stream):
        resource.map(stream=stream)
        in_thread(resource.close)  # no context is current there
        assert resource.is_closed

    def test_resources_compare_by_identity_and_cannot_be_pickled(self, resource, gl_buffer):
        other = GraphicsResource.from_gl_buffer(gl_buffer.name)
        assert resource != other and hash(resource) != hash(other)
        assert not isinstance(resource, Buffer)
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(resource)

    def test_a_registration_without_a_current_context_is_rejected(self, gl_buffer):
        with pytest.raises(CUDAError):
            in_thread(lambda: GraphicsResource.from_gl_buffer(gl_buffer.name))

    @pytest.mark.requires(software=True)
    def test_software_device_rejects_access_from_the_wrong_side(self, resource, gl_buffer, stream):
        buffer = resource.map(stream=stream)
        address = buffer.handle
        with pytest.raises(RuntimeError, match="mapped"):
            gl_buffer.read()
        with pytest.raises(RuntimeError, match="mapped"):
            gl_buffer.write(b"1")
        resource.unmap()
        stream.sync()
        gl_buffer.write(b"1")
        with pytest.raises(CUDAError), Buffer.from_handle(address, 256) as stale:
            stale.fill(1, stream=stream)


@pytest.mark.requires(opengl=True)
class TestImage:
    @pytest.fixture
    def image(self, device):
        image = RealImage(16, 8)
        yield image
        image.delete()

    def test_opengl_reads_values_written_by_a_surface(self, image, device, stream):
        with GraphicsResource.from_gl_image(image.name, GL_TEXTURE_2D, flags="surface_load_store") as resource:
            array = resource.map_array(stream=stream)
            assert (array.shape, array.num_channels, array.is_surface_load_store) == ((16, 8), 4, True)
            surface = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(array))
            source = """extern "C" __global__ void paint(cudaSurfaceObject_t s)
            { surf2Dwrite(make_uchar4(threadIdx.x, threadIdx.y, 7, 255), s, threadIdx.x * 4, threadIdx.y); }"""
            launch(stream, LaunchConfig(grid=1, block=(16, 8)), compiled(source).get_kernel("paint"), surface)
            stream.sync()
            surface.close()
            resource.unmap(stream=device.create_stream())
            stream.sync()
            assert array.is_closed and not resource.is_mapped
        pixels = np.frombuffer(image.read(), dtype=np.uint8).reshape(image.shape)
        assert (pixels[..., 0] == np.arange(16)).all() and (pixels[..., 1] == np.arange(8)[:, None]).all()
        assert (pixels[..., 2:] == [7, 255]).all()

    def test_image_has_no_address(self, image, stream):
        with GraphicsResource.from_gl_image(image.name, GL_TEXTURE_2D) as resource:
            with pytest.raises(CUDAError):
                resource.map(stream=stream)
            assert not resource.is_mapped
            with resource.map_array(stream=stream) as array:
                assert resource.is_mapped
            assert array.is_closed and not resource.is_mapped
