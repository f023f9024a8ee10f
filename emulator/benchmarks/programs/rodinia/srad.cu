// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Removes speckles of an image: statistics by a reduction, then diffusion in two kernels.
#include "../common/check.h"

#define NUMBER_THREADS 128
#define Nr 48
#define Nc 40
#define Ne (Nr * Nc)
#define NITER 4
#define LAMBDA 0.5f

typedef float fp;

__global__ void extract(long d_Ne, fp *d_I)
{
    int ei = blockIdx.x * NUMBER_THREADS + threadIdx.x;
    if (ei < d_Ne) d_I[ei] = exp(d_I[ei] / 255);
}

__global__ void reduce(long count, const fp *image, fp *d_sums, fp *d_sums2)
{
    __shared__ fp d_psum[NUMBER_THREADS], d_psum2[NUMBER_THREADS];
    int tx = threadIdx.x, ei = blockIdx.x * NUMBER_THREADS + tx;
    fp value = ei < count ? image[ei] : 0;
    d_psum[tx] = value;
    d_psum2[tx] = value * value;
    for (int i = NUMBER_THREADS / 2; i > 0; i >>= 1) {
        __syncthreads();
        if (tx < i) {
            d_psum[tx] += d_psum[tx + i];
            d_psum2[tx] += d_psum2[tx + i];
        }
    }
    if (tx == 0) {
        atomicAdd(d_sums, d_psum[0]);
        atomicAdd(d_sums2, d_psum2[0]);
    }
}

struct Place {
    int n, s, w, e;
};

__host__ __device__ Place neighbors(int row, int col)
{
    Place p;
    p.n = (row == 0 ? row : row - 1) + Nr * col, p.s = (row == Nr - 1 ? row : row + 1) + Nr * col;
    p.w = row + Nr * (col == 0 ? col : col - 1), p.e = row + Nr * (col == Nc - 1 ? col : col + 1);
    return p;
}

__host__ __device__ fp coefficient(const fp *I, int ei, fp q0sqr)
{
    Place p = neighbors(ei % Nr, ei / Nr);
    fp Jc = I[ei], dN = I[p.n] - Jc, dS = I[p.s] - Jc, dW = I[p.w] - Jc, dE = I[p.e] - Jc;
    fp G2 = (dN * dN + dS * dS + dW * dW + dE * dE) / (Jc * Jc), L = (dN + dS + dW + dE) / Jc;
    fp num = 0.5f * G2 - (1.0f / 16.0f) * (L * L), den = 1 + 0.25f * L, qsqr = num / (den * den);
    den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    fp c = 1.0f / (1.0f + den);
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

__host__ __device__ fp diffused(const fp *I, const fp *c, int ei)
{
    Place p = neighbors(ei % Nr, ei / Nr);
    fp Jc = I[ei], D = c[ei] * (I[p.n] - Jc) + c[p.s] * (I[p.s] - Jc) + c[ei] * (I[p.w] - Jc) + c[p.e] * (I[p.e] - Jc);
    return Jc + 0.25f * LAMBDA * D;
}

__global__ void srad(const fp *I, fp *c, fp q0sqr)
{
    int ei = blockIdx.x * NUMBER_THREADS + threadIdx.x;
    if (ei < Ne) c[ei] = coefficient(I, ei, q0sqr);
}

__global__ void srad2(const fp *I, const fp *c, fp *out)
{
    int ei = blockIdx.x * NUMBER_THREADS + threadIdx.x;
    if (ei < Ne) out[ei] = diffused(I, c, ei);
}

fp variance_ratio(fp sum, fp sum2)
{
    fp mean = sum / Ne, var = sum2 / Ne - mean * mean;
    return var / (mean * mean);
}

int main()
{
    static fp image[Ne], c[Ne], next[Ne], found[Ne];
    fill(image, Ne, 71);
    for (int i = 0; i < Ne; i++) image[i] *= 255;
    fp *d_I = to_device(image, Ne), *d_next, *d_c, *d_sums, sums[2];
    cudaMalloc((void **)&d_next, sizeof(image)), cudaMalloc((void **)&d_c, sizeof(c)),
        cudaMalloc((void **)&d_sums, sizeof(sums));
    int blocks = Ne / NUMBER_THREADS + (Ne % NUMBER_THREADS != 0);
    extract<<<blocks, NUMBER_THREADS>>>(Ne, d_I);
    for (int i = 0; i < Ne; i++) image[i] = expf(image[i] / 255);
    for (int iter = 0; iter < NITER; iter++) {
        cudaMemset(d_sums, 0, sizeof(sums));
        reduce<<<blocks, NUMBER_THREADS>>>(Ne, d_I, d_sums, d_sums + 1);
        gpuErrchk(cudaMemcpy(sums, d_sums, sizeof(sums), cudaMemcpyDeviceToHost));
        srad<<<blocks, NUMBER_THREADS>>>(d_I, d_c, variance_ratio(sums[0], sums[1]));
        srad2<<<blocks, NUMBER_THREADS>>>(d_I, d_c, d_next);
        fp *swap = d_I, sum = 0, sum2 = 0;
        d_I = d_next, d_next = swap;
        for (int i = 0; i < Ne; i++) sum += image[i], sum2 += image[i] * image[i];
        for (int i = 0; i < Ne; i++) c[i] = coefficient(image, i, variance_ratio(sum, sum2));
        for (int i = 0; i < Ne; i++) next[i] = diffused(image, c, i);
        memcpy(image, next, sizeof(image));
    }
    gpuErrchk(cudaMemcpy(found, d_I, sizeof(found), cudaMemcpyDeviceToHost));
    return report("srad", count_mismatches(image, found, Ne, 0.005f));
}
