// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Surface accesses: element addresses, and the boundary mode for accesses outside the surface.
#pragma once

#include "device_include/emulator_abi.h"
#include "textures.hpp"

namespace emu::exec {

enum class SurfaceAnswer { done, outside, misaligned };

// Loads or stores. Outside the surface, the call's boundary mode decides.
SurfaceAnswer access_surface(const Texture& surface, const EmuSurfaceCall& call);

} // namespace emu::exec
