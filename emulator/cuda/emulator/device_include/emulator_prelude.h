// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Precedes every program compiled for the software device.
#ifndef EMULATOR_PRELUDE_H
#define EMULATOR_PRELUDE_H

#include "emulator_abi.h"
#include "emulator_bulk_copies.h"
#include "emulator_types.h"
#include "emulator_builtins.h"
#include "emulator_conversions.h"
#include "emulator_rounding.h"
#include "emulator_records.h"
#include "emulator_math.h"
#include "emulator_math_more.h"
#include "emulator_intrinsics.h"
#include "emulator_simd.h"
#include "emulator_atomics.h"
#include "emulator_warp.h"
#include "emulator_narrow.h"
#include "emulator_ptx.h"
#include "emulator_matrices.h"
#include "emulator_warpgroups.h"
#include "emulator_driver_types.h"
#include "emulator_textures.h"
#include "emulator_unwritten.h"
#include "emulator_qualifiers.h"

#endif
