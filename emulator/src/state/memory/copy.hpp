// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills: their operands, checks and execution. stream_copies.hpp queues them.
#pragma once

#include <memory>

#include "../context.hpp"
#include "../textures/array.hpp"
#include "arena.hpp"

namespace emu::state {

// One side of a copy. `guarded` means plain host memory, which may not be mapped.
struct Side {
    std::byte* at = nullptr;
    size_t pitch = 0, slice = 0; // bytes from row to row, and from slice to slice
    bool guarded = false;
    bool host = false; // plain, registered or pinned memory
    bool any = false;  // the call accepts memory of any kind
    int device = -1;   // the device that accesses it; -1: the stream's device
    std::shared_ptr<Allocation> allocation;
    std::shared_ptr<Array> array; // null: linear memory
    size_t x = 0, y = 0, z = 0;   // position in the array: bytes, row, slice
    std::shared_ptr<Pool> pool;   // keeps the pool mapped until the copy has completed
    CUdeviceptr address() const;  // as passed by the program
};

struct Box {
    size_t width = 0, height = 1, depth = 1; // bytes, rows, slices
    bool empty() const { return !width || !height || !depth; }
};

enum class Kind { host, device, any }; // the kind of address that the call requires

// Finds the memory at `address` and checks that it contains the box; otherwise returns INVALID_VALUE. With `captured`,
// memory that graphs allocate later also counts.
CUresult find_side(bool captured, CUdeviceptr address, Kind kind, const Box& box, size_t pitch, size_t slice,
                   Side* side);
// Finds an array side: `x` in bytes, `y` and `z` in rows and slices. Returns INVALID_HANDLE if there is no such array.
CUresult find_array_side(CUarray handle, size_t x, size_t y, size_t z, const Box& box, Side* side);
// Finds both sides of a copy with up to three dimensions.
CUresult find_sides(const CUDA_MEMCPY3D& parameters, bool captured, Side* target, Side* source, Box* box);
// Finds the target of a fill that runs in `context` (null: in any).
CUresult find_fill(CUdeviceptr target, unsigned bytes, size_t width, size_t height, size_t pitch, bool captured,
                   const Context* context, Side* side);

// Checks that a device may access one side of a copy. Pool memory and mappings must be shared with the accessing
// device; all other memory is copied through the host if the devices have no peer access. Calls that accept any kind
// of memory also copy that of host pools through the host. The copy runs in `context`, or anywhere if null.
CUresult check_access(const Side& side, const Context* context);

// Copies immediately; called on a worker.
CUresult run_copy(const Side& target, const Side& source, const Box& box);
void run_fill(const Side& target, uint32_t value, unsigned bytes, size_t width, size_t height);

} // namespace emu::state
