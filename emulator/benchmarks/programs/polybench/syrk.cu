// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// C = alpha A A' + beta C
#include "../common/check.h"
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace std;

static const int N = 88, M = 72;

template <class T>
struct Problem {
    vector<T> a, c;
    T alpha, beta;
};

template <class T>
__global__ void syrk_kernel(T alpha, T beta, const T *a, T *c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < N) && (j < N)) {
        c[i * N + j] *= beta;
        for (int k = 0; k < M; k++) c[i * N + j] += alpha * a[i * M + k] * a[j * M + k];
    }
}

template <class T>
vector<T> syrk_host(const Problem<T> &p)
{
    vector<T> c = p.c;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            c[i * N + j] *= p.beta;
            for (int k = 0; k < M; k++) c[i * N + j] += p.alpha * p.a[i * M + k] * p.a[j * M + k];
        }
    return c;
}

template <class T>
vector<T> syrk_gpu(const Problem<T> &p)
{
    T *a = to_device(p.a.data(), p.a.size()), *c = to_device(p.c.data(), p.c.size());
    vector<T> found(p.c.size());
    dim3 block(32, 8), grid(DIVIDE_UP(N, block.x), DIVIDE_UP(N, block.y));
    syrk_kernel<T><<<grid, block>>>(p.alpha, p.beta, a, c);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(found.data(), c, found.size() * sizeof(T), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaFree(a));
    gpuErrchk(cudaFree(c));
    return found;
}

template <class T>
int mismatches()
{
    unsigned seed = 5;
    Problem<T> p{vector<T>(N * M), vector<T>(N * N), T(12435), T(4546)};
    for (T &x : p.a) x = (next_random(&seed) % 1000) / T(1000);
    for (T &x : p.c) x = (next_random(&seed) % 1000) / T(1000);
    vector<T> expected = syrk_host(p), found = syrk_gpu(p);
    int count = 0;
    for (size_t i = 0; i < found.size(); i++) count += !(fabs(found[i] - expected[i]) <= 0.001 * fabs(expected[i]));
    return count;
}

int main()
{
    cout << "float and double" << endl;
    return report("syrk", mismatches<float>() + mismatches<double>());
}
