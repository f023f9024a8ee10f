// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills: found, checked and queued here, whatever call asked for them.
#pragma once

#include <memory>

#include "arena.hpp"
#include "stream.hpp"

namespace emu::state {

// One side of a copy. `guarded`: plain host memory, which may turn out not to be there.
struct Side {
    std::byte* at = nullptr;
    size_t pitch = 0, slice = 0;               // bytes from row to row, slice to slice
    bool guarded = false;
    bool host = false;                         // plain, registered or pinned
    std::shared_ptr<Allocation> allocation;
};

struct Box {
    size_t width = 0, height = 1, depth = 1;   // bytes, rows, slices
    bool empty() const { return !width || !height || !depth; }
};

enum class Kind { host, device, any };         // what a call says about an address

// Finds where `address` is and that the box lies within: INVALID_VALUE otherwise. What
// `stream` captures may use memory that graphs will have.
CUresult find_side(const Stream& stream, CUdeviceptr address, Kind kind, const Box& box, size_t pitch,
                   size_t slice, Side* side);

// How the caller sees the call return: when the copy is done (as far as the driver
// documents it for the memory involved), or as soon as it is queued.
enum class Return { when_done, when_queued };

CUresult copy(Stream& stream, const char* name, const Side& target, const Side& source,
              const Box& box, Return when);
CUresult copy_linear(Stream& stream, const char* name, CUdeviceptr target, Kind target_kind,
                     CUdeviceptr source, Kind source_kind, size_t size, Return when);
// `bytes` of `value`, repeated; the pitch is that of rows.
CUresult fill(Stream& stream, const char* name, CUdeviceptr target, uint32_t value,
              unsigned bytes, size_t width, size_t height, size_t pitch, Return when);

} // namespace emu::state
