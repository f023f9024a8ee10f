// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// wgmma: a product of 64 rows by four warps. Warp w has the rows 16 * w to 16 * w + 15 of the sums. Each row of A, and
// each column of B, has 32 bytes, which are eight words of 32 bits here.
#pragma once

namespace emu {
namespace ptx {

// A matrix in shared memory, as its 64-bit descriptor describes it.
struct SharedMatrix {
    emu_u64 start;
    emu_u32 leading, stride, width; // in bytes; width: of the swizzle pattern, 16 if there is none
    emu_u32 base;                   // where the pattern begins

    EMU_NO_CHECK explicit SharedMatrix(emu_u64 bits)
    {
        start = emu_matrix_address(emu_u32(bits & 0x3fff) << 4);
        leading = emu_u32(bits >> 16 & 0x3fff) << 4;
        stride = emu_u32(bits >> 32 & 0x3fff) << 4;
        emu_u32 mode = emu_u32(bits >> 62);
        width = mode ? 256u >> mode : 16;
        base = emu_u32(bits >> 49 & 7) << 7;
    }
    EMU_NO_CHECK emu_u64 swizzled(emu_u64 at) const { return at ^ ((at - base) >> 3 & (width - 16)); }

    // Reads row r, whose elements are adjacent.
    EMU_INLINE void row(unsigned r, emu_u32* words) const
    {
        for (unsigned half = 0; half < 2; ++half) {
            emu_u64 at = start + r % 8 * width + r / 8 * stride + half * (width == 16 ? leading : 16);
            Vector<emu_u32, 4> part = *(const Vector<emu_u32, 4>*)swizzled(at);
            for (unsigned i = 0; i < 4; ++i)
                words[4 * half + i] = part.element[i];
        }
    }
    // Reads row r of 16-bit elements, whose columns are adjacent.
    EMU_INLINE void transposed_row(unsigned r, emu_u32* words) const
    {
        unsigned across = width / 2; // how many rows the pattern has
        emu_u32 far = width == 16 ? stride : leading, deep = width == 16 ? leading : stride;
        for (unsigned k = 0; k < 16; ++k) {
            emu_u64 at = start + r % across * 2 + r / across * far + k % 8 * width + k / 8 * deep;
            emu_u32 value = *(const unsigned short*)swizzled(at);
            words[k / 2] = k % 2 ? words[k / 2] | value << 16 : value;
        }
    }
    EMU_INLINE void read(unsigned r, bool transposes, emu_u32* words) const
    {
        transposes ? transposed_row(r, words) : row(r, words);
    }
};

template <class Reader> EMU_NO_CHECK EMU_INLINE void decode(const emu_u32* words, double sign, double* out)
{
    for (unsigned i = 0; i < 8; ++i)
        for (unsigned e = 0; e < Reader::each; ++e)
            out[i * Reader::each + e] = sign * Reader::element(words[i], e);
}

template <class A, class B, class D, class C> EMU_NO_CHECK EMU_INLINE void accumulate(const double* row, const double* column,
                                                                             const emu_u64* c,
                                                                             emu_u64* d, unsigned i)
{
    double sum = c ? accumulator(c, i, C()) : 0;
    for (unsigned k = 0; k < 8 * A::each; ++k)
        sum += A::product(row[k], column[k]);
    put(sum, d, i, D());
}

// `a`: a descriptor, or four registers. c is null if nothing is added. The signs are 1 or -1.
template <class A, class B, class D, class C, unsigned Columns, bool InRegisters>
EMU_INLINE void multiply_group(const emu_u64* a, emu_u64 b, const emu_u64* c, int a_sign, int b_sign, bool a_transposes,
                               bool b_transposes, emu_u64* d)
{
    unsigned group = EMU_LANE / 4, pair = EMU_LANE % 4, first = EMU_WARP % 4 * 16 + group;
    emu_u32 words[8];
    double rows[2][8 * A::each], column[8 * B::each];
    void** slots = InRegisters ? lend((void*)a) : nullptr;
    if (InRegisters)
        __syncwarp();
    for (unsigned i = 0; i < 2; ++i) {
        if (InRegisters)
            for (unsigned w = 0; w < 8; ++w)
                words[w] = word_of(slots, group * 4 + w % 4, 2 * (w / 4 * 2 + i));
        else
            SharedMatrix(*a).read(first + 8 * i, a_transposes, words);
        decode<A>(words, a_sign, rows[i]);
    }
    SharedMatrix right(b);
    for (unsigned eight = 0; eight < Columns / 8; ++eight)
        for (unsigned i = 0; i < 2; ++i) {
            right.read(8 * eight + 2 * pair + i, b_transposes, words);
            decode<B>(words, b_sign, column);
            for (unsigned row = 0; row < 2; ++row)
                accumulate<A, B, D, C>(rows[row], column, c, d, 4 * eight + 2 * row + i);
        }
    if (InRegisters)
        __syncwarp();
}

} // namespace ptx
} // namespace emu
