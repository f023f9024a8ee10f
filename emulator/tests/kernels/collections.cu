// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Kernels in the manner of public collections of benchmarks: linear algebra, stencils, dynamic programming, graphs,
// statistics. Sizes of arrays are shifts and macros, constants have their values in parentheses, and a template is never
// used.

#define LOG_TILE 4
#define TILE (1 << LOG_TILE)
#define LANES (TILE << 1)

enum Direction { NORTH = 0, SOUTH = 1, WEST = 2, EAST = 3, DIRECTIONS };

constexpr unsigned HALF(TILE / 2);
constexpr float RATE(0.25f);
constexpr int NEIGHBORS(DIRECTIONS);
__constant__ float taps[(1 << 3) + 1] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
__device__ unsigned int visits(0);

// Never used: the names in its body are known nowhere.
template <class T> __device__ T interpolate(const T* table, float at)
{
    return linear_between(table, at) + offset_of_table(at) + table[LAST_ENTRY];
}

extern "C" {

// ------------------------------------------------------------------------ linear algebra

__global__ void atax(const float* a, const float* x, float* y, int n)
{
    __shared__ float part[1 << 6];
    int column = threadIdx.x;
    float total = 0;
    for (int row = 0; row < n; ++row) {
        part[column] = column < n ? a[row * n + column] * x[column] : 0;
        __syncthreads();
        for (unsigned step = (1 << 6) >> 1; step; step >>= 1) {
            if (threadIdx.x < step)
                part[threadIdx.x] += part[threadIdx.x + step];
            __syncthreads();
        }
        if (column < n)
            total += a[row * n + column] * part[0];
        __syncthreads();
    }
    if (column < n)
        y[column] = total;
}

__global__ void bicg(const float* a, const float* p, const float* r, float* q, float* s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float along = 0, across = 0;
    for (int k = 0; k < n; ++k) {
        along += a[i * n + k] * p[k];
        across += a[k * n + i] * r[k];
    }
    q[i] = along, s[i] = across;
}

__global__ void gesummv(const double* a, const double* b, const double* x, double* y, double alpha, double beta, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double first = 0, second = 0;
    for (int k = 0; i < n && k < n; ++k) {
        first += a[i * n + k] * x[k];
        second += b[i * n + k] * x[k];
    }
    if (i < n)
        y[i] = alpha * first + beta * second;
}

__global__ void syrk(const float* a, float* c, int n)
{
    __shared__ float left[TILE][TILE], right[1 << LOG_TILE][(1 << LOG_TILE) + 1];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = a[(blockIdx.x * TILE + threadIdx.y) * n + k + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += left[threadIdx.y][i] * right[threadIdx.x][i];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// LU decomposition of a tile in place.
__global__ void lud_diagonal(float* a)
{
    __shared__ float tile[TILE][TILE];
    int column = threadIdx.x;
    for (int row = 0; row < TILE; ++row)
        tile[row][column] = a[row * TILE + column];
    __syncthreads();
    for (int pivot = 0; pivot < TILE - 1; ++pivot) {
        if (column > pivot) {
            tile[column][pivot] /= tile[pivot][pivot];
            for (int k = pivot + 1; k < TILE; ++k)
                tile[column][k] -= tile[column][pivot] * tile[pivot][k];
        }
        __syncthreads();
    }
    for (int row = 0; row < TILE; ++row)
        a[row * TILE + column] = tile[row][column];
}

// -------------------------------------------------------------------------------- stencils

__global__ void jacobi_2d(const float* in, float* out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    const int steps[NEIGHBORS] = {-n, n, -1, 1};
    float sum = in[y * n + x];
    for (int side = NORTH; side < DIRECTIONS; ++side)
        sum += in[y * n + x + steps[side]];
    out[y * n + x] = 0.2f * sum;
}

__global__ void hotspot(const float* in, const float* power, float* out, int n)
{
    __shared__ float heat[TILE + 2][TILE + 2];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    auto at = [=](int row, int column) { return in[min(max(row, 0), n - 1) * n + min(max(column, 0), n - 1)]; };
    for (unsigned i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE << LOG_TILE) {
        int row = i / (TILE + 2), column = i % (TILE + 2);
        heat[row][column] = at(blockIdx.y * TILE + row - 1, blockIdx.x * TILE + column - 1);
    }
    __syncthreads();
    int row = threadIdx.y + 1, column = threadIdx.x + 1;
    float middle = heat[row][column];
    out[y * n + x] = middle + RATE * (heat[row - 1][column] + heat[row + 1][column] + heat[row][column - 1] +
                                      heat[row][column + 1] - 4 * middle) + power[y * n + x];
}

__global__ void fdtd_h(float* hz, const float* ex, const float* ey, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        hz[y * n + x] -= 0.7f * (ex[y * (n + 1) + x + 1] - ex[y * (n + 1) + x] + ey[(y + 1) * n + x] - ey[y * n + x]);
}

__global__ void convolve_rows(const float* in, float* out, int n)
{
    __shared__ float row[(TILE << 2) + (1 << 3)];
    int begin = blockIdx.x * (TILE << 2);
    for (int i = threadIdx.x; i < (TILE << 2) + (1 << 3); i += blockDim.x) {
        int at = begin + i - 4;
        row[i] = at >= 0 && at < n ? in[at] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 1 << 3; ++k)
        sum += taps[k] * row[threadIdx.x + k];
    if (begin + int(threadIdx.x) < n)
        out[begin + threadIdx.x] = sum / 256;
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    auto at = [&](int dx, int dy) { return int(in[(y + dy) * width + x + dx]); };
    int h = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
    int v = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
    out[y * width + x] = (unsigned char)min(abs(h) + abs(v), 255);
}

__global__ void life(const unsigned char* in, unsigned char* out, int n)
{
    int x = threadIdx.x, y = blockIdx.x, alive = 0;
    for (int i = 0; i < 9; ++i)
        if (i != 4)
            alive += in[(y + i / 3 - 1 + n) % n * n + (x + i % 3 - 1 + n) % n];
    out[y * n + x] = alive == 3 || (alive == 2 && in[y * n + x]);
}

// --------------------------------------------------------------------- dynamic programming

__global__ void pathfinder(const int* wall, int* result, int rows)
{
    __shared__ int before[TILE << 3], now[TILE << 3];
    int i = threadIdx.x, last = blockDim.x - 1;
    before[i] = wall[i];
    for (int row = 1; row < rows; ++row) {
        __syncthreads();
        int least = min(before[i], min(before[max(i - 1, 0)], before[min(i + 1, last)]));
        now[i] = wall[row * blockDim.x + i] + least;
        __syncthreads();
        before[i] = now[i];
    }
    result[i] = before[i];
}

// The score of an alignment of two sequences, along anti-diagonals.
__global__ void needleman_wunsch(const char* a, const char* b, int* score, int n)
{
    __shared__ int cell[(1 << 5) + 1][(1 << 5) + 1];
    int i = threadIdx.x;
    if (i <= n)
        cell[i][0] = cell[0][i] = -i;
    __syncthreads();
    for (int diagonal = 2; diagonal <= 2 * n; ++diagonal) {
        int row = i, column = diagonal - i;
        if (row >= 1 && row <= n && column >= 1 && column <= n) {
            int same = a[row - 1] == b[column - 1] ? 1 : -1;
            cell[row][column] =
                max(cell[row - 1][column - 1] + same, max(cell[row - 1][column], cell[row][column - 1]) - 1);
        }
        __syncthreads();
    }
    if (i == 0)
        *score = cell[n][n];
}

__global__ void floyd_warshall(int* distance, int n, int through)
{
    int i = blockIdx.x, j = threadIdx.x;
    int longer = distance[i * n + through] + distance[through * n + j];
    if (longer < distance[i * n + j])
        distance[i * n + j] = longer;
}

// ------------------------------------------------------------------------------ graphs

__global__ void bfs_level(const int* begins, const int* targets, int* level, int depth, int n)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || ((const volatile int*)level)[node] != depth) // other threads update it
        return;
    for (int edge = begins[node]; edge < begins[node + 1]; ++edge)
        if (atomicCAS(&level[targets[edge]], -1, depth + 1) == -1)
            atomicAdd(&visits, 1u);
}

__global__ void page_rank(const int* begins, const int* sources, const int* degree, const double* rank, double* next,
                          int n)
{
    constexpr double damping(0.85);
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n)
        return;
    double sum = 0;
    for (int edge = begins[node]; edge < begins[node + 1]; ++edge)
        sum += rank[sources[edge]] / degree[sources[edge]];
    next[node] = (1 - damping) / n + damping * sum;
}

// --------------------------------------------------------------------- statistics, learning

__global__ void covariance(const double* data, double* out, int rows, int columns)
{
    __shared__ double mean[1 << 2];
    if (threadIdx.x < unsigned(columns) && threadIdx.y == 0) {
        double sum = 0;
        for (int row = 0; row < rows; ++row)
            sum += data[row * columns + threadIdx.x];
        mean[threadIdx.x] = sum / rows;
    }
    __syncthreads();
    double sum = 0;
    for (int row = 0; row < rows; ++row)
        sum += (data[row * columns + threadIdx.y] - mean[threadIdx.y]) *
               (data[row * columns + threadIdx.x] - mean[threadIdx.x]);
    out[threadIdx.y * columns + threadIdx.x] = sum / (rows - 1);
}

__global__ void kmeans_assign(const float2* points, const float2* centers, int* nearest, int n)
{
    __shared__ float2 center[1 << 3];
    if (threadIdx.x < 1 << 3)
        center[threadIdx.x] = centers[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    if (i >= n)
        return;
    float least = 1e30f;
    for (int k = 0; k < 1 << 3; ++k) {
        float dx = points[i].x - center[k].x, dy = points[i].y - center[k].y, d = dx * dx + dy * dy;
        if (d < least)
            least = d, best = k;
    }
    nearest[i] = best;
}

__global__ void layer_forward(const float* in, const float* weights, float* out, int inputs)
{
    __shared__ float part[LANES];
    float sum = 0;
    for (int i = threadIdx.x; i < inputs; i += LANES)
        sum += in[i] * weights[blockIdx.x * inputs + i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned step = HALF << 1; step; step >>= 1) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = 1 / (1 + expf(-part[0]));
}

__global__ void softmax_rows(const float* in, float* out, int columns)
{
    const float* row = in + blockIdx.x * columns;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < columns; i += 32)
        most = fmaxf(most, row[i]);
    for (int step = 1 << 4; step; step >>= 1)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    for (int i = threadIdx.x; i < columns; i += 32)
        sum += expf(row[i] - most);
    for (int step = 1 << 4; step; step >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    for (int i = threadIdx.x; i < columns; i += 32)
        out[blockIdx.x * columns + i] = expf(row[i] - most) / sum;
}

__global__ void adam(float* x, const float* gradient, float* m, float* v, int step, int n)
{
    constexpr float b1(0.9f), b2(0.999f);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    m[i] = b1 * m[i] + (1 - b1) * gradient[i];
    v[i] = b2 * v[i] + (1 - b2) * gradient[i] * gradient[i];
    float first = m[i] / (1 - powf(b1, step)), second = v[i] / (1 - powf(b2, step));
    x[i] -= 0.001f * first / (sqrtf(second) + 1e-8f);
}

// The first entry of a cumulative distribution that is not below each value.
__global__ void find_index(const double* cumulative, const double* values, int* index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = n - 1;
    if (i >= n)
        return;
    while (low < high) {
        int middle = (low + high) >> 1;
        cumulative[middle] < values[i] ? low = middle + 1 : high = middle;
    }
    index[i] = low;
}

// -------------------------------------------------------------------------------- finance

__device__ __forceinline__ double normal(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752);
}

__global__ void black_scholes(const double* spot, const double* strike, double* call, double rate, double sigma, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double d1 = (log(spot[i] / strike[i]) + rate + 0.5 * sigma * sigma) / sigma, d2 = d1 - sigma;
    call[i] = spot[i] * normal(d1) - strike[i] * exp(-rate) * normal(d2);
}

// An American option by a tree of prices, one level after the other.
__global__ void binomial(const double* leaves, double* value, double up, double discount)
{
    __shared__ double price[(1 << 6) + 1];
    price[threadIdx.x] = leaves[threadIdx.x];
    for (int level = blockDim.x - 1; level > 0; --level) {
        __syncthreads();
        double next = int(threadIdx.x) < level
                          ? discount * (up * price[threadIdx.x + 1] + (1 - up) * price[threadIdx.x])
                          : 0;
        __syncthreads();
        price[threadIdx.x] = next;
    }
    if (threadIdx.x == 0)
        *value = price[0];
}

// ------------------------------------------------------------------------- transforms, bits

__global__ void transpose_padded(const double* in, double* out, int n)
{
    __shared__ double tile[1 << 4][(1 << 4) + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * TILE + threadIdx.y) * n + blockIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void haar(float* x)
{
    __shared__ float step[2][1 << 5];
    for (unsigned half = blockDim.x >> 1; half; half >>= 1) {
        if (threadIdx.x < half) {
            step[0][threadIdx.x] = (x[2 * threadIdx.x] + x[2 * threadIdx.x + 1]) * 0.5f;
            step[1][threadIdx.x] = (x[2 * threadIdx.x] - x[2 * threadIdx.x + 1]) * 0.5f;
        }
        __syncthreads();
        if (threadIdx.x < half) {
            x[threadIdx.x] = step[0][threadIdx.x];
            x[half + threadIdx.x] = step[1][threadIdx.x];
        }
        __syncthreads();
    }
}

__global__ void histogram_of_warps(const unsigned char* data, unsigned int* bins, int n)
{
    __shared__ unsigned int count[1 << 2][1 << 6];
    for (int i = threadIdx.x; i < (1 << 2) << 6; i += blockDim.x)
        count[i >> 6][i & 63] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&count[threadIdx.x >> 5][data[i] >> 2], 1u);
    __syncthreads();
    if (threadIdx.x < 1 << 6) {
        unsigned int sum = 0;
        for (int warp = 0; warp < 1 << 2; ++warp)
            sum += count[warp][threadIdx.x];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}

__global__ void collatz(int* steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int count = 0;
    for (unsigned long long x = i + 1ull; x != 1; ++count)
        x = x & 1 ? 3 * x + 1 : x >> 1;
    steps[i] = count;
}

// The solutions of n queens whose first queen stands in the column of the thread.
__global__ void n_queens(int* solutions, int n)
{
    int stack[1 << 4], row = 1;
    stack[0] = threadIdx.x, stack[1] = -1;
    int found = 0;
    while (row > 0) {
        int column = ++stack[row];
        if (column >= n) {
            --row;
            continue;
        }
        bool safe = true;
        for (int k = 0; k < row && safe; ++k)
            safe = stack[k] != column && abs(stack[k] - column) != row - k;
        if (safe && row == n - 1)
            ++found;
        else if (safe)
            stack[++row] = -1;
    }
    solutions[threadIdx.x] = found;
}

} // extern "C"
