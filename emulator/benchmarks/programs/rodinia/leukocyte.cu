// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Finds round cells in an image: the gradient along circles of several radii, then a dilation.
#include "../common/check.h"

#define ROWS 60
#define COLS 76
#define NPOINTS 24
#define NCIRCLES 3
#define STREL_SIZE 5
#define MAX_RADIUS 10

__constant__ float c_sin_angle[NPOINTS];
__constant__ float c_cos_angle[NPOINTS];
__constant__ int c_tX[NCIRCLES * NPOINTS];
__constant__ int c_tY[NCIRCLES * NPOINTS];
__constant__ float c_strel[STREL_SIZE * STREL_SIZE];

#define GICOV_BODY(grad_x, grad_y, i, j, sines, cosines, tX, tY, result) \
    for (int k = 0; k < NCIRCLES; k++) { \
        float sum = 0.f, M2 = 0.f, mean = 0.f; \
        for (int n = 0; n < NPOINTS; n++) { \
            int at = ((i) + tY[k * NPOINTS + n]) * COLS + (j) + tX[k * NPOINTS + n]; \
            float p = grad_x[at] * cosines[n] + grad_y[at] * sines[n]; \
            sum += p; \
            float delta = p - mean; \
            mean = mean + (delta / (float)(n + 1)); \
            M2 = M2 + (delta * (p - mean)); \
        } \
        mean = sum / ((float)NPOINTS); \
        float var = M2 / ((float)(NPOINTS - 1)); \
        if (((mean * mean) / var) > result) result = (mean * mean) / var; \
    }

__global__ void GICOV_kernel(const float *grad_x, const float *grad_y, float *gicov)
{
    int i = blockIdx.x + MAX_RADIUS, j = threadIdx.x + MAX_RADIUS;
    float max_GICOV = 0.f;
    GICOV_BODY(grad_x, grad_y, i, j, c_sin_angle, c_cos_angle, c_tX, c_tY, max_GICOV)
    gicov[i * COLS + j] = max_GICOV;
}

__global__ void dilate_kernel(int img_m, int img_n, int strel_m, int strel_n, const float *img, float *dilated)
{
    int el_center_i = strel_m / 2, el_center_j = strel_n / 2;
    int thread_id = (blockIdx.x * blockDim.x) + threadIdx.x, i = thread_id / img_n, j = thread_id % img_n;
    if (i >= img_m) return;
    float max = 0.0f;
    for (int el_i = 0; el_i < strel_m; el_i++) {
        int y = i - el_center_i + el_i;
        if ((y >= 0) && (y < img_m))
            for (int el_j = 0; el_j < strel_n; el_j++) {
                int x = j - el_center_j + el_j;
                if ((x >= 0) && (x < img_n) && (c_strel[(el_i * strel_n) + el_j] != 0)) {
                    float temp = img[y * img_n + x];
                    if (temp > max) max = temp;
                }
            }
    }
    dilated[(i * img_n) + j] = max;
}

int main()
{
    static float gx[ROWS * COLS], gy[ROWS * COLS], gicov[ROWS * COLS], dilated[ROWS * COLS], found[ROWS * COLS];
    float sines[NPOINTS], cosines[NPOINTS], strel[STREL_SIZE * STREL_SIZE];
    int tX[NCIRCLES * NPOINTS], tY[NCIRCLES * NPOINTS];
    fill(gx, ROWS * COLS, 1), fill(gy, ROWS * COLS, 2);
    for (int n = 0; n < NPOINTS; n++) {
        sines[n] = sinf(2 * (float)M_PI * n / NPOINTS), cosines[n] = cosf(2 * (float)M_PI * n / NPOINTS);
        for (int k = 0; k < NCIRCLES; k++)
            tX[k * NPOINTS + n] = (int)(cosines[n] * (4 + 2 * k)), tY[k * NPOINTS + n] = (int)(sines[n] * (4 + 2 * k));
    }
    for (int i = 0; i < STREL_SIZE * STREL_SIZE; i++)
        strel[i] = (abs(i / STREL_SIZE - 2) + abs(i % STREL_SIZE - 2)) <= 2;
    gpuErrchk(cudaMemcpyToSymbol(c_sin_angle, sines, sizeof(sines)));
    gpuErrchk(cudaMemcpyToSymbol(c_cos_angle, cosines, sizeof(cosines), 0, cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpyToSymbol(c_tX, tX, sizeof(tX)));
    gpuErrchk(cudaMemcpyToSymbol(c_tY, tY, sizeof(tY)));
    gpuErrchk(cudaMemcpyToSymbol(c_strel, strel, sizeof(strel)));
    float *d_gicov, *d_dilated;
    gpuErrchk(cudaMalloc((void **)&d_gicov, sizeof(gicov)));
    gpuErrchk(cudaMalloc((void **)&d_dilated, sizeof(dilated)));
    gpuErrchk(cudaMemset(d_gicov, 0, sizeof(gicov)));
    GICOV_kernel<<<ROWS - 2 * MAX_RADIUS, COLS - 2 * MAX_RADIUS>>>(to_device(gx, ROWS * COLS),
                                                                   to_device(gy, ROWS * COLS), d_gicov);
    int threads_per_block = 176, num_blocks = (int)(((float)(ROWS * COLS) / (float)threads_per_block) + 0.5);
    num_blocks = num_blocks * threads_per_block < ROWS * COLS ? num_blocks + 1 : num_blocks;
    dilate_kernel<<<num_blocks, threads_per_block>>>(ROWS, COLS, STREL_SIZE, STREL_SIZE, d_gicov, d_dilated);
    gpuErrchk(cudaMemcpy(found, d_dilated, sizeof(found), cudaMemcpyDeviceToHost));

    for (int i = MAX_RADIUS; i < ROWS - MAX_RADIUS; i++)
        for (int j = MAX_RADIUS; j < COLS - MAX_RADIUS; j++) {
            GICOV_BODY(gx, gy, i, j, sines, cosines, tX, tY, gicov[i * COLS + j])
        }
    for (int i = 0; i < ROWS * COLS; i++)
        for (int k = 0; k < STREL_SIZE * STREL_SIZE; k++) {
            int y = i / COLS + k / STREL_SIZE - 2, x = i % COLS + k % STREL_SIZE - 2;
            if (strel[k] != 0 && y >= 0 && y < ROWS && x >= 0 && x < COLS)
                dilated[i] = fmaxf(dilated[i], gicov[y * COLS + x]);
        }
    return report("leukocyte", count_mismatches(dilated, found, ROWS * COLS, 0.01f));
}
