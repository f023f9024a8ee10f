// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The bfloat16 type: 8 significand digits, and the 8 exponent bits of float.
#pragma once
#include <cuda_fp16.h>

#define EMU_H __nv_bfloat16
#define EMU_H2 __nv_bfloat162
#define EMU_NAME bfloat16
#define EMU_FORMAT ::emu::Narrow<8, 8>
#ifndef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define EMU_SCALAR_CONVERSIONS 1
#endif
#ifndef __CUDA_NO_BFLOAT16_OPERATORS__
#define EMU_SCALAR_OPERATORS 1
#endif
#ifndef __CUDA_NO_BFLOAT162_OPERATORS__
#define EMU_PAIR_OPERATORS 1
#endif
#define EMU_OTHER __half
#include "emulator_half.h"
#undef EMU_H
#undef EMU_H2
#undef EMU_NAME
#undef EMU_FORMAT
#undef EMU_OTHER
#undef EMU_SCALAR_CONVERSIONS
#undef EMU_SCALAR_OPERATORS
#undef EMU_PAIR_OPERATORS

EMU_INLINE __half::__half(const __nv_bfloat16& other)
    : __x((unsigned short)::emu::Narrow<11, 5>::from(::emu::value_of(other)))
{
}
EMU_INLINE __nv_bfloat16::__nv_bfloat16(const __half& other)
    : __x((unsigned short)::emu::Narrow<8, 8>::from(::emu::value_of(other)))
{
}

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)
