# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Rows with a pitch: mem_alloc_pitch, Memcpy2D in both directions, and a kernel that steps by the pitch.
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

h, w = 37, 53
img = np.random.RandomState(3).rand(h, w).astype(np.float32)
d_img, pitch = cuda.mem_alloc_pitch(w * 4, h, 4)
d_out, pitch_out = cuda.mem_alloc_pitch(w * 4, h, 4)
assert pitch >= w * 4 and pitch % 4 == 0

copy = cuda.Memcpy2D()
copy.set_src_host(img)
copy.set_dst_device(d_img)
copy.src_pitch = img.strides[0]
copy.dst_pitch = pitch
copy.width_in_bytes = w * 4
copy.height = h
copy(aligned=True)

mod = SourceModule("""
__global__ void blur(const char *in, char *out, int w, int h, int pitch, int pitch_out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0; int n = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (x + dx >= 0 && x + dx < w && y + dy >= 0 && y + dy < h) {
                sum += ((const float *)(in + (y + dy) * pitch))[x + dx];
                ++n;
            }
    ((float *)(out + y * pitch_out))[x] = sum / n;
}
""")
mod.get_function("blur")(d_img, d_out, np.int32(w), np.int32(h), np.int32(pitch), np.int32(pitch_out),
                         block=(16, 16, 1), grid=((w + 15) // 16, (h + 15) // 16))
out = np.empty_like(img)
back = cuda.Memcpy2D()
back.set_src_device(d_out)
back.set_dst_host(out)
back.src_pitch = pitch_out
back.dst_pitch = out.strides[0]
back.width_in_bytes = w * 4
back.height = h
stream = cuda.Stream()
cuda.Context.synchronize()
back(stream)
stream.synchronize()

padded = np.pad(img, 1)
ones = np.pad(np.ones_like(img), 1)
total = sum(padded[1 + dy:h + 1 + dy, 1 + dx:w + 1 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1))
count = sum(ones[1 + dy:h + 1 + dy, 1 + dx:w + 1 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1))
assert np.allclose(out, total / count, atol=1e-5)

# The middle of the picture only, in place.
part = cuda.Memcpy2D()
part.set_src_device(d_out)
part.set_dst_device(d_img)
part.src_x_in_bytes, part.src_y, part.src_pitch = 40, 10, pitch_out
part.dst_x_in_bytes, part.dst_y, part.dst_pitch = 0, 0, pitch
part.width_in_bytes, part.height = 80, 5
part(aligned=False)
cuda.memset_d2d32(int(d_out), pitch_out, 0, w, h)
copy = cuda.Memcpy2D()
again = np.zeros((5, 20), np.float32)
copy.set_src_device(d_img); copy.set_dst_host(again)
copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = pitch, 80, 80, 5
copy(aligned=True)
assert (again == out[10:15, 10:30]).all()
d_img.free(); d_out.free()
