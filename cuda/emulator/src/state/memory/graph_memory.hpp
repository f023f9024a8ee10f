// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory that nodes of graphs allocate and free. Its address is fixed when the node is
// made; there is memory behind from a launch of the node until it is freed.
#pragma once

#include <memory>
#include <mutex>

#include "../../common.hpp"
#include "arena.hpp"

namespace emu::state {

class GraphMemory : public std::enable_shared_from_this<GraphMemory> {
public:
    static CUresult make(int device, size_t size, CUmemoryPool pool, std::shared_ptr<GraphMemory>* out);
    // By the address that a node gave; null: not memory of a graph.
    static std::shared_ptr<GraphMemory> find(CUdeviceptr base);
    // What holds the address, allocated or not: for work that is being captured.
    static std::shared_ptr<Allocation> find_allocation(CUdeviceptr address);
    ~GraphMemory();

    const std::shared_ptr<Allocation>& allocation() const { return allocation_; }
    int device() const { return device_; }
    size_t size() const { return allocation_->size; }
    // As calls see it, which are ahead of what runs.
    bool is_live() const;
    void take();                             // by a launch
    bool drop();                             // by a free; false: it is not allocated
    void hide();                             // the free has run

private:
    std::shared_ptr<Allocation> allocation_;
    int device_ = 0;
    mutable std::mutex mutex_;
    bool live_ = false;
    int shown_ = 0;                          // launches whose free has not run
    std::shared_ptr<GraphMemory> self_;      // while it is shown
};

// What the graphs of a device hold. Memory stays with them until it is trimmed.
class GraphReserve {
public:
    static GraphReserve& of(int device);
    // Room for `more` bytes beside what is allocated; false: the device has none.
    bool ensure(size_t more);
    void change(long long bytes);            // allocated beyond the end of a launch
    void trim();
    CUresult attribute(CUgraphMem_attribute attribute, cuuint64_t* value) const;
    CUresult reset(CUgraphMem_attribute attribute);

private:
    int device_ = 0;
    mutable std::mutex mutex_;
    size_t held_ = 0, reserved_ = 0, used_high_ = 0, reserved_high_ = 0;
};

} // namespace emu::state
