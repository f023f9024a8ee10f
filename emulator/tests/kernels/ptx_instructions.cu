// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Instructions of PTX that few programs need: halves, barriers of other blocks, spaces of addresses.

#define TWO(n, text) asm(text " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); out[32 * n + i] = d
#define THREE(n, text) asm(text " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); out[32 * n + i] = d
#define ONE_HALF(n, text)                                                                                              \
    asm("{ .reg .b16 x, y, z, w; mov.b32 {x, w}, %1; mov.b32 {y, w}, %2; mov.b32 {z, w}, %3; " text " mov.b32 %0, {x, x}; }"  \
        : "=r"(d) : "r"(a), "r"(b), "r"(c)); out[32 * n + i] = d

extern "C" __global__ void half_words(const unsigned* x, const unsigned* y, const unsigned* z, unsigned* out)
{
    unsigned i = threadIdx.x, a = x[i], b = y[i], c = z[i], d;
    THREE(0, "fma.rn.relu.f16x2");
    THREE(1, "fma.rn.sat.f16x2");
    TWO(2, "min.NaN.f16x2");
    TWO(3, "max.xorsign.abs.f16x2");
    TWO(4, "add.ftz.f16x2");
    ONE_HALF(5, "fma.rn.relu.f16 x, x, y, z;");
    ONE_HALF(6, "add.ftz.f16 x, x, y;");
    ONE_HALF(7, "min.NaN.xorsign.abs.f16 x, x, y;");
    TWO(8, "set.lt.f16x2.f16x2");
    TWO(9, "set.geu.u32.f16x2");
    asm("{ .reg .pred p, q, r; setp.gt.u32 r, %3, 0x80000000; setp.lt.and.f16x2 p|q, %1, %2, !r;\n"
        "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    out[32 * 10 + i] = d;
    asm("{ .reg .pred p, q; setp.nan.f16x2 p|q, %1, %2; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }"
        : "=r"(d) : "r"(a), "r"(b));
    out[32 * 11 + i] = d;
    ONE_HALF(12, "set.gt.f16.f16 x, x, y;");
}

extern "C" __global__ void bfloat_words(const unsigned* x, const unsigned* y, const unsigned* z, unsigned* out)
{
    unsigned i = threadIdx.x, a = x[i], b = y[i], c = z[i], d;
    THREE(0, "fma.rn.relu.bf16x2");
    TWO(1, "max.NaN.bf16x2");
    TWO(2, "set.ne.bf16x2.bf16x2");
    ONE_HALF(3, "min.xorsign.abs.bf16 x, x, y;");
}

extern "C" __global__ void float_words(const float* x, const float* y, float* out, int* less)
{
    int i = threadIdx.x;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(out[i]) : "f"(x[i]), "f"(y[i]));
    asm("max.xorsign.abs.f32 %0, %1, %2;" : "=f"(out[32 + i]) : "f"(x[i]), "f"(y[i]));
    asm("min.f32 %0, %1, %2;" : "=f"(out[64 + i]) : "f"(x[i]), "f"(y[i]));
    asm("{ .reg .pred p; setp.lt.ftz.f32 p, %1, %2; selp.s32 %0, 1, 0, p; }" : "=r"(less[i]) : "f"(x[i]), "f"(y[i]));
}

// Atomic sums of halves and vectors. Every thread adds to the same numbers.
extern "C" __global__ void half_atomics(unsigned short* h, unsigned* pairs, float* f, unsigned short* eight, unsigned* out)
{
    unsigned short one = 0x3c00, bfloat_one = 0x3f80, old;
    unsigned i = threadIdx.x, both = 0x3c00bc00, before;
    float value = i;
    asm volatile("red.global.add.noftz.f16 [%0], %1;" :: "l"(h), "h"(one) : "memory");
    asm volatile("atom.global.add.noftz.bf16 %0, [%1], %2;" : "=h"(old) : "l"(h + 1), "h"(bfloat_one) : "memory");
    asm volatile("red.relaxed.gpu.global.add.noftz.f16x2 [%0], %1;" :: "l"(pairs), "r"(both) : "memory");
    asm volatile("atom.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(before) : "l"(pairs + 1), "r"(0x3f80bf80) : "memory");
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %2, %2};" :: "l"(f), "f"(value), "f"(-value) : "memory");
    asm volatile("red.global.max.noftz.v8.f16 [%0], {%1, %2, %1, %2, %1, %2, %1, %1};"
                 :: "l"(eight), "h"((unsigned short)(0x3c00 + i)), "h"(one) : "memory");
    asm volatile("red.global.min.noftz.v2.f16x2 [%0], {%1, %2};" :: "l"(eight + 8), "r"(both), "r"(0x40004000 + i)
                 : "memory");
    out[i] = old;
    out[32 + i] = before;
    if (i == 0)
        asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%3, %4};"
                     : "=f"(f[8]), "=f"(f[9]) : "l"(f + 4), "f"(1.5f), "f"(-2.0f) : "memory");
}

// Each block of the cluster writes to shared memory of the next one, arrives at its barrier, and waits at its own one.
extern "C" __cluster_dims__(4, 1, 1) __global__ void cluster_ring(unsigned* out)
{
    __shared__ __align__(8) unsigned long long barrier;
    __shared__ unsigned received[32];
    unsigned i = threadIdx.x, rank, at = (unsigned)__cvta_generic_to_shared(&barrier), there, value;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (i == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 33; fence.mbarrier_init.release.cluster;" :: "r"(at) : "memory");
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(received + i)), "r"((rank + 1) % 4));
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there), "r"(100 * rank + i) : "memory");
    asm volatile("{ .reg .b32 next; mapa.shared::cluster.u32 next, %0, %1;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [next]; }" :: "r"(at), "r"((rank + 1) % 4) : "memory");
    if (i == 0)
        asm volatile("{ .reg .b32 last; mapa.shared::cluster.u32 last, %0, %1;\n"
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [last], 1; }" :: "r"(at), "r"((rank + 3) % 4)
                     : "memory");
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p; }" : "=r"(value) : "r"(at) : "memory");
    while (!value);
    out[32 * rank + i] = received[i];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

// Each block copies its numbers to the next block of the cluster, whose barrier counts the bytes.
extern "C" __cluster_dims__(4, 1, 1) __global__ void cluster_copies(unsigned* out)
{
    __shared__ __align__(16) unsigned sent[32], received[32];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned i = threadIdx.x, rank, at = (unsigned)__cvta_generic_to_shared(&barrier), done;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    sent[i] = 1000 * rank + i;
    if (i == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" :: "r"(at) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (i == 0) {
        unsigned next = (rank + 1) % 4, from = (unsigned)__cvta_generic_to_shared(sent);
        asm volatile("{ .reg .b32 to, there; mapa.shared::cluster.u32 to, %0, %3; mapa.shared::cluster.u32 there, %2, %3;\n"
                     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [%1], 128, [there]; }"
                     :: "r"((unsigned)__cvta_generic_to_shared(received)), "r"(from), "r"(at), "r"(next) : "memory");
    }
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
    while (!done);
    out[32 * rank + i] = received[i];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

__constant__ int constants[4];
__device__ int variables[4];

extern "C" __global__ void spaces(int* out, const int* x)
{
    __shared__ __align__(8) unsigned long long barrier;
    unsigned long long token;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier), count;
    int local[2] = {x[0], x[1]};
    const void* pointers[] = {constants + 1, variables, local + x[0], &barrier, x};
    for (int n = 0; n < 5; ++n) {
        unsigned is_constant;
        asm("{ .reg .pred p; isspacep.const p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is_constant) : "l"(pointers[n]));
        out[n] = is_constant | __isConstant(pointers[n]) << 1 | __isGlobal(pointers[n]) << 2 |
                 __isLocal(pointers[n]) << 3 | __isShared(pointers[n]) << 4;
    }
    asm volatile("mbarrier.init.shared.b64 [%0], 5;" :: "r"(at) : "memory");
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%2], 3; mbarrier.pending_count.b64 %1, %0;"
                 : "=l"(token), "=r"(count) : "r"(at) : "memory");
    out[5] = count;
    asm volatile("mbarrier.arrive_drop.noComplete.shared.b64 %0, [%2], 1; mbarrier.pending_count.b64 %1, %0;"
                 : "=l"(token), "=r"(count) : "r"(at) : "memory");
    out[6] = count;
}

// Bulk reductions from shared to global memory.
extern "C" __global__ void bulk_sums(unsigned* sums, unsigned long long* bits, unsigned short* halves, float* floats)
{
    __shared__ __align__(16) unsigned a[32];
    __shared__ __align__(16) unsigned long long b[32];
    __shared__ __align__(16) unsigned short h[32];
    __shared__ __align__(16) float f[32];
    int i = threadIdx.x;
    a[i] = i, b[i] = 1ull << (i + 7 * blockIdx.x), h[i] = 0x3c00 + 16 * i * (blockIdx.x + 1), f[i] = 0.5f * i;
    __syncthreads();
    if (i == 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;"
                     :: "l"(sums), "r"((unsigned)__cvta_generic_to_shared(a)), "r"(128) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.or.b64 [%0], [%1], %2;"
                     :: "l"(bits), "r"((unsigned)__cvta_generic_to_shared(b)), "r"(256) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.f16 [%0], [%1], 64;"
                     :: "l"(halves), "r"((unsigned)__cvta_generic_to_shared(h)) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;"
                     :: "l"(floats), "r"((unsigned)__cvta_generic_to_shared(f)), "n"(128) : "memory");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
    }
}
