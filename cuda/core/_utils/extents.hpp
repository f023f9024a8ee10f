// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Shape and strides of an array, without an allocation for up to 8 axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cuda_core {

class Extents {
public:
    Extents() noexcept {} // `few_` stays as it is: views are made by the million
    Extents(const Extents&) = delete;
    Extents& operator=(const Extents&) = delete;

    // Room for `count` numbers; earlier ones are lost.
    std::int64_t* take(std::size_t count)
    {
        many_.reset(count > FEW ? new std::int64_t[count] : nullptr);
        return data();
    }
    std::int64_t* data() noexcept { return many_ ? many_.get() : few_; }

private:
    static constexpr std::size_t FEW = 16;

    std::unique_ptr<std::int64_t[]> many_;
    std::int64_t few_[FEW];
};

} // namespace cuda_core
