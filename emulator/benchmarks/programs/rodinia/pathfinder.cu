// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// The cheapest path through a grid, several rows in each launch.
#include "../common/check.h"

#define BLOCK_SIZE 64
#define COLS 400
#define ROWS 30
#define PYRAMID_HEIGHT 6
#define HALO 1
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__global__ void dynproc_kernel(int iteration, int *gpuWall, int *gpuSrc, int *gpuResults, int cols, int startStep,
                               int border)
{
    __shared__ int prev[BLOCK_SIZE];
    __shared__ int result[BLOCK_SIZE];
    int bx = blockIdx.x, tx = threadIdx.x;
    int small_block_cols = BLOCK_SIZE - iteration * HALO * 2;
    int blkX = small_block_cols * bx - border, blkXmax = blkX + BLOCK_SIZE - 1, xidx = blkX + tx;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - cols + 1) : BLOCK_SIZE - 1;
    int W = tx - 1, E = tx + 1;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;
    bool isValid = IN_RANGE(tx, validXmin, validXmax), computed;
    if (IN_RANGE(xidx, 0, cols - 1)) prev[tx] = gpuSrc[xidx];
    __syncthreads();
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && isValid) {
            computed = true;
            int shortest = MIN(MIN(prev[W], prev[tx]), prev[E]);
            result[tx] = shortest + gpuWall[cols * (startStep + i) + xidx];
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed) gpuResults[xidx] = result[tx];
}

int calc_path(int *gpuWall, int *gpuResult[2], int blockCols)
{
    dim3 dimBlock(BLOCK_SIZE), dimGrid(blockCols);
    int src = 1, dst = 0;
    for (int t = 0; t < ROWS - 1; t += PYRAMID_HEIGHT) {
        int temp = src;
        src = dst;
        dst = temp;
        int iteration = MIN(PYRAMID_HEIGHT, ROWS - t - 1);
        dynproc_kernel<<<dimGrid, dimBlock>>>(iteration, gpuWall, gpuResult[src], gpuResult[dst], COLS, t, iteration);
        if (cudaGetLastError() != cudaSuccess) exit(1);
    }
    return dst;
}

int main(int argc, char **argv)
{
    static int data[ROWS * COLS], expected[COLS], next[COLS], found[COLS];
    int **wall = new int *[ROWS], mismatches = 0;
    unsigned seed = 9;
    for (int n = 0; n < ROWS; n++) wall[n] = data + COLS * n;
    for (int i = 0; i < ROWS * COLS; i++) data[i] = next_random(&seed) % 10;
    int *gpuWall = to_device(data + COLS, (ROWS - 1) * COLS), *gpuResult[2] = {to_device(data, COLS), NULL};
    gpuErrchk(cudaMalloc((void **)&gpuResult[1], sizeof(int) * COLS));

    int final_ret = calc_path(gpuWall, gpuResult, DIVIDE_UP(COLS, BLOCK_SIZE - PYRAMID_HEIGHT * HALO * 2));
    gpuErrchk(cudaMemcpy(found, gpuResult[final_ret], sizeof(found), cudaMemcpyDeviceToHost));
    memcpy(expected, wall[0], sizeof(expected));
    for (int n = 1; n < ROWS; n++) {
        for (int x = 0; x < COLS; x++)
            next[x] = wall[n][x] + MIN(MIN(expected[x ? x - 1 : 0], expected[x]), expected[x < COLS - 1 ? x + 1 : x]);
        memcpy(expected, next, sizeof(expected));
    }
    for (int x = 0; x < COLS; x++) mismatches += expected[x] != found[x];
    delete[] wall;
    return report("pathfinder", mismatches);
}
