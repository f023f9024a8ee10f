// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Captures a stream into a graph, makes another one of nodes, and launches both.
#include <cstdio>

__global__ void scale(float* x, float factor) { x[threadIdx.x] *= factor; }
__global__ void shift(float* x, float by) { x[threadIdx.x] += by; }

void CUDART_CB note(void* data) { ++*static_cast<int*>(data); }

int main()
{
    float host[32], *x;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    for (int i = 0; i < 32; ++i)
        host[i] = i;
    cudaStreamCreate(&stream);
    cudaMalloc(&x, sizeof host);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, stream);
    scale<<<1, 32, 0, stream>>>(x, 2);
    shift<<<1, 32, 0, stream>>>(x, 1);
    cudaStreamEndCapture(stream, &graph);
    size_t nodes = 0;
    cudaGraphGetNodes(graph, NULL, &nodes);
    cudaGraphInstantiate(&instance, graph, NULL, NULL, 0);
    for (int i = 0; i < 3; ++i)
        cudaGraphLaunch(instance, stream);
    cudaStreamSynchronize(stream);
    float first[32];
    cudaMemcpy(first, x, sizeof first, cudaMemcpyDeviceToHost);
    cudaGraphExecDestroy(instance);
    cudaGraphDestroy(graph);

    int noted = 0;
    float factor = 3, second[32];
    cudaGraphNode_t fill, kernel, copy, callback;
    cudaGraphCreate(&graph, 0);
    cudaMemsetParams zeros = {};
    zeros.dst = x, zeros.elementSize = 4, zeros.width = 1, zeros.height = 1;
    cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &zeros);
    void* arguments[] = {&x, &factor};
    cudaKernelNodeParams launch = {};
    launch.func = (void*)shift;
    launch.gridDim = dim3(1), launch.blockDim = dim3(32);
    launch.kernelParams = arguments;
    cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch);
    cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, second, x, sizeof second, cudaMemcpyDeviceToHost);
    cudaHostNodeParams call = {note, &noted};
    cudaGraphAddHostNode(&callback, graph, NULL, 0, &call);
    cudaGraphAddDependencies(graph, &copy, &callback, 1);
    cudaError_t error = cudaGraphInstantiate(&instance, graph, 0);
    factor = 10;
    cudaGraphExecKernelNodeSetParams(instance, kernel, &launch);
    cudaGraphNode_t failed;
    cudaGraphExecUpdateResult updated;
    cudaGraphExecUpdate(instance, graph, &failed, &updated);
    if (updated != cudaGraphExecUpdateSuccess)
        return 3;
    cudaGraphExecKernelNodeSetParams(instance, kernel, &launch);
    cudaGraphLaunch(instance, stream);
    cudaStreamSynchronize(stream);
    printf("%d nodes, %g %g, %d %g %g %d\n", (int)nodes, first[0], first[31], error, second[0], second[31], noted);
    return cudaGetLastError();
}
