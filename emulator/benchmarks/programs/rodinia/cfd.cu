// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Flow of a gas through an unstructured mesh: time steps, fluxes through the faces of each element, and updates.
#include "../common/check.h"

#define GAMMA 1.4f
#define NDIM 3
#define NNB 4
#define RK 3
#define VAR_DENSITY 0
#define VAR_MOMENTUM 1
#define VAR_DENSITY_ENERGY (VAR_MOMENTUM + NDIM)
#define NVAR (VAR_DENSITY_ENERGY + 1)
#define BLOCK 96
#define ITERATIONS 3

__constant__ float ff_variable[NVAR];
__constant__ float3 ff_flux_contribution_momentum[NDIM];

template <typename T>
T *alloc(int N)
{
    T *t;
    gpuErrchk(cudaMalloc((void **)&t, sizeof(T) * N));
    return t;
}

template <typename T>
void copy(T *dst, T *src, int N)
{
    gpuErrchk(cudaMemcpy((void *)dst, (void *)src, N * sizeof(T), cudaMemcpyDeviceToDevice));
}

struct Flow {
    float density, energy, pressure, speed;
    float3 momentum, velocity;
};

__host__ __device__ inline Flow flow(const float *variables, int i, int nelr)
{
    Flow f;
    f.density = variables[i + VAR_DENSITY * nelr];
    f.momentum = make_float3(variables[i + 1 * nelr], variables[i + 2 * nelr], variables[i + 3 * nelr]);
    f.energy = variables[i + VAR_DENSITY_ENERGY * nelr];
    f.velocity = make_float3(f.momentum.x / f.density, f.momentum.y / f.density, f.momentum.z / f.density);
    float speed_sqd = f.velocity.x * f.velocity.x + f.velocity.y * f.velocity.y + f.velocity.z * f.velocity.z;
    f.pressure = (GAMMA - 1.0f) * (f.energy - 0.5f * f.density * speed_sqd);
    f.speed = sqrtf(speed_sqd) + sqrtf(GAMMA * f.pressure / f.density);
    return f;
}

__host__ __device__ inline void element_flux(int i, int nelr, const int *neighbors, const float3 *normals,
                                             const float *variables, const float *far_field, const float3 *far_momentum,
                                             float *flux)
{
    Flow a = flow(variables, i, nelr);
    for (int k = 0; k < NVAR; k++) flux[k] = 0;
    for (int j = 0; j < NNB; j++) {
        int nb = neighbors[i + j * nelr];
        float3 n = normals[i + j * nelr];
        Flow b = nb >= 0 ? flow(variables, nb, nelr) : a;
        float factor = nb >= 0 ? 0.05f * (a.speed + b.speed) : 0;
        float through = 0.5f * (n.x * (a.momentum.x + b.momentum.x) + n.y * (a.momentum.y + b.momentum.y) +
                                n.z * (a.momentum.z + b.momentum.z));
        if (nb == -2) through += n.x * far_field[VAR_MOMENTUM] + n.y * far_momentum[1].y;
        flux[0] += factor * (b.density - a.density) - through;
        flux[1] +=
            factor * (b.momentum.x - a.momentum.x) - through * a.velocity.x - n.x * 0.5f * (a.pressure + b.pressure);
        flux[2] +=
            factor * (b.momentum.y - a.momentum.y) - through * a.velocity.y - n.y * 0.5f * (a.pressure + b.pressure);
        flux[3] +=
            factor * (b.momentum.z - a.momentum.z) - through * a.velocity.z - n.z * 0.5f * (a.pressure + b.pressure);
        flux[4] += factor * (b.energy - a.energy) - through * (a.energy + a.pressure) / a.density;
    }
}

__global__ void cuda_compute_step_factor(int nelr, float *variables, float *areas, float *step_factors)
{
    const int i = (blockDim.x * blockIdx.x + threadIdx.x);
    if (i < nelr) step_factors[i] = 0.05f / (sqrtf(areas[i]) * flow(variables, i, nelr).speed);
}

__global__ void cuda_compute_flux(int nelr, int *neighbors, float3 *normals, float *variables, float *fluxes)
{
    const int i = (blockDim.x * blockIdx.x + threadIdx.x);
    if (i >= nelr) return;
    float flux[NVAR];
    element_flux(i, nelr, neighbors, normals, variables, ff_variable, ff_flux_contribution_momentum, flux);
    for (int k = 0; k < NVAR; k++) fluxes[i + k * nelr] = flux[k];
}

__global__ void cuda_time_step(int j, int nelr, float *old_variables, float *variables, float *step_factors,
                               float *fluxes)
{
    const int i = (blockDim.x * blockIdx.x + threadIdx.x);
    if (i >= nelr) return;
    float factor = step_factors[i] / float(RK + 1 - j);
    for (int k = 0; k < NVAR; k++)
        variables[i + k * nelr] = old_variables[i + k * nelr] + factor * fluxes[i + k * nelr];
}

int main(int argc, char **argv)
{
    const int nel = 500, nelr = BLOCK * DIVIDE_UP(nel, BLOCK);
    static float variables[NVAR * nelr], old[NVAR * nelr], areas[nelr], steps[nelr], fluxes[NVAR * nelr],
        found[NVAR * nelr];
    static int neighbors[NNB * nelr];
    static float3 normals[NNB * nelr];
    float h_ff_variable[NVAR] = {1.4f, 0.1f, 0.02f, 0, 4};
    float3 h_ff_momentum[NDIM] = {{0.1f, 0, 0}, {0, 0.02f, 0}, {0, 0, 0}};
    const float nx[NNB] = {1, -1, 0, 0}, ny[NNB] = {0, 0, 1, -1};
    unsigned seed = 7;
    fill(areas, nelr, 2);
    for (int i = 0; i < nelr; i++) {
        areas[i] += 0.5f;
        for (int k = 0; k < NVAR; k++)
            variables[i + k * nelr] = h_ff_variable[k] * (1 + (next_random(&seed) % 100) * 1e-3f);
        for (int j = 0; j < NNB; j++) {
            neighbors[i + j * nelr] =
                next_random(&seed) % 10 == 0 ? -1 - (int)(next_random(&seed) % 2) : next_random(&seed) % nelr;
            normals[i + j * nelr] = make_float3(nx[j], ny[j], 0.1f * (j - 1.5f));
        }
    }
    gpuErrchk(cudaMemcpyToSymbol(ff_variable, h_ff_variable, NVAR * sizeof(float)));
    gpuErrchk(cudaMemcpyToSymbol(ff_flux_contribution_momentum, h_ff_momentum, NDIM * sizeof(float3)));
    float *d_variables = to_device(variables, NVAR * nelr), *d_areas = to_device(areas, nelr);
    float *d_old = alloc<float>(NVAR * nelr), *d_steps = alloc<float>(nelr), *d_fluxes = alloc<float>(NVAR * nelr);
    int *d_neighbors = to_device(neighbors, NNB * nelr);
    float3 *d_normals = to_device(normals, NNB * nelr);
    dim3 Dg(nelr / BLOCK), Db(BLOCK);
    for (int t = 0; t < ITERATIONS; t++) {
        copy<float>(d_old, d_variables, NVAR * nelr);
        memcpy(old, variables, sizeof(old));
        cuda_compute_step_factor<<<Dg, Db>>>(nelr, d_variables, d_areas, d_steps);
        for (int i = 0; i < nelr; i++) steps[i] = 0.05f / (sqrtf(areas[i]) * flow(variables, i, nelr).speed);
        for (int j = 0; j < RK; j++) {
            cuda_compute_flux<<<Dg, Db>>>(nelr, d_neighbors, d_normals, d_variables, d_fluxes);
            cuda_time_step<<<Dg, Db>>>(j, nelr, d_old, d_variables, d_steps, d_fluxes);
            for (int i = 0; i < nelr; i++) {
                float flux[NVAR];
                element_flux(i, nelr, neighbors, normals, variables, h_ff_variable, h_ff_momentum, flux);
                for (int k = 0; k < NVAR; k++) fluxes[i + k * nelr] = flux[k];
            }
            for (int i = 0; i < NVAR * nelr; i++)
                variables[i] = old[i] + steps[i % nelr] / float(RK + 1 - j) * fluxes[i];
        }
    }
    gpuErrchk(cudaMemcpy(found, d_variables, sizeof(found), cudaMemcpyDeviceToHost));
    return report("cfd", count_mismatches(variables, found, NVAR * nelr, 0.005f));
}
