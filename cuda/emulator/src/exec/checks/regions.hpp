// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What kernels may touch. The device model describes each allocation here; the executor
// keeps the shadow, judges accesses and names allocations in its reports. All functions are
// thread-safe and may run while kernels run.
#pragma once

#include "../../../device_include/emulator_abi.h"
#include "../../common.hpp"

namespace emu::exec {

enum class RegionKind { device, managed, pinned, registered, heap, array };

struct Region {
    uintptr_t base = 0;       // as kernels see it
    size_t size = 0;          // bytes asked for
    size_t room = 0;          // bytes up to the next region; the rest is a red zone
    uint64_t allocation = 0;  // id, unique for the process, never reused
    RegionKind kind = RegionKind::device;
    int device = -1;          // -1: of all
    uint32_t shared_with = 0; // bit d: device d may access it too (pool or mapping access)
    std::string made_by;      // for reports: "cuMemAlloc_v2, driver call 17"
};

void open_region(const Region& region);
// Poisons it as freed. The last 1024 freed regions are remembered for reports; whoever
// frees keeps the addresses unused as long as it can (see state/memory/arena.hpp).
void close_region(uintptr_t base);
// Forgets it: the addresses are given to something else.
void forget_region(uintptr_t base);

// Host memory without a shadow (registered memory outside the window).
void open_host_range(const Region& region);
void close_host_range(uintptr_t base);

// Kernels of `from` may access all memory of `to`, on top of Region::shared_with.
void set_peer_access(int from, int to, bool allowed);
void share_region(uintptr_t base, uint32_t shared_with);

// For host-side calls: is [address, address + size) within one live region? Gives it.
bool find_region(uintptr_t address, size_t size, Region* found);
// For kernels: by the regions themselves, of memory without a shadow. Gives the range.
bool regions_allow(int device, uintptr_t address, size_t size, EmuRange* range);
// Called when memory without a shadow is closed: workers remember ranges that they may access.
void when_range_closes(void (*action)());
// The sentence that names what lies at an address: "16 bytes behind the 4096 bytes ...".
std::string describe_address(uintptr_t address, size_t size);

} // namespace emu::exec
