// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Kernels written as the front end generates them from CUDA C++, for tests of the executor
// alone. "// at NAME" marks a line that a test expects in a report.
#include <utility>

#include "emulator_abi.h"

#define VISIBLE __attribute__((visibility("default")))

extern "C" {
VISIBLE EmuModule emu_module = {
    EMU_ABI_VERSION, sizeof(EmuModule), 0, 90, {}, {0, 0, 0, 0}};
}

#include "checks.h"

#define threadIdx emu_thread_idx
#define blockIdx emu_block_idx
#define blockDim emu_block_dim
#define gridDim emu_grid_dim
// KERNEL(name, parameters...) { body }: the kernel, and the entry that unpacks its parameters.
#define KERNEL(name, ...)                                                                         \
    static void name##_kernel(__VA_ARGS__);                                                       \
    extern "C" VISIBLE EMU_NO_CHECK void name(void* const* values)                                \
    {                                                                                             \
        call(name##_kernel, values);                                                              \
    }                                                                                             \
    static void name##_kernel(__VA_ARGS__)
#define INLINE static inline __attribute__((always_inline))

template <class... A, std::size_t... I>
EMU_NO_CHECK static void call(void (*kernel)(A...), void* const* values, std::index_sequence<I...>)
{
    kernel(*static_cast<A*>(values[I])...);
}

template <class... A> EMU_NO_CHECK static void call(void (*kernel)(A...), void* const* values)
{
    call(kernel, values, std::index_sequence_for<A...>());
}

typedef volatile unsigned Flag;

INLINE unsigned lane() { return EMU_LANE; }
INLINE unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
INLINE unsigned atomic_add(unsigned* at, unsigned value)
{
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

template <class T> INLINE T warp_call(unsigned op, unsigned mask, T value, unsigned argument, unsigned width)
{
    T result = value;
    EmuWarpCall call = {op, mask, argument, width, sizeof(T), 0, &value, &result};
    emu_warp(&call);
    return result;
}

// `locate` returns the copy of the calling thread, as in code of the front end.
static __thread float tile_a[16][16], tile_b[16][16];
// The second half of each is padding, as the front end adds it.
static __thread volatile int small_shared[16];
static int small_constant[8] = {1, 2, 3, 4};
#define SHARED_RECORD(variable, size)                                                             \
    VISIBLE EmuVariable variable##_emu_variable_record = {                                        \
        EMU_ABI_VERSION, EMU_VARIABLE_SHARED, nullptr, [] { return (void*)&variable; }, size,     \
        sizeof variable, #variable, __FILE__, __LINE__, 0}
extern "C" {
SHARED_RECORD(tile_a, sizeof tile_a);
SHARED_RECORD(tile_b, sizeof tile_b);
SHARED_RECORD(small_shared, 32);
VISIBLE EmuVariable small_constant_emu_variable_record = {
    EMU_ABI_VERSION, EMU_VARIABLE_CONSTANT, small_constant, nullptr, 16, 32, "small_constant",
    __FILE__, __LINE__, 0};
}

// ------------------------------------------------------------------------ correct kernels

KERNEL(nothing) {}

KERNEL(saxpy, unsigned n, float a, float* x, float* y)
{
    unsigned i = global_index();
    if (i < n)
        y[i] = a * x[i] + y[i];
}

KERNEL(matmul, unsigned n, float* a, float* b, float* c) // 16 x 16 threads
{
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (unsigned t = 0; t < n; t += 16) {
        tile_a[y][x] = a[row * n + t + x];
        tile_b[y][x] = b[(t + y) * n + column];
        emu_barrier();
        for (unsigned k = 0; k < 16; ++k)
            sum += tile_a[y][k] * tile_b[k][x];
        emu_barrier();
    }
    c[row * n + column] = sum;
}

KERNEL(reverse, unsigned* data) // dynamic shared memory
{
    auto* shared = static_cast<unsigned*>(emu_thread.dynamic_shared);
    unsigned i = threadIdx.x;
    shared[i] = data[i];
    emu_barrier();
    data[i] = shared[blockDim.x - 1 - i];
}

KERNEL(barriers, unsigned n)
{
    for (unsigned i = 0; i < n; ++i)
        emu_barrier();
}

KERNEL(warp_sum, unsigned* out) // sum of each warp by butterfly
{
    unsigned value = emu_thread.linear;
    for (unsigned step = 16; step; step /= 2)
        value += warp_call(EMU_WARP_SHUFFLE_XOR, ~0u, value, step, 32);
    out[emu_thread.linear] = value;
}

KERNEL(warp_all_kinds, unsigned op, unsigned argument, unsigned width, unsigned* in, unsigned* out,
       unsigned mask)
{
    unsigned value = in[lane()];
    unsigned results[2] = {77, 77};
    EmuWarpCall call = {op, mask, argument, width, 4, 9, &value, results};
    if (call.mask >> lane() & 1)
        emu_warp(&call);
    out[lane()] = results[0];
    out[32 + lane()] = op <= EMU_WARP_SHUFFLE_XOR ? call.in_range : results[1];
}

KERNEL(warp_with_exits, unsigned* out) // odd lanes exit; the others vote
{
    if (lane() & 1)
        emu_exit_thread();
    out[lane()] = warp_call(EMU_WARP_BALLOT, ~0u, 1u, 0, 32);
}

KERNEL(count_votes, int* out)
{
    int odd = threadIdx.x & 1;
    out[threadIdx.x * 3] = emu_barrier_reduce(EMU_REDUCE_COUNT, odd, 0, 0);
    out[threadIdx.x * 3 + 1] = emu_barrier_reduce(EMU_REDUCE_AND, odd, 0, 0);
    out[threadIdx.x * 3 + 2] = emu_barrier_reduce(EMU_REDUCE_OR, odd, 0, 0);
}

KERNEL(early_exit_then_barrier, unsigned* out)
{
    if (threadIdx.x >= 40)
        return;
    emu_barrier();
    out[threadIdx.x] = 1;
    emu_barrier();
}

KERNEL(producer_consumer, unsigned* out) // named barriers, two warps
{
    auto* shared = static_cast<unsigned*>(emu_thread.dynamic_shared);
    for (unsigned round = 0; round < 10; ++round) {
        if (EMU_WARP == 0) {
            shared[lane()] = round * 100 + lane();
            emu_barrier_arrive(1, 64);
            emu_barrier_named(2, 64);
        } else {
            emu_barrier_named(1, 64);
            out[round * 32 + lane()] = shared[lane()];
            emu_barrier_arrive(2, 64);
        }
    }
}

KERNEL(spin_on_flag, Flag* flag, unsigned* count) // every thread but the last waits for the last
{
    if (threadIdx.x == blockDim.x - 1)
        *flag = 1;
    else
        while (!*flag) {
        }
    atomic_add(count, 1);
}

KERNEL(spin_with_warps, Flag* flag, unsigned* count) // the waiting warp keeps calling warp operations
{
    if (EMU_WARP == 1)
        *flag = 1;
    else
        while (!*flag)
            warp_call(EMU_WARP_SYNC, ~0u, 0u, 0, 32);
    atomic_add(count, 1);
}

KERNEL(spin_with_sleep, Flag* flag, unsigned* count)
{
    if (threadIdx.x == blockDim.x - 1)
        *flag = 1;
    else
        while (!*flag)
            emu_nanosleep(100);
    atomic_add(count, 1);
}

// All blocks must run at the same time, although the launch is not cooperative.
KERNEL(own_grid_barrier, unsigned* arrived, unsigned* count)
{
    if (threadIdx.x == 0) {
        atomic_add(arrived, 1);
        while (*(Flag*)arrived < gridDim.x) {
        }
    }
    emu_barrier();
    atomic_add(count, 1);
}

KERNEL(wait_for_host, Flag* flag)
{
    while (!*flag) {
    }
}

KERNEL(grid_sum, unsigned* a, unsigned* b) // each block adds the value of the next block, twice
{
    unsigned i = blockIdx.x, next = (i + 1) % gridDim.x;
    if (threadIdx.x == 0)
        a[i] = i;
    emu_grid_barrier();
    if (threadIdx.x == 0)
        b[i] = a[i] + a[next];
    emu_grid_barrier();
    if (threadIdx.x == 0)
        a[i] = b[i] + b[next];
}

KERNEL(print_index)
{
    emu_printf("block %u thread %u %s %5.2f\n", blockIdx.x, threadIdx.x, "text", 1.5);
}

KERNEL(allocate, unsigned* out) // an array on the device heap
{
    auto* piece = static_cast<unsigned*>(emu_malloc(40));
    for (unsigned i = 0; i < 10; ++i)
        piece[i] = global_index() + i;
    emu_barrier();
    unsigned sum = 0;
    for (unsigned i = 0; i < 10; ++i)
        sum += piece[i];
    out[global_index()] = sum;
    emu_free(piece);
}

KERNEL(copy_constant, int* out)
{
    out[threadIdx.x] = small_constant[threadIdx.x & 3];
}

KERNEL(clocks, emu_u64* out)
{
    out[0] = emu_clock(), out[1] = emu_global_timer();
    emu_nanosleep(1000);
    out[2] = emu_clock(), out[3] = emu_global_timer();
}

KERNEL(float_state, Flag* flag, double* out) // keeps a value in a vector register during preemption
{
    double sum = 0;
    if (threadIdx.x == 0)
        while (!*flag)
            sum = sum * 0.5 + 1.0;
    else
        for (unsigned i = 0; i < 4000000; ++i)
            sum = sum * 0.25 + 3.0;
    if (threadIdx.x)
        *flag = 1;
    out[threadIdx.x] = sum;
}

KERNEL(large_local, unsigned* out) // 400 KB, which a thread of a GPU can have
{
    volatile unsigned local[100000];
    for (unsigned i = 0; i < 100000; ++i)
        local[i] = i;
    out[threadIdx.x] = local[threadIdx.x] + local[99999];
}

// ------------------------------------------------------------------------ faulty kernels

KERNEL(huge_local, unsigned* out)
{
    volatile unsigned local[1000000];
    local[threadIdx.x] = 1;
    out[threadIdx.x] = local[threadIdx.x];
}

KERNEL(write_at, unsigned* out, int offset, unsigned thread) // out[index] = 1
{
    if (global_index() == thread)
        out[offset] = 1; // at write_at
}

KERNEL(write_dynamic_shared, int offset)
{
    static_cast<unsigned char*>(emu_thread.dynamic_shared)[offset] = 1; // at write_dynamic_shared
}

KERNEL(write_static_shared, int offset)
{
    small_shared[offset] = 1; // at write_static_shared
}

KERNEL(read_constant, int offset, int* out)
{
    out[0] = small_constant[offset]; // at read_constant
}

KERNEL(misaligned, char* out)
{
    auto* bytes = out + 1;
    *reinterpret_cast<volatile unsigned*>(bytes) = 1; // at misaligned
}

KERNEL(use_after_free_in_kernel)
{
    auto* piece = static_cast<volatile unsigned*>(emu_malloc(64));
    emu_free(const_cast<unsigned*>(piece));
    piece[3] = 1; // at use_after_free_in_kernel
}

KERNEL(double_free)
{
    void* piece = emu_malloc(64);
    emu_free(piece);
    emu_free(piece); // at double_free
}

KERNEL(other_threads_local)
{
    auto** shared = static_cast<volatile unsigned**>(emu_thread.dynamic_shared);
    volatile unsigned mine = threadIdx.x;
    if (threadIdx.x == 0)
        *shared = &mine;
    emu_barrier();
    if (threadIdx.x == 1)
        **shared = 5; // at other_threads_local
    emu_barrier();
}

KERNEL(divergent_barrier)
{
    if (threadIdx.x < 16)
        emu_barrier(); // at divergent_barrier
    else
        emu_barrier();
}

KERNEL(deadlock)
{
    if (threadIdx.x < 16)
        emu_barrier(); // at deadlock
    else if (threadIdx.x < 32)
        warp_call(EMU_WARP_SYNC, ~0u, 0u, 0, 32);
}

KERNEL(wrong_mask)
{
    warp_call(EMU_WARP_BALLOT, 0xffffu, 1u, 0, 32); // at wrong_mask
}

KERNEL(wrong_operation)
{
    warp_call(lane() == 31 ? EMU_WARP_ANY : EMU_WARP_ALL, ~0u, 1u, 0, 32); // at wrong_operation
}

KERNEL(grid_barrier_missed)
{
    if (blockIdx.x != 1)
        emu_grid_barrier();
}

KERNEL(loop_for_ever)
{
    for (;;) asm volatile(""); // at loop_for_ever
}

// The first block, which the caller runs, ends when another thread runs the second.
KERNEL(loop_in_second_block, Flag* began)
{
    if (blockIdx.x == 0)
        while (!*began)
            emu_nanosleep(100);
    else
        for (*began = 1;;) asm volatile("");
}

KERNEL(loop_with_barriers)
{
    for (;;) emu_barrier(); // at loop_with_barriers
}

#if !defined(__x86_64__)
struct Divided {
    const char* file;
    emu_u32 line, column;
};
extern "C" EMU_HIDDEN void __ubsan_handle_divrem_overflow(const Divided* data, emu_uptr, emu_uptr)
{
    emu_bad_division(data->file, data->line);
}
#endif

KERNEL(divide, int* out, int a, int b)
{
    out[0] = a / b; // at divide
}

// One line, because a processor may fault at the beginning of the function.
typedef volatile unsigned Counter;
static __attribute__((noinline)) unsigned recurse(Counter* n, Counter a = 0) { return (a = ++*n) + recurse(n) + a; } // at overflow

KERNEL(overflow, unsigned* out)
{
    volatile unsigned depth = 0;
    out[0] = recurse(&depth);
}

KERNEL(assert_fails)
{
    if (threadIdx.x == 3)
        emu_assert_fail("x > 0", "user.cu", 12, "void assert_fails()");
}

KERNEL(trap)
{
    emu_trap("a feature that is not there"); // at trap
}

KERNEL(illegal)
{
#if defined(__x86_64__)
#define UNDEFINED "ud2"
#else
#define UNDEFINED "udf #0"
#endif
    asm volatile(UNDEFINED); // at illegal
}
