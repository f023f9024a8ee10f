// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions that replace inline PTX instructions. Operands are register bits; an instruction uses as many as its type
// has.
#pragma once

namespace emu {
namespace ptx {

typedef Narrow<11, 5> f16;
typedef Narrow<8, 8> bf16;

#define EMU_PTX EMU_NO_CHECK EMU_INLINE

template <class T> EMU_PTX T as(emu_u64 bits)
{
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T> EMU_PTX emu_u64 of(T value)
{
    emu_u64 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

// ---------------------------------------------------------------------------- integers

template <class T> EMU_PTX T shift_left(T a, emu_u32 b) { return b < sizeof(T) * 8 ? T(a << b) : T(0); }
template <class T> EMU_PTX T shift_right(T a, emu_u32 b)
{
    return b < sizeof(T) * 8 ? T(a >> b) : T(a < 0 ? -1 : 0);
}
template <class T> EMU_PTX T absolute(T a) { return a < 0 ? T(-a) : a; }
EMU_PTX emu_u32 high(emu_u32 a, emu_u32 b) { return emu_u32((unsigned long long)a * b >> 32); }
EMU_PTX emu_i32 high(emu_i32 a, emu_i32 b) { return emu_i32((long long)a * b >> 32); }
EMU_PTX unsigned long long high(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
EMU_PTX long long high(long long a, long long b) { return (long long)((__int128)a * b >> 64); }

EMU_PTX emu_u32 ones(unsigned long long a) { return emu_u32(__builtin_popcountll(a)); }
template <class T> EMU_PTX emu_u32 leading_zeros(T a)
{
    return a ? emu_u32(__builtin_clzll((unsigned long long)a)) - (64 - sizeof(T) * 8) : emu_u32(sizeof(T) * 8);
}
template <class T> EMU_PTX T reversed(T a)
{
    T out = 0;
    for (unsigned i = 0; i < sizeof(T) * 8; ++i)
        out = T(out << 1 | (a >> i & 1));
    return out;
}
// Returns the position of the highest bit that differs from the sign, or with `distance` the shift that moves it to the
// top.
template <class T> EMU_PTX emu_u32 find_bit(T a, bool distance)
{
    unsigned long long bits = a < 0 ? (unsigned long long)~a : (unsigned long long)a;
    if (sizeof(T) == 4)
        bits &= 0xffffffffu;
    if (!bits)
        return 0xffffffffu;
    emu_u32 place = 63 - emu_u32(__builtin_clzll(bits));
    return distance ? emu_u32(sizeof(T) * 8) - 1 - place : place;
}
template <class T> EMU_PTX T extract(T a, emu_u32 begin, emu_u32 count)
{
    const emu_u32 top = sizeof(T) * 8 - 1;
    begin &= 0xff, count &= 0xff;
    bool is_signed = T(-1) < T(0);
    bool sign = is_signed && count && (a >> (begin + count - 1 < top ? begin + count - 1 : top) & 1);
    T out = 0;
    for (emu_u32 i = 0; i <= top; ++i)
        if (i < count && begin + i <= top ? bool(a >> (begin + i) & 1) : sign)
            out = T(out | T(1) << i);
    return out;
}
template <class T> EMU_PTX T insert(T a, T b, emu_u32 begin, emu_u32 count)
{
    begin &= 0xff, count &= 0xff;
    for (emu_u32 i = 0; i < count && begin + i < sizeof(T) * 8; ++i) {
        T bit = T(1) << (begin + i);
        b = a >> i & 1 ? T(b | bit) : T(b & ~bit);
    }
    return b;
}
EMU_PTX emu_u32 permute(emu_u32 a, emu_u32 b, emu_u32 selector)
{
    unsigned long long bytes = (unsigned long long)b << 32 | a;
    emu_u32 out = 0;
    for (int i = 0; i < 4; ++i) {
        emu_u32 one = selector >> 4 * i & 15, byte = emu_u32(bytes >> 8 * (one & 7)) & 0xff;
        out |= (one & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << 8 * i;
    }
    return out;
}
EMU_PTX emu_u32 logic(emu_u32 a, emu_u32 b, emu_u32 c, emu_u32 table)
{
    emu_u32 out = 0;
    for (int i = 0; i < 8; ++i)
        if (table >> i & 1)
            out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return out;
}
EMU_PTX emu_u32 mask(emu_u32 begin, emu_u32 count, bool wrap)
{
    begin = wrap ? begin & 31 : begin, count = wrap ? count & 31 : count;
    return begin > 31 ? 0 : (count > 31 ? ~0u : (1u << count) - 1) << begin;
}
EMU_PTX emu_u32 funnel(emu_u32 low, emu_u32 high, emu_u32 count, bool left, bool wrap)
{
    count = wrap ? count & 31 : count < 32 ? count : 32;
    unsigned long long both = (unsigned long long)high << 32 | low;
    return left ? emu_u32(both << count >> 32) : emu_u32(both >> count);
}
// PTX leaves the results of divisions by zero unspecified.
template <class T> EMU_PTX T quotient(T a, T b) { return b == 0 ? T(-1) : T(-1) < T(0) && b == T(-1) ? T(-(emu_u64)a) : T(a / b); }
template <class T> EMU_PTX T remainder(T a, T b) { return b == 0 ? a : T(-1) < T(0) && b == T(-1) ? T(0) : T(a % b); }
template <class T> EMU_PTX T distance(T a, T b, T c) { return T(c + (a < b ? T(b - a) : T(a - b))); }

// Sums and differences with a carry, which is the borrow after a subtraction.
template <class T> EMU_PTX emu_u64 add(emu_u64 a, emu_u64 b, emu_u64 carry_in, emu_u64* carry)
{
    unsigned __int128 sum = (unsigned __int128)as<T>(a) + as<T>(b) + (carry_in & 1);
    *carry = emu_u64(sum >> sizeof(T) * 8 & 1);
    return of<T>(T(sum));
}
template <class T> EMU_PTX emu_u64 subtract(emu_u64 a, emu_u64 b, emu_u64 borrow_in, emu_u64* borrow)
{
    unsigned __int128 difference = (unsigned __int128)as<T>(a) - as<T>(b) - (borrow_in & 1);
    *borrow = emu_u64(difference >> 127 & 1);
    return of<T>(T(difference));
}

// ------------------------------------------------------------------------------ floats

EMU_PTX float flushed(float a) { return __builtin_fabsf(a) < 1.17549435e-38f ? __builtin_copysignf(0.0f, a) : a; }
EMU_PTX float unit(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }
EMU_PTX double unit(double a) { return a > 0 ? (a < 1 ? a : 1.0) : 0.0; }
EMU_PTX float absolute(float a) { return __builtin_fabsf(a); }
EMU_PTX double absolute(double a) { return __builtin_fabs(a); }
EMU_PTX float least(float a, float b) { return float(smaller(a, b)); }
EMU_PTX double least(double a, double b) { return smaller(a, b); }
EMU_PTX float most(float a, float b) { return float(larger(a, b)); }
EMU_PTX double most(double a, double b) { return larger(a, b); }
// min.NaN and max.NaN return a GPU's NaN.
EMU_PTX float nan_of(float) { return as<float>(0x7fffffff); }
EMU_PTX double nan_of(double) { return __builtin_nan(""); }
template <class T> EMU_PTX T least_nan(T a, T b) { return a != a || b != b ? nan_of(a) : least(a, b); }
template <class T> EMU_PTX T most_nan(T a, T b) { return a != a || b != b ? nan_of(a) : most(a, b); }
// Returns the value with the product of the signs of a and b.
template <class T> EMU_PTX T signed_as(T value, T a, T b)
{
    return T(__builtin_copysign(double(value), __builtin_signbit(a) != __builtin_signbit(b) ? -1.0 : 1.0));
}
// rcp.approx.ftz.f64 reads only the upper half of a number, and cuts the result to its own, as an H200 does.
EMU_PTX double rough_reciprocal(double a)
{
    double x = as<double>(of<double>(a) & ~0xffffffffull);
    if (x != x)
        return as<double>(0x7fffffff00000000ull);
    double y = 1.0 / (__builtin_fabs(x) < 2.2250738585072014e-308 ? __builtin_copysign(0.0, x) : x);
    if (__builtin_isinf(y))
        return y;
    y = as<double>(of<double>(y) & ~0xffffffffull);
    return __builtin_fabs(y) < 2.2250738585072014e-308 ? __builtin_copysign(0.0, y) : y;
}
EMU_PTX double flushed_half(double a) { return __builtin_fabs(a) < 1.0 / (1 << 14) ? __builtin_copysign(0.0, a) : a; }
template <class T> EMU_PTX T least(T a, T b) { return a < b ? a : b; }
template <class T> EMU_PTX T most(T a, T b) { return a > b ? a : b; }

template <class To, class From> EMU_PTX To clamped(From a) // integers, for cvt.sat
{
    constexpr bool is_signed = To(-1) < To(0);
    constexpr int bits = int(sizeof(To)) * 8 - (is_signed ? 1 : 0);
    const __int128 most = ((__int128)1 << bits) - 1, least = is_signed ? -most - 1 : 0, value = a;
    return To(value < least ? least : value > most ? most : value);
}
template <class To, class From> EMU_PTX To from_integer(From a, unsigned mode)
{
    if (mode == ROUND_NEAREST)
        return To(a);
    return rounded(mode, [&] {
        __asm__ volatile("" : "+r"(a));
        return To(a);
    });
}

// ------------------------------------------------------- numbers of 8, 6 and 4 bits

// Converts to nearest, saturated to finite values; `nan` replaces NaN. A pair has a number every `stride` bits.
struct e4m3 {
    typedef Narrow<4, 4> Format;
    static constexpr emu_u32 largest = 0x7e, nan = 0x7f, stride = 8;
    static double to(emu_u32 x) { return (x & 0x7f) == 0x7f ? __builtin_nan("") : Format::to<true>(x); }
};
struct e5m2 {
    typedef Narrow<3, 5> Format;
    static constexpr emu_u32 largest = 0x7b, nan = 0x7f, stride = 8;
    static double to(emu_u32 x) { return Format::to(x); }
};
template <int Digits, int Exponent, int Stride> struct WithoutNaN {
    typedef Narrow<Digits, Exponent> Format;
    static constexpr emu_u32 largest = (1u << Format::sign) - 1, nan = largest, stride = Stride;
    static double to(emu_u32 x) { return Format::template to<true>(x); }
};
typedef WithoutNaN<4, 2, 8> e2m3;
typedef WithoutNaN<3, 3, 8> e3m2;
typedef WithoutNaN<2, 2, 4> e2m1;
template <class T> EMU_PTX emu_u32 small_of(double x, bool relu)
{
    if (x != x)
        return T::nan;
    x = relu ? rectified(x) : x;
    double limit = T::to(T::largest);
    bool negative = __builtin_signbit(x);
    emu_u32 magnitude = T::largest;
    if (__builtin_fabs(x) < limit)
        magnitude = T::Format::template round<ROUND_NEAREST>(same_bits<emu_u64>(__builtin_fabs(x)), negative);
    return magnitude | emu_u32(negative) << T::Format::sign;
}
template <class T> EMU_PTX emu_u64 pair_of(double high, double low, bool relu)
{
    return small_of<T>(high, relu) << T::stride | small_of<T>(low, relu);
}
template <class T> EMU_PTX emu_u64 halves_of(emu_u32 pair, bool relu)
{
    constexpr emu_u32 mask = 2u * (1u << T::Format::sign) - 1;
    double high = T::to(pair >> T::stride & mask), low = T::to(pair & mask);
    return emu_u64(f16::from(relu ? rectified(high) : high)) << 16 | f16::from(relu ? rectified(low) : low);
}

// ------------------------------------------------------------------ video instructions

enum class Video { add, sub, absdiff, min, max, avrg, eq, ne, lt, le, gt, ge, shl, shr };

EMU_PTX __int128 video(Video how, __int128 a, __int128 b)
{
    switch (how) {
    case Video::add: return a + b;
    case Video::sub: return a - b;
    case Video::absdiff: return a > b ? a - b : b - a;
    case Video::min: return a < b ? a : b;
    case Video::max: return a > b ? a : b;
    case Video::avrg: return (a + b + (a + b >= 0)) >> 1;
    case Video::eq: return a == b;
    case Video::ne: return a != b;
    case Video::lt: return a < b;
    case Video::le: return a <= b;
    case Video::gt: return a > b;
    case Video::ge: return a >= b;
    case Video::shl: return a * ((__int128)1 << b);
    case Video::shr: return a >> b;
    }
    return 0;
}
EMU_PTX long long part(emu_u64 a, int bits, int index, bool is_signed)
{
    unsigned long long value = (unsigned long long)a >> bits * index << (64 - bits);
    return is_signed ? (long long)value >> (64 - bits) : (long long)(value >> (64 - bits));
}
// Returns the lowest bits of a value, saturated if required.
EMU_PTX emu_u32 limited(__int128 value, bool is_signed, bool saturates, int bits)
{
    const __int128 most = ((__int128)1 << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
    if (saturates)
        value = value < least ? least : value > most ? most : value;
    return emu_u32(value) & (~0u >> (32 - bits));
}
// Returns c with another part.
EMU_PTX emu_u32 merged(emu_u32 c, emu_u32 value, int bits, int index)
{
    emu_u32 place = ~0u >> (32 - bits) << bits * index;
    return (c & ~place) | (value << bits * index & place);
}
// Each part of `mask` replaces that part of c, or is added to it. Four selector bits name the source part in a (first)
// or b.
EMU_PTX emu_u32 video_parts(Video how, int count, bool is_signed, bool saturates, bool a_signed, bool b_signed,
                            emu_u32 a, emu_u32 b, emu_u32 c, emu_u32 a_parts, emu_u32 b_parts, emu_u32 mask, bool adds)
{
    const int bits = 32 / count;
    const emu_u64 both = (emu_u64)b << 32 | a;
    emu_u32 out = c;
    for (int i = 0; i < count; ++i) {
        if (!(mask >> i & 1))
            continue;
        __int128 value = video(how, part(both, bits, int(a_parts >> 4 * i & 15), a_signed),
                               part(both, bits, int(b_parts >> 4 * i & 15), b_signed));
        emu_u32 one = limited(value, is_signed, saturates, bits);
        out = adds ? out + emu_u32(part(one, bits, 0, is_signed)) : merged(out, one, bits, i);
    }
    return out;
}
// Computes a * b + c. `one` is added, `shift` is the scale. ~ and a `one` change the sign of a product or of c.
EMU_PTX emu_u32 video_mad(long long a, long long b, emu_u32 c, bool is_signed, bool negates, bool negates_c, bool one,
                          int shift, bool saturates)
{
    __int128 product = (__int128)a * b;
    c = negates_c ? ~c : c;
    __int128 sum = (negates ? ~product : product) + (is_signed ? (__int128)(emu_i32)c : (__int128)c) +
                   (one || negates || negates_c);
    return limited(sum >> shift, is_signed, saturates, 32);
}

// ------------------------------------------------------------------------------ memory

template <class T> EMU_PTX T* pointer(emu_u64 address, bool shared)
{
    return (T*)(shared ? __cvta_shared_to_generic(address) : (void*)address);
}
// The order and scope of the next access, for the races check.
#if EMU_CHECKS & 4
#define EMU_ORDER(what) emu_next_scope(what);
#else
#define EMU_ORDER(what)
#endif

// Returns the address near `base` that has these low 32 bits, unless there are more.
EMU_PTX emu_u64 widened(emu_u64 address, const void* base)
{
    return address >> 32 ? address : emu_u64(base) + emu_u64((long long)(emu_i32)emu_u32(address - emu_u64(base)));
}
// Parameters and local variables are on the thread's stack.
EMU_PTX emu_u64 local_address(emu_u64 address) { return widened(address, __builtin_frame_address(0)); }
EMU_PTX emu_u64 constant_address(emu_u64 address) { return widened(address, ""); } // in the image

template <class T> EMU_INLINE emu_u64 load(emu_u64 address, bool shared, bool strong)
{
    T* at = pointer<T>(address, shared);
    T value;
    if (strong)
        __atomic_load(aligned(at, EMU_ACCESS_LOAD), &value, __ATOMIC_SEQ_CST);
    else
        value = *at;
    return of<T>(value);
}
template <class T> EMU_INLINE void store(emu_u64 address, bool shared, bool strong, emu_u64 bits)
{
    T* at = pointer<T>(address, shared);
    T value = as<T>(bits);
    if (strong)
        __atomic_store(aligned(at), &value, EMU_ATOMIC_ORDER);
    else
        *at = value;
}
template <class T, int N> struct __attribute__((aligned(sizeof(T) * N))) Vector {
    T element[N];
};
template <class T, int N> EMU_INLINE void load(emu_u64 address, bool shared, emu_u64* bits)
{
    Vector<T, N> value = *pointer<Vector<T, N>>(address, shared);
    for (int i = 0; i < N; ++i)
        bits[i] = of<T>(value.element[i]);
}
template <class T, int N> EMU_INLINE void store(emu_u64 address, bool shared, const emu_u64* bits)
{
    Vector<T, N> value;
    for (int i = 0; i < N; ++i)
        value.element[i] = as<T>(bits[i]);
    *pointer<Vector<T, N>>(address, shared) = value;
}

// A number as its bits in memory.
template <class Format> struct Number : Format {
    unsigned short bits;
};
template <> struct Number<float> {
    float bits;
    static double to(emu_u32 x) { return as<float>(x); }
    static emu_u64 from(double x) { return of<float>(float(x)); }
};

// Updates `Size` registers of `Parts` numbers each at an address, and returns the old values in `bits`.
template <class Format, int Parts, int Size>
EMU_INLINE void update_vector(emu_u64 address, bool shared, char how, emu_u64* bits, EMU_LOCATION)
{
    typedef typename Word<sizeof(Number<Format>)>::type T;
    T* at = pointer<T>(address, shared);
    if (emu_uptr(at) % (sizeof(T) * Parts * Size))
        emu_misaligned(emu_uptr(at), sizeof(T) * Parts * Size, EMU_ACCESS_STORE | EMU_ACCESS_MISALIGNED, file, line);
    for (int i = 0; i < Size; ++i) {
        emu_u64 old = 0;
        for (int part = 0; part < Parts; ++part, ++at) {
            double y = Number<Format>::to(T(bits[i] >> 16 * part));
            T before = update(at, [y, how](T bits) {
                double x = Number<Format>::to(bits);
                return T(Number<Format>::from(how == '+' ? x + y : how == '<' ? smaller(x, y) : larger(x, y)));
            });
            old |= emu_u64(before) << 16 * part;
        }
        bits[i] = old;
    }
}

// cp.reduce.async.bulk: updates each element of global memory with one of shared memory.
template <class T, class F> EMU_INLINE void reduce_bulk(emu_u64 to, emu_u64 from, emu_u64 bytes, F update)
{
    const T* source = pointer<T>(from, true);
    if ((to | (emu_u64)source | bytes) & 15)
        emu_trap("the size and both addresses of a bulk reduction must be multiples of 16 bytes");
    for (emu_u32 i = 0; i < emu_u32(bytes) / sizeof(T); ++i)
        update((T*)to + i, source[i]);
}

// cp.reduce.async.bulk.tensor: updates one element of a type of CUtensorMapDataType.
template <char How, class T> EMU_INLINE void reduce_integer(T* to, T from)
{
    update(to, [from](T old) -> T {
        switch (How) {
        case '+': return T(old + from);
        case '<': return old < from ? old : from;
        case '>': return old > from ? old : from;
        case '&': return T(old & from);
        case '|': return T(old | from);
        case '^': return T(old ^ from);
        case 'i': return old >= from ? T(0) : T(old + 1);
        default: return old == 0 || old > from ? from : T(old - 1);
        }
    });
}
template <class T> EMU_NO_CHECK EMU_INLINE T value_at(const void* from)
{
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}
template <char How> void reduce_element(emu_u32 type, emu_u64 to, const void* from)
{
    emu_u64 half = type == 6 || type == 9 ? value_at<unsigned short>(from) : 0;
    switch (type) {
    case 2: return reduce_integer<How>((emu_u32*)to, value_at<emu_u32>(from));
    case 3: return reduce_integer<How>((emu_i32*)to, value_at<emu_i32>(from));
    case 4: return reduce_integer<How>((unsigned long long*)to, value_at<unsigned long long>(from));
    case 5: return reduce_integer<How>((long long*)to, value_at<long long>(from));
    case 6: return update_vector<f16, 1, 1>(to, false, How, &half);
    case 9: return update_vector<bf16, 1, 1>(to, false, How, &half);
    case 7:
        if (How == '+') {
            ::atomicAdd((float*)to, value_at<float>(from));
            return;
        }
    }
    emu_trap("cp.reduce.async.bulk.tensor with a type of elements that it does not have");
}

EMU_INLINE void copy(emu_u64 to, emu_u64 from, emu_u64 size, emu_u64 bytes, EMU_LOCATION)
{
    if ((to | from) & (size - 1))
        emu_trap("cp.async with an address that is not a multiple of the size");
    emu_async_copy(to, from, emu_u32(size), emu_u32(bytes), file, line);
}

// tensormap.cp_fenceproxy, for all lanes of a warp.
EMU_INLINE void copy_tensor_map(emu_u64 to, emu_u64 from)
{
    __syncwarp();
    if (EMU_LANE == 0)
        for (int i = 0; i < 8; ++i)
            ((Vector<emu_u32, 4>*)to)[i] = pointer<Vector<emu_u32, 4>>(from, true)[i];
    __threadfence();
    __syncwarp();
}

// Calls of __assertfail in modules, with the addresses of the parameters.
EMU_INLINE void fail_assertion(emu_u64 message, emu_u64 file, emu_u64 line, emu_u64 function, emu_u64)
{
    emu_assert_fail(*(const char**)message, *(const char**)file, *(emu_u32*)line, *(const char**)function);
}

// vprintf calls in modules, with the addresses of the result and the parameters.
EMU_INLINE void print(emu_u64 format, emu_u64 values)
{
    emu_printf_packed(*(const char**)format, *(const void**)values);
}
EMU_INLINE void print(emu_u64 result, emu_u64 format, emu_u64 values)
{
    *(emu_i32*)result = emu_printf_packed(*(const char**)format, *(const void**)values);
}

// ------------------------------------------------------------------------------- warps

// `control` contains the last lane of a segment (for "up", the first) and, from bit 8 on, the bits of a lane that select
// its segment. The modes only differ in the lane that they read.
EMU_PTX emu_u64 shuffle(emu_u32 op, emu_u32 value, emu_u32 argument, emu_u32 control, emu_u32 mask, emu_u64* in_range)
{
    int lane = int(EMU_LANE), by = int(argument & 31), segment = int(control >> 8 & 31), from;
    int end = (lane & segment) | (int(control & 31) & ~segment);
    switch (op) {
    case EMU_WARP_SHUFFLE_UP: from = lane - by; break;
    case EMU_WARP_SHUFFLE_DOWN: from = lane + by; break;
    case EMU_WARP_SHUFFLE_XOR: from = lane ^ by; break;
    default: from = (lane & segment) | (by & ~segment);
    }
    *in_range = op == EMU_WARP_SHUFFLE_UP ? from >= end : from <= end;
    emu_u32 result = value;
    EmuWarpCall call = warp_call(EMU_WARP_SHUFFLE_INDEX, mask, 4, &value, &result);
    call.argument = emu_u32(*in_range ? from : lane);
    call.width = 32;
    emu_warp(&call);
    return result;
}

// Lanes read each other's variables through these pointers. EMU_INLINE is not used, because it would be checked like
// its caller.
EMU_NO_CHECK __attribute__((noinline)) inline void** lend(void* variable)
{
    void** slots = emu_tile_slots() + (emu_thread.linear & ~31u);
    slots[EMU_LANE] = variable;
    return slots;
}
EMU_NO_CHECK __attribute__((noinline)) inline emu_u32 word_of(void* const* slots, unsigned lane, unsigned word)
{
    return static_cast<const emu_u32*>(slots[lane])[word];
}

#undef EMU_PTX

} // namespace ptx
} // namespace emu
