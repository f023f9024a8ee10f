// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Finds points of a frame again in the next one: a block for each point, with parameters and pointers in constant
// memory.
#include "../common/check.h"

#define NUMBER_THREADS 64
#define ALL_POINTS 12
#define FRAME 80
#define TEMPLATE 9
#define SEARCH 6
#define OFFSETS (2 * SEARCH + 1)

typedef float fp;

typedef struct params_common {
    int frame_rows, frame_cols, in_rows;
    int endoRow[ALL_POINTS], endoCol[ALL_POINTS];
} params_common;

typedef struct params_unique {
    fp *d_T;   /* the template of the point */
    fp *d_sum; /* the differences of all offsets */
    int *d_best;
} params_unique;

__constant__ params_common d_common;
__constant__ params_unique d_unique[ALL_POINTS];

__global__ void kernel(const fp *d_frame)
{
    const params_unique &unique = d_unique[blockIdx.x];
    int tx = threadIdx.x, row = d_common.endoRow[blockIdx.x], col = d_common.endoCol[blockIdx.x];
    __shared__ fp s_T[TEMPLATE * TEMPLATE], s_best[NUMBER_THREADS];
    __shared__ int s_place[NUMBER_THREADS];
    for (int ei = tx; ei < TEMPLATE * TEMPLATE; ei = ei + NUMBER_THREADS) s_T[ei] = unique.d_T[ei];
    __syncthreads();

    s_best[tx] = 1e30f, s_place[tx] = -1;
    int ei_new = tx;
    while (ei_new < OFFSETS * OFFSETS) {
        int dr = ei_new / OFFSETS - SEARCH, dc = ei_new % OFFSETS - SEARCH;
        fp sum = 0;
        for (int i = 0; i < TEMPLATE; i++)
            for (int j = 0; j < TEMPLATE; j++) {
                fp d = d_frame[(row + dr + i) * d_common.frame_cols + col + dc + j] - s_T[i * TEMPLATE + j];
                sum += d * d;
            }
        unique.d_sum[ei_new] = sum;
        if (sum < s_best[tx]) s_best[tx] = sum, s_place[tx] = ei_new;
        ei_new = ei_new + NUMBER_THREADS;
    }
    __syncthreads();
    for (int half = NUMBER_THREADS / 2; half > 0; half /= 2) {
        if (tx < half && s_best[tx + half] < s_best[tx])
            s_best[tx] = s_best[tx + half], s_place[tx] = s_place[tx + half];
        __syncthreads();
    }
    if (tx == 0) *unique.d_best = s_place[0];
}

int main(int argc, char *argv[])
{
    static fp frame[FRAME * FRAME], moved[FRAME * FRAME];
    params_common common = {FRAME, FRAME, TEMPLATE, {0}, {0}};
    params_unique unique[ALL_POINTS];
    int mismatches = 0;
    fill(frame, FRAME * FRAME, 3);
    const int dr = 3, dc = -2;
    for (int r = 0; r < FRAME; r++)
        for (int c = 0; c < FRAME; c++)
            moved[r * FRAME + c] = frame[(r - dr + FRAME) % FRAME * FRAME + (c - dc + FRAME) % FRAME] + 0.01f;
    for (int p = 0; p < ALL_POINTS; p++) {
        fp T[TEMPLATE * TEMPLATE];
        common.endoRow[p] = 10 + (p / 4) * 18, common.endoCol[p] = 8 + (p % 4) * 15;
        for (int i = 0; i < TEMPLATE * TEMPLATE; i++)
            T[i] = frame[(common.endoRow[p] + i / TEMPLATE) * FRAME + common.endoCol[p] + i % TEMPLATE];
        unique[p].d_T = to_device(T, TEMPLATE * TEMPLATE);
        gpuErrchk(cudaMalloc((void **)&unique[p].d_sum, OFFSETS * OFFSETS * sizeof(fp)));
        gpuErrchk(cudaMalloc((void **)&unique[p].d_best, sizeof(int)));
    }
    gpuErrchk(cudaMemcpyToSymbol(d_common, &common, sizeof(params_common)));
    gpuErrchk(cudaMemcpyToSymbol(d_unique, &unique, sizeof(params_unique) * ALL_POINTS));
    kernel<<<ALL_POINTS, NUMBER_THREADS>>>(to_device(moved, FRAME * FRAME));
    gpuErrchk(cudaDeviceSynchronize());
    for (int p = 0; p < ALL_POINTS; p++) {
        int best;
        fp sums[OFFSETS * OFFSETS];
        gpuErrchk(cudaMemcpy(&best, unique[p].d_best, sizeof(int), cudaMemcpyDeviceToHost));
        gpuErrchk(cudaMemcpy(sums, unique[p].d_sum, sizeof(sums), cudaMemcpyDeviceToHost));
        mismatches += best != (dr + SEARCH) * OFFSETS + dc + SEARCH;
        for (int k = 0; k < OFFSETS * OFFSETS; k++) mismatches += k != best && !(sums[k] > sums[best]);
    }
    return report("heartwall", mismatches);
}
