// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// What files of programs mix: types of the host, and names of std that kernels use.
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <pthread.h>
#include <type_traits>
#include <vector>
using namespace std;
using std::min;
using std::isnan;

typedef struct {
    pthread_t thread;
    FILE* log;
} Worker;
struct Options {
    map<string, int> values;
    ofstream* out;
    Worker worker;
};
struct Sizes {
    std::size_t count;
    std::uint32_t bits;
    __device__ float root() const { return std::sqrt(float(count)); }
};
struct Particle {
    float* array; // also a class of std
    int pair;
    __host__ __device__ int twice() const { return 2 * pair; }
};
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
template <class T> __constant__ T pi = T(3.140625);
template <class T> __device__ typename enable_if<is_integral<T>::value, T>::type largest()
{
    return numeric_limits<T>::max();
}
template <class T> __device__ std::enable_if_t<std::is_floating_point<T>::value, T> largest()
{
    return std::numeric_limits<T>::max();
}

namespace {
__device__ int hidden = 40;
template <class T> __global__ void limits(T* out)
{
    __shared__ T values[ceil_div(10, 4)];
    values[0] = largest<T>();
    *out = values[0];
}
} // namespace
__global__ void numbers(double* out, Particle particle, Sizes sizes)
{
    out[0] = std::isinf(INFINITY) + isnan(NAN) + std::sqrt(16.0f) + pi<float>;
    out[1] = (uintptr_t)out % 8 + particle.twice() + hidden;
    out[2] = sizes.root() + (numeric_limits<float>::infinity() > FLT_MAX);
}
template <class... T> __global__ void collect(int* out, T... values)
{
    int sum = 0;
    for (int value : {int(values)...})
        sum += value;
    *out = sum;
}
static __global__ void set(int* out) { *out = 1; }
static __global__ void set(float* out) { *out = 2; }

int main()
{
    Options options;
    options.values["n"] = 3;
    vector<double> host(3);
    double* out;
    int *whole, largest_int, collected, one;
    cudaMalloc(&out, 3 * sizeof(double));
    cudaMalloc(&whole, sizeof(int));
    float three = 3;
    int thirty = 30;
    cudaMemcpyToSymbol(hidden, &thirty, sizeof thirty);
    cudaMemcpyToSymbol(pi<float>, &three, sizeof three);
    numbers<<<1, 1>>>(out, Particle{nullptr, options.values["n"]}, Sizes{9, 1});
    cudaMemcpy(host.data(), out, 3 * sizeof(double), cudaMemcpyDeviceToHost);
    limits<<<1, 1>>>(whole);
    cudaMemcpy(&largest_int, whole, sizeof(int), cudaMemcpyDeviceToHost);
    collect<<<1, 1>>>(whole, 1, 2.5f, 'c');
    cudaMemcpy(&collected, whole, sizeof(int), cudaMemcpyDeviceToHost);
    set<<<1, 1>>>(whole);
    set<<<1, 1>>>((float*)out);
    cudaMemcpy(&one, whole, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%g %g %g, %d, %d %d\n", host[0], host[1], host[2], largest_int == INT_MAX, collected, one);
    return cudaGetLastError();
}
