// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// A green context with both of its driver handles. Registries find it by the CUcontext, which the driver reports.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>

namespace cuda_core {

struct Green {
    CUcontext context = nullptr;
    CUgreenCtx green = nullptr;

    bool operator==(const Green& other) const noexcept { return context == other.context; }
    explicit operator std::intptr_t() const noexcept { return reinterpret_cast<std::intptr_t>(context); }
};

}  // namespace cuda_core

template <>
struct std::hash<cuda_core::Green> {
    std::size_t operator()(const cuda_core::Green& value) const noexcept {
        return std::hash<CUcontext>()(value.context);
    }
};
