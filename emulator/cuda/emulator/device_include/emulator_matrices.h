// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions that replace PTX matrix instructions: ldmatrix, stmatrix, movmatrix, mma and wmma. The elements are in the
// registers of a warp. Each lane reads the others' registers while they wait for it.
#pragma once

namespace emu {
namespace ptx {

// --------------------------------------------------------------- matrices of 8 x 8 halves

// Lane 4 * row + column / 2 has the element (row, column) and the next one of its row in one register.
template <class Lanes> EMU_NO_CHECK EMU_INLINE emu_u32 transposed_pair(Lanes word, unsigned row, unsigned pair)
{
    unsigned shift = 16 * (row & 1);
    emu_u32 low = word(8 * pair + row / 2) >> shift, high = word(8 * pair + 4 + row / 2) >> shift;
    return (low & 0xffffu) | high << 16;
}

// Lane 8 * i + row has the address of a row of matrix i. A lane receives two adjacent elements of row lane / 4, or of
// that column.
EMU_INLINE void load_matrices(emu_u64 address, bool shared, unsigned count, bool transposes, emu_u64* d)
{
    struct Row {
        emu_u32 words[4];
    } row = {};
    if (EMU_LANE < 8 * count)
        row = pointer<Vector<Row, 1>>(address, shared)->element[0];
    void** slots = lend(&row);
    __syncwarp();
    unsigned first = EMU_LANE / 4, pair = EMU_LANE % 4;
    for (unsigned i = 0; i < count; ++i) {
        auto word = [&](unsigned lane) { return word_of(slots, 8 * i + lane / 4, lane % 4); };
        d[i] = transposes ? transposed_pair(word, first, pair) : word(EMU_LANE);
    }
    __syncwarp();
}

// The inverse of the above.
EMU_INLINE void store_matrices(emu_u64 address, bool shared, unsigned count, bool transposes, const emu_u64* registers)
{
    emu_u32 words[4] = {};
    for (unsigned i = 0; i < count; ++i)
        words[i] = emu_u32(registers[i]);
    void** slots = lend(words);
    __syncwarp();
    if (EMU_LANE < 8 * count) {
        unsigned matrix = EMU_LANE / 8, row = EMU_LANE % 8;
        auto word = [&](unsigned lane) { return word_of(slots, lane, matrix); };
        Vector<emu_u32, 4> out;
        for (unsigned pair = 0; pair < 4; ++pair)
            out.element[pair] = transposes ? transposed_pair(word, row, pair) : word(4 * row + pair);
        *pointer<Vector<emu_u32, 4>>(address, shared) = out;
    }
    __syncwarp();
}

EMU_INLINE emu_u64 transposed_matrix(emu_u64 a)
{
    emu_u32 mine = emu_u32(a);
    void** slots = lend(&mine);
    __syncwarp();
    auto word = [&](unsigned lane) { return word_of(slots, lane, 0); };
    emu_u64 d = transposed_pair(word, EMU_LANE / 4, EMU_LANE % 4);
    __syncwarp();
    return d;
}

// ------------------------------------------------------------------- elements of registers

// `each`: how many elements a register holds.
template <unsigned Each> struct Elements {
    static constexpr unsigned each = Each;
    static double product(double a, double b) { return a * b; }
};
struct Doubles : Elements<1> {
    static double element(emu_u64 word, unsigned) { return as<double>(word); }
};
struct Tf32 : Elements<1> {
    static double element(emu_u64 word, unsigned) { return as<float>(word & 0xffffe000u); }
};
template <class Format> struct Pairs : Elements<2> {
    static double element(emu_u64 word, unsigned i) { return Format::to(emu_u32(word) >> 16 * i & 0xffffu); }
};
template <class Format> struct Fours : Elements<4> {
    static double element(emu_u64 word, unsigned i) { return Format::to(emu_u32(word) >> 8 * i & 0xffu); }
};
template <int Bits, bool Signed> struct Integers : Elements<32 / Bits> {
    static double element(emu_u64 word, unsigned i) { return double(part(word, Bits, int(i), Signed)); }
};
struct BitsAnd : Integers<1, false> {};
struct BitsXor : Integers<1, false> {
    static double product(double a, double b) { return a != b; }
};

// Accumulators by type; Clamped accumulates in emu_i32.
struct Clamped {};
EMU_NO_CHECK EMU_INLINE double accumulator(const emu_u64* c, unsigned i, float) { return as<float>(c[i]); }
EMU_NO_CHECK EMU_INLINE double accumulator(const emu_u64* c, unsigned i, double) { return as<double>(c[i]); }
EMU_NO_CHECK EMU_INLINE double accumulator(const emu_u64* c, unsigned i, emu_i32) { return as<emu_i32>(c[i]); }
EMU_NO_CHECK EMU_INLINE double accumulator(const emu_u64* c, unsigned i, f16)
{
    return f16::to(emu_u32(c[i / 2]) >> 16 * (i & 1) & 0xffffu);
}
EMU_NO_CHECK EMU_INLINE void put(double x, emu_u64* d, unsigned i, float) { d[i] = of<float>(float(x)); }
EMU_NO_CHECK EMU_INLINE void put(double x, emu_u64* d, unsigned i, double) { d[i] = of<double>(x); }
EMU_NO_CHECK EMU_INLINE void put(double x, emu_u64* d, unsigned i, emu_i32) { d[i] = emu_u32((long long)x); }
EMU_NO_CHECK EMU_INLINE void put(double x, emu_u64* d, unsigned i, Clamped)
{
    d[i] = emu_u32(clamped<emu_i32>((long long)x));
}
EMU_NO_CHECK EMU_INLINE void put(double x, emu_u64* d, unsigned i, f16)
{
    d[i / 2] = (i & 1 ? d[i / 2] & 0xffffu : 0) | emu_u64(f16::from(x)) << 16 * (i & 1);
}

// The registers of a lane.
struct Factors {
    const emu_u64 *a, *b;
};

// ------------------------------------------------------------------------------------- mma

// The product of 8 * Eights rows and 8 columns. Register i of lane 4 * g + t has, at position e, the element t * each +
// 4 * each * i + e of a row or column: rows g and g + 8 of A, column g of B.
template <class A, class B, class D, class C, unsigned Eights, unsigned Registers>
EMU_NO_CHECK void multiply(const emu_u64* a, const emu_u64* b, const emu_u64* c, emu_u64* d)
{
    Factors mine = {a, b};
    void** slots = lend(&mine);
    __syncwarp();
    unsigned group = EMU_LANE / 4, column = EMU_LANE % 4 * 2;
    for (unsigned i = 0; i < 2 * Eights; ++i) { // the element in row group + 8 * (i / 2)
        double sum = accumulator(c, i, C());
        for (unsigned lane = 0; lane < 4; ++lane) {
            const Factors& left = *static_cast<Factors*>(slots[group * 4 + lane]);
            const Factors& right = *static_cast<Factors*>(slots[(column + (i & 1)) * 4 + lane]);
            for (unsigned k = 0; k < Registers; ++k)
                for (unsigned e = 0; e < A::each; ++e)
                    sum += A::product(A::element(left.a[Eights * k + i / 2], e), B::element(right.b[k], e));
        }
        put(sum, d, i, D());
    }
    __syncwarp();
}

// ------------------------------------------------------------------------------------ wmma

// A fragment gives each lane the same number of elements, in row order, as in mma.h. T has their size.
template <class T, unsigned Rows, unsigned Columns> struct Fragment {
    enum : unsigned { count = Rows * Columns / 32, each = sizeof(T) > 4 ? 1 : 4 / sizeof(T) };

    static EMU_NO_CHECK EMU_INLINE size_t place(unsigned i, emu_u64 stride, bool by_rows)
    {
        unsigned index = EMU_LANE * count + i, row = index / Columns, column = index % Columns;
        return by_rows ? row * stride + column : column * stride + row;
    }
    static EMU_INLINE void load(emu_u64 address, bool shared, emu_u64 stride, bool by_rows, emu_u64* d)
    {
        for (unsigned i = 0; i < count; ++i) {
            emu_u64 bits = of<T>(pointer<T>(address, shared)[place(i, stride, by_rows)]);
            d[i / each] = (i % each ? d[i / each] : 0) | bits << 8 * sizeof(T) * (i % each);
        }
        __syncwarp();
    }
    static EMU_INLINE void store(emu_u64 address, bool shared, emu_u64 stride, bool by_rows, const emu_u64* d)
    {
        for (unsigned i = 0; i < count; ++i)
            pointer<T>(address, shared)[place(i, stride, by_rows)] = as<T>(d[i / each] >> 8 * sizeof(T) * (i % each));
        __syncwarp();
    }
};

template <class A, class B, class D, class C, unsigned M, unsigned N, unsigned K>
EMU_NO_CHECK void multiply_fragments(const emu_u64* a, const emu_u64* b, const emu_u64* c, emu_u64* d)
{
    constexpr unsigned a_count = M * K / 32, b_count = K * N / 32, count = M * N / 32;
    Factors mine = {a, b};
    void** slots = lend(&mine);
    __syncwarp();
    for (unsigned i = 0; i < count; ++i) {
        unsigned row = (EMU_LANE * count + i) / N, column = (EMU_LANE * count + i) % N;
        double sum = accumulator(c, i, C());
        for (unsigned k = 0; k < K; ++k) {
            unsigned x = row * K + k, y = k * N + column, u = x % a_count, v = y % b_count;
            const Factors& left = *static_cast<Factors*>(slots[x / a_count]);
            const Factors& right = *static_cast<Factors*>(slots[y / b_count]);
            sum += A::product(A::element(left.a[u / A::each], u % A::each), B::element(right.b[v / B::each], v % B::each));
        }
        put(sum, d, i, D());
    }
    __syncwarp();
}

} // namespace ptx
} // namespace emu
