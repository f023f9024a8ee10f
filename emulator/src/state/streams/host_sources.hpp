// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA_EMULATOR_CHECK=races: the host must not change the pinned source of an asynchronous copy before it has waited for
// the copy. When it waits next, the bytes are compared with those at the time of the copy's call.
#pragma once

#include "../memory/copy.hpp"
#include "stream.hpp"

namespace emu::state {

// Called after the copy was enqueued on the stream; `name` is the driver call.
class HostSource {
public:
    HostSource(const char* name, const Side& source, const Box& box); // before it is enqueued
    void watch(Stream& stream);

private:
    std::shared_ptr<struct HostBytes> bytes_;
};

} // namespace emu::state
