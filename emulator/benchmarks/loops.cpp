// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// PolyBench-style loops, as kernels and as ordinary C++ for the host: software_device.py compiles this file both ways
// and compares the times. A step applies one function to each pair (i, j) of a range. Both use the same text for the
// functions.
#ifdef __CUDACC__
#define FUNCTION __device__ __forceinline__ void
#define STEP(name)                                                                                                     \
    extern "C" __global__ void name##_step(int rows, int columns, int n, int t, float* a, float* b, float* c)          \
    {                                                                                                                  \
        int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;                      \
        if (i < rows && j < columns)                                                                                   \
            name(i, j, n, t, a, b, c);                                                                                 \
    }
#else
#include <cmath>
#define FUNCTION static inline __attribute__((always_inline)) void
#define STEP(name)                                                                                                     \
    extern "C" void name##_step(int rows, int columns, int n, int t, float* a, float* b, float* c, int threads)        \
    {                                                                                                                  \
        if (rows == 1) {                                                                                               \
            _Pragma("omp parallel for num_threads(threads) if (threads > 1)")                                          \
            for (int j = 0; j < columns; ++j)                                                                          \
                name(0, j, n, t, a, b, c);                                                                             \
            return;                                                                                                    \
        }                                                                                                              \
        _Pragma("omp parallel for num_threads(threads) if (threads > 1)")                                              \
        for (int i = 0; i < rows; ++i)                                                                                 \
            for (int j = 0; j < columns; ++j)                                                                          \
                name(i, j, n, t, a, b, c);                                                                             \
    }
#endif

FUNCTION gemm(int i, int j, int n, int, float* a, float* b, float* c)
{
    c[i * n + j] *= 0.5f;
    for (int k = 0; k < n; ++k)
        c[i * n + j] += 1.5f * a[i * n + k] * b[k * n + j];
}
STEP(gemm)

FUNCTION conv2d(int i, int j, int n, int, float* a, float* b, float*)
{
    if (i > 0 && j > 0 && i < n - 1 && j < n - 1)
        b[i * n + j] = 0.2f * a[(i - 1) * n + j - 1] + 0.5f * a[(i - 1) * n + j] - 0.8f * a[(i - 1) * n + j + 1] -
                       0.3f * a[i * n + j - 1] + 0.6f * a[i * n + j] - 0.9f * a[i * n + j + 1] +
                       0.4f * a[(i + 1) * n + j - 1] + 0.7f * a[(i + 1) * n + j] + 0.1f * a[(i + 1) * n + j + 1];
}
STEP(conv2d)

// 3mm: three of these
FUNCTION product(int i, int j, int n, int t, float* a, float* b, float* c)
{
    const float* left = t == 1 ? b : a;
    const float* right = t == 2 ? c : b;
    float* result = (t == 0 ? c : t == 1 ? a : b) + n * n;
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += left[i * n + k] * right[k * n + j];
    result[i * n + j] = sum;
}
STEP(product)

FUNCTION syr2k(int i, int j, int n, int, float* a, float* b, float* c)
{
    c[i * n + j] *= 0.5f;
    for (int k = 0; k < n; ++k) {
        c[i * n + j] += 1.5f * a[i * n + k] * b[j * n + k];
        c[i * n + j] += 1.5f * b[i * n + k] * a[j * n + k];
    }
}
STEP(syr2k)

FUNCTION mean(int, int j, int n, int, float* a, float* b, float*)
{
    b[j] = 0;
    for (int i = 0; i < n; ++i)
        b[j] += a[i * n + j];
    b[j] /= n;
}
STEP(mean)
FUNCTION center(int i, int j, int n, int, float* a, float* b, float*) { a[i * n + j] -= b[j]; }
STEP(center)
FUNCTION covariance(int, int j, int n, int, float* a, float*, float* c)
{
    for (int k = j; k < n; ++k) {
        c[j * n + k] = 0;
        for (int i = 0; i < n; ++i)
            c[j * n + k] += a[i * n + j] * a[i * n + k];
        c[k * n + j] = c[j * n + k];
    }
}
STEP(covariance)

// Step t of a decomposition without pivots
FUNCTION lu_row(int, int j, int n, int t, float* a, float*, float*)
{
    j += t + 1;
    a[t * n + j] = a[t * n + j] / a[t * n + t];
}
STEP(lu_row)
FUNCTION lu_rest(int i, int j, int n, int t, float* a, float*, float*)
{
    i += t + 1, j += t + 1;
    a[i * n + j] -= a[i * n + t] * a[t * n + j];
}
STEP(lu_rest)

FUNCTION fdtd_y(int i, int j, int n, int t, float* a, float* b, float* c)
{
    b[i * n + j] = i == 0 ? float(t) : b[i * n + j] - 0.5f * (c[i * n + j] - c[(i - 1) * n + j]);
}
STEP(fdtd_y)
FUNCTION fdtd_x(int i, int j, int n, int, float* a, float*, float* c)
{
    if (j > 0)
        a[i * n + j] = a[i * n + j] - 0.5f * (c[i * n + j] - c[i * n + j - 1]);
}
STEP(fdtd_x)
FUNCTION fdtd_z(int i, int j, int n, int, float* a, float* b, float* c)
{
    if (i < n - 1 && j < n - 1)
        c[i * n + j] = c[i * n + j] - 0.7f * (a[i * n + j + 1] - a[i * n + j] + b[(i + 1) * n + j] - b[i * n + j]);
}
STEP(fdtd_z)

FUNCTION jacobi(int i, int j, int n, int, float* a, float* b, float*)
{
    if (i > 0 && j > 0 && i < n - 1 && j < n - 1)
        b[i * n + j] = 0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
}
STEP(jacobi)
FUNCTION jacobi_copy(int i, int j, int n, int, float* a, float* b, float*)
{
    if (i > 0 && j > 0 && i < n - 1 && j < n - 1)
        a[i * n + j] = b[i * n + j];
}
STEP(jacobi_copy)

FUNCTION saxpy(int i, int j, int n, int, float* a, float* b, float*) { b[i * n + j] = 1.5f * a[i * n + j] + b[i * n + j]; }
STEP(saxpy)

FUNCTION mandelbrot(int i, int j, int n, int, float*, float*, float* c)
{
    float x0 = 3.0f * j / n - 2.0f, y0 = 2.0f * i / n - 1.0f, x = 0, y = 0;
    int count = 0;
    for (; count < 256 && x * x + y * y < 4; ++count) {
        float next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
    }
    c[i * n + j] = count;
}
STEP(mandelbrot)

FUNCTION nbody(int, int j, int n, int, float* a, float* b, float* c)
{
    float x = a[j], y = b[j], force_x = 0, force_y = 0;
    for (int k = 0; k < n; ++k) {
        float dx = a[k] - x, dy = b[k] - y, square = dx * dx + dy * dy + 0.01f;
        float scale = 1 / (square * sqrtf(square));
        force_x += dx * scale;
        force_y += dy * scale;
    }
    c[j] = force_x;
    c[n + j] = force_y;
}
STEP(nbody)

// Kernels with barriers: a product and a transpose of matrices by tiles, and prefix sums of blocks of n numbers.
#ifdef __CUDACC__
extern "C" __global__ void tiles_step(int rows, int columns, int n, int t, float* a, float* b, float* c)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;
    for (int first = 0; first < n; first += 16) {
        tile_a[ty][tx] = a[y * n + first + tx];
        tile_b[ty][tx] = b[(first + ty) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            sum += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

extern "C" __global__ void transpose_step(int rows, int columns, int n, int t, float* a, float* b, float* c)
{
    __shared__ float tile[32][33];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32, y = blockIdx.y * 32;
    for (int k = ty; k < 32; k += 8)
        tile[k][tx] = a[(y + k) * n + x + tx];
    __syncthreads();
    for (int k = ty; k < 32; k += 8)
        b[(x + k) * n + y + tx] = tile[tx][k];
}

extern "C" __global__ void scan_step(int rows, int columns, int n, int t, float* a, float* b, float* c)
{
    __shared__ float sums[1024];
    int i = threadIdx.x, j = blockIdx.x * n + i;
    sums[i] = int(a[j]);
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        float before = i >= d ? sums[i - d] : 0;
        __syncthreads();
        sums[i] += before;
        __syncthreads();
    }
    b[j] = sums[i];
}
#else
extern "C" void tiles_step(int rows, int columns, int n, int, float* a, float* b, float* c, int threads)
{
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j)
            c[i * n + j] = 0;
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < columns; ++j)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

extern "C" void transpose_step(int rows, int columns, int n, int, float* a, float* b, float*, int threads)
{
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            b[j * n + i] = a[i * n + j];
}

extern "C" void scan_step(int, int columns, int n, int, float* a, float* b, float*, int threads)
{
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int first = 0; first < columns; first += n) {
        float sum = 0;
        for (int j = first; j < first + n; ++j)
            b[j] = sum += int(a[j]);
    }
}

// Runs steps as loops, and as kernels through cuLaunchKernel() or a function with its signature.
struct Step {
    void* function;
    int rows, columns, n, t, block_x, block_y, row_step;
};
typedef void Loops(int, int, int, int, float*, float*, float*, int);
typedef int Launch(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);

extern "C" void run_loops(const Step* steps, int count, float* a, float* b, float* c, int threads)
{
    for (int i = 0; i < count; ++i) {
        const Step& s = steps[i];
        reinterpret_cast<Loops*>(s.function)(s.rows, s.columns, s.n, s.t, a, b, c, threads);
    }
}

extern "C" int run_kernels(const Step* steps, int count, float* a, float* b, float* c, Launch* launch, void* stream)
{
    for (int i = 0; i < count; ++i) {
        Step s = steps[i];
        void* parameters[] = {&s.rows, &s.columns, &s.n, &s.t, &a, &b, &c};
        if (int failed = launch(s.function, (s.columns + s.block_x - 1) / s.block_x, (s.rows + s.row_step - 1) / s.row_step,
                                1, s.block_x, s.block_y, 1, 0, stream, parameters, nullptr))
            return failed;
    }
    return 0;
}

// Launches a kernel without parameters and waits for it, `count` times.
extern "C" int launch_each(void* kernel, int blocks, int threads, int count, Launch* launch, int (*synchronize)(void*),
                           void* stream)
{
    for (int i = 0; i < count; ++i)
        if (launch(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, nullptr, nullptr) || synchronize(stream))
            return 1;
    return 0;
}
#endif
