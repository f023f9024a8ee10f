// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// A = L U in place with tiles: the diagonal, the perimeter, and the interior, in turn.
#include "../common/check.h"

#define BLOCK_SIZE 16
#define MATRIX_DIM 64

__global__ void lud_diagonal(float *m, int matrix_dim, int offset)
{
    __shared__ float shadow[BLOCK_SIZE][BLOCK_SIZE];
    int array_offset = offset * matrix_dim + offset;
    for (int i = 0; i < BLOCK_SIZE; i++) shadow[i][threadIdx.x] = m[array_offset + i * matrix_dim + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < BLOCK_SIZE - 1; i++) {
        if (threadIdx.x > i) {
            for (int j = 0; j < i; j++) shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
            shadow[threadIdx.x][i] /= shadow[i][i];
        }
        __syncthreads();
        if (threadIdx.x > i)
            for (int j = 0; j < i + 1; j++) shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
        __syncthreads();
    }
    for (int i = 1; i < BLOCK_SIZE; i++) m[array_offset + i * matrix_dim + threadIdx.x] = shadow[i][threadIdx.x];
}

__global__ void lud_perimeter(float *m, int matrix_dim, int offset)
{
    __shared__ float dia[BLOCK_SIZE][BLOCK_SIZE], row[BLOCK_SIZE][BLOCK_SIZE], col[BLOCK_SIZE][BLOCK_SIZE];
    int idx = threadIdx.x % BLOCK_SIZE, ahead = (blockIdx.x + 1) * BLOCK_SIZE;
    float *corner = m + offset * matrix_dim + offset;
    for (int i = threadIdx.x / BLOCK_SIZE; i < BLOCK_SIZE; i += 2) {
        dia[i][idx] = corner[i * matrix_dim + idx];
        row[i][idx] = corner[i * matrix_dim + ahead + idx];
        col[i][idx] = corner[(ahead + i) * matrix_dim + idx];
    }
    __syncthreads();
    if (threadIdx.x < BLOCK_SIZE) {
        for (int i = 1; i < BLOCK_SIZE; i++)
            for (int j = 0; j < i; j++) row[i][idx] -= dia[i][j] * row[j][idx];
    } else {
        for (int i = 0; i < BLOCK_SIZE; i++) {
            for (int j = 0; j < i; j++) col[idx][i] -= col[idx][j] * dia[j][i];
            col[idx][i] /= dia[i][i];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x / BLOCK_SIZE; i < BLOCK_SIZE; i += 2) {
        corner[i * matrix_dim + ahead + idx] = row[i][idx];
        corner[(ahead + i) * matrix_dim + idx] = col[i][idx];
    }
}

__global__ void lud_internal(float *m, int matrix_dim, int offset)
{
    __shared__ float peri_row[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float peri_col[BLOCK_SIZE][BLOCK_SIZE];
    int global_row_id = offset + (blockIdx.y + 1) * BLOCK_SIZE, global_col_id = offset + (blockIdx.x + 1) * BLOCK_SIZE;
    peri_row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x];
    peri_col[threadIdx.y][threadIdx.x] = m[(global_row_id + threadIdx.y) * matrix_dim + offset + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < BLOCK_SIZE; i++) sum += peri_col[threadIdx.y][i] * peri_row[i][threadIdx.x];
    m[(global_row_id + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x] -= sum;
}

void lud_cuda(float *m, int matrix_dim)
{
    int i = 0;
    dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
    for (i = 0; i < matrix_dim - BLOCK_SIZE; i += BLOCK_SIZE) {
        lud_diagonal<<<1, BLOCK_SIZE>>>(m, matrix_dim, i);
        lud_perimeter<<<(matrix_dim - i) / BLOCK_SIZE - 1, BLOCK_SIZE * 2>>>(m, matrix_dim, i);
        dim3 dimGrid((matrix_dim - i) / BLOCK_SIZE - 1, (matrix_dim - i) / BLOCK_SIZE - 1);
        lud_internal<<<dimGrid, dimBlock>>>(m, matrix_dim, i);
    }
    lud_diagonal<<<1, BLOCK_SIZE>>>(m, MATRIX_DIM, i);
}

int main(int argc, char *argv[])
{
    static float m[MATRIX_DIM][MATRIX_DIM], lu[MATRIX_DIM][MATRIX_DIM], product[MATRIX_DIM][MATRIX_DIM];
    fill(m[0], MATRIX_DIM * MATRIX_DIM, 61);
    for (int i = 0; i < MATRIX_DIM; i++) m[i][i] += 30;
    float *d_m = to_device(m[0], MATRIX_DIM * MATRIX_DIM);
    lud_cuda(d_m, MATRIX_DIM);
    gpuErrchk(cudaMemcpy(lu, d_m, sizeof(lu), cudaMemcpyDeviceToHost));
    for (int i = 0; i < MATRIX_DIM; i++)
        for (int j = 0; j < MATRIX_DIM; j++)
            for (int k = 0; k <= min(i, j); k++) product[i][j] += (i == k ? 1 : lu[i][k]) * lu[k][j];
    return report("lud", count_mismatches(m[0], product[0], MATRIX_DIM * MATRIX_DIM, 0.005f));
}
