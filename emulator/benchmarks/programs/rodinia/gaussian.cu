// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Solves a system of equations: multipliers of a column, then the rest of the matrix, for each row; host back
// substitution.
#include "../common/check.h"

#define BLOCK_SIZE_XY 8
#define Size 56

unsigned int totalKernelTime = 0;

__global__ void Fan1(float *m_cuda, float *a_cuda, int size, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t) return;
    int row = blockDim.x * blockIdx.x + threadIdx.x + t + 1;
    *(m_cuda + size * row + t) = *(a_cuda + size * row + t) / *(a_cuda + size * t + t);
}

__global__ void Fan2(float *m_cuda, float *a_cuda, float *b_cuda, int size, int j1, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t) return;
    if (threadIdx.y + blockIdx.y * blockDim.y >= size - t) return;
    int xidx = blockIdx.x * blockDim.x + threadIdx.x;
    int yidx = blockIdx.y * blockDim.y + threadIdx.y;
    a_cuda[size * (xidx + 1 + t) + (yidx + t)] -= m_cuda[size * (xidx + 1 + t) + t] * a_cuda[size * t + (yidx + t)];
    if (yidx == 0) b_cuda[xidx + 1 + t] -= m_cuda[size * (xidx + 1 + t) + (yidx + t)] * b_cuda[t];
}

void checkCUDAError(const char *msg)
{
    cudaError_t err = cudaGetLastError();
    if (cudaSuccess != err) {
        fprintf(stderr, "Cuda error: %s: %s.\n", msg, cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char *argv[])
{
    static float a[Size * Size], m[Size * Size], b[Size], reduced[Size * Size], rhs[Size], solution[Size];
    fill(a, Size * Size, 41), fill(b, Size, 42);
    for (int i = 0; i < Size; i++) a[i * Size + i] += 20;
    float *m_cuda = to_device(m, Size * Size), *a_cuda = to_device(a, Size * Size), *b_cuda = to_device(b, Size);

    int block_size = 64, grid_size = (Size / block_size) + (!(Size % block_size) ? 0 : 1);
    dim3 dimBlock(block_size), dimGrid(grid_size);
    dim3 dimBlockXY(BLOCK_SIZE_XY, BLOCK_SIZE_XY);
    int gridSize2d = (Size / BLOCK_SIZE_XY) + (!(Size % BLOCK_SIZE_XY ? 0 : 1));
    dim3 dimGridXY(gridSize2d, gridSize2d);
    struct timeval time_start, time_end;
    gettimeofday(&time_start, NULL);
    for (int t = 0; t < (Size - 1); t++) {
        Fan1<<<dimGrid, dimBlock>>>(m_cuda, a_cuda, Size, t);
        cudaThreadSynchronize();
        Fan2<<<dimGridXY, dimBlockXY>>>(m_cuda, a_cuda, b_cuda, Size, Size - t, t);
        cudaThreadSynchronize();
        checkCUDAError("Fan2");
    }
    gettimeofday(&time_end, NULL);
    totalKernelTime =
        (time_end.tv_sec * 1000000 + time_end.tv_usec) - (time_start.tv_sec * 1000000 + time_start.tv_usec);
    printf("Time for kernels:\t%f sec\n", totalKernelTime * 1e-6);
    cudaMemcpy(reduced, a_cuda, sizeof(a), cudaMemcpyDeviceToHost);
    cudaMemcpy(rhs, b_cuda, sizeof(b), cudaMemcpyDeviceToHost);
    for (int i = Size - 1; i >= 0; i--) {
        solution[i] = rhs[i];
        for (int j = i + 1; j < Size; j++) solution[i] -= reduced[i * Size + j] * solution[j];
        solution[i] /= reduced[i * Size + i];
    }
    float product[Size];
    for (int i = 0; i < Size; i++) {
        product[i] = 0;
        for (int j = 0; j < Size; j++) product[i] += a[i * Size + j] * solution[j];
    }
    return report("gaussian", count_mismatches(b, product, Size, 0.01f));
}
