// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills: where they go, checked, and how they run. stream_copies.hpp queues them.
#pragma once

#include <memory>

#include "../context.hpp"
#include "../textures/array.hpp"
#include "arena.hpp"

namespace emu::state {

// One side of a copy. `guarded`: plain host memory, which may turn out not to be there.
struct Side {
    std::byte* at = nullptr;
    size_t pitch = 0, slice = 0;               // bytes from row to row, slice to slice
    bool guarded = false;
    bool host = false;                         // plain, registered or pinned
    int device = -1;                           // that reaches it; -1: the one of the stream
    std::shared_ptr<Allocation> allocation;
    std::shared_ptr<Array> array;              // null: memory
    size_t x = 0, y = 0, z = 0;                // in the array: bytes, row, slice
    std::shared_ptr<Pool> pool;                // stays mapped until the copy is done, whoever closes it
    CUdeviceptr address() const;               // as the program gave it
};

struct Box {
    size_t width = 0, height = 1, depth = 1;   // bytes, rows, slices
    bool empty() const { return !width || !height || !depth; }
};

enum class Kind { host, device, any };         // what a call says about an address

// Finds where `address` is and that the box lies within: INVALID_VALUE otherwise. What is
// `captured` may use memory that graphs will have.
CUresult find_side(bool captured, CUdeviceptr address, Kind kind, const Box& box, size_t pitch, size_t slice,
                   Side* side);
// The same in an array, from a place in it on: `x` in bytes. INVALID_HANDLE: there is no such array.
CUresult find_array_side(CUarray handle, size_t x, size_t y, size_t z, const Box& box, Side* side);
// Both sides of a copy that may have three dimensions.
CUresult find_sides(const CUDA_MEMCPY3D& parameters, bool captured, Side* target, Side* source, Box* box);
// Where a fill goes that `context` may make (null: any).
CUresult find_fill(CUdeviceptr target, unsigned bytes, size_t width, size_t height, size_t pitch, bool captured,
                   const Context* context, Side* side);

// Memory of pools is for those devices alone that were let in; all other memory is copied through
// the host where devices cannot reach each other. `context` is where the copy runs; null: anywhere.
CUresult check_access(const Side& side, const Context* context);

// At once, on a worker.
CUresult run_copy(const Side& target, const Side& source, const Box& box);
void run_fill(const Side& target, uint32_t value, unsigned bytes, size_t width, size_t height);

} // namespace emu::state
