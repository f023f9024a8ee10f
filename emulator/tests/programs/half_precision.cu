// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Converts and computes in half precision and bfloat16, on the host as well.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdio.h>
#include <vector>

struct Weights {
    half2 pair;
    __nv_bfloat16 bias;
};
template <typename T> __global__ void axpy(T* y, const T* x, T a, int n)
{
    int i = threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
__global__ void dot(const half* a, const half* b, Weights weights, float* out)
{
    half2 product = __hmul2(__halves2half2(a[0], a[1]), __halves2half2(b[0], b[1]));
    product = __hfma2(product, weights.pair, weights.pair);
    *out = __low2float(product) + __half2float(__high2half(product)) + __bfloat162float(weights.bias);
}

int main()
{
    const int n = 16;
    std::vector<half> x(n), y(n);
    std::vector<__nv_bfloat16> u(n), v(n);
    for (int i = 0; i < n; ++i) {
        x[i] = __float2half(i / 8.0f), y[i] = half(1.0f);
        u[i] = __float2bfloat16(i * 2.0f), v[i] = __nv_bfloat16(0.5f);
    }
    half *dx, *dy;
    __nv_bfloat16 *du, *dv;
    float *d_out, out;
    cudaMalloc(&dx, n * sizeof(half)), cudaMalloc(&dy, n * sizeof(half)), cudaMalloc(&d_out, sizeof(float));
    cudaMalloc(&du, n * sizeof(__nv_bfloat16)), cudaMalloc(&dv, n * sizeof(__nv_bfloat16));
    cudaMemcpy(dx, x.data(), n * sizeof(half), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), n * sizeof(half), cudaMemcpyHostToDevice);
    cudaMemcpy(du, u.data(), n * sizeof(u[0]), cudaMemcpyHostToDevice);
    cudaMemcpy(dv, v.data(), n * sizeof(v[0]), cudaMemcpyHostToDevice);
    axpy<<<1, n>>>(dy, dx, __float2half(4), n);
    axpy<__nv_bfloat16><<<1, n>>>(dv, du, __float2bfloat16(2), n);
    Weights weights = {__floats2half2_rn(2, 3), __float2bfloat16(0.25f)};
    dot<<<1, 1>>>(dy + 2, dx + 2, weights, d_out);
    cudaMemcpy(y.data(), dy, n * sizeof(half), cudaMemcpyDeviceToHost);
    cudaMemcpy(v.data(), dv, n * sizeof(v[0]), cudaMemcpyDeviceToHost);
    cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    float rounded = __half2float(__float2half(0.1f)), sum = float(y[3] + y[5]);
    printf("%g %g %g, %.7f %g %d\n", __half2float(y[15]), __bfloat162float(v[15]), out, rounded, sum, y[3] > y[2]);
    return cudaGetLastError();
}
