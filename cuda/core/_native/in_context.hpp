// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// A driver value that can only be destroyed with its own context current, such as an array or a texture object. The
// last reference may be dropped on any thread, with another context current, or none.
#pragma once

#include <cuda.h>

#include "handle.hpp"

namespace cuda_core {

template <class T>
struct InContext {
    T raw{};
    Handle<CUcontext> h_context;
    bool is_small = false;  // so it may wait in a batch to be destroyed
};

}  // namespace cuda_core
