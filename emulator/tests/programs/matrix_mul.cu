// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Multiplies matrices in tiles, with a template kernel, and measures it with events.
#include <stdio.h>
#include <vector>
using namespace std;

// As in the helper header of CUDA's samples.
#ifdef __DRIVER_TYPES_H__
static const char* name_of(cudaError_t error) { return cudaGetErrorName(error); }
#endif
template <typename T> void check(T result, char const* const func, const char* const file, int const line)
{
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) %s\n", file, line, (int)result, name_of(result), func);
        exit(EXIT_FAILURE);
    }
}
#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)

template <int BLOCK_SIZE> __global__ void matrixMul(float* C, const float* A, const float* B, int wA, int wB)
{
    __shared__ float As[BLOCK_SIZE][BLOCK_SIZE], Bs[BLOCK_SIZE][BLOCK_SIZE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * BLOCK_SIZE + ty, column = blockIdx.x * BLOCK_SIZE + tx;
    float sum = 0;
    for (int t = 0; t < wA; t += BLOCK_SIZE) {
        As[ty][tx] = A[row * wA + t + tx];
        Bs[ty][tx] = B[(t + ty) * wB + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * wB + column] = sum;
}

int main()
{
    const int size = 64, block = 16;
    vector<float> a(size * size, 1.0f), b(size * size, 0.25f), c(size * size);
    const size_t bytes = a.size() * sizeof(float);
    float *dA, *dB, *dC, milliseconds = -1;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    checkCudaErrors(cudaMalloc(reinterpret_cast<void**>(&dA), bytes));
    checkCudaErrors(cudaMalloc(reinterpret_cast<void**>(&dB), bytes));
    checkCudaErrors(cudaMalloc(reinterpret_cast<void**>(&dC), bytes));
    checkCudaErrors(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    checkCudaErrors(cudaEventCreate(&start));
    checkCudaErrors(cudaEventCreate(&stop));
    checkCudaErrors(cudaMemcpyAsync(dA, a.data(), bytes, cudaMemcpyHostToDevice, stream));
    checkCudaErrors(cudaMemcpyAsync(dB, b.data(), bytes, cudaMemcpyHostToDevice, stream));
    dim3 threads(block, block), grid(size / threads.x, size / threads.y);
    checkCudaErrors(cudaEventRecord(start, stream));
    for (int i = 0; i < 2; ++i)
        matrixMul<block><<<grid, threads, 0, stream>>>(dC, dA, dB, size, size);
    checkCudaErrors(cudaEventRecord(stop, stream));
    checkCudaErrors(cudaEventSynchronize(stop));
    checkCudaErrors(cudaEventElapsedTime(&milliseconds, start, stop));
    checkCudaErrors(cudaMemcpyAsync(c.data(), dC, bytes, cudaMemcpyDeviceToHost, stream));
    checkCudaErrors(cudaStreamSynchronize(stream));
    bool right = milliseconds > 0;
    for (float x : c)
        right = right && x == 0.25f * size;
    printf("Result = %s\n", right ? "PASS" : "FAIL");
    checkCudaErrors(cudaEventDestroy(start));
    checkCudaErrors(cudaStreamDestroy(stream));
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
