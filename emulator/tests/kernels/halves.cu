// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>

extern "C" {

__global__ void add_pairs(const __half2* a, const __half2* b, __half2* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __hadd2(a[i], b[i]);
}

__global__ void scale_and_shift(half* x, __half factor, half2 shift, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * factor + (i % 2 ? shift.y : shift.x);
}

__global__ void narrow(const float* x, half* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __float2half(x[i]);
}

// Each thread computes two neighboring elements of a tile of 16 rows and 32 columns.
__global__ void multiply(const half* a, const half2* b, half2* c, int n)
{
    __shared__ half left[16][16];
    __shared__ half2 right[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    half2 sum = __float2half2_rn(0.0f);
    for (int tile = 0; tile < n; tile += 16) {
        left[ty][tx] = a[row * n + tile + tx];
        right[ty][tx] = b[(tile + ty) * (n / 2) + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k)
            sum = __hfma2(__half2half2(left[ty][k]), right[k][tx], sum);
        __syncthreads();
    }
    c[row * (n / 2) + column] = sum;
}

// One block for each row; sums in float.
__global__ void softmax(const __nv_bfloat16* in, __nv_bfloat16* out, int columns)
{
    __shared__ float partial[128];
    const __nv_bfloat16* row = in + blockIdx.x * columns;
    __nv_bfloat16 most = row[0];
    for (int i = 0; i < columns; ++i)
        most = __hmax(most, row[i]);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += expf(__bfloat162float(row[i]) - __bfloat162float(most));
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half_size = blockDim.x / 2; half_size > 0; half_size /= 2) {
        if (threadIdx.x < half_size)
            partial[threadIdx.x] += partial[threadIdx.x + half_size];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float share = expf(float(row[i]) - float(most)) / partial[0];
        out[blockIdx.x * columns + i] = __float2bfloat16_rn(share);
    }
}

__global__ void quantize(const float* x, float scale, __nv_fp8_e4m3* packed, float* back, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    packed[i] = __nv_fp8_e4m3(x[i] / scale);
    back[i] = float(packed[i]) * scale;
}

}
