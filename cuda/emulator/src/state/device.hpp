// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The devices: their numbers follow the documented ones of compute capability 9.0 and are
// scaled by CUDA_EMULATOR_*. One table row per attribute (attributes.cpp).
#pragma once

#include <string>

#include "../common.hpp"
#include "memory/arena.hpp"

namespace emu::state {

class Device {
public:
    explicit Device(int ordinal);
    int ordinal() const { return ordinal_; }
    const std::string& name() const { return name_; }   // says that it is software
    CUuuid uuid() const;                                 // stable per ordinal and user
    std::string pci_bus_id() const;
    size_t total_memory() const;
    Arena& memory() const;
    // INVALID_VALUE for an attribute that this driver version does not know.
    CUresult attribute(CUdevice_attribute attribute, int* value) const;
    int number(CUdevice_attribute attribute) const;      // for our own use; known ones only
    int major() const;
    int minor() const;

private:
    int ordinal_;
    std::string name_;
};

int device_count();
Device* device_at(int ordinal);                          // null: INVALID_DEVICE
bool can_access_peer(int from, int to);

// Occupancy by the documented rules of the compute capability.
struct OccupancyQuery {
    uint32_t threads = 0, registers = 0;
    size_t shared = 0;                                   // static and dynamic
};
int blocks_per_multiprocessor(const Device& device, const OccupancyQuery& query);
// Threads of a block that the registers allow.
int max_block_threads(const Device& device, uint32_t registers);
// Dynamic shared memory left for each of `blocks` blocks on a multiprocessor.
size_t shared_left(const Device& device, int blocks, size_t static_shared);

} // namespace emu::state
