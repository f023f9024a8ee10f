// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Half precision: 11 significand digits, 5 exponent bits.
#pragma once

#define EMU_H __half
#define EMU_H2 __half2
#define EMU_NAME half
#define EMU_FORMAT ::emu::Narrow<11, 5>
#ifndef __CUDA_NO_HALF_CONVERSIONS__
#define EMU_SCALAR_CONVERSIONS 1
#endif
#ifndef __CUDA_NO_HALF_OPERATORS__
#define EMU_SCALAR_OPERATORS 1
#endif
#ifndef __CUDA_NO_HALF2_OPERATORS__
#define EMU_PAIR_OPERATORS 1
#endif
struct __nv_bfloat16;
#define EMU_OTHER __nv_bfloat16
#include "emulator_half.h"
#undef EMU_H
#undef EMU_H2
#undef EMU_NAME
#undef EMU_FORMAT
#undef EMU_OTHER
#undef EMU_SCALAR_CONVERSIONS
#undef EMU_SCALAR_OPERATORS
#undef EMU_PAIR_OPERATORS

#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;
#endif

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)
