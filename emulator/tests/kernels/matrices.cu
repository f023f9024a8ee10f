// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Products and transposes of matrices, dense and sparse, and linear equations.

extern "C" __global__ void product(const double* a, const double* b, double* c, int rows, int inner, int columns)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows)
        return;
    double sum = 0;
    for (int k = 0; k < inner; ++k)
        sum += a[y * inner + k] * b[k * columns + x];
    c[y * columns + x] = sum;
}

// The product by tiles in shared memory; the sizes need not be multiples of a tile.
template <class T, int size> __global__ void tiled_product(const T* a, const T* b, T* c, int rows, int inner, int columns)
{
    __shared__ T tile_a[size][size], tile_b[size][size];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * size + tx, y = blockIdx.y * size + ty;
    T sum = 0;
    for (int first = 0; first < inner; first += size) {
        tile_a[ty][tx] = y < rows && first + tx < inner ? a[y * inner + first + tx] : T(0);
        tile_b[ty][tx] = x < columns && first + ty < inner ? b[(first + ty) * columns + x] : T(0);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < size; ++k)
            sum += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    if (x < columns && y < rows)
        c[y * columns + x] = sum;
}

// 8 rows of 32 threads transpose a tile of 32 by 32; the extra column avoids bank conflicts.
extern "C" __global__ void transpose(const float* in, float* out, int width, int height)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int row = 0; row < 32; row += 8)
        if (x < width && y + row < height)
            tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int row = 0; row < 32; row += 8)
        if (x < height && y + row < width)
            out[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
}

// The product of a matrix in compressed sparse rows and a vector, with a thread for each row.
extern "C" __global__ void sparse_by_threads(const int* starts, const int* columns, const double* values,
                                             const double* x, double* y, int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k)
        sum += values[k] * x[columns[k]];
    y[row] = sum;
}

// The same product with a warp for each row.
extern "C" __global__ void sparse_by_warps(const int* starts, const int* columns, const double* values,
                                           const double* x, double* y, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    double sum = 0;
    for (int k = starts[row] + lane; k < starts[row + 1]; k += 32)
        sum += values[k] * x[columns[k]];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane == 0)
        y[row] = sum;
}

// Gaussian elimination with pivots by one block, with a thread for each column of the matrix and of the right side.
extern "C" __global__ void solve(double* system, int n)
{
    __shared__ int pivot;
    const int column = threadIdx.x, width = n + 1;
    for (int step = 0; step < n; ++step) {
        if (column == 0) {
            pivot = step;
            for (int row = step + 1; row < n; ++row)
                if (fabs(system[row * width + step]) > fabs(system[pivot * width + step]))
                    pivot = row;
        }
        __syncthreads();
        const double own = system[pivot * width + column], divisor = system[pivot * width + step];
        const double upper = system[step * width + column];
        __syncthreads();
        system[pivot * width + column] = upper;
        system[step * width + column] = own / divisor;
        __syncthreads();
        for (int row = 0; row < n; ++row) {
            const double factor = system[row * width + step];
            __syncthreads();
            if (row != step)
                system[row * width + column] -= factor * own / divisor;
        }
        __syncthreads();
    }
}

// One Jacobi iteration.
extern "C" __global__ void jacobi(const float* matrix, const float* right, const float* now, float* next, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    float sum = right[row];
    for (int k = 0; k < n; ++k)
        if (k != row)
            sum -= matrix[row * n + k] * now[k];
    next[row] = sum / matrix[row * n + row];
}
