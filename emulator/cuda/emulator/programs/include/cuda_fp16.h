// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Half precision for the host part: that of kernels, without what only they can call.
#pragma once

#define EMU_HOST
#define EMU_INLINE inline
typedef __UINT32_TYPE__ emu_u32;
typedef __UINT64_TYPE__ emu_u64;
#include "emulator_rounding.h"
#include "emulator_narrow.h"
#include_next <cuda_fp16.h>
