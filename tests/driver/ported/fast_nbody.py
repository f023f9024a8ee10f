# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Gravity between all pairs of bodies: shared memory, fast mathematics, prepared calls, and events around them.
import sys

import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

N = 256
BLOCK = 64
source = """
#include <math.h>
__global__ void accelerate(const float4 *pos, float4 *acc, int n)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = pos[i];
    float3 a = make_float3(0, 0, 0);
    for (int start = 0; start < n; start += blockDim.x)
    {
        tile[threadIdx.x] = pos[start + threadIdx.x];
        __syncthreads();
        #pragma unroll 8
        for (int k = 0; k < %(BLOCK)d; k++)
        {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
            float inv = rsqrtf(r2);
            float s = tile[k].w * inv * inv * inv;
            a.x += dx * s; a.y += dy * s; a.z += dz * s;
        }
        __syncthreads();
    }
    acc[i] = make_float4(a.x, a.y, a.z, 0);
}

__global__ void kick(float4 *pos, float4 *vel, const float4 *acc, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    vel[i].x += dt * acc[i].x; vel[i].y += dt * acc[i].y; vel[i].z += dt * acc[i].z;
    pos[i].x += dt * vel[i].x; pos[i].y += dt * vel[i].y; pos[i].z += dt * vel[i].z;
}
""" % {"BLOCK": BLOCK}
mod = SourceModule(source, options=["-use_fast_math", "-Xptxas", "-O3"])
accelerate = mod.get_function("accelerate").prepare("PPi")
kick = mod.get_function("kick").prepare("PPPf")

rng = np.random.RandomState(7)
pos = rng.randn(N, 4).astype(np.float32)
pos[:, 3] = 1.0 / N
vel = np.zeros((N, 4), np.float32)
d_pos, d_vel, d_acc = gpuarray.to_gpu(pos), gpuarray.to_gpu(vel), gpuarray.empty((N, 4), np.float32)

start, end = drv.Event(), drv.Event()
grid, block = (N // BLOCK, 1), (BLOCK, 1, 1)
dt, steps = 0.01, 5
start.record()
for _ in range(steps):
    accelerate.prepared_call(grid, block, d_pos.gpudata, d_acc.gpudata, N, shared_size=BLOCK * 16)
    kick.prepared_call(grid, block, d_pos.gpudata, d_vel.gpudata, d_acc.gpudata, dt)
end.record()
end.synchronize()
sys.stdout.write("%d steps in %.3f ms\n" % (steps, start.time_till(end)))

p, v = pos[:, :3].astype(float), vel[:, :3].astype(float)
for _ in range(steps):
    d = p[None] - p[:, None]
    r2 = (d**2).sum(-1) + 0.01
    v += dt * (d * (pos[:, 3] / r2**1.5)[..., None]).sum(1)
    p += dt * v
assert np.allclose(d_pos.get()[:, :3], p, atol=1e-3)
assert np.allclose(d_vel.get()[:, :3], v, atol=1e-3)
momentum = (d_vel.get()[:, :3] * pos[:, 3:]).sum(0)
assert np.abs(momentum).max() < 1e-4
