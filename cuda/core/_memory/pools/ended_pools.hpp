// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Pools that are no longer used, until the work that frees their last memory is done;
// docs/design/handles.md has the reason.
#pragma once

#include <cuda.h>

#include <mutex>
#include <utility>
#include <vector>

#include "handle.hpp"

namespace cuda_core {

struct EndedPool {
    CUmemoryPool pool = nullptr;
    std::vector<Handle<CUstream>> streams;  // that may still free memory of the pool
};

class EndedPools {
public:
    static EndedPools& current() {
        static PerProcess<EndedPools> pools;
        return pools.current();
    }

    // Held while a pool is made.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

    bool has(CUmemoryPool pool) {
        std::lock_guard<std::mutex> lock(mutex_);
        for (const EndedPool& ended : ended_)
            if (ended.pool == pool) return true;
        return false;
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
                if (result == CUDA_ERROR_NOT_READY || result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) break;
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
    std::mutex mutex_;
    std::vector<EndedPool> ended_;
};

}  // namespace cuda_core
