// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The 4-bit format: e2m1, with the values 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives. Vectors are packed.
#pragma once
#include "emulator_small_floats.h"

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

namespace emu {
typedef SmallFloat<2, 2, 4> E2M1;
} // namespace emu

#define EMU_FP4(call) (static_cast<void>(kind), ::emu::E2M1::call)
EMU_SMALL_CONVERSIONS(fp4, EMU_FP4)
#undef EMU_FP4

struct __nv_fp4_e2m1 : ::emu::SmallValue<::emu::E2M1, __nv_fp4_storage_t> {
    using SmallValue::SmallValue;
};
struct __nv_fp4x2_e2m1 : ::emu::SmallPair<::emu::E2M1, __nv_fp4x2_storage_t> {
    using SmallPair::SmallPair;
};
struct __nv_fp4x4_e2m1 : ::emu::SmallFour<::emu::E2M1, __nv_fp4x4_storage_t, 4> {
    using SmallFour::SmallFour;
};
