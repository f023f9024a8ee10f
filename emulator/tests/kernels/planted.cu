// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Three kernels for each kind of bug, on the marked lines; with `bad` 0 they are correct. `out` has 32 zeros; `x` has
// room for 32 numbers, which nobody has written.

__device__ int table[16];
__constant__ int constants[16];
__device__ int counter;
__device__ volatile int flag;
__device__ int payload, lock, last_one;

extern "C" {

// ------------------------------------------------------------------ memory: global, out of bounds

__global__ void past_end(int* x, int* out, int bad)
{
    if (threadIdx.x < 32 + bad)
        out[threadIdx.x] = 1; // at past_end
}

__global__ void before_start(int* x, int* out, int bad)
{
    if (threadIdx.x < 32)
        out[threadIdx.x] = out[(int)threadIdx.x - bad]; // at before_start
}

__global__ void far_away(int* x, int* out, int bad)
{
    if (threadIdx.x == 0)
        out[bad ? 3000000 : 0] = 1; // at far_away
}

// ------------------------------------------------------------------ memory: heap

__global__ void after_free(int* x, int* out, int bad)
{
    int* p = (int*)malloc(16);
    *p = 1;
    if (bad) free(p);
    out[threadIdx.x % 32] = *p; // at after_free
    if (!bad) free(p);
}

__global__ void freed_twice(int* x, int* out, int bad)
{
    int* volatile p = new int[4]; // g++ 16 leaves out unobserved memory
    delete[] p;
    if (bad) delete[] p; // at freed_twice
}

__global__ void freed_inside(int* x, int* out, int bad)
{
    char* p = (char*)malloc(64);
    free(p + 16 * bad); // at freed_inside
}

__global__ void heap_past(int* x, int* out, int bad)
{
    int* p = new int[10];
    *(volatile int*)&p[9 + bad] = 1; // at heap_past
    delete[] p;
}

__global__ void heap_before(int* x, int* out, int bad)
{
    int* p = new int[10];
    *(volatile int*)&p[-bad] = 1; // at heap_before
    delete[] p;
}

__global__ void heap_byte(int* x, int* out, int bad)
{
    char* p = (char*)malloc(13);
    for (int i = 0; i < 13 + bad; ++i)
        *(volatile char*)&p[i] = 0; // at heap_byte
    free(p);
}

// ------------------------------------------------------------------ memory: shared

__global__ void into_neighbor(int* x, int* out, int bad)
{
    __shared__ int a[16], b[16];
    a[threadIdx.x % 16] = b[threadIdx.x % 16] = 0;
    __syncthreads();
    if (threadIdx.x == 0) a[15 + bad] = 1; // at into_neighbor
    __syncthreads();
    if (threadIdx.x == 0) out[0] = a[15] + b[0];
}

__global__ void shared_negative(int* x, int* out, int bad)
{
    __shared__ int a[64];
    a[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x < 32) out[threadIdx.x] = a[(int)threadIdx.x - bad]; // at shared_negative
}

__global__ void halo(int* x, int* out, int bad)
{
    __shared__ float tile[66];
    tile[threadIdx.x + 1] = threadIdx.x;
    if (threadIdx.x < 2) tile[threadIdx.x * 65] = 0;
    __syncthreads();
    float sum = tile[threadIdx.x] + tile[threadIdx.x + 2 + bad]; // at halo
    if (threadIdx.x >= 32) out[threadIdx.x - 32] = (int)sum;
}

__global__ void dynamic_past(int* x, int* out, int bad)
{
    extern __shared__ int values[];
    if (threadIdx.x < 32 + bad) values[threadIdx.x] = 1; // at dynamic_past
}

__global__ void dynamic_wide(int* x, int* out, int bad)
{
    extern __shared__ int values[];
    if (threadIdx.x < 32)
        ((long long*)values)[threadIdx.x / (2 - bad)] = 1; // at dynamic_wide
}

__global__ void dynamic_split(int* x, int* out, int bad)
{
    extern __shared__ int values[];
    int* second = values + 16;
    if (threadIdx.x < 16 + bad) second[threadIdx.x] = 1; // at dynamic_split
}

// ------------------------------------------------------------------ memory: arrays of a thread

__device__ __noinline__ int sum_of(const int* values, int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i)
        sum += values[i]; // at local_past
    return sum;
}

__global__ void local_past(int* x, int* out, int bad)
{
    int values[10];
    for (int i = 0; i < 10; ++i)
        values[i] = i;
    if (threadIdx.x < 32) out[threadIdx.x] = sum_of(values, 10 + bad);
}

__global__ void local_before(int* x, int* out, int bad)
{
    int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    values[out[1] - bad] = 9; // at local_before
    if (threadIdx.x == 0) out[0] = values[out[1]];
}

__global__ void local_neighbor(int* x, int* out, int bad)
{
    int a[6], b[6];
    for (int i = 0; i < 6 + bad; ++i)
        a[i + out[0]] = i; // at local_neighbor
    for (int i = 0; i < 6; ++i)
        b[i + out[0]] = i;
    if (threadIdx.x == 0) out[1] = a[out[0]] + b[out[0]];
}

// ------------------------------------------------------------------ memory: variables of the module

__global__ void variable_past(int* x, int* out, int bad)
{
    if (threadIdx.x < 16 + bad) table[threadIdx.x] = 1; // at variable_past
}

__global__ void constant_past(int* x, int* out, int bad)
{
    if (threadIdx.x < 16 + bad) out[threadIdx.x] = constants[threadIdx.x]; // at constant_past
}

__global__ void constant_stored(int* x, int* out, int bad)
{
    int* target = bad ? constants : table;
    if (threadIdx.x == 0) *target = 1; // at constant_stored
}

// ------------------------------------------------------------------ memory: alignment, wild pointers

__global__ void odd_double(int* x, int* out, int bad)
{
    if (threadIdx.x == 0) *(double*)(out + bad) = 1; // at odd_double
}

__global__ void odd_vector(int* x, int* out, int bad)
{
    float4 v = *(const float4*)(out + 2 * bad); // at odd_vector
    if (threadIdx.x == 0) out[8] = (int)v.y;
}

__global__ void odd_shared(int* x, int* out, int bad)
{
    __shared__ __align__(16) char bytes[64];
    bytes[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = *(int*)(bytes + bad); // at odd_shared
}

__global__ void null_pointer(int* x, int* out, int bad)
{
    int* p = bad ? nullptr : out;
    if (threadIdx.x == 0) *p = 1; // at null_pointer
}

__global__ void null_member(int* x, int* out, int bad)
{
    struct Node { int value, next[9]; };
    Node* p = bad ? nullptr : (Node*)out;
    if (threadIdx.x == 0) out[0] = p->next[3]; // at null_member
}

__global__ void integer_as_pointer(int* x, int* out, int bad)
{
    unsigned long long address = (unsigned long long)out;
    if (bad) address = (unsigned)address;
    if (threadIdx.x == 0) *(int*)address = 1; // at integer_as_pointer
}

// ------------------------------------------------------------------ initialized: global, shared

__global__ void never_written(int* x, int* out, int bad)
{
    if (!bad) x[threadIdx.x] = 1;
    out[threadIdx.x] = x[threadIdx.x]; // at never_written
}

__global__ void tail_not_written(int* x, int* out, int bad)
{
    if (threadIdx.x < 32 - bad) x[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = x[31 - threadIdx.x]; // at tail_not_written
}

__global__ void added_to(int* x, int* out, int bad)
{
    if (!bad && threadIdx.x == 0) x[0] = 0;
    __syncthreads();
    x[0] += 1; // at added_to
}

__global__ void shared_never_written(int* x, int* out, int bad)
{
    __shared__ int sums[32];
    if (!bad) sums[threadIdx.x] = 0;
    sums[threadIdx.x] += 1; // at shared_never_written
    out[threadIdx.x] = sums[threadIdx.x];
}

__global__ void halo_not_written(int* x, int* out, int bad)
{
    __shared__ int tile[33];
    tile[threadIdx.x] = 1;
    if (threadIdx.x == 0 && !bad) tile[32] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + 1]; // at halo_not_written
}

__global__ void dynamic_not_written(int* x, int* out, int bad)
{
    extern __shared__ int values[];
    if (threadIdx.x % 2 == 0 || !bad) values[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x ^ 1]; // at dynamic_not_written
}

// ------------------------------------------------------------------ races: barriers

__global__ void no_barrier(int* x, int* out, int bad)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x; // at no_barrier
    if (!bad) __syncthreads();
    int value = tile[63 - threadIdx.x]; // at no_barrier
    if (blockIdx.x == 0 && threadIdx.x < 32) out[threadIdx.x] = value;
}

__global__ void no_second_barrier(int* x, int* out, int bad)
{
    extern __shared__ int values[];
    for (int round = 0; round < 2; ++round) {
        if (threadIdx.x < 32) values[threadIdx.x] = round; // at no_second_barrier
        __syncthreads();
        int value = threadIdx.x < 32 ? 0 : values[threadIdx.x - 32]; // at no_second_barrier
        if (blockIdx.x == 0 && threadIdx.x >= 32) out[threadIdx.x - 32] = value;
        if (!bad) __syncthreads();
    }
}

__global__ void barrier_of_the_loop(int* x, int* out, int bad)
{
    __shared__ int sums[64];
    sums[threadIdx.x] = 1;
    __syncthreads();
    for (int half = 32; half; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half]; // at barrier_of_the_loop
        if (half > 16 || !bad) __syncthreads();
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = sums[0];
}

__global__ void no_syncwarp(int* x, int* out, int bad)
{
    __shared__ int lanes[64];
    lanes[threadIdx.x] = threadIdx.x; // at no_syncwarp
    if (!bad) __syncwarp();
    int value = lanes[threadIdx.x ^ 1]; // at no_syncwarp
    if (blockIdx.x == 0 && threadIdx.x < 32) out[threadIdx.x] = value;
}

__global__ void sums_of_a_warp(int* x, int* out, int bad)
{
    __shared__ int sums[64];
    sums[threadIdx.x] = 1; // at sums_of_a_warp
    if (!bad) __syncwarp();
    int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        int other = lane >= step ? sums[threadIdx.x - step] : 0; // at sums_of_a_warp
        if (!bad) __syncwarp();
        sums[threadIdx.x] += other; // at sums_of_a_warp
        if (!bad) __syncwarp();
    }
    if (blockIdx.x == 0 && threadIdx.x == 31) out[0] = sums[31];
}

__global__ void half_a_warp(int* x, int* out, int bad)
{
    __shared__ int lanes[64];
    lanes[threadIdx.x] = threadIdx.x; // at half_a_warp
    __syncwarp(threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u);
    int value = lanes[threadIdx.x ^ (bad ? 16 : 8)]; // at half_a_warp
    if (blockIdx.x == 0 && threadIdx.x < 32) out[threadIdx.x] = value;
}

// ------------------------------------------------------------------ races: lost updates

__global__ void shared_counter(int* x, int* out, int bad)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (bad) count += 1; // at shared_counter
    else atomicAdd(&count, 1);
}

__global__ void global_counter(int* x, int* out, int bad)
{
    if (bad) out[0] += 1; // at global_counter
    else atomicAdd(&out[0], 1);
}

__global__ void maximum(int* x, int* out, int bad)
{
    int mine = threadIdx.x * 7 % 64 + blockIdx.x;
    if (!bad) atomicMax(&out[0], mine);
    else if (mine > out[0]) out[0] = mine; // at maximum
}

// ------------------------------------------------------------------ races: blocks

__global__ void same_element(int* x, int* out, int bad)
{
    if (threadIdx.x < 8)
        out[bad ? threadIdx.x : blockIdx.x * 8 + threadIdx.x] = blockIdx.x; // at same_element
}

__global__ void neighbors_in_place(int* x, int* out, int bad)
{
    int i = blockIdx.x * 8 + threadIdx.x;
    int* target = bad ? out : x;
    if (threadIdx.x < 8 && i > 0) target[i] = out[i - 1] + i; // at neighbors_in_place
}

__global__ void no_grid_barrier(int* x, int* out, int bad)
{
    int i = blockIdx.x * 8 + threadIdx.x;
    if (threadIdx.x < 8) out[i] = i + 1; // at no_grid_barrier
    __syncthreads();
    int j = bad ? 31 - i : blockIdx.x * 8 + 7 - threadIdx.x;
    if (threadIdx.x < 8) x[i] = out[j]; // at no_grid_barrier
}

// ------------------------------------------------------------------ races: fences

__global__ void last_block(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    out[1 + blockIdx.x] = blockIdx.x + 1; // at last_block
    if (!bad) __threadfence();
    if (atomicAdd(&last_one, 1) % 4 == 3)
        out[0] = out[1] + out[2] + out[3] + out[4]; // at last_block
}

__global__ void message(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        payload += 5; // at message
        if (!bad) __threadfence();
        flag = 1;
    } else if (blockIdx.x == 1) {
        while (!flag) {}
        out[1] = payload; // at message
    }
}

__global__ void unlock(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    while (atomicCAS(&lock, 0, 1)) {}
    out[0] += 1; // at unlock
    if (!bad) __threadfence();
    atomicExch(&lock, 0);
}

// ------------------------------------------------------------------ races: scopes

__global__ void counter_of_the_block(int* x, int* out, int bad)
{
    if (bad) atomicAdd_block(&out[0], 1); // at counter_of_the_block
    else atomicAdd(&out[0], 1);
}

__global__ void fence_of_the_block(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    out[1 + blockIdx.x] = blockIdx.x + 1; // at fence_of_the_block
    if (bad) __threadfence_block();
    else __threadfence();
    if (atomicAdd(&last_one, 1) % 4 == 3)
        out[0] = out[1] + out[2] + out[3] + out[4]; // at fence_of_the_block
}

__global__ void mixed_scopes(int* x, int* out, int bad)
{
    if (bad && blockIdx.x == 2) atomicMax_block(&out[0], 7); // at mixed_scopes
    else atomicMax(&out[0], 5); // at mixed_scopes
}

// ------------------------------------------------------------------ races: atomic and plain accesses

__global__ void read_beside_atomics(int* x, int* out, int bad)
{
    __shared__ unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1u); // at read_beside_atomics
    if (!bad) __syncthreads();
    unsigned seen = threadIdx.x == 0 ? count : 0; // at read_beside_atomics
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = seen;
}

__global__ void reset_beside_atomics(int* x, int* out, int bad)
{
    if (bad && threadIdx.x == 0) out[0] = blockIdx.x; // at reset_beside_atomics
    atomicAdd(&out[0], 1); // at reset_beside_atomics
}

__global__ void queue_without_order(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    int at = atomicAdd(&counter, 1) % 4;
    out[at] = blockIdx.x + 1; // at queue_without_order
    if (bad && at > 0) x[at] = out[at - 1]; // at queue_without_order
}

// ------------------------------------------------------------------ synchronization: barriers, masks

__global__ void barrier_in_branch(int* x, int* out, int bad)
{
    if (threadIdx.x < 16 || !bad)
        __syncthreads(); // at barrier_in_branch
    else
        __syncthreads(); // at barrier_in_branch
}

__global__ void barrier_and_warp(int* x, int* out, int bad)
{
    if (bad && threadIdx.x % 32 == 0)
        __syncwarp(); // at barrier_and_warp
    else
        __syncthreads(); // at barrier_and_warp
}

__global__ void barriers_of_a_loop(int* x, int* out, int bad)
{
    int rounds = bad && threadIdx.x < 8 ? 3 : 2;
    for (int i = 0; i < rounds; ++i)
        __syncthreads(); // at barriers_of_a_loop
    __syncthreads(); // at barriers_of_a_loop
}

__global__ void mask_without_itself(int* x, int* out, int bad)
{
    unsigned mask = bad ? 0xffffu : ~0u;
    int sum = __shfl_down_sync(mask, (int)threadIdx.x, 1); // at mask_without_itself
    if (threadIdx.x < 32) out[threadIdx.x] = sum;
}

__global__ void mask_of_a_branch(int* x, int* out, int bad)
{
    if (threadIdx.x % 32 < 16)
        __syncwarp(bad ? ~0u : 0xffffu); // at mask_of_a_branch
    else
        __syncwarp(0xffff0000u); // at mask_of_a_branch
    __syncthreads(); // at mask_of_a_branch
}

__global__ void different_operations(int* x, int* out, int bad)
{
    int lane = threadIdx.x % 32, value;
    if (lane < 16 || !bad) value = __shfl_xor_sync(~0u, lane, 1); // at different_operations
    else value = __any_sync(~0u, lane); // at different_operations
    if (threadIdx.x < 32) out[threadIdx.x] = value;
}
}
