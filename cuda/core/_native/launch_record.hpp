// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The latest launch of a kernel, for messages about failed kernels.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cuda_core {

// Threads write it without a lock, so it may hold parts of two launches. What a launch repeats is not stored again:
// threads that launch the same in a loop do not contend for the record.
class LaunchRecord {
public:
    static constexpr std::size_t most_bytes = 128;

    void note(const CUlaunchConfig& config, const void* arguments, std::size_t size) noexcept {
        const std::uint64_t now = kernel_changes.load(std::memory_order_relaxed);
        if (now == 0 || number() != now) {
            kernel_changes.store(now + 1, std::memory_order_relaxed);
            number_.store(now + 1, std::memory_order_relaxed);
        }
        store_if_new(sizes, &config.gridDimX, sizeof(sizes));
        store_if_new(block, arguments, std::min(size, most_bytes));
    }

    // Grows with each change from one kernel to another, over all records; 0 before the first launch.
    std::uint64_t number() const noexcept { return number_.load(std::memory_order_relaxed); }

    unsigned sizes[6] = {};        // of the grid and the block
    char block[most_bytes] = {};   // the first bytes of the parameter block

private:
    static void store_if_new(void* stored, const void* value, std::size_t size) noexcept {
        if (size != 0 && std::memcmp(stored, value, size) != 0) std::memcpy(stored, value, size);
    }

    inline static std::atomic<std::uint64_t> kernel_changes{0};

    std::atomic<std::uint64_t> number_{0};
};

}  // namespace cuda_core
