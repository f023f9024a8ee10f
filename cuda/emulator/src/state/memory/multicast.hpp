// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Multicast objects: addresses behind which each device of a team has its own memory.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "../../common.hpp"

namespace emu::state {

// What a Physical has in addition if it is a multicast object.
class Multicast {
public:
    explicit Multicast(const CUmulticastObjectProp_st& properties);
    CUresult add_device(int device);
    bool is_complete() const; // all devices were added
    // Binds the begin of `memory`, a file with the memory of a device.
    CUresult bind(int device, size_t offset, size_t size, int file, std::shared_ptr<void> memory);
    CUresult unbind(int device, size_t offset, size_t size);
    // Where each device has the bytes at an offset; returns their number, or 0 if not all have them.
    unsigned find(size_t offset, size_t size, void** places) const;

private:
    struct Binding {
        size_t size;
        std::shared_ptr<void> memory; // kept until it is unbound
        std::shared_ptr<void> host;   // the memory, mapped for the library
    };
    const CUmulticastObjectProp_st properties_;
    mutable std::mutex mutex_;
    std::map<int, std::map<size_t, Binding>> bound_; // by device and offset; a row for each device of the team
};

} // namespace emu::state
