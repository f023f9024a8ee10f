// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Launches kernels of another file, which has kernels and variables of the same names.
#include "two_files.h"
#include <stdio.h>

static __global__ void set(int* x) { *x = base + 1; }

int main()
{
    int *x, host[3], own = 10;
    cudaMalloc(&x, sizeof host);
    cudaMemcpyToSymbol(base, &own, sizeof own);
    set<<<1, 1>>>(x);
    launch_other(x + 1);
    add<int><<<1, 1>>>(x + 2, 5);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, set);
    printf("%d %d %d %d\n", host[0], host[1], host[2], error);
    return 0;
}
