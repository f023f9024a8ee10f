// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// 6-bit formats: e2m3 (4 digits, up to 7.5) and e3m2 (3 digits, up to 28). In vectors, each takes 8 bits.
#pragma once
#include "emulator_small_floats.h"

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

namespace emu {
typedef SmallFloat<4, 2, 8> E2M3;
typedef SmallFloat<3, 3, 8> E3M2;
} // namespace emu

#define EMU_FP6(call) (kind == __NV_E2M3 ? ::emu::E2M3::call : ::emu::E3M2::call)
EMU_SMALL_CONVERSIONS(fp6, EMU_FP6)
#undef EMU_FP6

struct __nv_fp6_e2m3 : ::emu::SmallValue<::emu::E2M3, __nv_fp6_storage_t> {
    using SmallValue::SmallValue;
};
struct __nv_fp6_e3m2 : ::emu::SmallValue<::emu::E3M2, __nv_fp6_storage_t> {
    using SmallValue::SmallValue;
};
struct __nv_fp6x2_e2m3 : ::emu::SmallPair<::emu::E2M3, __nv_fp6x2_storage_t> {
    using SmallPair::SmallPair;
};
struct __nv_fp6x2_e3m2 : ::emu::SmallPair<::emu::E3M2, __nv_fp6x2_storage_t> {
    using SmallPair::SmallPair;
};
struct __nv_fp6x4_e2m3 : ::emu::SmallFour<::emu::E2M3, __nv_fp6x4_storage_t, 8> {
    using SmallFour::SmallFour;
};
struct __nv_fp6x4_e3m2 : ::emu::SmallFour<::emu::E3M2, __nv_fp6x4_storage_t, 8> {
    using SmallFour::SmallFour;
};
