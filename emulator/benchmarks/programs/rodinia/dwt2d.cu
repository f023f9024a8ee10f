// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Levels of the reversible 5/3 wavelet: rows in shared memory by a class template, then columns.
#include "../common/check.h"
#include <cassert>

#define SIDE 64
#define LEVELS 2

namespace dwt {

inline int divRndUp(int n, int d)
{
    return (n / d) + ((n % d) ? 1 : 0);
}

/* A line of samples, with mirrored ends. */
template <int MAX>
class Line {
private:
    int data[MAX];

public:
    __device__ int &at(int i, int n)
    {
        if (i < 0) i = -i;
        if (i >= n) i = 2 * n - 2 - i;
        return data[i];
    }
    __device__ void predict(int i, int n) { at(2 * i + 1, n) -= (at(2 * i, n) + at(2 * i + 2, n)) >> 1; }
    __device__ void update(int i, int n) { at(2 * i, n) += (at(2 * i - 1, n) + at(2 * i + 1, n) + 2) >> 2; }
};

/* A block transforms a row (STEP 1) or a column; low half first. */
template <int MAX, bool COLUMNS>
__global__ void fdwt53(const int *in, int *out, int n)
{
    __shared__ Line<MAX> line;
    const int step = COLUMNS ? SIDE : 1, offset = COLUMNS ? blockIdx.x : blockIdx.x * SIDE;
    assert(n <= MAX);
    for (int i = threadIdx.x; i < n; i += blockDim.x) line.at(i, n) = in[offset + i * step];
    __syncthreads();
    for (int i = threadIdx.x; i < n / 2; i += blockDim.x) line.predict(i, n);
    __syncthreads();
    for (int i = threadIdx.x; i < n / 2; i += blockDim.x) line.update(i, n);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[offset + (i / 2 + (i % 2) * (n / 2)) * step] = line.at(i, n);
}

void forward(int *data, int *other, int n)
{
    fdwt53<SIDE, false><<<n, divRndUp(n, 2)>>>(data, other, n);
    fdwt53<SIDE, true><<<n, divRndUp(n, 2)>>>(other, data, n);
}

}  // namespace dwt

static void lift(int *x, int n, int step)
{
    int line[SIDE], half = n / 2;
    for (int i = 0; i < n; i++) line[i] = x[i * step];
    for (int i = 1; i < n; i += 2) line[i] -= (line[i - 1] + line[i + 1 < n ? i + 1 : n - 2]) >> 1;
    for (int i = 0; i < n; i += 2) line[i] += (line[i ? i - 1 : 1] + line[i + 1] + 2) >> 2;
    for (int i = 0; i < n; i++) x[(i / 2 + i % 2 * half) * step] = line[i];
}

int main()
{
    static int image[SIDE * SIDE], found[SIDE * SIDE];
    unsigned seed = 19;
    int mismatches = 0, *other;
    for (int i = 0; i < SIDE * SIDE; i++) image[i] = (int)(next_random(&seed) % 256) - 128;
    int *data = to_device(image, SIDE * SIDE);
    gpuErrchk(cudaMalloc((void **)&other, sizeof(image)));
    for (int level = 0, n = SIDE; level < LEVELS; level++, n /= 2) {
        dwt::forward(data, other, n);
        for (int y = 0; y < n; y++) lift(image + y * SIDE, n, 1);
        for (int x = 0; x < n; x++) lift(image + x, n, SIDE);
    }
    gpuErrchk(cudaMemcpy(found, data, sizeof(found), cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIDE * SIDE; i++) mismatches += image[i] != found[i];
    return report("dwt2d", mismatches);
}
