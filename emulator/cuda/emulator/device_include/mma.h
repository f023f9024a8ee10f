// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Warp matrix products (WMMA). A fragment of n elements gives each lane n / 32 of them, in row order. A GPU distributes
// them in another way, which programs cannot rely on.
#pragma once
#include <cuda_bf16.h>

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
} // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
} // namespace experimental

namespace emu {
namespace narrow = experimental::precision;

// Element types in registers and in memory. 32-bit words hold several factors smaller than a byte.
template <class T> struct Storage {
    typedef T type, memory;
    enum { factors = 1 };
};
template <> struct Storage<precision::tf32> : Storage<float> {};
template <class T, int N> struct Words {
    typedef T type;
    typedef void memory;
    enum { factors = N };
};
template <> struct Storage<narrow::u4> : Words<unsigned, 8> {};
template <> struct Storage<narrow::s4> : Words<int, 8> {};
template <> struct Storage<narrow::b1> : Words<unsigned, 32> {};

template <class Use, int M, int N, int K> struct Shape;
template <int M, int N, int K> struct Shape<matrix_a, M, N, K> {
    enum { rows = M, columns = K };
};
template <int M, int N, int K> struct Shape<matrix_b, M, N, K> {
    enum { rows = K, columns = N };
};
template <int M, int N, int K> struct Shape<accumulator, M, N, K> {
    enum { rows = M, columns = N };
};

// The shapes of an element type.
template <class T, int M, int N, int K> struct Valid {
    static constexpr bool value =
        K == 16 && ((M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32));
};
template <int M, int N, int K> struct Valid<precision::tf32, M, N, K> {
    static constexpr bool value = M == 16 && N == 16 && K == 8;
};
template <int M, int N, int K> struct Valid<double, M, N, K> {
    static constexpr bool value = M == 8 && N == 8 && K == 4;
};
template <int M, int N, int K> struct Valid<float, M, N, K> {
    static constexpr bool value = Valid<__half, M, N, K>::value || Valid<precision::tf32, M, N, K>::value;
};
template <int M, int N, int K> struct Valid<narrow::u4, M, N, K> {
    static constexpr bool value = M == 8 && N == 8 && K == 32;
};
template <int M, int N, int K> struct Valid<narrow::s4, M, N, K> : Valid<narrow::u4, M, N, K> {};
template <int M, int N, int K> struct Valid<narrow::b1, M, N, K> {
    static constexpr bool value = M == 8 && N == 8 && K == 128;
};
template <int M, int N, int K> struct Valid<int, M, N, K> {
    static constexpr bool value = Valid<signed char, M, N, K>::value || Valid<narrow::u4, M, N, K>::value ||
                                  Valid<narrow::b1, M, N, K>::value;
};

// The matrices of the product that a warp computes.
struct Operands {
    double a[512], b[512];
};
static __thread Operands operands[32];

EMU_NO_CHECK EMU_INLINE Operands& own_operands() { return operands[EMU_WARP & 31]; }
EMU_INLINE double widened(__half x) { return ::emu::value_of(x); }
EMU_INLINE double widened(__nv_bfloat16 x) { return ::emu::value_of(x); }
template <class T> EMU_INLINE double widened(T x) { return double(x); }
EMU_INLINE float cut_to_tf32(float x)
{
    return ::emu::same_bits<float>(::emu::same_bits<emu_u32>(x) & 0xffffe000u);
}
template <class T> struct Element {
    static double read(T x) { return widened(x); }
};
template <> struct Element<precision::tf32> {
    static double read(float x) { return cut_to_tf32(x); }
};
EMU_INLINE void narrowed(double x, double* out, bool) { *out = x; }
EMU_INLINE void narrowed(double x, float* out, bool) { *out = float(x); }
EMU_INLINE void narrowed(double x, __half* out, bool) { *out = __double2half(x); }
EMU_INLINE void narrowed(double x, int* out, bool saturate)
{
    *out = saturate ? ::emu::saturated<int>(x) : int((unsigned)(long long)x);
}
} // namespace emu

template <class Use, int M, int N, int K, class T, class Layout = void> class fragment {
    typedef emu::Shape<Use, M, N, K> Shape;
    static_assert(emu::Valid<T, M, N, K>::value, "these sizes of a fragment are not available for this type");

public:
    typedef T element_type;
    typedef typename emu::Storage<T>::type storage_element_type;
    enum {
        rows = Shape::rows,
        columns = Shape::columns,
        num_elements = rows * columns / 32,
        num_storage_elements = num_elements / emu::Storage<T>::factors
    };
    storage_element_type x[num_storage_elements];
};

template <class Use, int M, int N, int K, class T, class Layout>
EMU_INLINE void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const typename emu::Storage<T>::type& value)
{
    for (int i = 0; i < f.num_storage_elements; ++i)
        f.x[i] = value;
}

namespace emu {
// Returns the position in memory of one of this lane's elements.
template <class F> EMU_INLINE size_t place(int i, unsigned stride, bool by_rows)
{
    unsigned index = EMU_LANE * F::num_elements + unsigned(i), row = index / F::columns, column = index % F::columns;
    return by_rows ? size_t(row) * stride + column : size_t(column) * stride + row;
}
template <class F, class T> EMU_INLINE void load(F& f, const T* from, unsigned stride, bool by_rows)
{
    for (int i = 0; i < F::num_elements; ++i)
        f.x[i] = from[place<F>(i, stride, by_rows)];
    __syncwarp();
}
// A row of the first matrix, or a column of the second one, is in the words of four lanes.
template <class F> EMU_INLINE void load(F& f, const void* from, unsigned stride, bool)
{
    auto* words = static_cast<const typename F::storage_element_type*>(from);
    f.x[0] = words[EMU_LANE / 4 * (stride / F::num_elements) + EMU_LANE % 4];
    __syncwarp();
}
} // namespace emu

template <class Use, int M, int N, int K, class T>
EMU_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, row_major>& f, const typename emu::Storage<T>::memory* from,
                                 unsigned stride)
{
    emu::load(f, from, stride, true);
}
template <class Use, int M, int N, int K, class T>
EMU_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, col_major>& f, const typename emu::Storage<T>::memory* from,
                                 unsigned stride)
{
    emu::load(f, from, stride, false);
}
template <int M, int N, int K, class T>
EMU_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const typename emu::Storage<T>::memory* from,
                                 unsigned stride, layout_t layout)
{
    emu::load(f, from, stride, layout == mem_row_major);
}
template <int M, int N, int K, class T>
EMU_INLINE void store_matrix_sync(typename emu::Storage<T>::type* to, const fragment<accumulator, M, N, K, T>& f,
                                  unsigned stride, layout_t layout)
{
    typedef fragment<accumulator, M, N, K, T> F;
    for (int i = 0; i < F::num_elements; ++i)
        to[emu::place<F>(i, stride, layout == mem_row_major)] = f.x[i];
    __syncwarp();
}

namespace emu {
template <class D, class A, class B, class C>
EMU_NO_CHECK inline void multiply(D& d, const A& a, const B& b, const C& c, bool saturate)
{
    Operands& own = own_operands();
    unsigned lane = EMU_LANE;
    for (unsigned i = 0; i < A::num_elements; ++i)
        own.a[lane * A::num_elements + i] = Element<typename A::element_type>::read(a.x[i]);
    for (unsigned i = 0; i < B::num_elements; ++i)
        own.b[lane * B::num_elements + i] = Element<typename B::element_type>::read(b.x[i]);
    __syncwarp();
    for (unsigned i = 0; i < D::num_elements; ++i) {
        unsigned index = lane * D::num_elements + i;
        const double *row = own.a + index / D::columns * A::columns, *column = own.b + index % D::columns;
        double sum = 0.0;
        for (unsigned k = 0; k < A::columns; ++k)
            sum += row[k] * column[k * B::columns];
        narrowed(widened(c.x[i]) + sum, &d.x[i], saturate);
    }
    __syncwarp();
}

inline int product_of_fours(unsigned a, unsigned b)
{
    int sum = 0;
    for (int i = 0; i < 32; i += 4)
        sum += int(a >> i & 15) * int(b >> i & 15);
    return sum;
}
inline int product_of_fours(int a, int b)
{
    int sum = 0;
    for (int i = 0; i < 32; i += 4)
        sum += (int(unsigned(a) << i) >> 28) * (int(unsigned(b) << i) >> 28);
    return sum;
}
// `product` multiplies two words.
template <class D, class A, class B, class Product>
EMU_NO_CHECK inline void multiply_words(D& d, const A& a, const B& b, const D& c, bool saturate, Product product)
{
    Operands& own = own_operands();
    auto *rows = reinterpret_cast<decltype(&d.x[0])>(own.a), *columns = reinterpret_cast<decltype(&d.x[0])>(own.b);
    unsigned lane = EMU_LANE;
    rows[lane] = int(a.x[0]);
    columns[lane] = int(b.x[0]);
    __syncwarp();
    for (unsigned i = 0; i < D::num_elements; ++i) {
        unsigned index = lane * D::num_elements + i, row = index / D::columns * 4, column = index % D::columns * 4;
        double sum = c.x[i];
        for (unsigned k = 0; k < 4; ++k)
            sum += product(rows[row + k], columns[column + k]);
        narrowed(sum, &d.x[i], saturate);
    }
    __syncwarp();
}
} // namespace emu

template <int M, int N, int K, class TD, class TA, class LA, class TB, class LB, class TC>
EMU_INLINE void mma_sync(fragment<accumulator, M, N, K, TD>& d, const fragment<matrix_a, M, N, K, TA, LA>& a,
                         const fragment<matrix_b, M, N, K, TB, LB>& b, const fragment<accumulator, M, N, K, TC>& c,
                         bool saturate = false)
{
    emu::multiply(d, a, b, c, saturate);
}
template <class T>
EMU_INLINE void mma_sync(fragment<accumulator, 8, 8, 32, int>& d, const fragment<matrix_a, 8, 8, 32, T, row_major>& a,
                         const fragment<matrix_b, 8, 8, 32, T, col_major>& b,
                         const fragment<accumulator, 8, 8, 32, int>& c, bool saturate = false)
{
    typedef typename emu::Storage<T>::type Word;
    emu::multiply_words(d, a, b, c, saturate, [](int x, int y) { return emu::product_of_fours(Word(x), Word(y)); });
}
EMU_INLINE void bmma_sync(fragment<accumulator, 8, 8, 128, int>& d,
                          const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major>& a,
                          const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major>& b,
                          const fragment<accumulator, 8, 8, 128, int>& c,
                          experimental::bmmaBitOp operation = experimental::bmmaBitOpXOR,
                          experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC)
{
    bool is_and = operation == experimental::bmmaBitOpAND;
    emu::multiply_words(d, a, b, c, false, [is_and](int x, int y) { return __popc(is_and ? x & y : x ^ y); });
}

// Rounds to 11 digits, halves away from zero.
EMU_INLINE float __float_to_tf32(float x)
{
    return x != x ? x : emu::cut_to_tf32(::emu::same_bits<float>(::emu::same_bits<emu_u32>(x) + 0x1000u));
}

} // namespace wmma
} // namespace nvcuda
