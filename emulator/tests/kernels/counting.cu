// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Histograms, queues, locks and lists, which many threads change at the same time.

// Each block counts bytes in shared memory, and then adds its counts to the total.
extern "C" __global__ void histogram(const unsigned char* in, unsigned* counts, int n)
{
    __shared__ unsigned own[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        own[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i]], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        if (own[k])
            atomicAdd(&counts[k], own[k]);
}

// Sums, minima and maxima of groups of elements.
extern "C" __global__ void by_group(const int* group, const int* value, long long* sums, int* least, int* largest, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd((unsigned long long*)&sums[group[i]], (unsigned long long)(long long)value[i]);
    atomicMin(&least[group[i]], value[i]);
    atomicMax(&largest[group[i]], value[i]);
}

// Threads fetch tasks until none is left.
extern "C" __global__ void take_tasks(const int* tasks, int count, int* next, int* result)
{
    for (int task = atomicAdd(next, 1); task < count; task = atomicAdd(next, 1)) {
        int sum = 0;
        for (int k = 1; k <= tasks[task]; ++k)
            sum += k * k % 7;
        result[task] = sum;
    }
}

// The first half of the blocks puts numbers into a queue, and the other half takes them out.
extern "C" __global__ void relay(volatile int* slots, int* put, int* taken, int each, long long* sum)
{
    const int producers = gridDim.x / 2;
    for (int k = 0; k < each; ++k)
        if (blockIdx.x < producers) {
            const int slot = atomicAdd(put, 1);
            slots[slot] = slot + 1;
        } else {
            const int slot = atomicAdd(taken, 1);
            while (slots[slot] == 0) {
            }
            atomicAdd((unsigned long long*)sum, (unsigned long long)slots[slot]);
        }
}

// A spin lock guards two words that are not changed atomically.
extern "C" __global__ void guarded(int* lock, volatile int* account, int rounds)
{
    for (int k = 0; k < rounds; ++k) {
        bool done = false;
        while (!done)
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                account[0] = account[0] + 1;
                account[1] = account[1] - 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
    }
}

struct Node {
    int value;
    Node* next;
};

// Each thread builds a linked list in the heap of the device, sums it up and frees it.
extern "C" __global__ void lists(int length, int* sums, int* failed)
{
    Node* head = nullptr;
    for (int k = 0; k < length; ++k) {
        Node* node = (Node*)malloc(sizeof(Node));
        if (!node) {
            atomicAdd(failed, 1);
            break;
        }
        *node = Node{k * int(threadIdx.x), head};
        head = node;
    }
    int sum = 0;
    while (head) {
        Node* next = head->next;
        sum += head->value;
        free(head);
        head = next;
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
