// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// G = (A B) (C D), with one kernel template for the three products.
#include "../common/check.h"

#define N1 64
#define N2 48
#define N3 80
#define N4 56
#define N5 72

typedef float DATA_TYPE;

template <int ROWS, int COLUMNS, int DEPTH>
__global__ void mm(const DATA_TYPE *__restrict__ a, const DATA_TYPE *__restrict__ b, DATA_TYPE *__restrict__ c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ROWS || j >= COLUMNS) return;
    DATA_TYPE sum = 0;
#pragma unroll 4
    for (int k = 0; k < DEPTH; ++k) sum += a[i * DEPTH + k] * b[k * COLUMNS + j];
    c[i * COLUMNS + j] = sum;
}

template <int ROWS, int COLUMNS, int DEPTH>
void mm_host(const DATA_TYPE *a, const DATA_TYPE *b, DATA_TYPE *c)
{
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j) {
            c[i * COLUMNS + j] = 0;
            for (int k = 0; k < DEPTH; ++k) c[i * COLUMNS + j] += a[i * DEPTH + k] * b[k * COLUMNS + j];
        }
}

template <int ROWS, int COLUMNS, int DEPTH>
void multiply(const DATA_TYPE *a, const DATA_TYPE *b, DATA_TYPE *c)
{
    dim3 block(32, 8);
    dim3 grid(DIVIDE_UP(COLUMNS, block.x), DIVIDE_UP(ROWS, block.y));
    mm<ROWS, COLUMNS, DEPTH><<<grid, block>>>(a, b, c);
    gpuErrchk(cudaGetLastError());
}

static DATA_TYPE A[N1 * N2], B[N2 * N3], C[N3 * N4], D[N4 * N5], AB[N1 * N3], CD[N3 * N5], G[N1 * N5], G_found[N1 * N5];

int main()
{
    fill(A, N1 * N2, 1), fill(B, N2 * N3, 2), fill(C, N3 * N4, 3), fill(D, N4 * N5, 4);
    mm_host<N1, N3, N2>(A, B, AB);
    mm_host<N3, N5, N4>(C, D, CD);
    mm_host<N1, N5, N3>(AB, CD, G);

    DATA_TYPE *ab, *cd, *g;
    cudaMalloc(&ab, sizeof AB), cudaMalloc(&cd, sizeof CD), cudaMalloc(&g, sizeof G);
    multiply<N1, N3, N2>(to_device(A, N1 * N2), to_device(B, N2 * N3), ab);
    multiply<N3, N5, N4>(to_device(C, N3 * N4), to_device(D, N4 * N5), cd);
    multiply<N1, N5, N3>(ab, cd, g);
    gpuErrchk(cudaMemcpy(G_found, g, sizeof G, cudaMemcpyDeviceToHost));
    gpuErrchk(cudaDeviceReset());
    return report("3mm", count_mismatches(G, G_found, N1 * N5, 0.001f));
}
