// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// A lock that is held from reading the address of a node or a graph to the end of the driver call that uses it, so that
// no other thread destroys it in between. The driver does not synchronize accesses to graphs.
#pragma once

#include <mutex>

#include "handle.hpp"

namespace cuda_core {

// Released at the end of the function that has it as a local variable. The thread may take the lock again.
class GraphLock {
public:
    GraphLock() noexcept = default;
    ~GraphLock() {
        if (mutex_) mutex_->unlock();
    }
    GraphLock(const GraphLock&) = delete;
    GraphLock& operator=(const GraphLock&) = delete;

    bool try_take() {
        if (!current().try_lock()) return false;
        mutex_ = &current();
        return true;
    }
    void take() {
        current().lock();
        mutex_ = &current();
    }

private:
    // Used by one extension only, because each would have its own mutex. One mutex for all graphs: some calls use two.
    static std::recursive_mutex& current() {
        static PerProcess<std::recursive_mutex> mutex;
        return mutex.current();
    }

    std::recursive_mutex* mutex_ = nullptr;
};

}  // namespace cuda_core
