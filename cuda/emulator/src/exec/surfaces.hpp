// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Accesses to surfaces: where the bytes are, by the mode of what lies outside.
#pragma once

#include "../../device_include/emulator_abi.h"
#include "textures.hpp"

namespace emu::exec {

enum class SurfaceAnswer { done, outside, misaligned };

// Loads or stores; outside of the surface the call's mode decides.
SurfaceAnswer access_surface(const Texture& surface, const EmuSurfaceCall& call);

} // namespace emu::exec
