// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Multicast objects: addresses behind which each device of a team has its own memory.
#pragma once

#include <map>
#include <memory>

#include "../../common.hpp"

namespace emu::state {

// What a Physical has in addition if it is a multicast object. The team and its memory stand in the object's file, which
// processes share.
class Multicast {
public:
    // Null if the file cannot be mapped, or has no team.
    static std::shared_ptr<Multicast> create(int file, const CUmulticastObjectProp_st& properties);
    static std::shared_ptr<Multicast> open(int file);
    ~Multicast();

    CUresult add_device(int device);
    // True once all devices were added. For an object that processes share, waits for the others.
    bool is_complete() const;
    // Binds the begin of `memory`, a file with the memory of a device.
    CUresult bind(int device, size_t offset, size_t size, int file, std::shared_ptr<void> memory);
    CUresult unbind(int device, size_t offset, size_t size);
    // Where each device has the bytes at an offset; returns their number, or 0 if not all have them.
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
    std::map<uint64_t, Memory> memory_; // by the number of the binding; guarded by the lock of the team
};

} // namespace emu::state
