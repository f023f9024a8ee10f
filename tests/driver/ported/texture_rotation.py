# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Rotates a picture through a texture with linear filtering, as blog posts of 2010 did.
import math

import numpy
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

mod = SourceModule("""
texture<float, 2> tex;

__global__ void rotate(float *odata, int width, int height, float theta)
{
    unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = x - (width - 1) / 2.0f, v = y - (height - 1) / 2.0f;
    float tu = u * cosf(theta) - v * sinf(theta) + (width - 1) / 2.0f;
    float tv = v * cosf(theta) + u * sinf(theta) + (height - 1) / 2.0f;
    odata[y * width + x] = tex2D(tex, tu + 0.5f, tv + 0.5f);
}
""")
func = mod.get_function("rotate")
texref = mod.get_texref("tex")

size = 64
picture = numpy.fromfunction(lambda y, x: 3 * x + 5 * y, (size, size)).astype(numpy.float32)
cuda.matrix_to_texref(picture, texref, order="C")
texref.set_filter_mode(cuda.filter_mode.LINEAR)
texref.set_address_mode(0, cuda.address_mode.CLAMP)
texref.set_address_mode(1, cuda.address_mode.CLAMP)

out = numpy.empty_like(picture)
grid = (size // 16, size // 16)
func(cuda.Out(out), numpy.int32(size), numpy.int32(size), numpy.float32(math.pi / 2),
     texrefs=[texref], block=(16, 16, 1), grid=grid)
assert numpy.allclose(out, numpy.rot90(picture, -1), atol=0.5) or numpy.allclose(out, numpy.rot90(picture), atol=0.5)

func(cuda.Out(out), numpy.int32(size), numpy.int32(size), numpy.float32(0),
     texrefs=[texref], block=(16, 16, 1), grid=grid)
assert numpy.array_equal(out, picture)

angle = 0.1
func(cuda.Out(out), numpy.int32(size), numpy.int32(size), numpy.float32(angle),
     texrefs=[texref], block=(16, 16, 1), grid=grid)
y, x = numpy.mgrid[16:48, 16:48] - (size - 1) / 2.0
inner = 3 * (x * math.cos(angle) - y * math.sin(angle)) + 5 * (y * math.cos(angle) + x * math.sin(angle))
assert numpy.allclose(out[16:48, 16:48], inner + 8 * (size - 1) / 2.0, atol=0.5)
print("rotated")
