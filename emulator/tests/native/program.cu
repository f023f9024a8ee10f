// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// The kernels of program.cpp; the last one fails.
extern "C" __global__ void saxpy(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i] + y[i];
}
extern "C" __global__ void sum(const int* x, int* out)
{
    __shared__ int s[128];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int k = 64; k; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (!threadIdx.x) atomicAdd(out, s[0]);
}
extern "C" __global__ void spin(volatile int* flag, int* out)
{
    if (threadIdx.x == 0) {
        while (!*flag) {}
        *out = 5;
    } else if (threadIdx.x == 1)
        *flag = 1;
}
struct Sixteen { unsigned long long low, high; };
extern "C" __global__ void words(const float* x, int* out)
{
    __shared__ Sixteen s;
    int votes = __popc(__ballot_sync(~0u, threadIdx.x % 3 == 0)), other = __shfl_xor_sync(~0u, (int)threadIdx.x, 5);
    if (threadIdx.x) return;
    out[0] = (int)x[0], out[1] = (int)x[1], out[2] = (unsigned char)x[2];
    out[3] = (char)-1 < 0;
    out[4] = __fdiv_ru(1, 3) > __fdiv_rd(1, 3) && __fadd_rz(1, 1e-9f) == 1 && __fadd_ru(1, 1e-9f) > 1;
    out[5] = votes;
    out[6] = other;
    s = {1, 2};
    Sixteen first = atomicCAS(&s, {1, 3}, {5, 6}), second = atomicCAS(&s, {1, 2}, {7, 8});
    out[7] = first.high == 2 && second.low == 1 && s.low == 7 && s.high == 8;
    char text[64];
    memset(text, 1, 64), memcpy(text + 1, "0123456789", 10), memmove(text + 3, text + 1, 20), memmove(text, text + 2, 20);
    out[8] = text[1] + text[2] * 256 + text[10] * 65536;
}
extern "C" __global__ void beyond(int* in, int* x, int n)
{
    x[n] = 1;
}
