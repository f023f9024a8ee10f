// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Alignment of two sequences: blocks along a diagonal of the table, and threads along the diagonals of a block.
#include "../common/check.h"

#define BLOCK_SIZE 16
#define LENGTH 128
#define PENALTY 10

#ifdef __cplusplus
extern "C" {
#endif
int maximum(int a, int b, int c)
{
    return a > b ? (a > c ? a : c) : (b > c ? b : c);
}
#ifdef __cplusplus
}
#endif

__device__ __host__ int maximum3(int a, int b, int c)
{
    int k = a <= b ? b : a;
    return k <= c ? c : k;
}

__global__ void needle_cuda_shared(const int *reference, int *matrix, int cols, int penalty, int i, int first)
{
    int bx = blockIdx.x, tx = threadIdx.x;
    int b_index_x = first + bx, b_index_y = i - 1 - b_index_x;
    int index = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + tx + (cols + 1);
    int index_n = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + tx + 1;
    int index_w = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + cols;
    int index_nw = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x;
    __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
    __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];
    if (tx == 0) temp[tx][0] = matrix[index_nw];
    for (int ty = 0; ty < BLOCK_SIZE; ty++) ref[ty][tx] = reference[index + cols * ty];
    __syncthreads();
    temp[tx + 1][0] = matrix[index_w + cols * tx];
    __syncthreads();
    temp[0][tx + 1] = matrix[index_n];
    __syncthreads();
    for (int m = 0; m < BLOCK_SIZE; m++) {
        if (tx <= m) {
            int x = tx + 1, y = m - tx + 1;
            temp[y][x] =
                maximum3(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int m = BLOCK_SIZE - 2; m >= 0; m--) {
        if (tx <= m) {
            int x = tx + BLOCK_SIZE - m, y = BLOCK_SIZE - tx;
            temp[y][x] =
                maximum3(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int ty = 0; ty < BLOCK_SIZE; ty++) matrix[index + ty * cols] = temp[ty + 1][tx + 1];
}

int main(int argc, char **argv)
{
    const int max_cols = LENGTH + 1, size = max_cols * max_cols, block_width = LENGTH / BLOCK_SIZE;
    int *reference = (int *)malloc(size * sizeof(int)), *items = (int *)calloc(size, sizeof(int));
    int *found = (int *)malloc(size * sizeof(int)), mismatches = 0;
    unsigned seed = 9;
    for (int i = 0; i < size; i++) reference[i] = (int)(next_random(&seed) % 21) - 10;
    for (int i = 1; i < max_cols; i++) items[i * max_cols] = items[i] = -i * PENALTY;
    int *reference_cuda = to_device(reference, size), *matrix_cuda = to_device(items, size);

    dim3 dimBlock(BLOCK_SIZE, 1), dimGrid;
    for (int i = 1; i < 2 * block_width; i++) {
        int first = i <= block_width ? 0 : i - block_width;
        dimGrid.x = i <= block_width ? i : 2 * block_width - i;
        dimGrid.y = 1;
        needle_cuda_shared<<<dimGrid, dimBlock>>>(reference_cuda, matrix_cuda, max_cols, PENALTY, i, first);
    }
    gpuErrchk(cudaMemcpy(found, matrix_cuda, sizeof(int) * size, cudaMemcpyDeviceToHost));
    for (int i = 1; i < max_cols; i++)
        for (int j = 1; j < max_cols; j++) {
            int *cell = items + i * max_cols + j;
            *cell = maximum(cell[-max_cols - 1] + reference[i * max_cols + j], cell[-1] - PENALTY,
                            cell[-max_cols] - PENALTY);
        }
    for (int i = 0; i < size; i++) mismatches += items[i] != found[i];
    return report("nw", mismatches);
}
