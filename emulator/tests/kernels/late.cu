// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies that are used too early, and mbarriers with wrong counts, and their corrected twins. out has 32 zeros.
#define SHARED(p) (unsigned int)__cvta_generic_to_shared(p)
#define KERNEL(name) extern "C" __global__ void name(int* x, int* out, int bad)
#define FILL(buffer, value) (buffer[threadIdx.x] = value, __syncthreads())

typedef unsigned long long Barrier;

__device__ void init(Barrier* b, int count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(SHARED(b)), "r"(count) : "memory");
}
__device__ void expect(Barrier* b, int bytes)
{
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(SHARED(b)), "r"(bytes) : "memory");
}
__device__ void arrive_expect(Barrier* b, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(SHARED(b)), "r"(bytes) : "memory");
}
// Macros, so that reports have the line of their use.
#define ARRIVE(b) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(SHARED(b)) : "memory")
#define WAIT(b, parity)                                                                                                \
    asm volatile("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"                \
                 "@!done bra again; }" :: "r"(SHARED(b)), "r"((int)(parity)) : "memory")
#define LOAD(to, from, bytes, b)                                                                                       \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"             \
                 :: "r"(SHARED(to)), "l"(from), "r"(bytes), "r"(SHARED(b)) : "memory")
#define STORE(to, from, bytes)                                                                                         \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"                                         \
                 :: "l"(to), "r"(SHARED(from)), "r"(bytes) : "memory")
#define COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT_GROUP(n) asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(n) : "memory")
#define BEGIN(count)                                                                                                   \
    __shared__ alignas(128) int tile[2][32];                                                                           \
    __shared__ Barrier bars[2];                                                                                        \
    int i = threadIdx.x;                                                                                               \
    if (i == 0)                                                                                                        \
        init(&bars[0], count), init(&bars[1], count);                                                                  \
    __syncthreads()

// ---- copies that are used too early

KERNEL(no_wait)
{
    BEGIN(1);
    if (i == 0) { arrive_expect(&bars[0], 128); LOAD(tile[0], out, 128, &bars[0]); }
    __syncthreads();
    if (!bad) WAIT(&bars[0], 0);
    out[i] = tile[0][i] + 1; // at no_wait
}
KERNEL(wrong_parity)
{
    BEGIN(1);
    if (i == 0) { arrive_expect(&bars[0], 128); LOAD(tile[0], out, 128, &bars[0]); }
    __syncthreads();
    WAIT(&bars[0], bad);
    out[i] = tile[0][i] + 1; // at wrong_parity
}
KERNEL(other_barrier)
{
    BEGIN(1);
    if (i == 0)
        for (int k = 0; k < 2; ++k) { arrive_expect(&bars[k], 128); LOAD(tile[k], out, 128, &bars[k]); }
    WAIT(&bars[1], 0);
    if (!bad) WAIT(&bars[0], 0);
    int value = tile[0][i] + tile[1][i] + 1; // at other_barrier
    __syncthreads();
    out[i] = value;
}
KERNEL(parity_not_flipped)
{
    BEGIN(1);
    for (int k = 0; k < 2; ++k) {
        if (i == 0) { arrive_expect(&bars[0], 128); LOAD(tile[k], out, 128, &bars[0]); }
        __syncthreads();
        WAIT(&bars[0], bad ? 0 : k);
        int value = tile[k][i] + 1; // at parity_not_flipped
        __syncthreads();
        if (k == 1) out[i] = value;
    }
}
KERNEL(expect_forgotten)
{
    BEGIN(1);
    if (i == 0) { if (bad) ARRIVE(&bars[0]); else arrive_expect(&bars[0], 128); LOAD(tile[0], out, 128, &bars[0]); }
    __syncthreads();
    WAIT(&bars[0], 0);
    out[i] = tile[0][i] + 1; // at expect_forgotten
}
KERNEL(target_overwritten)
{
    BEGIN(1);
    if (i == 0) { arrive_expect(&bars[0], 128); LOAD(tile[0], out, 128, &bars[0]); }
    __syncthreads();
    if (bad) tile[0][i] = 7; // at target_overwritten
    WAIT(&bars[0], 0);
    out[i] = tile[0][i] + 1;
}
KERNEL(source_overwritten)
{
    BEGIN(1);
    FILL(tile[0], 1);
    if (i == 0) { STORE(x, tile[0], 128); COMMIT; if (!bad) WAIT_GROUP(0); }
    __syncthreads();
    tile[0][i] = 2; // at source_overwritten
}
KERNEL(group_not_committed)
{
    BEGIN(1);
    FILL(tile[0], 1);
    if (i == 0) { STORE(x, tile[0], 128); if (!bad) COMMIT; WAIT_GROUP(0); }
    __syncthreads();
    tile[0][i] = 2; // at group_not_committed
}
KERNEL(one_group_left)
{
    BEGIN(1);
    FILL(tile[0], 1);
    FILL(tile[1], 2);
    if (i == 0) {
        STORE(x, tile[0], 64); COMMIT;
        STORE(x + 16, tile[1], 64); COMMIT;
        if (bad) WAIT_GROUP(1); else WAIT_GROUP(0);
    }
    __syncthreads();
    tile[0][i] = 3;
    tile[1][i] = 3; // at one_group_left
}
KERNEL(waits_in_other_thread)
{
    BEGIN(1);
    FILL(tile[0], 1);
    if (i == 0) { STORE(x, tile[0], 128); COMMIT; if (!bad) WAIT_GROUP(0); }
    if (i == 1) WAIT_GROUP(0);
    __syncthreads();
    tile[0][i] = 2; // at waits_in_other_thread
}

// ---- mbarriers with wrong counts

KERNEL(too_many_bytes)
{
    BEGIN(1);
    if (i == 0) { arrive_expect(&bars[0], bad ? 256 : 128); LOAD(tile[0], out, 128, &bars[0]); }
    WAIT(&bars[0], 0); // at too_many_bytes
    out[i] = tile[0][i];
}
KERNEL(too_few_bytes)
{
    BEGIN(1);
    if (i == 0) { arrive_expect(&bars[0], bad ? 64 : 128); LOAD(tile[0], out, 128, &bars[0]); }
    WAIT(&bars[0], 0); // at too_few_bytes
    out[i] = tile[0][i];
}
KERNEL(expected_by_all)
{
    BEGIN(1);
    if (bad && i == 1) expect(&bars[0], 128);
    __syncthreads();
    if (i == 0) { LOAD(tile[0], out, 128, &bars[0]); arrive_expect(&bars[0], 128); }
    WAIT(&bars[0], 0); // at expected_by_all
    out[i] = tile[0][i];
}
KERNEL(too_few_arrive)
{
    BEGIN(bad ? 32 : 1);
    if (i == 0) { arrive_expect(&bars[0], 128); LOAD(tile[0], out, 128, &bars[0]); }
    WAIT(&bars[0], 0); // at too_few_arrive
    out[i] = tile[0][i];
}
KERNEL(too_many_arrive)
{
    BEGIN(bad ? 31 : 32);
    if (i == 0) { expect(&bars[0], 128); LOAD(tile[0], out, 128, &bars[0]); }
    __syncthreads();
    ARRIVE(&bars[0]); // at too_many_arrive
    __syncthreads();
    WAIT(&bars[0], 0);
    out[i] = tile[0][i];
}
KERNEL(waits_for_next_phase)
{
    BEGIN(1);
    if (i == 0) { arrive_expect(&bars[0], 128); LOAD(tile[0], out, 128, &bars[0]); }
    WAIT(&bars[0], 0);
    __syncthreads();
    if (bad) WAIT(&bars[0], 1); // at waits_for_next_phase
    out[i] = tile[0][i];
}

// ---- correct in both forms

KERNEL(looks_at_the_bytes)
{
    BEGIN(1);
    FILL(tile[0], 5);
    if (i == 0) {
        arrive_expect(&bars[0], 128);
        LOAD(tile[0], out, 128, &bars[0]);
        volatile int* last = &tile[0][31];
        while (bad && *last == 5) {}
        WAIT(&bars[0], 0);
    }
}
KERNEL(pipeline)
{
    BEGIN(1);
    for (int k = 0; k < 6; ++k) {
        for (int next = k ? k + 1 : 0; i == 0 && next <= k + 1 && next < 6; ++next) {
            arrive_expect(&bars[next % 2], 128);
            LOAD(tile[next % 2], out, 128, &bars[next % 2]);
        }
        WAIT(&bars[k % 2], k / 2 % 2);
        int value = tile[k % 2][i];
        __syncthreads();
        if (value != 0) __trap();
    }
}
KERNEL(ends_before_it_waits)
{
    BEGIN(1);
    FILL(tile[0], 9);
    if (i == 0) {
        STORE(x, tile[0], 128);
        COMMIT;
    }
}
// Lane 0 loads tiles for the other lanes, and stores their results from two buffers in turn.
KERNEL(producer_and_consumers)
{
    __shared__ alignas(128) int tile[2][32], result[2][32];
    __shared__ Barrier full[2], empty[2], ready[2];
    int i = threadIdx.x;
    if (i < 2) init(&full[i], 1), init(&empty[i], 31), init(&ready[i], 31);
    __syncthreads();
    for (int k = 0; k < 8; ++k) {
        int at = k % 2, parity = k / 2 % 2;
        if (i == 0) {
            WAIT(&empty[at], parity ^ 1);
            arrive_expect(&full[at], 128);
            LOAD(tile[at], out, 64, &full[at]);
            LOAD(tile[at] + 16, out + 16, 64, &full[at]);
            WAIT(&ready[at], parity);
            STORE(x, result[at], 128);
            COMMIT;
            WAIT_GROUP(1);
        } else {
            WAIT(&full[at], parity);
            result[at][i] = tile[at][i] + k;
            if (i == 1) result[at][0] = tile[at][0] + k;
            asm volatile("fence.proxy.async;" ::: "memory");
            ARRIVE(&empty[at]);
            ARRIVE(&ready[at]);
        }
    }
}
