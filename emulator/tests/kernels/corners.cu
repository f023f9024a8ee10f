// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Whole kernels in the manner of public collections, with corners of the language that few programs use.
#define KERNEL extern "C" __global__ void

typedef unsigned int u32;
typedef unsigned long long u64;

// ---- A stream cipher (ChaCha20): four words per lane, rotated with shuffles

static __device__ __forceinline__ void quarter(u32& a, u32& b, u32& c, u32& d)
{
#define STEP(x, y, z, n) x += y, z = __funnelshift_l(z ^ x, z ^ x, n)
    STEP(a, b, d, 16);
    STEP(c, d, b, 12);
    STEP(a, b, d, 8);
    STEP(c, d, b, 7);
#undef STEP
}

KERNEL chacha(const uint4* __restrict__ key, uint4* __restrict__ out, u32 counter)
{
    const int lane = threadIdx.x & 3;
    const u32 group = 0xfu << (threadIdx.x & 28);
    static const u32 words[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    const u32* k = reinterpret_cast<const u32*>(key);
    u32 last = lane == 0 ? counter + (blockIdx.x * blockDim.x + threadIdx.x) / 4 : lane == 1 ? 0x09000000u : lane == 2 ? 0x4a000000u : 0u;
    u32 s[4] = {words[lane], k[lane], k[4 + lane], last}, t[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        t[i] = s[i];
    for (int round = 0; round < 10; ++round) {
        quarter(t[0], t[1], t[2], t[3]);
#pragma unroll
        for (int i = 1; i < 4; ++i)
            t[i] = __shfl_sync(group, t[i], lane + i, 4);
        quarter(t[0], t[1], t[2], t[3]);
#pragma unroll
        for (int i = 1; i < 4; ++i)
            t[i] = __shfl_sync(group, t[i], lane - i, 4);
    }
    u32* block = reinterpret_cast<u32*>(out + (blockIdx.x * blockDim.x + threadIdx.x) / 4 * 4);
    for (int i = 0; i < 4; ++i)
        block[4 * i + lane] = t[i] + s[i];
}

// ---- Numbers of 256 bits: carries in one asm statement, with immediates as operands

struct alignas(32) Big {
    u64 limb[4];
};

KERNEL add_big(const Big* a, const Big* b, Big* sum, u32* fields, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Big x = a[i], y = b[i], z;
        u32 carry;
        asm("add.cc.u64 %0, %5, %9;\n\t"
            "addc.cc.u64 %1, %6, %10;\n\t"
            "addc.cc.u64 %2, %7, %11;\n\t"
            "addc.cc.u64 %3, %8, %12;\n\t"
            "addc.u32 %4, 0, 0;"
            : "=l"(z.limb[0]), "=l"(z.limb[1]), "=l"(z.limb[2]), "=l"(z.limb[3]), "=r"(carry)
            : "l"(x.limb[0]), "l"(x.limb[1]), "l"(x.limb[2]), "l"(x.limb[3]), "l"(y.limb[0]), "l"(y.limb[1]),
              "l"(y.limb[2]), "l"(y.limb[3]));
        sum[i] = z;
        u32 field;
        asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"((u32)x.limb[0]), "n"(5), "n"(3 * 4));
        fields[i] = field | carry << 31;
    }
}

// ---- A product modulo a prime of 61 bits

__device__ __noinline__ u64 reduced(u64 low, u64 high)
{
    constexpr u64 prime = (1ull << 61) - 1;
    u64 x = (low & prime) + (low >> 61 | high << 3);
    x = (x & prime) + (x >> 61);
    return x >= prime ? x - prime : x;
}

KERNEL powers(const u64* base, const u32* exponent, u64* out)
{
    u64 x = base[threadIdx.x], y = 1;
    for (u32 e = exponent[threadIdx.x]; e; e >>= 1) {
        if (e & 1)
            y = reduced(x * y, __umul64hi(x, y));
        x = reduced(x * x, __umul64hi(x, x));
    }
    out[threadIdx.x] = y;
}

// ---- A local alignment with DPX functions, along anti-diagonals of a warp

KERNEL align_words(const char* a, const char* b, int n, int* best)
{
    const int lane = threadIdx.x;
    const char mine = a[lane];
    int above = 0, diagonal = 0, left = 0, most = 0;
    for (int step = 0; step < n + 31; ++step) {
        int column = step - lane;
        bool active = column >= 0 && column < n;
        int up = __shfl_up_sync(~0u, left, 1);
        above = lane ? up : 0;
        int score = active && mine == b[column] ? 3 : -2;
        int value = __viaddmax_s32_relu(diagonal, score, __vimax_s32_relu(above - 4, left - 4));
        if (active) {
            diagonal = above;
            left = value;
            most = __vimax3_s32(most, value, 0);
        }
    }
    most = __reduce_max_sync(~0u, most);
    if (lane == 0)
        *best = most;
}

// ---- A table of keys and counts with open addressing

struct Slot {
    int key;
    u32 count;
};
union Packed {
    Slot slot;
    u64 bits;
};

KERNEL count_words(const int* keys, int n, u64* table, int room)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int key = keys[i];
        u32 at = (u32)key * 2654435761u % (u32)room;
        for (;; at = at + 1 == (u32)room ? 0 : at + 1) {
            Packed old, wanted;
            old.bits = *(volatile u64*)&table[at];
        again:
            if (old.slot.count && old.slot.key != key)
                continue;
            wanted.slot = {key, old.slot.count + 1};
            Packed seen;
            seen.bits = atomicCAS(table + at, old.bits, wanted.bits);
            if (seen.bits == old.bits)
                break;
            old = seen;
            goto again;
        }
    }
}

// ---- A filter of bits

template <class T> struct Hash;
template <> struct Hash<u32> {
    __device__ u32 operator()(u32 x, u32 seed) const
    {
        x ^= seed, x *= 0x85ebca6bu, x ^= x >> 13, x *= 0xc2b2ae35u;
        return x ^ x >> 16;
    }
};

KERNEL bloom(const u32* inside, int n, const u32* asked, int m, u64* bits, bool* found)
{
    constexpr Hash<u32> hash{};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        for (u32 seed : {1u, 2u, 3u}) {
            u32 place = hash(inside[i], seed) & 1023;
            atomicOr(bits + (place >> 6), 1ull << (place & 63));
        }
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        auto has = [&, x = asked[i]](u32 seed) {
            return bits[(hash(x, seed) & 1023) >> 6] >> (hash(x, seed) & 63) & 1;
        };
        found[i] = has(1) && has(2) && has(3);
    }
}

// ---- Base64, by three bytes of a vector

__constant__ char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

KERNEL base64(const uchar3* in, char4* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    auto [x, y, z] = in[i];
    u32 word = __byte_perm(y << 8 | z, x, 0x3410);
    out[i] = make_char4(alphabet[word >> 18 & 63], alphabet[word >> 12 & 63], alphabet[word >> 6 & 63], alphabet[word & 63]);
}

// ---- Runs of equal bytes

KERNEL run_lengths(const unsigned char* x, int n, unsigned char* values, int* lengths, int* runs)
{
    __shared__ int found;
    if (threadIdx.x == 0)
        found = 0;
    int lane = threadIdx.x & 31;
    for (int base = 0; base < n; base += 32) {
        __syncwarp();
        int i = base + lane;
        bool inside = i < n, starts = inside && (i == 0 || x[i] != x[i - 1]);
        u32 heads = __ballot_sync(~0u, starts), present = __ballot_sync(~0u, inside);
        int before = found, rank = before + __popc(heads & ((1u << lane) - 1));
        __syncwarp();
        if (starts) {
            values[rank] = x[i];
            int next = __fns(heads, lane, 2);
            lengths[rank] = (next < 0 ? 32 - __clz((int)present) : next) - lane;
        } else if (lane == 0 && inside)
            lengths[before - 1] += (heads ? __ffs((int)heads) - 1 : 32 - __clz((int)present));
        if (lane == 0)
            found = before + __popc(heads);
    }
    __syncwarp();
    if (lane == 0)
        *runs = found;
}

// ---- Bounds of sums

struct Interval {
    double low, high;
    __device__ Interval operator+(const Interval& o) const { return {__dadd_rd(low, o.low), __dadd_ru(high, o.high)}; }
    __device__ friend Interval operator*(const Interval& a, const Interval& b)
    {
        double l = fmin(fmin(__dmul_rd(a.low, b.low), __dmul_rd(a.low, b.high)),
                        fmin(__dmul_rd(a.high, b.low), __dmul_rd(a.high, b.high)));
        double h = fmax(fmax(__dmul_ru(a.low, b.low), __dmul_ru(a.low, b.high)),
                        fmax(__dmul_ru(a.high, b.low), __dmul_ru(a.high, b.high)));
        return Interval{l, h};
    }
};

KERNEL bounds(const double* x, Interval* out, int terms)
{
    Interval sum{1, 1}, term{1, 1}, at{x[threadIdx.x], x[threadIdx.x]};
    for (int k = 1; k <= terms; ++k) {
        term = term * at * Interval{__drcp_rd(k), __drcp_ru(k)};
        sum = sum + term;
    }
    out[threadIdx.x] = sum;
}

// ---- Gaussian elimination with pivots

template <int N> struct System {
    float a[N][N + 1];
    __device__ float* operator[](int row) { return a[row]; }
};

KERNEL eliminate(float* systems, float* x)
{
    __shared__ System<16> s;
    __shared__ union {
        int row;
        float whole;
    } pivot;
    float* mine = systems + blockIdx.x * 16 * 17;
    int row = threadIdx.x;
    for (int column = 0; column < 17; ++column)
        s[row][column] = mine[17 * row + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
        if (row == 0) {
            pivot.row = k;
            for (int other = k + 1; other < 16; ++other)
                if (fabsf(s[other][k]) > fabsf(s[pivot.row][k]))
                    pivot.row = other;
        }
        __syncthreads();
        for (int column = row; column < 17 && pivot.row != k; column += 16) {
            float keep = s[k][column];
            s[k][column] = s[pivot.row][column];
            s[pivot.row][column] = keep;
        }
        __syncthreads();
        if (row != k) {
            float factor = __fdividef(s[row][k], s[k][k]);
            for (int column = k; column < 17; ++column)
                s[row][column] = fmaf(-factor, s[k][column], s[row][column]);
        }
        __syncthreads();
    }
    x[blockIdx.x * 16 + row] = s[row][16] / s[row][row];
}

// ---- Speckle reduction: a stencil whose neighbors are a structure of references

KERNEL srad(const float* __restrict__ image, float* __restrict__ out, int rows, int columns, float q)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows || j >= columns) return;
    auto at = [=](int r, int c) -> const float& {
        return image[max(0, min(r, rows - 1)) * columns + max(0, min(c, columns - 1))];
    };
    struct Neighbors {
        const float &north, &south, &west, &east;
    } near = {at(i - 1, j), at(i + 1, j), at(i, j - 1), at(i, j + 1)};
    float here = at(i, j), sum = near.north + near.south + near.west + near.east - 4 * here;
    float relative = sum / here, c = 1.0f / (1.0f + (relative * relative - q) / (q * (1 + q)));
    out[i * columns + j] = here + 0.25f * __saturatef(c) * sum;
}

// ---- Boxes of particles in dynamic shared memory of another type than in the kernels below

struct __align__(16) Particle {
    float3 place;
    float charge;
};
extern __shared__ Particle near_particles[];

__launch_bounds__(64, 4) __global__ void forces(const Particle* all, const int2* boxes, int count, float4* out)
{
    int2 own = boxes[blockIdx.x];
    float4 f = {};
    Particle mine = threadIdx.x < own.y ? all[own.x + threadIdx.x] : Particle();
    for (int box = 0; box < count; ++box) {
        int2 other = boxes[box];
        for (int i = threadIdx.x; i < other.y; i += blockDim.x)
            near_particles[i] = all[other.x + i];
        __syncthreads();
        for (const Particle* p = near_particles; p != near_particles + other.y; ++p) {
            float3 d = make_float3(mine.place.x - p->place.x, mine.place.y - p->place.y, mine.place.z - p->place.z);
            float r = d.x * d.x + d.y * d.y + d.z * d.z, w = mine.charge * p->charge * __expf(-r);
            f.x += w * d.x, f.y += w * d.y, f.z += w * d.z, f.w += w;
        }
        __syncthreads();
    }
    if (threadIdx.x < own.y)
        out[own.x + threadIdx.x] = f;
}

extern __shared__ double column_sums[];
KERNEL reduce_columns(const double* x, double* out, int rows)
{
    double *sums = column_sums, sum = 0, error = 0;
    for (int row = threadIdx.y; row < rows; row += blockDim.y) { // compensated
        volatile double y = __dsub_rn(x[row * blockDim.x + threadIdx.x], error), t = __dadd_rn(sum, y);
        error = __dsub_rn(__dsub_rn(t, sum), y);
        sum = t;
    }
    sums[threadIdx.y * blockDim.x + threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.y / 2; half; half /= 2, __syncthreads())
        if (threadIdx.y < half)
            sums[threadIdx.y * blockDim.x + threadIdx.x] += sums[(threadIdx.y + half) * blockDim.x + threadIdx.x];
    if (threadIdx.y == 0)
        out[threadIdx.x] = sums[threadIdx.x];
}

// ---- A machine whose programs are tables of functions

namespace {
enum class Op : unsigned char { push, add, multiply, swap, repeat, end };
struct Machine {
    int stack[8], depth = 0, at = 0;
    typedef void (Machine::*Step)(int);
    __device__ void push(int x) { stack[depth++] = x; }
    __device__ int pop() { return stack[--depth]; }
    __device__ void add(int) { push(pop() + pop()); }
    __device__ void multiply(int) { push(pop() * pop()); }
    __device__ void swap(int)
    {
        int a = pop(), b = pop();
        push(a), push(b);
    }
};
} // namespace

KERNEL interpret(const uchar2* program, const int* x, int* out)
{
    Machine m;
    m.push(x[threadIdx.x]);
    const Machine::Step steps[] = {&Machine::push, &Machine::add, &Machine::multiply, &Machine::swap};
    for (int budget = 100; budget--;) {
        const uchar2 code = program[m.at++];
        switch (Op op = static_cast<Op>(code.x); op) {
        case Op::end:
            out[threadIdx.x] = m.pop();
            return;
        case Op::repeat:
            if (m.stack[m.depth - 1] < code.y)
                m.at = 0;
            break;
        default:
            (m.*steps[static_cast<int>(op)])(code.y);
        }
    }
}

// ---- Life with 32 cells per word, and the sum of neighbors by full adders

__device__ __forceinline__ void full_add(u32 a, u32 b, u32 c, u32& sum, u32& carry)
{
    asm("lop3.b32 %0, %2, %3, %4, 0x96;\n\tlop3.b32 %1, %2, %3, %4, 0xE8;" : "=&r"(sum), "=&r"(carry) : "r"(a), "r"(b), "r"(c));
}

KERNEL life_bits(const u32* in, u32* out, int rows)
{
    int row = threadIdx.x;
    u32 n[9];
    for (int d = -1, k = 0; d <= 1; ++d) {
        u32 word = in[(row + d + rows) % rows];
        n[k++] = __funnelshift_r(word, word, 1), n[k++] = word, n[k++] = __funnelshift_l(word, word, 1);
    }
    u32 a, b, c, ones, x, y, z, twos, fours, unused, low;
    full_add(n[0], n[1], n[2], a, x);
    full_add(n[3], 0, n[5], b, y);
    full_add(n[6], n[7], n[8], c, z);
    full_add(a, b, c, ones, low);
    full_add(x, y, z, twos, fours);
    full_add(twos, low, 0, twos, unused);
    fours |= unused;
    out[row] = twos & ~fours & (ones | n[4]);
}

// ---- Shapes by virtual functions, on the heap

struct Shape {
    float size;
    __device__ explicit Shape(float s) : size(s) {}
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square final : Shape {
    using Shape::Shape;
    __device__ float area() const override { return size * size; }
};
template <class Base> struct Doubled : Base {
    using Base::Base;
    __device__ float area() const override { return 2 * Base::area(); }
};
struct Triangle : Shape {
    using Shape::Shape;
    __device__ float area() const override { return size * size / 2; }
};

KERNEL areas(const int* kinds, const float* sizes, float* out)
{
    Shape* shape;
    switch (kinds[threadIdx.x]) {
    case 0: shape = new Square(sizes[threadIdx.x]); break;
    case 1: shape = new Triangle(sizes[threadIdx.x]); break;
    default: shape = new Doubled<Triangle>(sizes[threadIdx.x]);
    }
    out[threadIdx.x] = shape->area();
    delete shape;
}

// ---- Keys sorted by a network of templates

template <int I, int J> struct Exchange {
    template <class T, int N> static __device__ void run(T (&x)[N])
    {
        T a = x[I], b = x[J];
        x[I] = a < b ? a : b, x[J] = a < b ? b : a;
    }
};
template <class... Steps> struct Network {
    template <class T, int N> static __device__ void sort(T (&x)[N]) { (Steps::run(x), ...); }
};
using Five = Network<Exchange<0, 3>, Exchange<1, 4>, Exchange<0, 2>, Exchange<1, 3>, Exchange<0, 1>, Exchange<2, 4>,
                     Exchange<1, 2>, Exchange<3, 4>, Exchange<2, 3>>;

KERNEL medians(const float* x, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[5];
    int k = 0;
    for (auto& one : v)
        one = x[min(max(i + k++ - 2, 0), n - 1)];
    Five::sort(v);
    if (i < n)
        out[i] = v[2];
}

// ---- A lock in memory, taken by one lane of a warp at a time

__device__ int lock_word;
__device__ volatile int guarded_sum;

KERNEL take_turns(int* order, int* total)
{
    for (int lane = 0; lane < 32; ++lane) {
        if (lane != (threadIdx.x & 31))
            continue;
        u32 wait = 8;
        while (atomicExch(&lock_word, 1) != 0) {
            __nanosleep(wait);
            wait = min(2 * wait, 256u);
        }
        __threadfence();
        order[blockIdx.x * blockDim.x + threadIdx.x] = guarded_sum;
        guarded_sum = guarded_sum + 1;
        __threadfence();
        atomicExch(&lock_word, 0);
    }
    if (__syncthreads_and(order[blockIdx.x * blockDim.x + threadIdx.x] >= 0) && threadIdx.x == 0)
        atomicMax(total, guarded_sum);
}

// ---- Values of equal keys, summed by the lanes that have them

KERNEL sum_by_key(const int* keys, const int* values, int* sums)
{
    u32 peers = __match_any_sync(__activemask(), keys[threadIdx.x]);
    int sum = __reduce_add_sync(peers, values[threadIdx.x]);
    int leader = __ffs((int)peers) - 1;
    if ((int)(threadIdx.x & 31) == leader)
        atomicAdd(sums + keys[threadIdx.x], sum);
}

// ---- A curve that fills a square

KERNEL hilbert(const u32* distance, short2* out, int order)
{
    u32 d = distance[blockIdx.x * blockDim.x + threadIdx.x];
    int x = 0, y = 0;
    for (int s = 1; s < 1 << order; s <<= 1, d >>= 2) {
        int rx = d >> 1 & 1, ry = (d ^ rx) & 1;
        if (!ry) {
            if (rx)
                x = s - 1 - x, y = s - 1 - y;
            int keep = x;
            x = y, y = keep;
        }
        x += s * rx, y += s * ry;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = {static_cast<short>(x), static_cast<short>(y)};
}

// ---- Noise from a table made by the compiler

struct Permutation {
    unsigned char p[256];
    __device__ constexpr Permutation() : p()
    {
        for (int i = 0; i < 256; ++i)
            p[i] = (unsigned char)(i * 167 + 13);
    }
};
__device__ constexpr Permutation permutation;

KERNEL noise(const float2* at, float* out)
{
    float2 p = at[threadIdx.x];
    int xi = __float2int_rd(p.x), yi = __float2int_rd(p.y);
    float x = p.x - xi, y = p.y - yi;
    auto fade = [](float t) { return t * t * t * (t * (t * 6 - 15) + 10); };
    auto corner = [&](int dx, int dy) {
        int h = permutation.p[(permutation.p[(xi + dx) & 255] + yi + dy) & 255];
        float u = x - dx, v = y - dy;
        return (h & 1 ? -u : u) + (h & 2 ? -v : v);
    };
    auto lerp = [](float a, float b, float t) { return a + t * (b - a); };
    out[threadIdx.x] = lerp(lerp(corner(0, 0), corner(1, 0), fade(x)), lerp(corner(0, 1), corner(1, 1), fade(x)), fade(y));
}

// ---- A loop with a label of inline PTX, and numbers of bits of a mask

KERNEL steps_to_one(const u32* x, u32* steps)
{
    u32 n = x[threadIdx.x], count = 0;
    asm volatile("{\n\t.reg .pred odd, more;\n\t.reg .b32 t;\n"
                 "again:\n\t"
                 "setp.gt.u32 more, %0, 1;\n\t"
                 "@!more bra done;\n\t"
                 "and.b32 t, %0, 1;\n\t"
                 "setp.ne.u32 odd, t, 0;\n\t"
                 "@odd mad.lo.u32 %0, %0, 3, 1;\n\t"
                 "@!odd shr.u32 %0, %0, 1;\n\t"
                 "add.u32 %1, %1, 1;\n\t"
                 "bra.uni again;\n"
                 "done:\n\t}"
                 : "+r"(n), "+r"(count));
    steps[threadIdx.x] = count;
}

// ---- Functions that few programs use

KERNEL rare_functions(const uint4* x, const float* f, uint4* out, int* facts)
{
    int i = threadIdx.x;
    uint4 v = __ldcv(x + i);
    out[4 * i] = make_uint4(__nv_bswap32(v.x), __nv_bswap16((unsigned short)v.y), (u32)(__nv_bswap64((u64)v.x << 32 | v.y) >> 32), v.w);
    short2 a = make_short2((short)v.x, (short)(v.x >> 16));
    char4 b = make_char4((signed char)v.y, (signed char)(v.y >> 8), (signed char)(v.y >> 16), (signed char)(v.y >> 24));
    ushort2 c = make_ushort2(a.x, a.y);
    uchar4 d = make_uchar4(b.x, b.y, b.z, b.w);
    uint4 products = make_uint4(__dp2a_lo(v.x, v.y, v.z), __dp2a_hi(v.x, v.y, v.z), __dp2a_lo((int)v.x, (int)v.y, (int)v.z), __dp2a_hi((int)v.x, (int)v.y, (int)v.z));
    __stwt(out + 4 * i + 1, products);
    out[4 * i + 2] = make_uint4(__dp2a_lo(c, d, v.z), __dp2a_hi(c, d, v.z), __dp2a_lo(a, b, (int)v.z), __dp2a_hi(a, b, (int)v.z));
    float x0 = f[3 * i], x1 = f[3 * i + 1], x2 = f[3 * i + 2];
    out[4 * i + 3] = make_uint4(__float_as_uint(__fmaf_ieee_rn(x0, x1, x2)), __float_as_uint(__fmaf_ieee_rz(x0, x1, x2)),
                                __float_as_uint(__fmaf_ieee_rd(x0, x1, x2)), __float_as_uint(__fmaf_ieee_ru(x0, x1, x2)));
    __threadfence_cluster();
    facts[i] = (__finitef(x0) != 0) | (__isnanf(x0) != 0) << 1 | (__isinff(x0) != 0) << 2 | (__signbitf(x0) != 0) << 3 |
               (__isnan((double)x0) != 0) << 4 | (__isinf((double)x0) != 0) << 5 | __clusterDimIsSpecified() << 6;
}
