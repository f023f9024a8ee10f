// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The shadow of the window of device addresses: one byte for 8 bytes of memory, separate for each device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../../device_include/emulator_abi.h"

namespace emu::exec {

constexpr int most_devices = 8;
// Stands for a device: the shadow at EMU_FIXED_SHADOW, which kernels read in line (Checks::reads_shadow). What is open
// there is open to all devices with code; for other memory kernels call functions, which read the shadow of their device.
constexpr int fixed_shadow = most_devices;

// Reserves the shadow of the window, which holds all device, managed and pinned memory. Called once, before anything
// else. False if there is no address space for it: then accesses are checked against the regions, which is slower.
bool reserve_shadow(uintptr_t base, size_t size);
// What the loader writes into EmuModule::space. Each device has a shadow of its own, so that its kernels access memory
// of other devices with peer access only.
EmuSpace shadow_space(int device);

// Opens or closes shared memory in the fixed shadow; `base` is a multiple of 8.
void show_shared(uintptr_t base, size_t size, bool open);

// Called by the signal handler: fills the part of the shadow that holds the address. False if no shadow holds it.
bool fill_shadow(uintptr_t address);
void close_fixed_shadow(); // for good

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
