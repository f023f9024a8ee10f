# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Lattice Boltzmann (D2Q9) of a shear wave, whose decay gives the viscosity; a structure of arrays."""

import numpy as np

import cuda.core.driver as cuda

from cuda.core.driver import autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

NX, NY, STEPS, TAU = 8, 32, 40, 0.8

mod = SourceModule(
    """
#define NX %(nx)d
#define NY %(ny)d
__constant__ float W[9] = {4.f/9, 1.f/9, 1.f/9, 1.f/9, 1.f/9, 1.f/36, 1.f/36, 1.f/36, 1.f/36};
__constant__ int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

__device__ __forceinline__ float equilibrium(int q, float rho, float ux, float uy)
{
    float cu = CX[q] * ux + CY[q] * uy;
    return W[q] * rho * (1 + 3 * cu + 4.5f * cu * cu - 1.5f * (ux * ux + uy * uy));
}

__global__ void initialize(float *f, const float *u)
{
    int x = threadIdx.x, y = blockIdx.x;
    for (int q = 0; q < 9; q++) f[(q * NY + y) * NX + x] = equilibrium(q, 1, u[y], 0);
}

__global__ void collide_and_stream(const float *f, float *g, float omega)
{
    int x = threadIdx.x, y = blockIdx.x;
    float in[9], rho = 0, ux = 0, uy = 0;
    for (int q = 0; q < 9; q++) {
        in[q] = f[(q * NY + (y - CY[q] + NY) %% NY) * NX + (x - CX[q] + NX) %% NX];
        rho += in[q];
        ux += CX[q] * in[q];
        uy += CY[q] * in[q];
    }
    ux /= rho;
    uy /= rho;
    for (int q = 0; q < 9; q++)
        g[(q * NY + y) * NX + x] = in[q] + omega * (equilibrium(q, rho, ux, uy) - in[q]);
}

__global__ void velocity(const float *f, float *u)
{
    int y = threadIdx.x;
    float rho = 0, ux = 0;
    for (int q = 0; q < 9; q++) {
        rho += f[(q * NY + y) * NX];
        ux += CX[q] * f[(q * NY + y) * NX];
    }
    u[y] = ux / rho;
}
"""
    % {"nx": NX, "ny": NY},
    options=["-Xcompiler", "-Wall"],
)
u = (0.01 * np.sin(2 * np.pi * np.arange(NY) / NY)).astype(np.float32)
f, g = cuda.mem_alloc(9 * NX * NY * 4), cuda.mem_alloc(9 * NX * NY * 4)
mod.get_function("initialize")(f, cuda.In(u), block=(NX, 1, 1), grid=(NY, 1))
collide = mod.get_function("collide_and_stream").prepare("PPf")
stream = cuda.Stream()
cuda.Context.synchronize()
for _ in range(STEPS):
    collide.prepared_async_call((NY, 1), (NX, 1, 1), stream, f, g, 1 / TAU)
    f, g = g, f
stream.synchronize()
v = np.empty_like(u)
mod.get_function("velocity")(f, cuda.Out(v), block=(NY, 1, 1))

viscosity = (TAU - 0.5) / 3
decay = np.exp(-viscosity * (2 * np.pi / NY) ** 2 * STEPS)
assert np.allclose(v, u * decay, atol=2e-4), (v.max(), u.max() * decay)
print("lattice Boltzmann OK")
