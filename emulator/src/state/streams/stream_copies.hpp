// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills on streams: queued, waited for, or captured.
#pragma once

#include "../memory/copy.hpp"
#include "stream.hpp"

namespace emu::state {

// When the call returns: after the copy has completed (as documented for the kinds of memory), or as soon as it is
// queued.
enum class Return { when_done, when_queued };

CUresult copy(Stream& stream, const char* name, const Side& target, const Side& source, const Box& box, Return when);
struct Operand {
    CUdeviceptr address = 0;
    Kind kind = Kind::any;
    int device = -1; // of Side
};
CUresult copy_linear(Stream& stream, const char* name, const Operand& target, const Operand& source, size_t size,
                     Return when);
// Repeats `bytes` of `value`; the pitch is in bytes.
CUresult fill(Stream& stream, const char* name, CUdeviceptr target, uint32_t value, unsigned bytes, size_t width,
              size_t height, size_t pitch, Return when);

} // namespace emu::state
