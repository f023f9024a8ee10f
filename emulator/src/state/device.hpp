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
    int ordinal() const { return ordinal_; } // of CUDA: among the visible devices; behind them for those hidden
    int number() const { return number_; } // of NVML: among all installed devices
    const std::string& name() const { return name_; } // says that it is a software device
    CUuuid uuid() const; // the same in every process of a user
    std::string uuid_text() const; // "GPU-..."
    std::string pci_bus_id() const;
    size_t total_memory() const;
    Arena& memory() const;
    // INVALID_VALUE for an attribute that this version of the driver does not know.
    CUresult attribute(CUdevice_attribute attribute, int* value) const;
    int number(CUdevice_attribute attribute) const; // for use inside the library: the attribute must be known
    int major() const;
    int minor() const;

private:
    int ordinal_, number_;
    std::string name_;
};

// What CUDA_VISIBLE_DEVICES lets CUDA see; read once, at the first of these calls.
int device_count();
Device* device_at(int ordinal); // null: CUDA_ERROR_INVALID_DEVICE
// All devices, as NVML counts them.
int installed_count();
Device* installed_at(int number); // null: there is none
bool can_access_peer(int from, int to);

// Occupancy by the documented rules of the compute capability.
struct OccupancyQuery {
    uint32_t threads = 0, registers = 0;
    size_t shared = 0; // static plus dynamic
};
int blocks_per_multiprocessor(const Device& device, const OccupancyQuery& query);
// The largest block that the registers allow, in threads.
int max_block_threads(const Device& device, uint32_t registers);
// Dynamic shared memory that is left for each of `blocks` blocks on a multiprocessor, in bytes.
size_t shared_left(const Device& device, int blocks, size_t static_shared);

} // namespace emu::state
