// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Matrices in the registers of a warp, by PTX: each lane reads its registers from a row of an array.

#define INSTRUCTION(name, T, S, a_count, b_count, sum_count)                                                           \
    struct name {                                                                                                      \
        typedef T In;                                                                                                  \
        typedef S Sum;                                                                                                 \
        enum { as = a_count, bs = b_count, sums = sum_count };                                                         \
        static __device__ void run(Sum* d, const In* a, const In* b, const Sum* c);                                    \
    };                                                                                                                 \
    __device__ void name::run(Sum* d, const In* a, const In* b, const Sum* c)

#define PRODUCT_2112(name, text)                                                                                       \
    INSTRUCTION(name, unsigned, int, 1, 1, 2)                                                                          \
    {                                                                                                                  \
        asm("mma.sync.aligned." text " {%0, %1}, {%2}, {%3}, {%4, %5};"                                                \
            : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));                                    \
    }
#define PRODUCT_4214(name, text, S, r)                                                                                 \
    INSTRUCTION(name, unsigned, S, 2, 1, 4)                                                                            \
    {                                                                                                                  \
        S s[4] = {c[0], c[1], c[2], c[3]};                                                                             \
        asm("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                            \
            : r(s[0]), r(s[1]), r(s[2]), r(s[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                   \
        for (int i = 0; i < 4; ++i)                                                                                    \
            d[i] = s[i];                                                                                               \
    }
#define PRODUCT_4424(name, text, S, r)                                                                                 \
    INSTRUCTION(name, unsigned, S, 4, 2, 4)                                                                            \
    {                                                                                                                  \
        S s[4] = {c[0], c[1], c[2], c[3]};                                                                             \
        asm("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                \
            : r(s[0]), r(s[1]), r(s[2]), r(s[3])                                                                       \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                       \
        for (int i = 0; i < 4; ++i)                                                                                    \
            d[i] = s[i];                                                                                               \
    }
#define PRODUCT_2422(name, text)                                                                                       \
    INSTRUCTION(name, unsigned, unsigned, 4, 2, 2)                                                                     \
    {                                                                                                                  \
        asm("mma.sync.aligned." text " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"                                \
            : "=r"(d[0]), "=r"(d[1])                                                                                   \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));                 \
    }

PRODUCT_4214(F16K8, "m16n8k8.row.col.f32.f16.f16.f32", float, "+f")
PRODUCT_4424(F16K16, "m16n8k16.row.col.f32.f16.f16.f32", float, "+f")
PRODUCT_2422(F16Sums, "m16n8k16.row.col.f16.f16.f16.f16")
PRODUCT_4424(Bf16K16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "+f")
PRODUCT_4214(Tf32K4, "m16n8k4.row.col.f32.tf32.tf32.f32", float, "+f")
PRODUCT_4424(Tf32K8, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "+f")
PRODUCT_2112(S8K16Rows8, "m8n8k16.row.col.s32.s8.u8.s32")
PRODUCT_4214(S8K16, "m16n8k16.row.col.s32.s8.s8.s32", int, "+r")
PRODUCT_4424(U8K32, "m16n8k32.row.col.satfinite.s32.u8.s8.s32", int, "+r")

INSTRUCTION(F64Rows8, double, double, 1, 1, 2)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=d"(d[0]), "=d"(d[1]) : "d"(a[0]), "d"(b[0]), "d"(c[0]), "d"(c[1]));
}
INSTRUCTION(F64K4, double, double, 2, 1, 4)
{
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(b[0]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}
INSTRUCTION(F64K8, double, double, 4, 2, 4)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}
INSTRUCTION(F64K16, double, double, 8, 4, 4)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
        "{%12, %13, %14, %15}, {%16, %17, %18, %19};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
          "d"(b[2]), "d"(b[3]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
}

template <class I>
__global__ void product(const typename I::In* a, const typename I::In* b, const typename I::Sum* c, typename I::Sum* d)
{
    unsigned i = threadIdx.x;
    I::run(d + I::sums * i, a + I::as * i, b + I::bs * i, c + I::sums * i);
}

#ifdef FEW_BITS
PRODUCT_4424(E4M3K32, "m16n8k32.row.col.f32.e4m3.e5m2.f32", float, "+f")
PRODUCT_4424(E5M2K32, "m16n8k32.row.col.f32.e5m2.e5m2.f32", float, "+f")
PRODUCT_2112(S4K32Rows8, "m8n8k32.row.col.s32.s4.s4.s32")
PRODUCT_4214(S4K32, "m16n8k32.row.col.s32.s4.u4.s32", int, "+r")
PRODUCT_4424(U4K64, "m16n8k64.row.col.s32.u4.u4.s32", int, "+r")
PRODUCT_2112(B1K128Rows8, "m8n8k128.row.col.s32.b1.b1.s32.and.popc")
PRODUCT_4214(B1K128, "m16n8k128.row.col.s32.b1.b1.s32.xor.popc", int, "+r")
PRODUCT_4424(B1K256, "m16n8k256.row.col.s32.b1.b1.s32.and.popc", int, "+r")
#else

// Stores four matrices of a warp as rows and as columns; out has two arrays of shared memory and the transposed
// registers of the first matrix.
extern "C" __global__ void store_matrices(const unsigned* x, unsigned* out)
{
    __shared__ __align__(16) unsigned rows[128], columns[128];
    unsigned i = threadIdx.x, at = (unsigned)__cvta_generic_to_shared(rows + 4 * i), other, d;
    const unsigned* mine = x + 4 * i;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(at), "r"(mine[0]), "r"(mine[1]), "r"(mine[2]), "r"(mine[3]) : "memory");
    other = (unsigned)__cvta_generic_to_shared(columns + 4 * i);
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                 :: "r"(other), "r"(mine[0]), "r"(mine[1]) : "memory");
    other = (unsigned)__cvta_generic_to_shared(columns + (64 + 4 * i) % 128);
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [%0 + 0], {%1};" :: "r"(other), "r"(mine[2])
                 : "memory");
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(mine[0]));
    __syncwarp();
    for (int n = 0; n < 4; ++n) {
        out[32 * n + i] = rows[32 * n + i];
        out[128 + 32 * n + i] = n < 3 ? columns[32 * n + i] : 0;
    }
    out[256 + i] = d;
}

#define EIGHT(first, r, x)                                                                                             \
    first r(x[0]), r(x[1]), r(x[2]), r(x[3]), r(x[4]), r(x[5]), r(x[6]), r(x[7])

// c += a * b for 16 x 16 x 16 halves, whose rows lie `stride` elements apart in shared memory.
extern "C" __global__ void half_fragments(const unsigned short* x, const unsigned short* y, float* z, int stride)
{
    __shared__ __align__(32) unsigned short tile[16 * 24];
    unsigned a[8], b[8];
    float c[8];
    for (unsigned i = threadIdx.x; i < 16 * 24; i += 32)
        tile[i] = x[i];
    __syncwarp();
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 EIGHT(:, "=r", a) : "r"((unsigned)__cvta_generic_to_shared(tile)), "r"(stride));
    asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 EIGHT(:, "=r", b) : "l"(y));
    asm volatile("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 EIGHT(:, "=f", c) : "l"(z));
    asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
                 "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, "
                 "{%0, %1, %2, %3, %4, %5, %6, %7};" EIGHT(:, "+f", c) EIGHT(:, "r", a), EIGHT(, "r", b));
    for (int i = 0; i < 8; ++i)
        c[i] *= 2;
    asm volatile("wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7}, 16;"
                 :: "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]), "l"(z)
                 : "memory");
}

// 32 x 8 x 16 bytes with saturated sums.
extern "C" __global__ void byte_fragments(const signed char* x, const signed char* y, int* z)
{
    unsigned a[4], b;
    int c[8];
    asm volatile("wmma.load.a.sync.aligned.row.m32n8k16.global.s8 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "l"(x));
    asm volatile("wmma.load.b.sync.aligned.row.m32n8k16.global.s8 {%0}, [%1];" : "=r"(b) : "l"(y));
    asm volatile("wmma.load.c.sync.aligned.row.m32n8k16.global.s32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 EIGHT(:, "=r", c) : "l"(z));
    asm volatile("wmma.mma.sync.aligned.row.row.m32n8k16.s32.s8.s8.s32.satfinite {%0, %1, %2, %3, %4, %5, %6, %7}, "
                 "{%8, %9, %10, %11}, {%12}, {%0, %1, %2, %3, %4, %5, %6, %7};"
                 EIGHT(:, "+r", c) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b));
    asm volatile("wmma.store.d.sync.aligned.row.m32n8k16.global.s32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7};"
                 :: "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]), "l"(z)
                 : "memory");
}

// 16 x 16 x 8 tf32.
extern "C" __global__ void tf32_fragments(const float* x, const float* y, float* z)
{
    unsigned a[4], b[4];
    float c[8];
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "l"(x));
    asm volatile("wmma.load.b.sync.aligned.col.m16n16k8.global.tf32 {%0, %1, %2, %3}, [%4], 8;"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "l"(y));
    asm volatile("wmma.load.c.sync.aligned.col.m16n16k8.global.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 EIGHT(:, "=f", c) : "l"(z));
    asm volatile("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
                 "{%8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"
                 EIGHT(:, "+f", c)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
    asm volatile("wmma.store.d.sync.aligned.col.m16n16k8.global.f32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7};"
                 :: "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]), "l"(z)
                 : "memory");
}

// 8 x 8 x 4 doubles.
extern "C" __global__ void double_fragments(const double* x, const double* y, double* z)
{
    double a, b, c, d;
    asm volatile("wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%0}, [%1];" : "=d"(a) : "l"(x));
    asm volatile("wmma.load.b.sync.aligned.col.m8n8k4.global.f64 {%0}, [%1];" : "=d"(b) : "l"(y));
    asm volatile("wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%0, %1}, [%2];" : "=d"(c), "=d"(d) : "l"(z));
    asm volatile("wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c), "+d"(d) : "d"(a), "d"(b));
    asm volatile("wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%0], {%1, %2};" :: "l"(z), "d"(c), "d"(d) : "memory");
}

#endif
