# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Molecular dynamics of a few atoms with the Lennard-Jones potential, by velocity Verlet."""

import numpy as np

import cuda.core.driver as drv
import cuda.core.driver.autoinit
from cuda.core.driver import gpuarray
from cuda.core.driver.compiler import SourceModule
from cuda.core.driver.elementwise import ElementwiseKernel

mod = SourceModule("""
#include <math.h>
__global__ void forces(const float4 *position, float4 *force, int n, float box)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = i < n ? position[i] : make_float4(0, 0, 0, 0);
    float fx = 0, fy = 0, fz = 0, energy = 0;
    for (int begin = 0; begin < n; begin += blockDim.x) {
        if (begin + threadIdx.x < n) tile[threadIdx.x] = position[begin + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < blockDim.x && begin + k < n; ++k) {
            if (begin + k == i) continue;
            float dx = p.x - tile[k].x, dy = p.y - tile[k].y, dz = p.z - tile[k].z;
            dx -= box * rintf(dx / box); dy -= box * rintf(dy / box); dz -= box * rintf(dz / box);
            float r2 = dx * dx + dy * dy + dz * dz;
            if (r2 > 6.25f) continue;
            float s6 = 1 / (r2 * r2 * r2);
            float f = 24 * s6 * (2 * s6 - 1) / r2;
            fx += f * dx; fy += f * dy; fz += f * dz;
            energy += 2 * (s6 * s6 - s6);
        }
        __syncthreads();
    }
    if (i < n) force[i] = make_float4(fx, fy, fz, energy);
}
""")
forces = mod.get_function("forces")
kick = ElementwiseKernel(
    "float4 *v, const float4 *f, float h", "v[i].x += h*f[i].x; v[i].y += h*f[i].y; v[i].z += h*f[i].z"
)
drift = ElementwiseKernel(
    "float4 *x, const float4 *v, float h", "x[i].x += h*v[i].x; x[i].y += h*v[i].y; x[i].z += h*v[i].z"
)

side, spacing, h, steps = 4, 1.3, 0.002, 25
n, box = side**3, np.float32(side * spacing)
rng = np.random.RandomState(3)
x = np.zeros((n, 4), np.float32)
x[:, :3] = np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3) * spacing
v = np.zeros((n, 4), np.float32)
v[:, :3] = rng.randn(n, 3) * 0.3
v[:, :3] -= v[:, :3].mean(axis=0)

float4 = gpuarray.vec.float4
x_gpu, v_gpu = gpuarray.to_gpu(x.view(float4).ravel()), gpuarray.to_gpu(v.view(float4).ravel())
f_gpu = gpuarray.empty(n, float4)


def update_forces():
    forces(x_gpu, f_gpu, np.int32(n), box, block=(32, 1, 1), grid=(n // 32, 1), shared=32 * 16)


def energy():
    v_host, f_host = v_gpu.get().view(np.float32).reshape(n, 4), f_gpu.get().view(np.float32).reshape(n, 4)
    return 0.5 * (v_host[:, :3] ** 2).sum() + f_host[:, 3].sum()


start, end = drv.Event(), drv.Event()
update_forces()
before = energy()
start.record()
for _ in range(steps):
    kick(v_gpu, f_gpu, h / 2)
    drift(x_gpu, v_gpu, h)
    update_forces()
    kick(v_gpu, f_gpu, h / 2)
end.record()
end.synchronize()
assert start.time_till(end) >= 0
after = energy()
assert abs(after - before) < 1e-3 * abs(before), (before, after)
momentum = v_gpu.get().view(np.float32).reshape(n, 4)[:, :3].sum(axis=0)
assert np.abs(momentum).max() < 1e-3
print("molecular dynamics OK")
