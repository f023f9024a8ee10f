# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ sources of random number generators, and the matrices they use to skip ahead.

The code is written from the papers that describe the generators.

XORWOW: G. Marsaglia, "Xorshift RNGs" (2003). MRG32k3a: P. L'Ecuyer, "Good parameters and implementations for combined
multiple recursive random number generators" (1999). Philox4x32-10: J. Salmon et al., "Parallel random numbers: as easy
as 1, 2, 3" (2011). Poisson numbers of large mean: W. Hörmann, "The transformed rejection method for generating Poisson
random variables" (1993).
"""

from __future__ import annotations

import functools

import numpy as np

__all__ = ["counter_source", "mrg32k3a_powers", "pseudo_source", "quasi_source", "xorwow_powers"]

MASK = 0xFFFFFFFF
M1, M2 = 4294967087, 4294944443
STEP1 = ((0, 1, 0), (0, 0, 1), (M1 - 810728, 1403580, 0))
STEP2 = ((0, 1, 0), (0, 0, 1), (M2 - 1370589, 0, 527612))


def xorwow_step(state: int) -> int:
    """Return the next 160-bit state of the xorshift part of XORWOW."""
    x = [(state >> 32 * k) & MASK for k in range(5)]
    t = x[0] ^ (x[0] >> 2)
    new = (x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1))
    return sum(word << 32 * k for k, word in enumerate([*x[1:], new & MASK]))


@functools.cache
def xorwow_columns(exponent: int) -> tuple[int, ...]:
    """Return the columns of the binary matrix for 2**exponent steps."""
    if exponent == 0:
        return tuple([xorwow_step(1 << bit) for bit in range(160)])
    half = xorwow_columns(exponent - 1)
    return tuple([applied(half, column) for column in half])


def applied(columns, state: int) -> int:
    result = 0
    while state:
        lowest = state & -state
        result ^= columns[lowest.bit_length() - 1]
        state ^= lowest
    return result


@functools.cache
def xorwow_powers(first: int, count: int) -> np.ndarray:
    """Return the XORWOW matrices for 2**first, 2**(first + 1), ... steps, as words."""
    for exponent in range(first):  # fills the cache step by step to keep the recursion shallow
        xorwow_columns(exponent)
    words = [
        (column >> 32 * k) & MASK
        for exponent in range(first, first + count)
        for column in xorwow_columns(exponent)
        for k in range(5)
    ]
    return np.array(words, dtype=np.uint32)


@functools.cache
def mrg32k3a_powers(first: int, count: int) -> np.ndarray:
    """Return the MRG32k3a matrices for 2**first, 2**(first + 1), ... steps, as words."""
    parts, words = [STEP1, STEP2], []
    for exponent in range(first + count):
        if exponent >= first:
            words += [entry for matrix in parts for row in matrix for entry in row]
        parts = [squared(matrix, modulus) for matrix, modulus in zip(parts, (M1, M2), strict=True)]
    return np.array(words, dtype=np.uint32)


def squared(matrix, modulus: int):
    return tuple(
        tuple(sum(matrix[row][k] * matrix[k][column] for k in range(3)) % modulus for column in range(3))
        for row in range(3)
    )


def pseudo_source(name: str) -> str:
    """Return the source of the generator named ``xorwow``, ``mrg32k3a`` or ``philox``."""
    return _COMMON + _GENERATORS[name] + _KERNELS + _DRAWS + _FILLS + _NORMAL_FILLS


def counter_source() -> str:
    """Return the source of a counter-based generator, a function that maps an index to a random word."""
    return _COMMON + _PHILOX + _WORDS


def quasi_source(width: int) -> str:
    """Return the source of the 32-bit or 64-bit Sobol generator."""
    return _COMMON + (_BITS_32 if width == 32 else _BITS_64) + _SOBOL + _QUASI_KERNELS + _FILLS + _QUASI_FILLS


_COMMON = r"""
typedef unsigned int u32;
typedef unsigned long long u64;
namespace {
// Spreads the bits of a seed over 64 bits (the finalizer of SplitMix64).
__device__ inline u64 spread(u64 x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
}
"""

_XORWOW = r"""
struct state_type { u32 x[5]; u32 d; };
namespace {
__device__ inline u32 next(state_type& s)
{
    const u32 t = s.x[0] ^ (s.x[0] >> 2);
    s.x[0] = s.x[1]; s.x[1] = s.x[2]; s.x[2] = s.x[3]; s.x[3] = s.x[4];
    s.x[4] = (s.x[4] ^ (s.x[4] << 4)) ^ (t ^ (t << 1));
    s.d += 362437u;
    return s.x[4] + s.d;
}
// Each power of the transition matrix has 160 columns of five words. Bit k of the count selects power k.
__device__ inline void skip_ahead(state_type& s, u64 count, const u32* powers)
{
    s.d += 362437u * (u32)count;
    for (; count; count >>= 1, powers += 160 * 5)
    {
        if (!(count & 1)) continue;
        u32 result[5] = {0, 0, 0, 0, 0};
        for (int bit = 0; bit < 160; ++bit)
            if ((s.x[bit / 32] >> (bit % 32)) & 1)
                for (int k = 0; k < 5; ++k) result[k] ^= powers[bit * 5 + k];
        for (int k = 0; k < 5; ++k) s.x[k] = result[k];
    }
}
// A far jump changes the Weyl counter d by a multiple of 2**32, which leaves it unchanged.
__device__ inline void skip_far(state_type& s, u64 count, const u32* powers)
{
    const u32 d = s.d;
    skip_ahead(s, count, powers);
    s.d = d;
}
// Start states are scattered over the period of 2**192 - 2**32.
__device__ inline void seed_state(state_type& s, u64 seed, u64 id, const u32*)
{
    u64 value = spread(seed) ^ spread(~id);
    for (int k = 0; k < 5; ++k) { value = spread(value); s.x[k] = (u32)(value >> 32); }
    s.d = (u32)spread(value);
    if (!(s.x[0] | s.x[1] | s.x[2] | s.x[3] | s.x[4])) s.x[0] = 1;
}
}
"""

_MRG32K3A = r"""
struct state_type { u32 a[3]; u32 b[3]; };
#define MRG_M1 4294967087ull
#define MRG_M2 4294944443ull
namespace {
// Scales values from 1 to m1 to 32 bits.
__device__ inline u32 next(state_type& s)
{
    const u64 p = (1403580ull * s.a[1] + 810728ull * (MRG_M1 - s.a[0])) % MRG_M1;
    s.a[0] = s.a[1]; s.a[1] = s.a[2]; s.a[2] = (u32)p;
    const u64 q = (527612ull * s.b[2] + 1370589ull * (MRG_M2 - s.b[0])) % MRG_M2;
    s.b[0] = s.b[1]; s.b[1] = s.b[2]; s.b[2] = (u32)q;
    const u64 value = p > q ? p - q : p + MRG_M1 - q;
    return (u32)(((value - 1) << 32) / MRG_M1);
}
__device__ inline void times(u32* x, const u32* matrix, u64 modulus)
{
    u32 result[3];
    for (int row = 0; row < 3; ++row)
    {
        u64 sum = 0;
        for (int k = 0; k < 3; ++k) sum = (sum + ((u64)matrix[row * 3 + k] * x[k]) % modulus) % modulus;
        result[row] = (u32)sum;
    }
    for (int k = 0; k < 3; ++k) x[k] = result[k];
}
// Each power consists of two 3x3 matrices, one for each component.
__device__ inline void skip_ahead(state_type& s, u64 count, const u32* powers)
{
    for (; count; count >>= 1, powers += 18)
        if (count & 1) { times(s.a, powers, MRG_M1); times(s.b, powers + 9, MRG_M2); }
}
__device__ inline void skip_far(state_type& s, u64 count, const u32* powers) { skip_ahead(s, count, powers); }
// Generators with the same seed are 2**76 steps apart.
__device__ inline void seed_state(state_type& s, u64 seed, u64 id, const u32* powers)
{
    u64 value = spread(seed);
    for (int k = 0; k < 3; ++k) { value = spread(value); s.a[k] = (u32)(value % MRG_M1); }
    for (int k = 0; k < 3; ++k) { value = spread(value); s.b[k] = (u32)(value % MRG_M2); }
    if (!(s.a[0] | s.a[1] | s.a[2])) s.a[0] = 12345;
    if (!(s.b[0] | s.b[1] | s.b[2])) s.b[0] = 12345;
    skip_ahead(s, id, powers);
}
}
"""

_PHILOX = r"""
struct state_type { u32 counter[4]; u32 key[2]; u32 output[4]; u32 used; u32 unused; };
namespace {
__device__ inline void philox(const u32* counter, u32 key0, u32 key1, u32* out)
{
    u32 c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    #pragma unroll
    for (int round = 0; round < 10; ++round)
    {
        const u64 p = 0xd2511f53ull * c0, q = 0xcd9e8d57ull * c2;
        c0 = (u32)(q >> 32) ^ c1 ^ key0;
        c1 = (u32)q;
        c2 = (u32)(p >> 32) ^ c3 ^ key1;
        c3 = (u32)p;
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    out[0] = c0; out[1] = c1; out[2] = c2; out[3] = c3;
}
__device__ inline void move_counter(state_type& s, u64 blocks)
{
    u64 low = ((u64)s.counter[1] << 32) | s.counter[0];
    low += blocks;
    s.counter[0] = (u32)low;
    s.counter[1] = (u32)(low >> 32);
}
__device__ inline u32 next(state_type& s)
{
    if (s.used == 4)
    {
        move_counter(s, 1);
        philox(s.counter, s.key[0], s.key[1], s.output);
        s.used = 0;
    }
    return s.output[s.used++];
}
__device__ inline void skip_ahead(state_type& s, u64 count, const u32*)
{
    const u64 place = s.used + (count & 3);
    move_counter(s, (count >> 2) + (place > 4));
    s.used = (u32)(place > 4 ? place - 4 : place);
    philox(s.counter, s.key[0], s.key[1], s.output);
}
// The third word of the counter identifies the generator, the fourth its sequence.
__device__ inline void skip_far(state_type& s, u64 count, const u32*)
{
    s.counter[3] += (u32)count;
    philox(s.counter, s.key[0], s.key[1], s.output);
}
__device__ inline void seed_state(state_type& s, u64 seed, u64 id, const u32*)
{
    const u64 key = spread(seed);
    s.key[0] = (u32)key;
    s.key[1] = (u32)(key >> 32);
    s.counter[0] = s.counter[1] = 0;
    s.counter[2] = (u32)id;
    s.counter[3] = 0;
    s.used = s.unused = 0;
    philox(s.counter, s.key[0], s.key[1], s.output);
}
}
"""

# The state of a Sobol generator is the index and the bits of the next number. Numbers are generated in Gray code order
# (Antonov and Saleev), so each one differs from its predecessor by one direction number.
_SOBOL = r"""
struct state_type { u64 index; bits_type bits, scramble; };
namespace {
__device__ inline bits_type next(state_type& s, const bits_type* directions)
{
    const bits_type value = s.bits ^ s.scramble;
    int place = 0;
    while (place < WIDTH - 1 && ((s.index >> place) & 1)) ++place;
    s.bits ^= directions[place];
    ++s.index;
    return value;
}
__device__ inline void skip_ahead(state_type& s, u64 count, const bits_type* directions)
{
    s.index += count;
    const u64 gray = s.index ^ (s.index >> 1);
    s.bits = 0;
    for (int place = 0; place < WIDTH; ++place)
        if ((gray >> place) & 1) s.bits ^= directions[place];
}
}
"""

_KERNELS = r"""
extern "C" __global__ void random_seed(state_type* states, const int count, const int* seeds, const u32* far,
                                       const u32* near, const u64 offset)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count) return;
    state_type s;
    seed_state(s, (u32)seeds[id], id, far);
    skip_ahead(s, offset, near);
    states[id] = s;
}
extern "C" __global__ void random_skip(state_type* states, const int count, const u64 steps, const u32* powers)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count) skip_ahead(states[id], steps, powers);
}
extern "C" __global__ void random_skip_array(state_type* states, const int count, const u32* steps, const u32* powers)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count) skip_ahead(states[id], steps[id], powers);
}
extern "C" __global__ void random_skip_far(state_type* states, const int count, const u64 steps, const u32* powers)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count) skip_far(states[id], steps, powers);
}
extern "C" __global__ void random_skip_far_array(
    state_type* states, const int count, const u32* steps, const u32* powers)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count) skip_far(states[id], steps[id], powers);
}
"""

# DRAW32 and DRAW64 are the next bits of generator s. Each generator fills every count-th element.
_FILLS = r"""
namespace {
// In (0, 1].
__device__ inline float to_float(u32 x) { return (x >> 8) * 5.9604645e-8f + 5.9604645e-8f; }
__device__ inline double to_double(u32 x, u32 y)
{ return ((x >> 5) * 67108864.0 + (y >> 6) + 1.0) * 1.1102230246251565e-16; }
__device__ inline void normal_pair(float u, float v, float* pair)
{
    const float size = sqrtf(-2.0f * logf(u));
    float s, c;
    sincospif(2.0f * v, &s, &c);
    pair[0] = size * s;
    pair[1] = size * c;
}
__device__ inline void normal_pair(double u, double v, double* pair)
{
    const double size = sqrt(-2.0 * log(u));
    double s, c;
    sincospi(2.0 * v, &s, &c);
    pair[0] = size * s;
    pair[1] = size * c;
}
}
#define RANDOM_BEGIN(NAME, TYPE, ...) \
    extern "C" __global__ void NAME( \
        state_type* states, const int count, TYPE* data, const u64 n, const table_type* tables, ##__VA_ARGS__) \
    { \
        const int id = blockIdx.x * blockDim.x + threadIdx.x; \
        if (id >= count) return; \
        state_type s = states[id]; \
        BIND_TABLE
#define RANDOM_END states[id] = s; }
#define EACH for (u64 i = id; i < n; i += count)
#define EACH_PAIR for (u64 i = id; i < n; i += 2 * (u64)count)

RANDOM_BEGIN(random_uint32, u32) EACH data[i] = DRAW32; RANDOM_END
RANDOM_BEGIN(random_uint64, u64) EACH data[i] = DRAW64; RANDOM_END
RANDOM_BEGIN(random_uniform_float, float) EACH data[i] = to_float(DRAW32); RANDOM_END
RANDOM_BEGIN(random_uniform_double, double) EACH data[i] = UNIFORM64; RANDOM_END

#define NORMALS(NAME, TYPE, UNIFORM, RESULT, ...) \
    RANDOM_BEGIN(NAME, TYPE, ##__VA_ARGS__) \
        EACH_PAIR \
        { \
            TYPE pair[2]; \
            const TYPE u = UNIFORM, v = UNIFORM; \
            normal_pair(u, v, pair); \
            TYPE z = pair[0]; \
            data[i] = RESULT; \
            z = pair[1]; \
            if (i + count < n) data[i + count] = RESULT; \
        } \
    RANDOM_END
// Half of the resolution, which is subtracted to exclude 1 as well.
#define HALF_OF(TYPE) \
    (sizeof(TYPE) == 4 ? TYPE(2.9802322e-8) : TYPE(WIDTH == 32 ? 1.1641532182693481e-10 : 5.551115123125783e-17))
#define QUASI_NORMALS(NAME, TYPE, UNIFORM, INVERSE, RESULT, ...) \
    RANDOM_BEGIN(NAME, TYPE, ##__VA_ARGS__) \
        EACH { const TYPE z = INVERSE(UNIFORM - HALF_OF(TYPE)); data[i] = RESULT; } \
    RANDOM_END
"""

_NORMAL_FILLS = r"""
NORMALS(random_normal_float, float, to_float(DRAW32), z)
NORMALS(random_normal_double, double, UNIFORM64, z)
NORMALS(random_log_normal_float, float, to_float(DRAW32), expf(mean + deviation * z),
    const float mean, const float deviation)
NORMALS(random_log_normal_double, double, UNIFORM64, exp(mean + deviation * z),
    const double mean, const double deviation)

namespace {
__device__ inline double poisson(state_type& s, double mean)
{
    if (!(mean > 0)) return 0;
    if (mean < 10)
    {
        const double limit = exp(-mean);
        double product = UNIFORM64;
        int number = 0;
        for (; product > limit; product *= UNIFORM64) ++number;
        return number;
    }
    const double root = sqrt(mean), logarithm = log(mean), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), limit = 0.9277 - 3.6224 / (b - 2);
    for (;;)
    {
        const double u = UNIFORM64 - 0.5, v = UNIFORM64, distance = 0.5 - fabs(u);
        const double number = floor((2 * a / distance + b) * u + mean + 0.43);
        if (distance >= 0.07 && v <= limit) return number;
        if (number < 0 || (distance < 0.013 && v > distance)) continue;
        if (log(v * inverse / (a / (distance * distance) + b)) <= -mean + number * logarithm - lgamma(number + 1))
            return number;
    }
}
}
RANDOM_BEGIN(random_poisson, u32, const double mean) EACH data[i] = (u32)poisson(s, mean); RANDOM_END
RANDOM_BEGIN(random_poisson_each_uint, u32) EACH data[i] = (u32)poisson(s, data[i]); RANDOM_END
RANDOM_BEGIN(random_poisson_each_float, float) EACH data[i] = (float)poisson(s, data[i]); RANDOM_END
RANDOM_BEGIN(random_poisson_each_double, double) EACH data[i] = poisson(s, data[i]); RANDOM_END
"""

_QUASI_FILLS = r"""
QUASI_NORMALS(random_normal_float, float, to_float(DRAW32), normcdfinvf, z)
QUASI_NORMALS(random_normal_double, double, UNIFORM64, normcdfinv, z)
QUASI_NORMALS(random_log_normal_float, float, to_float(DRAW32), normcdfinvf, expf(mean + deviation * z),
    const float mean, const float deviation)
QUASI_NORMALS(random_log_normal_double, double, UNIFORM64, normcdfinv, exp(mean + deviation * z),
    const double mean, const double deviation)
"""

_DRAWS = r"""
typedef u32 table_type;
#define BIND_TABLE
#define DRAW32 next(s)
#define DRAW64 draw64(s)
#define UNIFORM64 uniform64(s)
namespace {
__device__ inline u64 draw64(state_type& s) { const u64 high = next(s); return (high << 32) | next(s); }
// Two statements, because the order of two draws within one expression is unspecified.
__device__ inline double uniform64(state_type& s)
{
    const u32 x = next(s), y = next(s);
    return ((x >> 5) * 67108864.0 + (y >> 6) + 1.0) * 1.1102230246251565e-16;
}
}
"""

_GENERATORS = {"xorwow": _XORWOW, "mrg32k3a": _MRG32K3A, "philox": _PHILOX}

_BITS_32 = r"""
typedef u32 bits_type;
#define WIDTH 32
#define DRAW32 next(s, table)
#define DRAW64 ((u64)next(s, table) << 32)
#define UNIFORM64 ((next(s, table) + 1.0) * 2.3283064365386963e-10)
"""
_BITS_64 = r"""
typedef u64 bits_type;
#define WIDTH 64
#define DRAW32 (u32)(next(s, table) >> 32)
#define DRAW64 next(s, table)
#define UNIFORM64 (((next(s, table) >> 11) + 1.0) * 1.1102230246251565e-16)
"""
_QUASI_KERNELS = r"""
typedef bits_type table_type;
#define BIND_TABLE const bits_type* table = tables + id * WIDTH;
extern "C" __global__ void random_seed(state_type* states, const int count, const bits_type* directions,
                                       const bits_type* scramble, const u64 offset)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count) return;
    state_type s;
    s.index = 0;
    s.bits = 0;
    s.scramble = scramble ? scramble[id] : 0;
    skip_ahead(s, offset, directions + id * WIDTH);
    states[id] = s;
}
extern "C" __global__ void random_skip(
    state_type* states, const int count, const u64 steps, const bits_type* directions)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count) skip_ahead(states[id], steps, directions + id * WIDTH);
}
extern "C" __global__ void random_skip_array(
    state_type* states, const int count, const u32* steps, const bits_type* directions)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count) skip_ahead(states[id], steps[id], directions + id * WIDTH);
}
"""

_WORDS = r"""
namespace {
__device__ inline u32 random_word(u64 i, u32 number, u32 key0, u32 key1)
{
    const u32 counter[4] = {(u32)i, (u32)(i >> 32), 0, 0};
    u32 words[4];
    philox(counter, key0, key1, words);
    return words[number];
}
}
"""
