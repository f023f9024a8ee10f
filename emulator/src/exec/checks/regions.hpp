// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The memory that kernels may access. The device model describes each allocation here; the executor maintains the
// shadow, checks accesses, and names allocations in its reports. All functions are thread-safe, even while kernels run.
#pragma once

#include "device_include/emulator_abi.h"
#include "../../common.hpp"

namespace emu::exec {

enum class RegionKind { device, managed, pinned, registered, heap, array };

struct Region {
    uintptr_t base = 0;      // the address in kernels
    size_t size = 0;         // bytes requested by the program
    size_t room = 0;         // bytes up to the next region; those after `size` are a red zone
    uint64_t allocation = 0; // unique in the process, never reused
    RegionKind kind = RegionKind::device;
    int device = -1;          // the owner; -1: all devices
    uint32_t shared_with = 0; // bit d: device d also has access (pool access or mapping access)
    std::string made_by;      // for reports: "cuMemAlloc_v2, driver call 17"
    uint32_t ordered = 0;     // for the races check: the block that stands for a stream-ordered allocation
};

void open_region(const Region& region);
// Poisons the region as freed. The last 1024 freed regions are remembered for reports, and the caller avoids reusing
// their addresses for as long as it can (see state/memory/arena.hpp).
void close_region(uintptr_t base);
// Forgets a freed region whose addresses are allocated again.
void forget_region(uintptr_t base);

// Adds host memory that has no shadow: registered memory outside the window.
void open_host_range(const Region& region);
void close_host_range(uintptr_t base);

// Lets kernels on device `from` access all memory of device `to`, in addition to Region::shared_with.
void set_peer_access(int from, int to, bool allowed);
void share_region(uintptr_t base, uint32_t shared_with);
void order_region(uintptr_t base, uint32_t block); // sets Region::ordered
// Returns Region::ordered of the memory in the window at an address, and the addresses for which it is the same.
uint32_t order_of_region(uintptr_t address, EmuRange* range);
// Called when code is loaded for a device.
void begin_code_on(int device);

// For host calls: returns true, and the region in `found`, if [address, address + size) is within one live region.
bool find_region(uintptr_t address, size_t size, Region* found);
// For kernels: decides by region, for memory without a shadow. Returns the accessible range.
bool regions_allow(int device, uintptr_t address, size_t size, EmuRange* range);
// Sets the function to call when memory without a shadow is closed, because workers remember accessible ranges.
void when_range_closes(void (*action)());
// Describes the memory at an address: "16 bytes past the end of the 4096 bytes ...". `accessible` means that the report
// is not about the access as such.
std::string describe_address(uintptr_t address, size_t size, bool accessible = false);

} // namespace emu::exec
