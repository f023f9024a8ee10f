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

#include "virtual_memory.hpp"

namespace emu::state {

// What a Physical has in addition if it is a multicast object.
class Multicast {
public:
    explicit Multicast(const CUmulticastObjectProp_st& properties) : properties_(properties) {}
    CUresult add_device(int device);
    bool is_complete() const; // all devices were added
    CUresult bind(size_t offset, size_t size, const std::shared_ptr<Physical>& memory);
    CUresult unbind(int device, size_t offset, size_t size);

private:
    struct Binding {
        size_t size;
        std::shared_ptr<Physical> memory; // kept until it is unbound
    };
    const CUmulticastObjectProp_st properties_;
    mutable std::mutex mutex_;
    std::map<int, std::map<size_t, Binding>> bound_; // by device and offset; a row for each device of the team
};

} // namespace emu::state
