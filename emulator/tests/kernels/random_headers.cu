// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What programs use of cuRAND's device functions.
#include <curand_kernel.h>

// One sequence for each thread, as most programs use cuRAND.
template <class State> __global__ void numbers(double* out, unsigned long long seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    State state;
    curand_init(seed, i, 0, &state);
    out[i] = curand_uniform(&state);
    out[n + i] = curand_uniform_double(&state);
    out[2 * n + i] = curand_normal(&state);
    out[3 * n + i] = curand_normal_double(&state);
    float2 pair = curand_normal2(&state);
    double2 wide = curand_normal2_double(&state);
    out[4 * n + i] = pair.x;
    out[5 * n + i] = pair.y;
    out[6 * n + i] = wide.x;
    out[7 * n + i] = wide.y;
    out[8 * n + i] = curand_log_normal(&state, 1.0f, 0.5f);
    out[9 * n + i] = curand_log_normal_double(&state, 1.0, 0.5);
    out[10 * n + i] = curand_poisson(&state, 3.5);
    out[11 * n + i] = curand_poisson(&state, 100.0);
    out[12 * n + i] = curand_poisson(&state, 5000.0);
    out[13 * n + i] = curand(&state) / 4294967296.0;
}

__device__ inline void skip_subsequence(curandStateMRG32k3a_t* state) { skipahead_subsequence(1, state); }
template <class State> __device__ inline void skip_subsequence(State* state) { skipahead_sequence(1, state); }

template <class State> __global__ void skips(unsigned* out, unsigned long long seed)
{
    State called, skipped, initialized, second;
    curand_init(seed, threadIdx.x, 0, &called);
    for (int i = 0; i < 37; ++i)
        curand(&called);
    curand_init(seed, threadIdx.x, 0, &skipped);
    skipahead(37ull, &skipped);
    curand_init(seed, threadIdx.x, 37, &initialized);
    curand_init(seed, 0, 37, &second);
    for (unsigned i = 0; i < threadIdx.x; ++i)
        skip_subsequence(&second);
    out += 4 * threadIdx.x;
    out[0] = curand(&called);
    out[1] = curand(&skipped);
    out[2] = curand(&initialized);
    out[3] = curand(&second);
}

__global__ void fours(uint4* bits, float4* uniform, float4* normal, unsigned long long seed)
{
    int i = threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, i + 7, 4 * i, &state);
    bits[i] = curand4(&state);
    uniform[i] = curand_uniform4(&state);
    normal[i] = curand_normal4(&state);
}

// States in global memory: one kernel initializes them, another one continues.
__global__ void begin(curandState* states, unsigned long long seed) { curand_init(seed, threadIdx.x, 0, &states[threadIdx.x]); }
__global__ void proceed(curandState* states, unsigned* inside, int trials)
{
    curandState state = states[threadIdx.x];
    for (int i = 0; i < trials; ++i) {
        float x = curand_uniform(&state), y = curand_uniform(&state);
        inside[threadIdx.x] += x * x + y * y < 1;
    }
    states[threadIdx.x] = state;
}

__global__ void sobol(unsigned* out, float* uniform, curandDirectionVectors32_t* vectors)
{
    curandStateSobol32_t state;
    curand_init(vectors[0], threadIdx.x, &state);
    out[threadIdx.x] = curand(&state);
    uniform[threadIdx.x] = curand_uniform(&state);
}

// The host has prepared the state, but for the pointer.
__global__ void mersenne(curandStateMtgp32_t* state, mtgp32_kernel_params_t* parameters, unsigned* out, float* uniform)
{
    if (threadIdx.x == 0)
        state->k = parameters;
    __syncthreads();
    for (int i = 0; i < 8; ++i)
        out[256 * i + threadIdx.x] = curand(state);
    uniform[threadIdx.x] = curand_uniform(state);
}
