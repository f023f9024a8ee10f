// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Surface accesses: the address of an element, and the boundary mode for accesses outside of the surface.
#pragma once

#include "../../device_include/emulator_abi.h"
#include "textures.hpp"

namespace emu::exec {

enum class SurfaceAnswer { done, outside, misaligned };

// Loads or stores; outside of the surface the boundary mode of the call decides.
SurfaceAnswer access_surface(const Texture& surface, const EmuSurfaceCall& call);

} // namespace emu::exec
