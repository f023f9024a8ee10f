// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory of cuMemAlloc that another process opens by 64 bytes. They say where the descriptor of a
// small file is, which exists until the memory is freed, and tells where the memory lies.
#pragma once

#include "arena.hpp"

namespace emu::state {

class SharedMemory {
public:
    static CUresult describe(const std::shared_ptr<Allocation>& allocation, CUipcMemHandle* out);
    // Whoever opens the same again gets the same address, until it is closed as often.
    static CUresult open(CUcontext context, const CUipcMemHandle& handle, CUdeviceptr* out);
    static CUresult close(CUdeviceptr base);
    static void close_all(CUdeviceptr base); // however often it was opened
};

} // namespace emu::state
