// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory allocated and freed by graph nodes. The address is fixed when the node is created; it has memory from a launch
// of the node until the free.
#pragma once

#include <memory>
#include <mutex>

#include "../../common.hpp"
#include "../../exec/checks/turns.hpp"
#include "arena.hpp"

namespace emu::state {

class GraphMemory : public std::enable_shared_from_this<GraphMemory> {
public:
    static CUresult make(int device, bool managed, size_t size, std::shared_ptr<GraphMemory>* out);
    // Finds graph memory by its address. Returns null if there is none.
    static std::shared_ptr<GraphMemory> find(CUdeviceptr base);
    // Finds the allocation that contains the address, even while it has no memory, for work being captured.
    static std::shared_ptr<Allocation> find_allocation(CUdeviceptr address);
    ~GraphMemory();

    const std::shared_ptr<Allocation>& allocation() const { return allocation_; }
    int device() const { return device_; }
    size_t size() const { return allocation_->size; }
    // Returns true if it is allocated after all calls so far, some of which may not have run yet.
    bool is_live() const;
    void take(const exec::Turn& turn); // counts a launch of the allocation
    bool drop(); // counts a free; false: it is not allocated
    void hide(); // called when the free has run

private:
    Arena& arena() const;
    std::shared_ptr<Allocation> allocation_;
    int device_ = 0;
    bool managed_ = false;
    mutable std::mutex mutex_;
    bool live_ = false;
    int shown_ = 0;                     // launches whose free has not run
    std::shared_ptr<GraphMemory> self_; // keeps the object alive while it has memory
};

// The memory that a device has reserved for graphs, which keep it until it is trimmed.
class GraphReserve {
public:
    static GraphReserve& of(int device);
    // Reserves `more` bytes in addition to the bytes in use. Returns false if the device has too little memory.
    bool ensure(size_t more);
    void change(long long bytes); // for allocations that outlive their launch
    void trim();
    CUresult attribute(CUgraphMem_attribute attribute, cuuint64_t* value) const;
    CUresult reset(CUgraphMem_attribute attribute);

private:
    int device_ = 0;
    mutable std::mutex mutex_;
    size_t held_ = 0, reserved_ = 0, used_high_ = 0, reserved_high_ = 0;
};

} // namespace emu::state
