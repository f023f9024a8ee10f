// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Storage for the shape and strides of an array, inline for up to 8 axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cuda_core {

class Extents {
public:
    Extents() noexcept {} // leaves `inline_` uninitialized, because views are created often
    Extents(const Extents&) = delete;
    Extents& operator=(const Extents&) = delete;

    // Makes room for `count` numbers, and drops the earlier ones.
    std::int64_t* reset(std::size_t count)
    {
        allocated_.reset(count > INLINE_COUNT ? new std::int64_t[count] : nullptr);
        return data();
    }
    std::int64_t* data() noexcept { return allocated_ ? allocated_.get() : inline_; }

private:
    static constexpr std::size_t INLINE_COUNT = 16;

    std::unique_ptr<std::int64_t[]> allocated_;
    std::int64_t inline_[INLINE_COUNT];
};

} // namespace cuda_core
