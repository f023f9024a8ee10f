// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Mistakes of everyday programs, on the marked lines; with `bad` 0 the kernels are correct. `out` has 32 zeros; `x` has
// room for 32 numbers, which nobody has written.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

__device__ int grid_of[4][4];
__device__ int tickets, bins[8];
__constant__ float weights[5];
constexpr int knight_moves[8] = {6, 10, 15, 17, -6, -10, -15, -17};
constexpr int king_moves[4] = {1, 7, 8, 9}, rook_moves[4] = {1, -1, 8, -8};

extern "C" {

// ------------------------------------------------------------------ memory: indices

__global__ void product_overflows(int* x, int* out, int bad)
{
    int row = bad ? 50000 : 4, width = bad ? 50000 : 7;
    if (threadIdx.x == 0) out[row * width] = 1; // at product_overflows
}

__global__ void unsigned_underflow(int* x, int* out, int bad)
{
    unsigned i = threadIdx.x + !bad - 1;
    if (threadIdx.x < 32) out[threadIdx.x] = out[bad ? i : i % 32]; // at unsigned_underflow
}

__global__ void negative_remainder(int* x, int* out, int bad)
{
    int i = ((int)threadIdx.x - 5 + (bad ? 0 : 32)) % 32;
    out[i] = 1; // at negative_remainder
}

__global__ void bytes_for_elements(int* x, int* out, int bad)
{
    int n = bad ? 128 : 32;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = i; // at bytes_for_elements
}

__global__ void wide_element_type(int* x, int* out, int bad)
{
    int i = threadIdx.x;
    if (i < 32 && (bad || i < 16)) ((double*)out)[i] = 1; // at wide_element_type
}

__global__ void grid_stride_tail(int* x, int* out, int bad)
{
    int4* rows = (int4*)out;
    for (int i = threadIdx.x; i < 8 + bad; i += blockDim.x)
        rows[i] = make_int4(1, 2, 3, 4); // at grid_stride_tail
}

__global__ void carved_too_much(int* x, int* out, int bad)
{
    extern __shared__ int carved[];
    int half = bad ? 32 : 16;
    int *first = carved, *second = carved + half;
    if (threadIdx.x < half) {
        first[threadIdx.x] = 1;
        second[threadIdx.x] = 2; // at carved_too_much
    }
}

__global__ void odd_wide_atomic(int* x, int* out, int bad)
{
    extern __shared__ int values[];
    values[threadIdx.x % 32] = 0;
    __syncthreads();
    atomicAdd((unsigned long long*)(values + 2 - bad), 1ull); // at odd_wide_atomic
}

__global__ void header_before_vectors(int* x, int* out, int bad)
{
    const char* bytes = (const char*)out + (bad ? 4 : 8);
    if (threadIdx.x == 0) out[20] = ((const int2*)bytes)[1].y; // at header_before_vectors
}

__global__ void stencil_of_constants(int* x, int* out, int bad)
{
    float sum = 0;
    for (int i = -2; i <= 2 + bad; ++i)
        sum += weights[i + 2]; // at stencil_of_constants
    if (threadIdx.x == 0) out[0] = (int)sum;
}

__global__ void table_of_constants(int* x, int* out, int bad)
{
    if (threadIdx.x < 8 + bad) out[threadIdx.x] = knight_moves[threadIdx.x]; // at table_of_constants
}

// One of the tables may be the first one of the module.
__global__ void before_a_table(int* x, int* out, int bad)
{
    int at = (int)threadIdx.x - bad;
    if (threadIdx.x < 4) out[threadIdx.x] = king_moves[at] + rook_moves[at]; // at before_a_table
}

__global__ void string_past_end(int* x, int* out, int bad)
{
    const char* digits = "0123456789abcde";
    int i = out[1] + (bad ? 16 : 15);
    if (threadIdx.x == 0) out[0] = digits[i]; // at string_past_end
}

// ------------------------------------------------------------------ memory: lifetimes

__global__ void local_of_another_thread(int* x, int* out, int bad)
{
    __shared__ int* place;
    int mine = threadIdx.x;
    if (threadIdx.x == 0) place = bad ? &mine : out;
    __syncthreads();
    if (threadIdx.x == 40) *place = 7; // at local_of_another_thread
    __syncthreads();
    if (threadIdx.x < 32 && threadIdx.x) out[threadIdx.x] = mine;
}

__device__ __noinline__ int* address_of_local(int value)
{
    int local = value;
    int* volatile address = &local;
    return address;
}

__global__ void returned_local(int* x, int* out, int bad)
{
    int* p = bad ? address_of_local(5) : out + 1;
    if (threadIdx.x == 0) out[0] = *p; // at returned_local
}

__global__ void freed_by_all(int* x, int* out, int bad)
{
    __shared__ int* list;
    if (threadIdx.x == 0) list = new int[64];
    __syncthreads();
    list[threadIdx.x] = 1;
    __syncthreads();
    if (bad || threadIdx.x == 0) delete[] list; // at freed_by_all
}

__global__ void unchecked_malloc(int* x, int* out, int bad)
{
    int* p = (int*)malloc(bad ? size_t(1) << 40 : 16);
    *p = 1; // at unchecked_malloc
    free(p);
}

__global__ void freed_before_the_others(int* x, int* out, int bad)
{
    __shared__ int* list;
    if (threadIdx.x == 0) list = (int*)malloc(256);
    __syncthreads();
    if (threadIdx.x == 0 && bad) free(list);
    if (bad) __syncthreads();
    list[threadIdx.x] = 1; // at freed_before_the_others
    __syncthreads();
    if (threadIdx.x == 0 && !bad) free(list);
}

__global__ void freed_shared(int* x, int* out, int bad)
{
    __shared__ int values[4];
    int* p = bad ? values : (int*)malloc(16);
    p[0] = 1;
    if (threadIdx.x == 0 || !bad) free(p); // at freed_shared
}

// ------------------------------------------------------------------ memory: barriers

__global__ void shuffle_in_a_branch(int* x, int* out, int bad)
{
    int value = threadIdx.x;
    if (threadIdx.x % 32 < 16)
        value += __shfl_down_sync(bad ? ~0u : 0xffffu, value, 8, 16); // at shuffle_in_a_branch
    __syncthreads(); // at shuffle_in_a_branch
    if (threadIdx.x < 32) out[threadIdx.x] = value;
}

__global__ void continue_before_barrier(int* x, int* out, int bad)
{
    int n = bad ? 100 : 128;
    for (int i = threadIdx.x; i < 128; i += 64) {
        if (i >= n) continue;
        __syncthreads(); // at continue_before_barrier
    }
    __syncwarp(); // at continue_before_barrier
    if (threadIdx.x < 32) out[threadIdx.x] = 1;
}

__global__ void named_barrier_of_half(int* x, int* out, int bad)
{
    if (threadIdx.x < 32 || !bad)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // at named_barrier_of_half
    else
        __syncthreads(); // at named_barrier_of_half
}

__global__ void tile_over_a_branch(int* x, int* out, int bad)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    if (threadIdx.x % 32 < 8) {
        if (bad) tile.sync(); // at tile_over_a_branch
        else cg::coalesced_threads().sync();
    }
    __syncthreads(); // at tile_over_a_branch
}

__global__ void wide_reduction(int* x, int* out, int bad)
{
    int lane = threadIdx.x % 32, value = 1;
    unsigned mask = __ballot_sync(~0u, lane < 20);
    if (lane < 20)
        value = __reduce_add_sync(bad ? ~0u : mask, value); // at wide_reduction
    __syncwarp(); // at wide_reduction
    if (threadIdx.x < 32) out[threadIdx.x] = value;
}

__global__ void elected_thread_at_barrier(int* x, int* out, int bad)
{
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0 && bad)
        block.sync(); // at elected_thread_at_barrier
    else if (!bad)
        block.sync();
    cg::tiled_partition<32>(block).sync(); // at elected_thread_at_barrier
}

// ------------------------------------------------------------------ rows: arrays with several dimensions

__global__ void into_next_row(int* x, int* out, int bad)
{
    if (threadIdx.x < 4) grid_of[1][threadIdx.x + bad] = 1; // at into_next_row
}

__global__ void into_next_member(int* x, int* out, int bad)
{
    struct Pair { int keys[4], values[4]; };
    __shared__ Pair pair;
    if (threadIdx.x < 4 + bad) pair.keys[threadIdx.x] = 1; // at into_next_member
}

__global__ void transposed_index(int* x, int* out, int bad)
{
    __shared__ int tile[4][8];
    int row = threadIdx.x % 4, column = threadIdx.x / 4 % 8;
    if (bad) tile[column][row] = 1; // at transposed_index
    else tile[row][column] = 1;
}

// ------------------------------------------------------------------ initialized

__global__ void sum_not_cleared(int* x, int* out, int bad)
{
    __shared__ float sum;
    if (threadIdx.x == 0 && !bad) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1.0f); // at sum_not_cleared
    __syncthreads();
    out[threadIdx.x] = (int)sum;
}

__global__ void one_member_written(int* x, int* out, int bad)
{
    struct Particle { float position, speed; };
    Particle* particles = (Particle*)x;
    if (threadIdx.x < 16) {
        particles[threadIdx.x].position = 1;
        if (!bad) particles[threadIdx.x].speed = 2;
        particles[threadIdx.x].position += particles[threadIdx.x].speed; // at one_member_written
    }
}

__global__ void list_of_heap(int* x, int* out, int bad)
{
    struct Node { int value; Node* next; };
    Node* head = (Node*)malloc(sizeof(Node));
    head->value = 1;
    if (!bad) head->next = nullptr;
    for (Node* node = head; node; node = node->next) // at list_of_heap
        out[threadIdx.x] += node->value;
    free(head);
}

__global__ void maximum_of_part(int* x, int* out, int bad)
{
    int best[4];
    if (out[threadIdx.x] == bad)
        for (int i = 0; i < 4; ++i) best[i] = i;
    int found = best[threadIdx.x % 4]; // at maximum_of_part
    out[threadIdx.x] = found;
}

// ------------------------------------------------------------------ races: in a block

__global__ void double_buffer(int* x, int* out, int bad)
{
    __shared__ int tiles[2][64];
    tiles[0][threadIdx.x] = 1;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
        int next = bad ? 0 : (i + 1) % 2;
        int value = tiles[bad ? 0 : i % 2][63 - threadIdx.x]; // at double_buffer
        tiles[next][threadIdx.x] = value + i + 1; // at double_buffer
        sum += value;
        __syncthreads();
    }
    if (blockIdx.x == 0 && threadIdx.x < 32) out[threadIdx.x] = sum;
}

__global__ void transpose_in_place(int* x, int* out, int bad)
{
    __shared__ int tile[8][8];
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    tile[row][column] = threadIdx.x;
    __syncthreads();
    int value = tile[column][row]; // at transpose_in_place
    if (!bad) __syncthreads();
    tile[row][column] = value; // at transpose_in_place
}

__global__ void scan_in_place(int* x, int* out, int bad)
{
    __shared__ int sums[64];
    sums[threadIdx.x] = 1;
    for (int step = 1; step < 64; step *= 2) {
        __syncthreads();
        int other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0; // at scan_in_place
        if (!bad) __syncthreads();
        sums[threadIdx.x] += other; // at scan_in_place
    }
}

__global__ void bins_not_ready(int* x, int* out, int bad)
{
    __shared__ int counts[32];
    if (threadIdx.x >= 32) counts[threadIdx.x - 32] = 0; // at bins_not_ready
    if (!bad) __syncthreads();
    atomicAdd(&counts[threadIdx.x % 32], 1); // at bins_not_ready
}

__global__ void bit_fields(int* x, int* out, int bad)
{
    struct Flags { unsigned first : 4, second : 4; };
    __shared__ Flags flags[2];
    if (threadIdx.x == 0) flags[0].first = 1; // at bit_fields
    if (threadIdx.x == 33) flags[!bad].second = 2; // at bit_fields
}

__global__ void halves_of_a_word(int* x, int* out, int bad)
{
    __shared__ int words[64];
    __shared__ short halves[64];
    words[threadIdx.x] = 0;
    halves[threadIdx.x] = 0;
    __syncthreads();
    if (bad) words[threadIdx.x / 2] |= threadIdx.x % 2 ? 2 : 1; // at halves_of_a_word
    else halves[threadIdx.x] |= 1;
}

__global__ void loop_condition(int* x, int* out, int bad)
{
    __shared__ int left;
    if (threadIdx.x == 0) left = 3;
    __syncthreads();
    while (left > 0) { // at loop_condition
        if (!bad) __syncthreads();
        if (threadIdx.x == 0) left = left - 1; // at loop_condition
        __syncthreads();
    }
}

__device__ int total_of(int value, int* scratch)
{
    scratch[threadIdx.x] = value; // at reused_scratch
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 64; ++i)
        sum += scratch[i]; // at reused_scratch
    return sum;
}

__global__ void reused_scratch(int* x, int* out, int bad)
{
    __shared__ int scratch[64];
    int sum = total_of(1, scratch);
    if (!bad) __syncthreads();
    sum += total_of(2, scratch);
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = sum;
}

__global__ void warp_barrier_for_a_block(int* x, int* out, int bad)
{
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x; // at warp_barrier_for_a_block
    if (bad) __syncwarp();
    else __syncthreads();
    int value = values[(threadIdx.x + 1) % 64]; // at warp_barrier_for_a_block
    if (blockIdx.x == 0 && threadIdx.x < 32) out[threadIdx.x] = value;
}

__global__ void result_of_lane_zero(int* x, int* out, int bad)
{
    __shared__ int total;
    int sum = 1;
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x == 0) total = sum; // at result_of_lane_zero
    if (!bad) __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 40) out[0] = total; // at result_of_lane_zero
}

__global__ void wrong_phase(int* x, int* out, int bad)
{
    __shared__ unsigned long long barrier;
    __shared__ int values[64];
    unsigned address = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(address) : "memory");
    __syncthreads();
    values[threadIdx.x] = threadIdx.x; // at wrong_phase
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" :: "r"(address) : "memory");
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(address), "r"(bad) : "memory");
    int value = values[63 - threadIdx.x]; // at wrong_phase
    if (blockIdx.x == 0 && threadIdx.x < 32) out[threadIdx.x] = value;
}

__global__ void copy_without_wait(int* x, int* out, int bad)
{
    __shared__ int tile[32];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, out, sizeof tile); // at copy_without_wait
    if (!bad) cg::wait(block);
    int value = tile[(threadIdx.x + 5) % 32]; // at copy_without_wait
    if (value == 77) x[0] = value;
}

__global__ void pipeline_without_barrier(int* x, int* out, int bad)
{
    __shared__ int tile[32];
    if (threadIdx.x < 32) __pipeline_memcpy_async(&tile[threadIdx.x], &out[threadIdx.x], 4); // at pipeline_without_barrier
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (!bad) __syncthreads();
    int value = tile[(threadIdx.x + 5) % 32]; // at pipeline_without_barrier
    if (value == 77) x[0] = value;
}

// ------------------------------------------------------------------ races: between blocks

__global__ void histogram_of_the_device(int* x, int* out, int bad)
{
    int bin = threadIdx.x % 8;
    if (bad) bins[bin]++; // at histogram_of_the_device
    else atomicAdd(&bins[bin], 1);
}

__global__ void overlapping_halos(int* x, int* out, int bad)
{
    int start = blockIdx.x * 8;
    if (threadIdx.x < 8 + bad && start + threadIdx.x < 32)
        out[start + threadIdx.x] = blockIdx.x + 1; // at overlapping_halos
}

__global__ void pushed_and_read(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    int at = atomicAdd(&tickets, 1) % 4;
    out[at] = blockIdx.x + 1; // at pushed_and_read
    if (!bad) return;
    int sum = 0;
    for (int i = 0; i < 4; ++i)
        sum += out[i]; // at pushed_and_read
    x[blockIdx.x] = sum;
}

__global__ void maximum_by_exchange(int* x, int* out, int bad)
{
    int mine = threadIdx.x * 4 + blockIdx.x;
    if (bad && out[0] < mine) atomicExch(out, mine); // at maximum_by_exchange
    int seen = bad ? mine : out[0];
    while (mine > seen) {
        int before = atomicCAS(out, seen, mine);
        if (before == seen) break;
        seen = before;
    }
}

// ------------------------------------------------------------------ correct, and silent in all checks

__global__ void floats_in_any_order(int* x, int* out, int bad)
{
    atomicAdd((float*)out, 0.1f * threadIdx.x);
}

__global__ void same_value_by_all(int* x, int* out, int bad)
{
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (threadIdx.x % 2) found = 1;
    __syncthreads();
    if (found) out[0] = 1;
}

__global__ void early_exit(int* x, int* out, int bad)
{
    if (threadIdx.x >= 40) return;
    __syncthreads();
    if (threadIdx.x < 32) atomicExch(&out[threadIdx.x], 1);
}
}
