// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Multicast objects: addresses backed by separate memory on each device of a team.
#pragma once

#include <map>
#include <memory>

#include "../../common.hpp"

namespace emu::state {

// The additional state of a Physical that is a multicast object. The object's file, which processes share, contains the
// team and its memory.
class Multicast {
public:
    // Returns null if the file cannot be mapped, or has no team.
    static std::shared_ptr<Multicast> create(int file, const CUmulticastObjectProp_st& properties);
    static std::shared_ptr<Multicast> open(int file);
    ~Multicast();

    CUresult add_device(int device);
    // Returns true once all devices have been added. For an object shared between processes, waits for the others.
    bool is_complete() const;
    // Binds the beginning of `memory`, a file with a device's memory.
    CUresult bind(int device, size_t offset, size_t size, int file, std::shared_ptr<void> memory);
    CUresult unbind(int device, size_t offset, size_t size);
    // Finds the bytes at an offset on each device. Returns the number of devices, or 0 if any lacks them.
    unsigned find(size_t offset, size_t size, void** places);

private:
    struct Shared;
    struct Binding;
    class Lock;
    struct Memory {
        std::shared_ptr<void> owner; // kept until it is unbound; null if another process has bound it
        std::shared_ptr<void> host;  // the memory, mapped for the library
    };
    explicit Multicast(Shared* shared) : shared_(shared) {}
    void* host_of(const Binding& binding);
    void drop_unbound();
    Shared* const shared_;
    std::map<uint64_t, Memory> memory_; // by binding number; guarded by the team's lock
};

} // namespace emu::state
