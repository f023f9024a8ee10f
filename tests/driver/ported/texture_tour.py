# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Textures by the old calls: normalized and integer coordinates, arrays of channels, linear memory, pitch, 3D.
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

mod = SourceModule("""
texture<float, 2, cudaReadModeElementType> plain;
texture<float, 2> smooth;
texture<uchar4, 2, cudaReadModeNormalizedFloat> colours;
texture<float4, 2> wide;
texture<int, 1> line;
texture<float, 3> volume;
texture<float, 2> pitched;

__global__ void transpose(float *out, int w, int h)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < w && y < h) out[x * h + y] = tex2D(plain, x, y);
}
__global__ void zoom(float *out, int w, int h)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < w && y < h) out[y * w + x] = tex2D(smooth, (x + 0.5f) / w, (y + 0.5f) / h);
}
__global__ void grey(float *out, int w, int h)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= w || y >= h) return;
    float4 c = tex2D(colours, x, y);
    out[y * w + x] = 0.299f * c.x + 0.587f * c.y + 0.114f * c.z + 0 * c.w;
}
__global__ void dots(float *out, int w, int h)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= w * h) return;
    float4 c = tex2D(wide, i % w, i / w);
    out[i] = c.x * c.x + c.y * c.y + c.z * c.z + c.w * c.w;
}
__global__ void gather(int *out, const int *where, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) out[i] = tex1Dfetch(line, where[i]);
}
__global__ void slice(float *out, int w, int h, int z)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (x < w && y < h) out[y * w + x] = tex3D(volume, x, y, z);
}
__global__ void rows(float *out, int w, int h)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (x < w && y < h) out[y * w + x] = tex2D(pitched, x + 0.5f, y + 0.5f);
}
""")
rng = np.random.RandomState(3)
block = (16, 16, 1)

# a matrix, read by integer coordinates
a = rng.randn(37, 50).astype(np.float32)
plain = mod.get_texref("plain")
drv.matrix_to_texref(a, plain, order="C")
out = np.zeros((50, 37), np.float32)
mod.get_function("transpose")(drv.Out(out), np.int32(50), np.int32(37), texrefs=[plain], block=block, grid=(4, 3))
assert (out == a.T).all()

# normalized coordinates and linear filtering
smooth = mod.get_texref("smooth")
smooth.set_array(drv.matrix_to_array(a, "C"))
smooth.set_flags(drv.TRSF_NORMALIZED_COORDINATES)
smooth.set_filter_mode(drv.filter_mode.LINEAR)
smooth.set_address_mode(0, drv.address_mode.CLAMP)
smooth.set_address_mode(1, drv.address_mode.CLAMP)
assert smooth.get_filter_mode() == drv.filter_mode.LINEAR and smooth.get_flags() & drv.TRSF_NORMALIZED_COORDINATES
zoomed = np.empty((74, 100), np.float32)
mod.get_function("zoom")(drv.Out(zoomed), np.int32(100), np.int32(74), texrefs=[smooth], block=block, grid=(7, 5))
ys, xs = np.clip((np.arange(74) + 0.5) / 2 - 0.5, 0, 36), np.clip((np.arange(100) + 0.5) / 2 - 0.5, 0, 49)
y0, x0 = np.minimum(ys.astype(int), 35), np.minimum(xs.astype(int), 48)
fy, fx = (ys - y0)[:, None], (xs - x0)[None]
want = (1 - fy) * ((1 - fx) * a[y0][:, x0] + fx * a[y0][:, x0 + 1]) + fy * (
    (1 - fx) * a[y0 + 1][:, x0] + fx * a[y0 + 1][:, x0 + 1])
assert abs(zoomed - want).max() < 0.05, abs(zoomed - want).max()

# four channels of bytes
image = rng.randint(0, 256, (30, 40, 4)).astype(np.uint8)
descr = drv.ArrayDescriptor()
descr.width, descr.height, descr.format, descr.num_channels = 40, 30, drv.array_format.UNSIGNED_INT8, 4
array = drv.Array(descr)
copy = drv.Memcpy2D()
copy.set_src_host(image)
copy.set_dst_array(array)
copy.width_in_bytes = copy.src_pitch = 40 * 4
copy.height = 30
copy(aligned=True)
colours = mod.get_texref("colours")
colours.set_array(array)
grey = np.empty((30, 40), np.float32)
mod.get_function("grey")(drv.Out(grey), np.int32(40), np.int32(30), block=block, grid=(3, 2))
assert np.allclose(grey, (image[..., :3] / 255.0) @ [0.299, 0.587, 0.114], atol=1e-5)

# channels first, as make_multichannel_2d_array wants
planes = np.asarray(rng.rand(4, 20, 10), dtype=np.float32, order="F")
drv.bind_array_to_texref(drv.make_multichannel_2d_array(planes, order="F"), mod.get_texref("wide"))
sums = np.empty(200, np.float32)
mod.get_function("dots")(drv.Out(sums), np.int32(20), np.int32(10), block=(64, 1, 1), grid=(4, 1))
assert np.allclose(sums.reshape(10, 20), (planes**2).sum(axis=0).T, rtol=1e-5)

# linear memory, in prepared calls
values, where = gpuarray.arange(100, 300, dtype=np.int32), gpuarray.to_gpu(rng.randint(0, 200, 77).astype(np.int32))
line = mod.get_texref("line")
values.bind_to_texref_ext(line)
picked = gpuarray.empty(77, np.int32)
gather = mod.get_function("gather")
gather.prepare("PPi", texrefs=[line])
gather.prepared_call((2, 1), (64, 1, 1), picked.gpudata, where.gpudata, 77)
assert (picked.get() == where.get() + 100).all()
line.set_address(values.gpudata, values.nbytes)

# a volume
cube = rng.rand(5, 8, 12).astype(np.float32)
volume = mod.get_texref("volume")
volume.set_array(drv.np_to_array(cube, order="C", allowSurfaceBind=True))
level = np.empty((8, 12), np.float32)
for z in range(5):
    mod.get_function("slice")(drv.Out(level), np.int32(12), np.int32(8), np.int32(z), block=block)
    assert (level == cube[z]).all()

# pitched memory
dev, pitch = drv.mem_alloc_pitch(24 * 4, 10, 4)
plane = rng.rand(10, 24).astype(np.float32)
copy = drv.Memcpy2D()
copy.set_src_host(plane)
copy.set_dst_device(dev)
copy.width_in_bytes = copy.src_pitch = 96
copy.dst_pitch, copy.height = pitch, 10
copy(aligned=False)
pitched = mod.get_texref("pitched")
flat = drv.ArrayDescriptor()
flat.width, flat.height, flat.format, flat.num_channels = 24, 10, drv.array_format.FLOAT, 1
pitched.set_address_2d(dev, flat, pitch)
back = np.empty((10, 24), np.float32)
mod.get_function("rows")(drv.Out(back), np.int32(24), np.int32(10), block=(32, 16, 1))
assert (back == plane).all()
try:
    mod.get_texref("missing")
    raise SystemExit("a texture that is not there")
except drv.LogicError as error:
    print("as it should be:", error)
