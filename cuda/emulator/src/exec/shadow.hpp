// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The shadow of the window of addresses: one byte for 8, for each device its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "regions.hpp"

namespace emu::exec {

constexpr int most_devices = 8;

// In the signal handler: gives a part of the shadow that was never written its content.
// False when the address lies in no shadow.
bool fill_shadow(uintptr_t address);

bool in_window(uintptr_t address, size_t size);
bool shadow_allows(int device, uintptr_t address, size_t size);
// Both round the end up to 8 bytes; open keeps the exact end.
void shadow_open(int device, uintptr_t base, size_t size);
void shadow_close(int device, uintptr_t base, size_t size, emu_u8 value);
// Not of the window, or without a shadow: by the regions themselves. Gives the range.
bool regions_allow(int device, uintptr_t address, size_t size, EmuRange* range);

std::string describe_heap_address(uintptr_t address, size_t size); // empty: not in a heap

} // namespace emu::exec
