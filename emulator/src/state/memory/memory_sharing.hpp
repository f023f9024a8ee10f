// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory from cuMemAlloc that another process opens with a 64-byte handle. The handle locates the descriptor of a small
// file, which exists until the memory is freed and contains the memory's location.
#pragma once

#include "arena.hpp"

namespace emu::state {

class SharedMemory {
public:
    static CUresult describe(const std::shared_ptr<Allocation>& allocation, CUipcMemHandle* out);
    // Opening the same memory again returns the same address, which must be closed as many times.
    static CUresult open(CUcontext context, const CUipcMemHandle& handle, CUdeviceptr* out);
    static CUresult close(CUdeviceptr base);
    // Maps a part of a file, which close() unmaps.
    static CUresult map_file(CUcontext context, int device, int file, uint64_t offset, uint64_t size, CUdeviceptr* out);
    static void close_all(CUdeviceptr base); // however often it was opened
};

} // namespace emu::state
