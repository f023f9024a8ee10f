// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Held while a pool is made or destroyed; docs/design/handles.md has the reason.
#pragma once

#include <mutex>

#include "handle.hpp"

namespace cuda_core {

class PoolLock {
public:
    static PoolLock& current() {
        static PerProcess<PoolLock> lock;
        return lock.current();
    }

    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    std::mutex mutex_;
};

}  // namespace cuda_core
