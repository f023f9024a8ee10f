// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Temperatures of a chip: tiles in shared memory, several steps in each launch on a shrinking part of the tile.
#include "../common/check.h"

#define BLOCK_SIZE 16
#define ROWS 60
#define COLS 52
#define PYRAMID 2
#define STEPS 8
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

struct Chip {
    float cap, rx, ry, rz, step, ambient;
};

__host__ __device__ float next_temperature(const Chip &c, float t, float power, float north, float south, float west,
                                           float east)
{
    return t +
           c.step / c.cap *
               (power + (south + north - 2.0f * t) / c.ry + (east + west - 2.0f * t) / c.rx + (c.ambient - t) / c.rz);
}

__global__ void calculate_temp(int iteration, const float *power, const float *temp_src, float *temp_dst, Chip chip)
{
    __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int small_block = BLOCK_SIZE - iteration * 2;
    int y = small_block * blockIdx.y - iteration + ty, x = small_block * blockIdx.x - iteration + tx;
    bool inside = IN_RANGE(y, 0, ROWS - 1) && IN_RANGE(x, 0, COLS - 1);
    if (inside) {
        temp_on_cuda[ty][tx] = temp_src[y * COLS + x];
        power_on_cuda[ty][tx] = power[y * COLS + x];
    }
    __syncthreads();
    int n = y > 0 ? ty - 1 : ty, s = y < ROWS - 1 ? ty + 1 : ty, w = x > 0 ? tx - 1 : tx,
        e = x < COLS - 1 ? tx + 1 : tx;
    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) && inside) {
            computed = true;
            temp_t[ty][tx] = next_temperature(chip, temp_on_cuda[ty][tx], power_on_cuda[ty][tx], temp_on_cuda[n][tx],
                                              temp_on_cuda[s][tx], temp_on_cuda[ty][w], temp_on_cuda[ty][e]);
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) temp_on_cuda[ty][tx] = temp_t[ty][tx];
        __syncthreads();
    }
    if (computed) temp_dst[y * COLS + x] = temp_t[ty][tx];
}

int main()
{
    static float temp[ROWS * COLS], power[ROWS * COLS], next[ROWS * COLS], found[ROWS * COLS];
    Chip chip = {0.5f, 10, 12, 40, 0.05f, 80};
    fill(temp, ROWS * COLS, 1), fill(power, ROWS * COLS, 2);
    for (int i = 0; i < ROWS * COLS; i++) temp[i] = 320 + 10 * temp[i];
    float *MatrixTemp[2] = {to_device(temp, ROWS * COLS), NULL}, *MatrixPower = to_device(power, ROWS * COLS);
    gpuErrchk(cudaMalloc((void **)&MatrixTemp[1], sizeof(temp)));

    int smallBlock = BLOCK_SIZE - PYRAMID * 2, src = 1, dst = 0;
    dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE), dimGrid(DIVIDE_UP(COLS, smallBlock), DIVIDE_UP(ROWS, smallBlock));
    for (int t = 0; t < STEPS; t += PYRAMID) {
        int temp = src;
        src = dst;
        dst = temp;
        calculate_temp<<<dimGrid, dimBlock>>>(MIN(PYRAMID, STEPS - t), MatrixPower, MatrixTemp[src], MatrixTemp[dst],
                                              chip);
    }
    gpuErrchk(cudaMemcpy(found, MatrixTemp[dst], sizeof(found), cudaMemcpyDeviceToHost));
    for (int t = 0; t < STEPS; t++) {
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLS; x++) {
                int n = y ? y - 1 : y, s = y < ROWS - 1 ? y + 1 : y, w = x ? x - 1 : x, e = x < COLS - 1 ? x + 1 : x,
                    i = y * COLS + x;
                next[i] = next_temperature(chip, temp[i], power[i], temp[n * COLS + x], temp[s * COLS + x],
                                           temp[y * COLS + w], temp[y * COLS + e]);
            }
        memcpy(temp, next, sizeof(temp));
    }
    return report("hotspot", count_mismatches(temp, found, ROWS * COLS, 0.0005f));
}
