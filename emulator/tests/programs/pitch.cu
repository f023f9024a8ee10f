// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Copies rows and boxes of padded memory.
#include <cstdio>

__global__ void double_rows(char* base, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        ((float*)(base + y * pitch))[x] *= 2;
}
__global__ void number(cudaPitchedPtr box, int width, int height, int depth)
{
    char* slice = (char*)box.ptr + blockIdx.x * box.pitch * height;
    for (int y = 0; y < height; ++y)
        ((int*)(slice + y * box.pitch))[threadIdx.x] += 100 * blockIdx.x + 10 * y + threadIdx.x;
}

int main()
{
    const int width = 5, height = 3, depth = 2;
    float rows[height][width], *d_rows;
    for (int i = 0; i < width * height; ++i)
        rows[0][i] = i;
    size_t pitch;
    cudaMallocPitch(&d_rows, &pitch, width * sizeof(float), height);
    cudaMemcpy2D(d_rows, pitch, rows, sizeof rows[0], sizeof rows[0], height, cudaMemcpyHostToDevice);
    double_rows<<<dim3(1, 1), dim3(8, 4)>>>((char*)d_rows, pitch, width, height);
    cudaMemcpy2D(rows, sizeof rows[0], d_rows, pitch, sizeof rows[0], height, cudaMemcpyDeviceToHost);

    int box[depth][height][width];
    cudaPitchedPtr d_box;
    cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
    cudaMalloc3D(&d_box, extent);
    cudaMemset3D(d_box, 1, extent);
    number<<<depth, width>>>(d_box, width, height, depth);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = d_box;
    copy.dstPtr = make_cudaPitchedPtr(box, width * sizeof(int), width, height);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&copy);
    printf("%g %g, %x %d\n", rows[1][0], rows[2][4], box[0][0][0], box[1][2][4] - box[0][0][0]);
    return cudaGetLastError();
}
