// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Pools that nobody uses any more, until the work that frees their last memory is done;
// docs/design/handles.md has the reason.
#pragma once

#include <cuda.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "handle.hpp"

namespace cuda_core {

struct EndedPool {
    CUmemoryPool pool = nullptr;
    std::vector<Handle<CUstream>> streams;  // that had work when the pool ended
};

class EndedPools {
public:
    // A forked child has none of its parent's pools, and its parent's lock may have been taken by a thread
    // that the child does not have.
    static EndedPools& current() {
        static std::atomic<EndedPools*> known{new EndedPools};
        EndedPools* pools = known.load(std::memory_order_acquire);
        if (pools->born_at_ == fork_count()) return *pools;
        EndedPools* fresh = new EndedPools;
        if (known.compare_exchange_strong(pools, fresh)) return *fresh;
        delete fresh;
        return *pools;
    }

    // Held while a pool is made.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

    bool is_empty() {
        std::lock_guard<std::mutex> lock(mutex_);
        return ended_.empty();
    }

    void add(CUmemoryPool pool, std::vector<Handle<CUstream>> streams) {
        std::lock_guard<std::mutex> lock(mutex_);
        ended_.push_back({pool, std::move(streams)});
    }

    // Destroys a pool whose streams have all done their work; false where there is none. A stream that cannot
    // be asked counts as done, and `asked` has the error. The streams move to `done`, to end without the lock.
    template <class State, class Destroy>
    bool destroy_one(State state, Destroy destroy, std::vector<Handle<CUstream>>& done, CUresult* asked,
                     CUresult* destroyed) {
        std::lock_guard<std::mutex> lock(mutex_);
        for (std::size_t i = 0; i < ended_.size(); ++i) {
            std::vector<Handle<CUstream>>& streams = ended_[i].streams;
            for (; !streams.empty(); streams.pop_back()) {
                const CUresult result = state(streams.back().get());
                if (result == CUDA_ERROR_NOT_READY) break;
                if (result != CUDA_SUCCESS) *asked = result;
                done.push_back(std::move(streams.back()));
            }
            if (!streams.empty()) continue;
            *destroyed = destroy(ended_[i].pool);
            ended_.erase(ended_.begin() + static_cast<std::ptrdiff_t>(i));
            return true;
        }
        return false;
    }

private:
    const std::uint32_t born_at_ = fork_count();
    std::mutex mutex_;
    std::vector<EndedPool> ended_;
};

}  // namespace cuda_core
