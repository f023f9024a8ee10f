// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA_EMULATOR_CHECK=races: the host must not change memory that queued work reads before it has waited for that work:
// the pinned source of an asynchronous copy, and pinned or managed memory that a kernel loads. When the host waits
// next, the bytes are compared with those at the time of the call. What the host reads leaves no trace.
#pragma once

#include "../../exec/exec.hpp"
#include "../memory/copy.hpp"
#include "stream.hpp"

namespace emu::state {

// Made before the work is enqueued on the stream; watch() is called afterwards.
class HostSource {
public:
    HostSource(const char* name, const Side& source, const Box& box); // of a copy; `name` is the driver call
    explicit HostSource(exec::LaunchRequest& request); // memory that the arguments of a kernel point to
    void watch(Stream& stream);

private:
    std::vector<std::shared_ptr<struct HostBytes>> rows_;
};

} // namespace emu::state
