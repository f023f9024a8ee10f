// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The shadow of the device address window: one byte per 8 bytes of memory, separate for each device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_include/emulator_abi.h"

namespace emu::exec {

constexpr int most_devices = 8;
// Represents a device: the shadow at EMU_FIXED_SHADOW, which kernels read inline (Checks::reads_shadow). Memory open
// there is open to all devices that have code. For all other memory kernels call functions, which read the shadow of
// their own device.
constexpr int fixed_shadow = most_devices;

// Reserves the shadow of the window, which holds all device, managed and pinned memory. Called once, before anything
// else. Returns false if there is no address space for it; accesses are then checked against the regions, which is
// slower.
bool reserve_shadow(uintptr_t base, size_t size);
// Returns the value the loader writes into EmuModule::space. Each device has its own shadow, so its kernels can only
// access other devices' memory with peer access.
EmuSpace shadow_space(int device);

// Opens or closes shared memory in the fixed shadow. `base` is a multiple of 8.
void show_shared(uintptr_t base, size_t size, bool open);

// Called by the signal handler: fills the part of the shadow that contains the address. Returns false if no shadow
// does.
bool fill_shadow(uintptr_t address);
void close_fixed_shadow(); // permanently

struct Window {
    uintptr_t base = 0;
    size_t size = 0; // 0: not reserved
};
extern Window window;
inline bool in_window(uintptr_t address, size_t size)
{
    return address - window.base < window.size && size <= window.size - (address - window.base);
}
bool shadow_allows(int device, uintptr_t address, size_t size);
// Both round the end up to 8 bytes; shadow_open() records how many bytes of the last granule are accessible.
void shadow_open(int device, uintptr_t base, size_t size);
void shadow_close(int device, uintptr_t base, size_t size, emu_u8 value);

} // namespace emu::exec
