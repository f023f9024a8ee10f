// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Shares variables and memory between host and device.
#include <cstdio>
#include <string>

struct Node {
    int value;
    Node* next;
};
__device__ __managed__ int total = 5;
__managed__ float table[4] = {1, 2, 3}, last;
namespace list {
__managed__ Node* head;
}

__global__ void add_all()
{
    for (Node* node = list::head; node; node = node->next)
        total += node->value;
    last = table[threadIdx.x + 2];
}

class Managed {
public:
    void* operator new(size_t size)
    {
        void* p;
        cudaMallocManaged(&p, size);
        cudaDeviceSynchronize();
        return p;
    }
    void operator delete(void* p) { cudaFree(p); }
};
struct Counter : Managed {
    int count = 0;
};
__global__ void count(Counter* counter) { atomicAdd(&counter->count, 1); }

int main()
{
    for (int i = 1; i <= 3; ++i) {
        Node* node;
        cudaMallocManaged(&node, sizeof *node);
        *node = Node{i, list::head};
        list::head = node;
    }
    table[2] += 4;
    cudaMemAdvise(list::head, sizeof(Node), cudaMemAdviseSetReadMostly, 0);
    cudaMemPrefetchAsync(list::head, sizeof(Node), 0);
    add_all<<<1, 1>>>();
    cudaDeviceSynchronize();
    std::string first = std::to_string(total) + " " + std::to_string((int)last);
    total = 100;
    add_all<<<1, 1>>>();
    Counter* counter = new Counter;
    count<<<2, 8>>>(counter);
    cudaDeviceSynchronize();
    int copied = 0, seven = 7;
    cudaMemcpyFromSymbol(&copied, total, sizeof total);
    cudaMemcpyToSymbol(total, &seven, sizeof seven);
    printf("%s, %d %d, %d\n", first.c_str(), copied, total, counter->count);
    delete counter;
    cudaSetDevice(1);
    int device = -1;
    bool again = cudaDeviceReset() == cudaSuccess && cudaGetDevice(&device) == cudaSuccess && device == 1;
    cudaSetDevice(0);
    again = again && cudaDeviceReset() == cudaSuccess && total == 5 && table[2] == 3;
    list::head = nullptr;
    add_all<<<1, 1>>>();
    return cudaDeviceSynchronize() || !again || last != 3;
}
