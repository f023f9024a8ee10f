// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The shadow of the window of addresses: one byte for 8, for each device its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../../device_include/emulator_abi.h"

namespace emu::exec {

constexpr int most_devices = 8;

// Reserves the shadow of the one window of addresses that holds all device, managed and
// pinned memory. Once, before anything else. False when no address space is to be had:
// then checks run by regions only, slower.
bool reserve_shadow(uintptr_t base, size_t size);
// What the loader writes into EmuModule::space. Each device has a shadow of its own, so that
// memory of another device is open to its kernels only with peer access.
EmuSpace shadow_space(int device);

// In the signal handler: gives a part of the shadow that was never written its content.
// False when the address lies in no shadow.
bool fill_shadow(uintptr_t address);

bool in_window(uintptr_t address, size_t size);
bool shadow_allows(int device, uintptr_t address, size_t size);
// Both round the end up to 8 bytes; open keeps the exact end.
void shadow_open(int device, uintptr_t base, size_t size);
void shadow_close(int device, uintptr_t base, size_t size, emu_u8 value);

} // namespace emu::exec
