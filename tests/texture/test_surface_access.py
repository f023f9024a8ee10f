# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What kernels read and write through surfaces."""

import numpy as np
import pytest

from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, launch
from cuda.core.texture import ResourceDescriptor
from support.images import array_of, contents
from support.kernels import compiled

pytestmark = pytest.mark.requires(nvrtc=True)

WIDTH, HEIGHT, DEPTH = 8, 5, 3
# The function, the arguments after x, and the shape of the array.
KINDS = {
    "1D": ("surf1D", "", (WIDTH,), {}),
    "2D": ("surf2D", ", y", (HEIGHT, WIDTH), {}),
    "3D": ("surf3D", ", y, z", (DEPTH, HEIGHT, WIDTH), {}),
    "1DLayered": ("surf1DLayered", ", z", (DEPTH, WIDTH), {"is_layered": True}),
    "2DLayered": ("surf2DLayered", ", y, z", (DEPTH, HEIGHT, WIDTH), {"is_layered": True}),
    "Cubemap": ("surfCubemap", ", y, z", (6, WIDTH, WIDTH), {"is_cubemap": True}),
    "CubemapLayered": ("surfCubemapLayered", ", y, z", (12, WIDTH, WIDTH), {"is_cubemap": True, "is_layered": True}),
}
ADD = "".join(
    f"""
    extern "C" __global__ void add_{kind}(cudaSurfaceObject_t s, int value)
    {{
        int x = threadIdx.x * sizeof(int), y = threadIdx.y, z = blockIdx.x;
        {function}write({function}read<int>(s, x{rest}) + value, s, x{rest});
    }}
    """
    for kind, (function, rest, _, _) in KINDS.items()
)
TYPES = {
    "unsigned char": 1, "short": 2, "uchar2": 2, "int": 4, "uchar4": 4, "float": 4, "float2": 8, "long long": 8,
    "ushort4": 8, "float4": 16, "longlong2": 16, "uint4": 16,
}  # fmt: skip
COPY = "".join(
    f"""
    extern "C" __global__ void copy_{i}(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
    {{
        int x = threadIdx.x * sizeof({name}), y = blockIdx.x;
        {name} value;
        surf2Dread(&value, from, x, y);
        surf2Dwrite<{name}>(value, to, x, y, cudaBoundaryModeTrap);
    }}
    """
    for i, name in enumerate(TYPES)
)
BOUNDARIES = r"""
extern "C" __global__ void read_around(cudaSurfaceObject_t s, int* out, int clamps)
{
    int x = (int)threadIdx.x - 2, y = (int)threadIdx.y - 2;
    out[threadIdx.y * blockDim.x + threadIdx.x] =
        clamps ? surf2Dread<int>(s, x * 4, y, cudaBoundaryModeClamp)
               : surf2Dread<int>(s, x * 4, y, cudaBoundaryModeZero);
}
extern "C" __global__ void write_around(cudaSurfaceObject_t s)
{
    surf2Dwrite(7, s, ((int)threadIdx.x - 2) * 4, (int)threadIdx.y - 2, cudaBoundaryModeZero);
}
"""


def surface_of(device, array):
    return device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(array))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_surface_is_read_and_written(device, stream, kind):
    _, _, shape, options = KINDS[kind]
    values = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    array = array_of(device, stream, values, is_surface_load_store=True, **options)
    surface = surface_of(device, array)
    rows = shape[-2] if len(shape) > 1 and kind != "1DLayered" else 1
    slices = shape[0] if len(shape) == 3 or kind == "1DLayered" else 1
    config = LaunchConfig(grid=slices, block=(shape[-1], rows))
    launch(stream, config, compiled(ADD).get_kernel(f"add_{kind}"), surface, np.int32(1000))
    assert (contents(array, stream) == values + 1000).all()


@pytest.mark.parametrize("name", TYPES)
def test_every_type_is_copied_bit_by_bit(device, stream, name):
    size = TYPES[name]
    values = np.random.default_rng(3).integers(0, 256, (HEIGHT, 4, 16), dtype=np.uint8).view(np.uint32)
    options = {"num_channels": 4, "is_surface_load_store": True}
    source = array_of(device, stream, values, **options)
    target = array_of(device, stream, np.zeros_like(values), **options)
    kernel = compiled(COPY).get_kernel(f"copy_{list(TYPES).index(name)}")
    surfaces = surface_of(device, source), surface_of(device, target)
    launch(stream, LaunchConfig(grid=HEIGHT, block=64 // size), kernel, *surfaces)
    stream.sync()
    assert (contents(target, stream) == values).all()


@pytest.mark.parametrize("clamps", [False, True], ids=["zero", "clamp"])
def test_reads_outside_of_the_surface_follow_the_boundary_mode(device, stream, clamps):
    values = np.arange(1, HEIGHT * WIDTH + 1, dtype=np.int32).reshape(HEIGHT, WIDTH)
    surface = surface_of(device, array_of(device, stream, values, is_surface_load_store=True))
    out = LegacyPinnedMemoryResource().allocate(4 * (WIDTH + 4) * (HEIGHT + 4))
    config = LaunchConfig(grid=1, block=(WIDTH + 4, HEIGHT + 4))
    launch(stream, config, compiled(BOUNDARIES).get_kernel("read_around"), surface, out, np.int32(clamps))
    stream.sync()
    read = np.asarray(out).view(np.int32).reshape(HEIGHT + 4, WIDTH + 4)
    assert (read == np.pad(values, 2, mode="edge" if clamps else "constant")).all()


def test_writes_outside_of_the_surface_are_dropped(device, stream):
    array = array_of(device, stream, np.zeros((HEIGHT, WIDTH), dtype=np.int32), is_surface_load_store=True)
    config = LaunchConfig(grid=1, block=(WIDTH + 4, HEIGHT + 4))
    surface = surface_of(device, array)
    launch(stream, config, compiled(BOUNDARIES).get_kernel("write_around"), surface)
    assert (contents(array, stream) == 7).all()


def test_texture_reads_values_written_by_a_surface(device, stream):
    array = array_of(device, stream, np.zeros((HEIGHT, WIDTH), dtype=np.int32), is_surface_load_store=True)
    surface = surface_of(device, array)
    texture = device.create_texture_object(resource=surface.resource)
    source = r"""
    extern "C" __global__ void write(cudaSurfaceObject_t s) { surf2Dwrite(int(threadIdx.x), s, threadIdx.x * 4, 2); }
    extern "C" __global__ void read(cudaTextureObject_t t, int* out)
    { out[threadIdx.x] = tex2D<int>(t, threadIdx.x + 0.5f, 2.5f); }"""
    out = LegacyPinnedMemoryResource().allocate(4 * WIDTH)
    config = LaunchConfig(grid=1, block=WIDTH)
    launch(stream, config, compiled(source).get_kernel("write"), surface)
    launch(stream, config, compiled(source).get_kernel("read"), texture, out)
    stream.sync()
    assert np.asarray(out).view(np.int32).tolist() == list(range(WIDTH))


def test_level_of_a_mipmapped_array_is_written(device, stream):
    mipmap = device.create_mipmapped_array(
        {"shape": (16, 10), "format": "int32", "num_channels": 1, "num_levels": 2, "is_surface_load_store": True}
    )
    level = mipmap.get_level(1)
    level.copy_from(np.zeros((5, 8), dtype=np.int32), stream=stream)
    kernel, surface = compiled(ADD).get_kernel("add_2D"), surface_of(device, level)
    launch(stream, LaunchConfig(grid=1, block=(8, 5)), kernel, surface, np.int32(3))
    assert (contents(level, stream) == 3).all()
