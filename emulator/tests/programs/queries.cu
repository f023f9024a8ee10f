// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Asks for what a texture, a node of a graph, and the shapes of launches are; a file in C judges the answers.
#include <stdio.h>

extern "C" int count_of_wrong(const int* answers, int count);

__global__ void fill(int* x) { x[threadIdx.x] = 1; }
__global__ void sum(int* x)
{
    extern __shared__ int part[];
    part[threadIdx.x] = x[threadIdx.x];
}

int main()
{
    int* x;
    cudaMalloc(&x, 1024);
    cudaResourceDesc linear = {}, resource;
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = x;
    linear.res.linear.desc = cudaCreateChannelDesc<int2>();
    linear.res.linear.sizeInBytes = 1024;
    cudaTextureDesc sampling = {}, asked;
    sampling.addressMode[0] = cudaAddressModeClamp, sampling.maxMipmapLevelClamp = 2.5f;
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &linear, &sampling, nullptr);
    cudaGetTextureObjectResourceDesc(&resource, texture);
    cudaGetTextureObjectTextureDesc(&asked, texture);
    bool texture_right = resource.resType == cudaResourceTypeLinear && resource.res.linear.devPtr == x &&
                         resource.res.linear.desc.y == 32 && resource.res.linear.sizeInBytes == 1024 &&
                         asked.addressMode[0] == cudaAddressModeClamp && asked.maxMipmapLevelClamp == 2.5f &&
                         asked.readMode == cudaReadModeElementType && !asked.normalizedCoords;

    cudaGraph_t graph;
    cudaGraphNode_t first, second, from, to;
    cudaGraphCreate(&graph, 0);
    void* arguments[] = {&x};
    cudaKernelNodeParams launch = {}, found;
    launch.func = (void*)fill, launch.gridDim = dim3(3), launch.blockDim = dim3(32), launch.kernelParams = arguments;
    cudaGraphAddKernelNode(&first, graph, nullptr, 0, &launch);
    cudaGraphAddKernelNode(&second, graph, &first, 1, &launch);
    size_t edges = 1;
    cudaGraphGetEdges(graph, &from, &to, &edges);
    cudaGraphKernelNodeGetParams(second, &found);
    bool graph_right = edges == 1 && from == first && to == second && found.func == (void*)fill &&
                       found.gridDim.x == 3 && found.blockDim.x == 32 && **(int***)found.kernelParams == x;

    int grid, block, blocks, clusters, size, processors;
    size_t shared;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, sum, [](int n) { return n * 64 * sizeof(int); }, 500);
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, sum, 256, 0, cudaOccupancyDefault);
    cudaOccupancyAvailableDynamicSMemPerBlock(&shared, sum, 2, 256);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(4), config.blockDim = dim3(64), config.attrs = &attribute, config.numAttrs = 1;
    cudaOccupancyMaxActiveClusters(&clusters, sum, &config);
    cudaOccupancyMaxPotentialClusterSize(&size, sum, &config);
    // A block of 192 threads has 48 KB of shared memory, and cannot have more.
    int answers[] = {texture_right, graph_right, block > 0 && block <= 192 && grid % processors == 0, blocks > 1, shared == 49152,
                     clusters > 0, size == 8, cudaGetLastError() == cudaSuccess};
    printf("%d wrong\n", count_of_wrong(answers, sizeof answers / sizeof *answers));
    return 0;
}
