# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays and textures made from NumPy arrays, and kernels that read textures and access surfaces."""

from __future__ import annotations

import numpy as np

from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, launch
from cuda.core.texture import ResourceDescriptor
from support.kernels import compiled


def array_of(device, stream, values: np.ndarray, *, num_channels: int = 1, **options):
    """Return an array with the elements of ``values``; where there are several channels, they are its last axis."""
    values = np.ascontiguousarray(values)
    extents = values.shape[:-1] if num_channels > 1 else values.shape
    array = device.create_opaque_array(
        {"shape": extents[::-1], "format": values.dtype, "num_channels": num_channels, **options}
    )
    array.copy_from(values, stream=stream)
    stream.sync()
    return array


def contents(array, stream) -> np.ndarray:
    """Return the elements of an array, with an axis of channels where there are several."""
    shape = array.shape[::-1] + ((array.num_channels,) if array.num_channels > 1 else ())
    values = np.empty(shape, dtype=array.format.value)
    array.copy_to(values, stream=stream)
    stream.sync()
    return values


def texture_of(device, source, **options):
    """Return a texture of an array, of a mipmapped array, or of the resource of a descriptor."""
    if not isinstance(source, ResourceDescriptor):
        make = "from_mipmapped_array" if hasattr(source, "get_level") else "from_opaque_array"
        source = getattr(ResourceDescriptor, make)(source)
    return device.create_texture_object(resource=source, options=options)


READ = r"""
#define KERNEL(name, ...)                                                                        \
    extern "C" __global__ void name(cudaTextureObject_t t, const float* at, float4* out, int n)  \
    {                                                                                            \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
        if (i < n) { const float* p = at + 10 * i; out[i] = __VA_ARGS__; }                       \
    }
KERNEL(fetch, tex1Dfetch<float4>(t, (int)p[0]))
KERNEL(line, tex1D<float4>(t, p[0]))
KERNEL(plane, tex2D<float4>(t, p[0], p[1]))
KERNEL(volume, tex3D<float4>(t, p[0], p[1], p[2]))
KERNEL(layered_line, tex1DLayered<float4>(t, p[0], (int)p[3]))
KERNEL(layered_plane, tex2DLayered<float4>(t, p[0], p[1], (int)p[3]))
KERNEL(cube, texCubemap<float4>(t, p[0], p[1], p[2]))
KERNEL(layered_cube, texCubemapLayered<float4>(t, p[0], p[1], p[2], (int)p[3]))
KERNEL(line_level, tex1DLod<float4>(t, p[0], p[3]))
KERNEL(plane_level, tex2DLod<float4>(t, p[0], p[1], p[3]))
KERNEL(volume_level, tex3DLod<float4>(t, p[0], p[1], p[2], p[3]))
KERNEL(cube_level, texCubemapLod<float4>(t, p[0], p[1], p[2], p[3]))
KERNEL(plane_gradients, tex2DGrad<float4>(t, p[0], p[1], make_float2(p[4], p[5]), make_float2(p[6], p[7])))
KERNEL(line_gradients, tex1DGrad<float4>(t, p[0], p[4], p[6]))
KERNEL(volume_gradients, tex3DGrad<float4>(t, p[0], p[1], p[2],
    make_float4(p[4], p[5], p[6], 0), make_float4(p[7], p[8], p[9], 0)))
KERNEL(cube_gradients, texCubemapGrad<float4>(t, p[0], p[1], p[2],
    make_float4(p[4], p[5], p[6], 0), make_float4(p[7], p[8], p[9], 0)))
KERNEL(layered_line_level, tex1DLayeredLod<float4>(t, p[0], (int)p[3], p[9]))
KERNEL(layered_plane_level, tex2DLayeredLod<float4>(t, p[0], p[1], (int)p[3], p[9]))
KERNEL(layered_cube_level, texCubemapLayeredLod<float4>(t, p[0], p[1], p[2], (int)p[3], p[9]))
KERNEL(layered_line_gradients, tex1DLayeredGrad<float4>(t, p[0], (int)p[3], p[4], p[6]))
KERNEL(layered_plane_gradients, tex2DLayeredGrad<float4>(t, p[0], p[1], (int)p[3],
    make_float2(p[4], p[5]), make_float2(p[6], p[7])))
KERNEL(layered_cube_gradients, texCubemapLayeredGrad<float4>(t, p[0], p[1], p[2], (int)p[3],
    make_float4(p[4], p[5], p[6], 0), make_float4(p[7], p[8], p[9], 0)))
KERNEL(gather_1, tex2Dgather<float4>(t, p[0], p[1], 1))
KERNEL(gather_2, tex2Dgather<float4>(t, p[0], p[1], 2))
KERNEL(gather_0, tex2Dgather<float4>(t, p[0], p[1], 0))
KERNEL(gather_3, tex2Dgather<float4>(t, p[0], p[1], 3))
"""

TYPES = {
    "int8": ("char", "signed char"),
    "uint8": ("uchar", "unsigned char"),
    "int16": ("short", "short"),
    "uint16": ("ushort", "unsigned short"),
    "int32": ("int", "int"),
    "uint32": ("uint", "unsigned int"),
    "float32": ("float", "float"),
}
# Two kernels for each type and number of channels, which read all elements of a plane.
ELEMENTS = "".join(
    f"""
    extern "C" __global__ void {base}_{n}(cudaTextureObject_t t, {name}* out, int width, int height)
    {{
        int x = threadIdx.x, y = blockIdx.x;
        if (x < width && y < height) out[y * width + x] = tex2D<{name}>(t, x + 0.5f, y + 0.5f);
    }}
    extern "C" __global__ void {base}_{n}_out(cudaTextureObject_t t, {name}* out, int width, int height)
    {{
        int x = threadIdx.x, y = blockIdx.x;
        if (x < width && y < height) tex2D(out + y * width + x, t, x + 0.5f, y + 0.5f);
    }}
    """
    for base, scalar in TYPES.values()
    for n, name in ((1, scalar), (1, f"{base}1"), (2, f"{base}2"), (4, f"{base}4"))
    if (n, name) != (1, f"{base}1")
)


def run(device, stream, kernel: str, texture, rows, channels: int = 4) -> np.ndarray:
    """Return what a kernel of ``READ`` reads at rows of up to ten numbers: x, y, z, layer or level, gradients."""
    rows = np.atleast_2d(np.asarray(rows, dtype=np.float32))
    full = np.zeros((len(rows), 10), dtype=np.float32)
    full[:, : rows.shape[1]] = rows
    resource = LegacyPinnedMemoryResource()
    at, out = resource.allocate(full.nbytes), resource.allocate(16 * len(rows))
    np.asarray(at).view(np.float32)[:] = full.ravel()
    config = LaunchConfig(grid=(len(rows) + 63) // 64, block=64)
    launch(stream, config, compiled(READ).get_kernel(kernel), texture, at, out, np.int32(len(rows)))
    stream.sync()
    return np.asarray(out).view(np.float32).reshape(-1, 4)[:, :channels].copy()
