// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Follows an object with a cloud of particles: move, weigh, normalize, and draw again.
#include "../common/check.h"
#include <limits.h>

#define PI 3.1415926535897932
#define THREADS 64
#define NPARTICLES 300
#define FRAMES 4

const long M = INT_MAX;
const int A = 1103515245;
const int C = 12345;

__host__ __device__ double randu(int *seed, int index)
{
    int num = (int)((unsigned)A * (unsigned)seed[index] + C);
    seed[index] = num % M;
    return fabs(seed[index] / ((double)M));
}

__host__ __device__ double randn(int *seed, int index)
{
    double u = randu(seed, index) + 1e-9, v = randu(seed, index);
    return sqrt(-2 * log(u)) * cos(2 * PI * v);
}

__global__ void likelihood_kernel(double *x, double *y, int *seed, double *weights, double cx, double cy, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += 1.0 + 0.5 * randn(seed, i);
        y[i] += -2.0 + 0.2 * randn(seed, i);
        double d = (x[i] - cx) * (x[i] - cx) + (y[i] - cy) * (y[i] - cy);
        weights[i] = exp(-d / 50);
    }
}

__global__ void sum_kernel(double *weights, double *partial_sums, int n)
{
    extern __shared__ double buffer[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    buffer[threadIdx.x] = i < n ? weights[i] : 0;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = buffer[0];
}

__global__ void find_index_kernel(double *x, double *y, double *cdf, double *u, double *xj, double *yj, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) {
        int index = -1;
        for (int k = 0; k < n; k++)
            if (cdf[k] >= u[i]) {
                index = k;
                break;
            }
        if (index == -1) index = n - 1;
        xj[i] = x[index];
        yj[i] = y[index];
    }
}

#define CHECK(e) \
    { \
        cudaError_t code = (e); \
        if (code != cudaSuccess) { \
            printf("error %s\n", cudaGetErrorString(code)); \
            exit(1); \
        } \
    }

int main()
{
    const int n = NPARTICLES, blocks = DIVIDE_UP(n, THREADS);
    static double x[n], y[n], w[n], cdf[n], u[n], xj[n], yj[n], x_found[n], y_found[n], sums[n];
    static int seed[n];
    for (int i = 0; i < n; i++) seed[i] = 17 * i + 1, x[i] = y[i] = 64;
    double *x_gpu = to_device(x, n), *y_gpu = to_device(y, n), *w_gpu = to_device(w, n), *cdf_gpu = to_device(cdf, n);
    double *u_gpu = to_device(u, n), *xj_gpu = to_device(xj, n), *yj_gpu = to_device(yj, n),
           *sums_gpu = to_device(sums, blocks);
    int *seed_gpu = to_device(seed, n), mismatches = 0;
    for (int k = 0; k < FRAMES; k++) {
        double cx = 65 + k, cy = 62 - 2 * k, total = 0;
        likelihood_kernel<<<blocks, THREADS>>>(x_gpu, y_gpu, seed_gpu, w_gpu, cx, cy, n);
        sum_kernel<<<blocks, THREADS, THREADS * sizeof(double)>>>(w_gpu, sums_gpu, n);
        CHECK(cudaMemcpy(sums, sums_gpu, blocks * sizeof(double), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(w, w_gpu, n * sizeof(double), cudaMemcpyDeviceToHost));
        for (int i = 0; i < blocks; i++) total += sums[i];
        for (int i = 0; i < n; i++) {
            cdf[i] = (i ? cdf[i - 1] : 0) + w[i] / total;
            u[i] = (0.5 + i) / n;
            x[i] += 1.0 + 0.5 * randn(seed, i);
            y[i] += -2.0 + 0.2 * randn(seed, i);
            double d = (x[i] - cx) * (x[i] - cx) + (y[i] - cy) * (y[i] - cy);
            mismatches += !(fabs(w[i] - exp(-d / 50)) < 1e-6);
        }
        CHECK(cudaMemcpy(cdf_gpu, cdf, sizeof(cdf), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(u_gpu, u, sizeof(u), cudaMemcpyHostToDevice));
        find_index_kernel<<<blocks, THREADS>>>(x_gpu, y_gpu, cdf_gpu, u_gpu, xj_gpu, yj_gpu, n);
        CHECK(cudaMemcpy(x_gpu, xj_gpu, sizeof(x), cudaMemcpyDeviceToDevice));
        CHECK(cudaMemcpy(y_gpu, yj_gpu, sizeof(y), cudaMemcpyDeviceToDevice));
        for (int i = 0, index = 0; i < n; i++) {
            while (index < n - 1 && cdf[index] < u[i]) index++;
            xj[i] = x[index], yj[i] = y[index];
        }
        memcpy(x, xj, sizeof(x)), memcpy(y, yj, sizeof(y));
    }
    CHECK(cudaMemcpy(x_found, x_gpu, sizeof(x), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(y_found, y_gpu, sizeof(y), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) mismatches += !(fabs(x[i] - x_found[i]) + fabs(y[i] - y_found[i]) < 1e-6);
    return report("particlefilter", mismatches);
}
