// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// One step of training of a layer: partial sums of the inputs in shared memory, then new weights.
#include "../common/check.h"

#define WIDTH 16   // threads in each direction, and hidden units
#define HEIGHT 16  // inputs of a block
#define ETA 0.3f
#define MOMENTUM 0.3f
#define INPUTS 512

__global__ void layerforward(const float *input, const float *weights, float *partial_sum, int in, int hid)
{
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int index_in = HEIGHT * by + ty + 1;
    __shared__ float input_node[HEIGHT];
    __shared__ float weight_matrix[HEIGHT][WIDTH];

    if (tx == 0) input_node[ty] = input[index_in];
    __syncthreads();
    weight_matrix[ty][tx] = weights[index] * input_node[ty];
    __syncthreads();
    for (int i = 1; i <= __log2f(HEIGHT); i++) {
        int power_two = __powf(2, i) + 0.5f;
        if (ty % power_two == 0) weight_matrix[ty][tx] += weight_matrix[ty + power_two / 2][tx];
        __syncthreads();
    }
    if (ty == 0) partial_sum[by * hid + tx] = weight_matrix[0][tx];
}

__global__ void adjust_weights(const float *delta, int hid, const float *ly, float *w, float *oldw)
{
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int index_y = HEIGHT * by + ty + 1, index_x = tx + 1;
    float change = ETA * delta[index_x] * ly[index_y] + MOMENTUM * oldw[index];
    w[index] += change;
    oldw[index] = change;
}

static float squash(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

int main(int argc, char **argv)
{
    const int hid = WIDTH, in = INPUTS, size = (in + 1) * (hid + 1);
    float *input = (float *)malloc((in + 1) * sizeof(float)), *w = (float *)malloc(size * sizeof(float));
    float *old = (float *)calloc(size, sizeof(float)), *found = (float *)malloc(size * sizeof(float));
    float delta[hid + 1], hidden[hid + 1], sums[in / HEIGHT][hid];
    fill(input, in + 1, 1), fill(w, size, 2), fill(delta, hid + 1, 3);
    float *input_gpu = to_device(input, in + 1), *w_gpu = to_device(w, size), *old_gpu = to_device(old, size),
          *sums_gpu;
    gpuErrchk(cudaMalloc((void **)&sums_gpu, sizeof(sums)));

    dim3 grid(1, in / HEIGHT), threads(WIDTH, HEIGHT);
    layerforward<<<grid, threads>>>(input_gpu, w_gpu, sums_gpu, in, hid);
    cudaThreadSynchronize();
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        printf("backprop kernel error: %s\n", cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
    gpuErrchk(cudaMemcpy(sums, sums_gpu, sizeof(sums), cudaMemcpyDeviceToHost));
    int mismatches = 0;
    for (int j = 1; j <= hid; j++) {
        float sum = w[j], expected = w[j];
        for (int k = 0; k < in / HEIGHT; k++) sum += sums[k][j - 1];
        for (int i = 1; i <= in; i++) expected += w[i * (hid + 1) + j] * input[i];
        hidden[j] = squash(0.01f * sum);
        mismatches += !(fabsf(hidden[j] - squash(0.01f * expected)) < 1e-4f);
    }
    adjust_weights<<<grid, threads>>>(to_device(delta, hid + 1), hid, input_gpu, w_gpu, old_gpu);
    gpuErrchk(cudaMemcpy(found, w_gpu, size * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 1; i <= in; i++)
        for (int j = 1; j <= hid; j++)
            w[i * (hid + 1) + j] += ETA * delta[j] * input[i] + MOMENTUM * old[i * (hid + 1) + j];
    return report("backprop", mismatches + count_mismatches(w, found, size, 0.001f));
}
