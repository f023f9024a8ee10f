// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Overlaps copies of pinned memory with kernels in several streams, and calls the host back.
#include <assert.h>
#include <chrono>
#include <stdio.h>

__device__ int calls = 0;

__global__ void square(int* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(n > 0);
    if (i < n)
        x[i] *= x[i];
    if (i == 0)
        atomicAdd(&calls, 1);
}

struct Progress {
    int done;
    cudaStream_t stream;
};
void CUDART_CB finished(cudaStream_t, cudaError_t status, void* data)
{
    if (status == cudaSuccess)
        ++((Progress*)data)->done;
}

int main()
{
    const int parts = 4, size = 256;
    auto begin = std::chrono::steady_clock::now();
    int *host, *x, least, greatest;
    cudaMallocHost(&host, parts * size * sizeof(int));
    cudaMalloc(&x, parts * size * sizeof(int));
    for (int i = 0; i < parts * size; ++i)
        host[i] = i;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    Progress progress[parts] = {};
    cudaEvent_t ready;
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming | cudaEventBlockingSync);
    for (int i = 0; i < parts; ++i) {
        cudaStreamCreateWithPriority(&progress[i].stream, cudaStreamNonBlocking, i % 2 ? least : greatest);
        cudaStream_t stream = progress[i].stream;
        int *to = x + i * size, *from = host + i * size;
        cudaMemcpyAsync(to, from, size * sizeof(int), cudaMemcpyHostToDevice, stream);
        if (i)
            cudaStreamWaitEvent(stream, ready, 0);
        square<<<2, size / 2, 0, stream>>>(to, size);
        cudaEventRecord(ready, stream);
        cudaMemcpyAsync(from, to, size * sizeof(int), cudaMemcpyDeviceToHost, stream);
        cudaStreamAddCallback(stream, finished, &progress[i], 0);
    }
    cudaDeviceSynchronize();
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = x;
    window.accessPolicyWindow.num_bytes = size;
    window.accessPolicyWindow.hitRatio = 1;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    int done = 0, counted = 0;
    int wrong = cudaStreamSetAttribute(progress[0].stream, cudaStreamAttributeAccessPolicyWindow, &window);
    for (int i = 0; i < parts * size; ++i)
        wrong += host[i] != i * i;
    for (auto& p : progress) {
        wrong += cudaStreamQuery(p.stream) != cudaSuccess;
        done += p.done;
        cudaStreamDestroy(p.stream);
    }
    cudaMemcpyFromSymbol(&counted, calls, sizeof calls);
    void* address = nullptr;
    size_t bytes = 0;
    cudaGetSymbolAddress(&address, calls);
    cudaGetSymbolSize(&bytes, calls);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, address);
    wrong += attributes.type != cudaMemoryTypeDevice || bytes != 4 || std::chrono::steady_clock::now() < begin;
    printf("%d wrong, %d done, %d calls\n", wrong, done, counted);
    cudaFreeHost(host);
    return wrong;
}
