// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The devices. Their figures follow the documented ones of compute capability 9.0, and CUDA_EMULATOR_* scales them. The
// table of attributes is in attributes.cpp.
#pragma once

#include <string>

#include "../common.hpp"
#include "memory/arena.hpp"

namespace emu::state {

class Device {
public:
    Device(int ordinal, int number);
    int ordinal() const { return ordinal_; } // CUDA's: among the visible devices; hidden devices follow them
    int number() const { return number_; } // NVML's: among all installed devices
    const std::string& name() const { return name_; } // identifies it as a software device
    CUuuid uuid() const; // the same in every process of a user
    std::string uuid_text() const; // "GPU-..."
    std::string pci_bus_id() const;
    size_t total_memory() const;
    Arena& memory() const;
    // Returns INVALID_VALUE for an attribute that this driver version does not recognize.
    CUresult attribute(CUdevice_attribute attribute, int* value) const;
    int number(CUdevice_attribute attribute) const; // for use inside the library: the attribute must exist
    int major() const;
    int minor() const;

private:
    int ordinal_, number_;
    std::string name_;
};

// The devices that CUDA_VISIBLE_DEVICES makes visible to CUDA; read once, on the first of these calls.
int device_count();
Device* device_at(int ordinal); // null: CUDA_ERROR_INVALID_DEVICE
// All devices, as counted by NVML.
int installed_count();
Device* installed_at(int number); // null if there is none
bool can_access_peer(int from, int to);

constexpr int domains_since = 13040; // the driver version that brought locality domains, of which a device has one

// Occupancy by the documented rules of the compute capability.
struct OccupancyQuery {
    uint32_t threads = 0, registers = 0;
    size_t shared = 0; // static plus dynamic
};
int blocks_per_multiprocessor(const Device& device, const OccupancyQuery& query);
// Returns the largest block that the registers allow, in threads.
int max_block_threads(const Device& device, uint32_t registers);
// Returns the dynamic shared memory left for each of `blocks` blocks on an SM, in bytes.
size_t shared_left(const Device& device, int blocks, size_t static_shared);

} // namespace emu::state
