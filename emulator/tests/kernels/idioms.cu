// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Idioms of CUDA samples and forums.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

// ---- Stockham FFT in shared memory, with operators for a complex type of its own

struct cplx {
    float re, im;
    __host__ __device__ friend cplx operator+(cplx a, cplx b) { return {a.re + b.re, a.im + b.im}; }
    __host__ __device__ friend cplx operator-(cplx a, cplx b) { return {a.re - b.re, a.im - b.im}; }
    __host__ __device__ friend cplx operator*(cplx a, cplx b)
    {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
};

KERNEL __launch_bounds__(128) fft256(const cplx* __restrict__ in, cplx* __restrict__ out)
{
    __shared__ cplx buffer[2][256];
    const int t = threadIdx.x;
    cplx *x = buffer[0], *y = buffer[1];
    x[t] = in[blockIdx.x * 256 + t];
    x[t + 128] = in[blockIdx.x * 256 + t + 128];
    __syncthreads();
#pragma unroll
    for (int ns = 1; ns < 256; ns <<= 1) {
        int k = t & (ns - 1);
        cplx w;
        __sincosf(-3.14159265358979f * k / ns, &w.im, &w.re);
        cplx a = x[t], b = x[t + 128] * w;
        int j = ((t - k) << 1) + k;
        y[j] = a + b;
        y[j + ns] = a - b;
        __syncthreads();
        cplx* swap = x;
        x = y, y = swap;
    }
    out[blockIdx.x * 256 + t] = x[t];
    out[blockIdx.x * 256 + t + 128] = x[t + 128];
}

// ---- Kogge-Stone scan with two buffers in carved dynamic shared memory, and decoupled look-back between blocks

struct tile_state {
    int flag; // 0: nothing, 1: the sum of the tile is known, 2: that of all tiles up to it
    int sum, inclusive;
};

KERNEL scan_lookback(const int* in, int* out, int n, unsigned* ticket, volatile tile_state* states)
{
    extern __shared__ __align__(16) unsigned char smem[];
    int* ping = reinterpret_cast<int*>(smem);
    int* pong = ping + blockDim.x;
    int* shared_prefix = pong + blockDim.x;
    unsigned* shared_tile = reinterpret_cast<unsigned*>(shared_prefix + 1);
    if (threadIdx.x == 0)
        *shared_tile = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned tile = *shared_tile, i = tile * blockDim.x + threadIdx.x;
    ping[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        pong[threadIdx.x] = threadIdx.x >= d ? ping[threadIdx.x] + ping[threadIdx.x - d] : ping[threadIdx.x];
        int* t = ping;
        ping = pong, pong = t;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        int total = ping[blockDim.x - 1], prefix = 0;
        states[tile].sum = total;
        __threadfence();
        states[tile].flag = 1;
        for (int look = int(tile) - 1; look >= 0; --look) {
            int flag;
            while ((flag = states[look].flag) == 0)
                ;
            __threadfence();
            prefix += flag == 2 ? states[look].inclusive : states[look].sum;
            if (flag == 2) break;
        }
        states[tile].inclusive = prefix + total;
        __threadfence();
        states[tile].flag = 2;
        *shared_prefix = prefix;
    }
    __syncthreads();
    if (i < n)
        out[i] = ping[threadIdx.x] + *shared_prefix;
}

// ---- atomics aggregated by the lanes that take part

__device__ int append(int* counter)
{
    auto g = cg::coalesced_threads();
    int base;
    if (g.thread_rank() == 0)
        base = atomicAdd(counter, g.size());
    return g.shfl(base, 0) + g.thread_rank();
}

__device__ int append_by_mask(int* counter)
{
    unsigned mask = __activemask(), lane;
    asm("mov.u32 %0, %laneid;" : "=r"(lane));
    int leader = __ffs(mask) - 1, base = 0;
    if (lane == leader)
        base = atomicAdd(counter, __popc(mask));
    base = __shfl_sync(mask, base, leader);
    return base + __popc(mask & ((1u << lane) - 1));
}

KERNEL filter_positive(const float* in, int n, float* out, float* negative, int* counts)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (in[i] > 0)
            out[append(counts)] = in[i];
        else
            negative[append_by_mask(counts + 1)] = in[i];
    }
}

// ---- the reduction that unrolls its last warp by volatile accesses

template <unsigned blockSize> __device__ void warp_reduce(volatile int* s, unsigned t)
{
    int v = s[t];
    if (blockSize >= 64) { v += s[t + 32]; __syncwarp(); s[t] = v; __syncwarp(); }
    if (blockSize >= 32) { v += s[t + 16]; __syncwarp(); s[t] = v; __syncwarp(); }
    if (blockSize >= 16) { v += s[t + 8]; __syncwarp(); s[t] = v; __syncwarp(); }
    if (blockSize >= 8) { v += s[t + 4]; __syncwarp(); s[t] = v; __syncwarp(); }
    if (blockSize >= 4) { v += s[t + 2]; __syncwarp(); s[t] = v; __syncwarp(); }
    if (blockSize >= 2) { v += s[t + 1]; __syncwarp(); s[t] = v; }
}

template <unsigned blockSize> __global__ void reduce6(const int* g_idata, int* g_odata, unsigned n)
{
    extern __shared__ int sdata[];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockSize * 2 + tid, gridSize = blockSize * 2 * gridDim.x;
    sdata[tid] = 0;
    while (i < n) {
        sdata[tid] += g_idata[i] + (i + blockSize < n ? g_idata[i + blockSize] : 0);
        i += gridSize;
    }
    __syncthreads();
    if (blockSize >= 256) { if (tid < 128) sdata[tid] += sdata[tid + 128]; __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) sdata[tid] += sdata[tid + 64]; __syncthreads(); }
    if (tid < 32) warp_reduce<blockSize>(sdata, tid);
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// ---- copies in two stages

KERNEL pipelined_sum(const int4* in, int4* out, int tiles)
{
    __shared__ int4 stage[2][32];
    int lane = threadIdx.x;
    int4 sum = make_int4(0, 0, 0, 0);
    __pipeline_memcpy_async(&stage[0][lane], &in[lane], sizeof(int4));
    __pipeline_commit();
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(&stage[(t + 1) & 1][lane])),
                         "l"(&in[(t + 1) * 32 + lane]) : "memory");
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncwarp();
        int4 v = stage[t & 1][31 - lane];
        sum.x += v.x, sum.y += v.y, sum.z ^= v.z, sum.w = max(sum.w, v.w);
        __syncwarp();
    }
    out[lane] = sum;
}

// ---- half2 stencil

KERNEL half2_blur(const __half2* in, __half2* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __half2 third = __float2half2_rn(0.25f), two = __half2half2(__float2half(0.5f));
    __half2 c = in[i], l = i ? in[i - 1] : __half2half2(__low2half(c)), r = i + 1 < n ? in[i + 1] : __half2half2(__high2half(c));
    __half2 left = __halves2half2(__high2half(l), __low2half(c)), right = __halves2half2(__high2half(c), __low2half(r));
    out[i] = __hfma2(c, two, __hmul2(__hadd2(left, right), third));
}

// ---- structures of constants, unions and bit fields

struct Material {
    float albedo[3];
    int kind;
    union { float roughness; unsigned id; };
};
__constant__ Material materials[3] = {{{0.1f, 0.2f, 0.3f}, 0, {0.5f}}, {{0.4f, 0.5f, 0.9f}, 1, {0.25f}}, {{0.7f, 0.8f, 0.9f}, 2, {1.0f}}};

struct Packed {
    unsigned mantissa : 23, exponent : 8, sign : 1;
};
union FloatBits {
    float f;
    unsigned u;
    Packed parts;
};

KERNEL shade(const int* kinds, float* out, unsigned* exponents, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    const Material& m = materials[kinds[i]];
    FloatBits bits;
    bits.f = m.albedo[0] * m.roughness + m.albedo[1] - m.albedo[2] * m.kind;
    exponents[i] = bits.parts.exponent | bits.parts.sign << 8;
    bits.parts.sign = 0;
    bits.parts.exponent += 1;
    out[i] = bits.f;
}

// ---- Monte Carlo with a generator of its own, and a reduction of tiles

struct lcg {
    unsigned long long state;
    __device__ explicit lcg(unsigned seed) : state(seed * 0x9E3779B97F4A7C15ull + 1) {}
    __device__ float operator()()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (state >> 40) * 0x1p-24f;
    }
};

KERNEL estimate_pi(unsigned* hits, int per_thread)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    lcg next(blockIdx.x * blockDim.x + threadIdx.x);
    unsigned inside = 0;
    for (int i = 0; i < per_thread; ++i) {
        float x = next(), y = next();
        inside += x * x + y * y < 1.0f;
    }
    unsigned all = cg::reduce(tile, inside, cg::plus<unsigned>());
    if (tile.thread_rank() == 0)
        atomicAdd(hits, all);
}

// ---- metaprogramming

template <int... values> struct table {
    static constexpr int size = sizeof...(values);
    int data[size] = {values...};
    __host__ __device__ constexpr int operator[](int i) const { return data[i]; }
};
constexpr __host__ __device__ unsigned crc_entry(unsigned n)
{
    for (int k = 0; k < 8; ++k)
        n = n & 1 ? 0xEDB88320u ^ (n >> 1) : n >> 1;
    return n;
}
struct crc_table {
    unsigned entry[256];
    __host__ __device__ constexpr crc_table() : entry()
    {
        for (unsigned i = 0; i < 256; ++i)
            entry[i] = crc_entry(i);
    }
};
__constant__ constexpr crc_table crcs{};

template <class... T> __device__ auto sum_of(T... x) { return (x + ... + 0); }
template <class F, class... T> __device__ void for_each(F f, T&&... x) { (f(x), ...); }
struct multiply {
    int& product;
    int more;
    template <class T> __device__ void operator()(T x) const { product *= int(x) + more; }
};
template <class T> __device__ T magnitude(T x)
{
    if constexpr (sizeof(T) == 1)
        return x;
    else
        return x < 0 ? -x : x;
}

KERNEL crc32(const unsigned char* text, const int* begins, unsigned* out, int* sums, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    unsigned crc = ~0u;
    for (int k = begins[i]; k < begins[i + 1]; ++k)
        crc = crcs.entry[(crc ^ text[k]) & 255] ^ (crc >> 8);
    out[i] = ~crc;
    constexpr table<3, 1, 4, 1, 5> pi;
    int product = 1;
    for_each(multiply{product, i}, 1, 2u, 3ll, 'a');
    sums[i] = sum_of(pi[i % pi.size], magnitude(-i), magnitude<char>(i)) + product;
}

// ---- functors, lambdas, structured bindings

template <class F> __global__ void transform(const int2* in, int* out, int n, F f)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        auto [a, b] = in[i];
        out[i] = f(a, b);
    }
}
struct Affine {
    int scale, offset;
    __device__ int operator()(int a, int b) const { return scale * a + b + offset; }
};

// ---- objects on the device heap, virtual functions, recursion, and a list

struct Node {
    int value;
    Node* next;
};
struct Visitor {
    __device__ virtual void visit(int value) = 0;
    __device__ virtual ~Visitor() {}
};
struct Sum : Visitor {
    long long total = 0;
    __device__ void visit(int value) override { total += value; }
};
struct Largest final : Visitor {
    int best = -2147483647 - 1;
    int* where;
    __device__ explicit Largest(int* p) : where(p) {}
    __device__ void visit(int value) override { best = value > best ? value : best; }
    __device__ ~Largest() { *where = best; }
};
__device__ void walk(const Node* node, Visitor& visitor)
{
    if (!node) return;
    visitor.visit(node->value);
    walk(node->next, visitor);
}

KERNEL lists(const int* values, long long* sums, int* largest, int each)
{
    int i = threadIdx.x;
    Node* head = nullptr;
    for (int k = 0; k < each; ++k)
        head = new Node{values[i * each + k], head};
    Sum* sum = new Sum;
    Visitor* most = new Largest(&largest[i]);
    walk(head, *sum);
    walk(head, *most);
    sums[i] = sum->total;
    delete most;
    delete sum;
    while (head) {
        Node* next = head->next;
        delete head;
        head = next;
    }
    int* copy = (int*)malloc(each * sizeof(int));
    assert(copy != nullptr);
    memcpy(copy, values + i * each, each * sizeof(int));
    for (int k = 1; k < each; ++k)
        for (int j = k; j > 0 && copy[j - 1] > copy[j]; --j) {
            int t = copy[j];
            copy[j] = copy[j - 1], copy[j - 1] = t;
        }
    sums[i] = sums[i] * 1000 + copy[each / 2];
    free(copy);
}

// ---- a lock, a hash table and a queue in global memory

KERNEL locked_sum(int* mutex, double* total, const double* x)
{
    __shared__ double partial;
    if (threadIdx.x == 0) partial = 0;
    __syncthreads();
    atomicAdd(&partial, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicCAS(mutex, 0, 1) != 0)
            __nanosleep(20);
        __threadfence();
        *total += partial;
        __threadfence();
        atomicExch(mutex, 0);
    }
}

KERNEL hash_insert(const unsigned* keys, int n, unsigned* table_keys, int* table_counts, unsigned capacity)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i], slot = key;
    slot ^= slot >> 16, slot *= 0x85ebca6b, slot ^= slot >> 13, slot *= 0xc2b2ae35, slot ^= slot >> 16;
    for (slot &= capacity - 1;; slot = (slot + 1) & (capacity - 1)) {
        unsigned before = atomicCAS(&table_keys[slot], 0xffffffffu, key);
        if (before == 0xffffffffu || before == key) {
            atomicAdd(&table_counts[slot], 1);
            return;
        }
    }
}

// ---- the last block finishes

__device__ unsigned blocks_done = 0;

KERNEL last_block(const float* in, volatile float* partial, float* out, int n)
{
    __shared__ bool is_last;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += __ldcg(in + i);
    for (int d = warpSize / 2; d; d >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(&blocks_done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        float v = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0;
        for (int d = 16; d; d >>= 1)
            v += __shfl_xor_sync(0xffffffff, v, d);
        if (threadIdx.x == 0) {
            __stcs(out, v);
            blocks_done = 0;
        }
    }
}

// ---- prefix of a tile, labels by match, bits by ballot

KERNEL compact_runs(const int* in, int* heads, int* run_lengths, int* scans)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int lane = warp.thread_rank(), i = threadIdx.x, value = in[i];
    int before = warp.shfl_up(value, 1);
    unsigned starts = warp.ballot(lane == 0 || before != value);
    int head = 31 - __clz(starts & (2u << lane) - 1);
    unsigned after = lane == 31 ? 0 : starts & ~0u << (lane + 1);
    heads[i] = head;
    run_lengths[i] = (after ? __ffs(after) - 1 : 32) - head;
    scans[i] = cg::exclusive_scan(warp, value) * 100 + __popc(__match_any_sync(~0u, value));
}

// ---- formats

KERNEL tell_all(int i, float f)
{
    printf("%5d|%-5d|%05d|%+d|%x|%#X|%o\n", i, i, i, i, i, i, i);
    printf("%8.3f|%-8.2e|%g|%a\n", f, f, f, f);
    printf("%s|%c|%%|%p|%lld|%llu|%hd|%*d\n", "text", 'c', (void*)0, -5ll, ~0ull, (short)-3, 6, i);
}

KERNEL tell_more(float f) { printf("%hhd|%zu|%.*f\n", (signed char)-3, sizeof(int4), 2, f); }

// ---- numbers of arbitrary precision

KERNEL multiply_128(const ulonglong2* a, const ulonglong2* b, unsigned long long* out)
{
    int i = threadIdx.x;
    unsigned long long r0, r1, r2, r3;
    asm("{\n\t.reg .u64 t0, t1;\n\t"
        "mul.lo.u64 %0, %4, %6;\n\t"
        "mul.hi.u64 %1, %4, %6;\n\t"
        "mad.lo.cc.u64 %1, %4, %7, %1;\n\t"
        "madc.hi.u64 %2, %4, %7, 0;\n\t"
        "mad.lo.cc.u64 %1, %5, %6, %1;\n\t"
        "madc.hi.cc.u64 %2, %5, %6, %2;\n\t"
        "addc.u64 %3, 0, 0;\n\t"
        "mad.lo.cc.u64 %2, %5, %7, %2;\n\t"
        "madc.hi.u64 %3, %5, %7, %3;\n\t}"
        : "=&l"(r0), "=&l"(r1), "=&l"(r2), "=&l"(r3)
        : "l"(a[i].x), "l"(a[i].y), "l"(b[i].x), "l"(b[i].y));
    out[4 * i] = r0, out[4 * i + 1] = r1, out[4 * i + 2] = r2, out[4 * i + 3] = r3;
}

// ---- a producer and a consumer warp

KERNEL specialized(const int* in, int* out, int rounds)
{
    __shared__ int slot[2][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) {
        for (int r = 0; r < rounds; ++r) {
            if (r >= 2)
                asm volatile("bar.sync %0, 64;" ::"r"(3 + (r & 1)) : "memory");
            slot[r & 1][lane] = in[r * 32 + lane] * 2;
            __threadfence_block();
            asm volatile("bar.arrive %0, 64;" ::"r"(1 + (r & 1)) : "memory");
        }
    } else {
        int sum = 0;
        for (int r = 0; r < rounds; ++r) {
            asm volatile("bar.sync %0, 64;" ::"r"(1 + (r & 1)) : "memory");
            sum += slot[r & 1][lane ^ 1] + r;
            if (r + 2 < rounds)
                asm volatile("bar.arrive %0, 64;" ::"r"(3 + (r & 1)) : "memory");
        }
        out[lane] = sum;
    }
}

// ---- a grid that synchronizes, and a wave that sweeps

KERNEL heat_grid(float* a, float* b, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < steps; ++s) {
        for (auto i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = i == 0 || i == n - 1 ? a[i] : 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
        grid.sync();
        float* t = a;
        a = b, b = t;
    }
}

// ---- an odd-even merge network of registers, sorted by shuffles

template <class T> __device__ T bitonic_step(T x, int mask, bool up)
{
    T y = __shfl_xor_sync(0xffffffffu, x, mask);
    return (x < y) == (up == !(threadIdx.x & mask)) ? x : y;
}
KERNEL sort_warps(unsigned long long* keys, double* values)
{
    unsigned long long k = keys[threadIdx.x];
    double v = values[threadIdx.x];
    int lane = threadIdx.x & 31;
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
        for (int d = size / 2; d; d /= 2) {
            bool up = !(lane & size) || size == 32;
            k = bitonic_step(k, d, up);
            v = bitonic_step(v, d, up);
        }
    keys[threadIdx.x] = k;
    values[threadIdx.x] = v;
}

// ---- images of vectors, with swizzles by operators

inline __device__ float4 operator*(float s, float4 v) { return make_float4(s * v.x, s * v.y, s * v.z, s * v.w); }
inline __device__ float4& operator+=(float4& a, const float4& b)
{
    a.x += b.x, a.y += b.y, a.z += b.z, a.w += b.w;
    return a;
}
KERNEL bodies(const float4* __restrict__ p, float4* __restrict__ acceleration, int n)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = i < n ? p[i] : float4{}, a = {};
    for (int base = 0; base < n; base += blockDim.x) {
        tile[threadIdx.x] = base + threadIdx.x < n ? p[base + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < blockDim.x; ++j) {
            float3 d = {tile[j].x - mine.x, tile[j].y - mine.y, tile[j].z - mine.z};
            float inverse = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
            a += tile[j].w * inverse * inverse * inverse * make_float4(d.x, d.y, d.z, 0);
        }
        __syncthreads();
    }
    if (i < n) acceleration[i] = a;
}
