// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The value behind a device pointer. It is freed in the order of `h_stream`, which is empty for
// memory whose release waits for nothing.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "handle.hpp"

namespace cuda_core {

struct Allocation {
    CUdeviceptr pointer = 0;
    std::size_t size = 0;
    Handle<CUstream> h_stream;

    Allocation() noexcept = default;
    Allocation(CUdeviceptr pointer, std::size_t size, const Handle<CUstream>& h_stream) noexcept
        : pointer(pointer), size(size), h_stream(h_stream) {}
};

}  // namespace cuda_core
