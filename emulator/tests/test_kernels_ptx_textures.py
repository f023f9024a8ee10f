# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Textures and surfaces in PTX, whose reads agree with the functions of CUDA C++."""

import numpy as np
import pytest

from cuda.core.texture import ResourceDescriptor
from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True)

kernels = KernelFile("ptx_textures.cu")
LINEAR = {"filter_mode": "linear", "normalized_coords": True, "address_mode": "mirror"}


def array_of(device, stream, values, *, num_channels=1, **options):
    """Return an array with the elements of ``values``, whose last axis is the channels if there are several."""
    extents = values.shape[:-1] if num_channels > 1 else values.shape
    array = device.create_opaque_array(
        {"shape": extents[::-1], "format": values.dtype, "num_channels": num_channels, **options}
    )
    array.copy_from(values, stream=stream)
    return array


def contents(array, stream):
    values = np.empty(array.shape[::-1], dtype=array.format.value)
    array.copy_to(values, stream=stream)
    stream.sync()
    return values


def texture_of(device, source, **options):
    """Return a texture of an array or of a mipmapped array."""
    make = "from_mipmapped_array" if hasattr(source, "get_level") else "from_opaque_array"
    return device.create_texture_object(resource=getattr(ResourceDescriptor, make)(source), options=options)


@pytest.fixture
def image(device, stream, rng):
    def create(shape, **options):
        values = rng.random((*shape, 4), np.float32)
        return array_of(device, stream, values, num_channels=4, **options)

    return create


def read(stream, rng, kernel, pairs, *textures):
    at = rng.random((32, 4), np.float32)
    at[:, 2] *= 2
    out = np.zeros((32, pairs, 2, 4), np.float32)
    kernels(stream, kernel, 1, 32, *textures, at, out)
    np.testing.assert_array_equal(out[:, :, 0], out[:, :, 1])
    assert (out != 0).any(axis=(0, 2, 3)).all()
    return out


def test_lines(device, stream, rng, image):
    values = rng.random((32, 4), np.float32)
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from(values, stream=stream)
    linear = device.create_texture_object(
        resource=ResourceDescriptor.from_linear(buffer, format="float32", num_channels=4)
    )
    line = texture_of(device, image((13,)), **LINEAR)
    layers = texture_of(device, image((3, 13), is_layered=True), **LINEAR)
    out = read(stream, rng, "read_lines", 4, line, linear, layers)
    np.testing.assert_array_equal(out[:, 1, 0], values)


@pytest.fixture
def levels(device, stream, rng):
    mipmap = device.create_mipmapped_array({"shape": (16, 8), "format": "float32", "num_channels": 4, "num_levels": 3})
    for level in range(3):
        mipmap.get_level(level).copy_from(rng.random((8 >> level, 16 >> level, 4), np.float32), stream=stream)
    return texture_of(device, mipmap, **LINEAR, mipmap_filter_mode="linear", max_mipmap_level_clamp=2.0)


def test_planes(device, stream, rng, image, levels):
    plane = texture_of(device, image((7, 13), is_texture_gather=True), **LINEAR)
    layers = texture_of(device, image((3, 7, 13), is_layered=True), **LINEAR)
    read(stream, rng, "read_planes", 6, plane, layers, levels)


def test_volumes_and_cubes(device, stream, rng, image):
    volume = texture_of(device, image((5, 7, 13)), **LINEAR)
    cube = texture_of(device, image((6, 8, 8), is_cubemap=True), **LINEAR)
    cubes = texture_of(device, image((12, 8, 8), is_cubemap=True, is_layered=True), **LINEAR)
    read(stream, rng, "read_volumes", 4, volume, cube, cubes)


def surface_of(device, array):
    return device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(array))


def test_sizes(device, stream, image, levels):
    surface = surface_of(device, image((7, 13), is_surface_load_store=True))
    out = np.zeros(5, np.uint32)
    kernels(stream, "count_elements", 1, 1, levels, surface, out)
    assert out.tolist() == [16, 8, 8, 13, 7]


@pytest.mark.requires(software=True)  # driver 580 does not find a kernel with these two
def test_numbers_of_levels_and_layers(device, stream, image, levels):
    layers = texture_of(device, image((3, 7, 13), is_layered=True), **LINEAR)
    out = np.zeros(2, np.uint32)
    kernels(stream, "count_parts", 1, 1, levels, layers, out)
    assert out.tolist() == [3, 3]


def test_surfaces(device, stream, rng):
    shapes = [(8,), (5, 8), (3, 5, 8), (3, 5, 8)]
    before = [rng.integers(0, 1000, shape, np.int32) for shape in shapes]
    arrays = [
        array_of(device, stream, values, is_surface_load_store=True, is_layered=n == 3)
        for n, values in enumerate(before)
    ]
    kernels(stream, "change_surfaces", 5, 8, *(surface_of(device, array) for array in arrays))
    line, plane, volume, layers = (contents(array, stream) for array in arrays)
    np.testing.assert_array_equal(line, before[0] + 1)
    np.testing.assert_array_equal(plane, before[1].reshape(5, 4, 2)[:, :, ::-1].reshape(5, 8))
    for after, start, step in ((volume, before[2], 2), (layers, before[3], 3)):
        expected = start.copy()
        for row in range(3):
            expected[row, row] += step
        np.testing.assert_array_equal(after, expected)
