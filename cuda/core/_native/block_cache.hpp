// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Freed memory that is kept for reuse, in bins by size and in lanes by stream. CUDA calls are made by callbacks only.
// docs/design/caching.md has the reasons.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "values.hpp"

namespace cuda_core {

// Sizes are rounded up: to 512 bytes up to 4 KiB, above that to quarters of a power of two.
constexpr std::size_t smallest_step = 512;
constexpr std::size_t even_bins = 8;
constexpr std::size_t largest_block = std::size_t{1} << 62;
constexpr std::size_t bin_count = even_bins + 4 * (62 - 12);

// The bin of a size from 1 to `largest_block` bytes.
inline std::size_t bin_of(std::size_t size) noexcept {
    if (size <= even_bins * smallest_step) return (size - 1) / smallest_step;
    const std::size_t power = 63 - __builtin_clzll(size - 1);
    return even_bins + 4 * (power - 12) + ((size - 1) >> (power - 2)) - 4;
}

inline std::size_t size_of_bin(std::size_t bin) noexcept {
    if (bin < even_bins) return (bin + 1) * smallest_step;
    const std::size_t quarters = (bin - even_bins) % 4 + 5;
    return quarters << ((bin - even_bins) / 4 + 10);
}

class BlockCache;
struct Lane;

struct Links {
    Block* newer = nullptr;
    Block* older = nullptr;
};

// Memory of the upstream resource: in use, or free in a lane of the cache.
struct Block {
    Block(BlockCache* cache, std::size_t bin, const Handle<Allocation>& memory) noexcept
        : cache(cache), bin(bin), memory(memory) {}

    BlockCache* const cache;
    const std::size_t bin;
    const Handle<Allocation> memory;
    Lane* lane = nullptr;
    std::uint64_t freed_at = 0;
    Links in_bin, in_cache;
};

// An intrusive list of blocks, from the oldest to the newest.
template <Links Block::* links>
class BlockList {
public:
    Block* oldest() const noexcept { return oldest_; }
    Block* newest() const noexcept { return newest_; }

    void push(Block* block) noexcept {
        (block->*links) = {nullptr, newest_};
        (newest_ ? (newest_->*links).newer : oldest_) = block;
        newest_ = block;
    }

    void remove(Block* block) noexcept {
        const Links own = block->*links;
        (own.newer ? (own.newer->*links).older : newest_) = own.older;
        (own.older ? (own.older->*links).newer : oldest_) = own.newer;
    }

private:
    Block* oldest_ = nullptr;
    Block* newest_ = nullptr;
};

// The blocks that were freed on one stream. The cache numbers all frees: `event` was recorded after free `recorded_at`,
// and the work before free `done_until` is known to be done.
struct Lane {
    Handle<CUstream> h_stream;
    Handle<CUcontext> h_context;
    Handle<CUevent> event;
    bool is_event_pending = false;
    std::uint64_t recorded_at = 0;
    std::uint64_t done_until = 0;
    std::size_t block_count = 0;
    std::array<BlockList<&Block::in_bin>, bin_count> bins;
};

// All methods can be called with or without the GIL, and none waits while holding it.
class BlockCache {
public:
    // Whether the work of a lane's stream before the free `freed_at` is done; `now` is the number of the last free.
    using IsDone = bool (*)(Lane*, std::uint64_t freed_at, std::uint64_t now);
    // Whether memory can be freed on a lane's stream now.
    using CanFree = bool (*)(Lane*);

    explicit BlockCache(CanFree can_free) noexcept : can_free_(can_free) {}

    // A block that was freed on this stream, or null, which counts as a miss. Without `at_once` the blocks of the lane
    // are not looked at.
    Block* reuse(CUstream stream, CUcontext context, std::size_t bin, bool at_once) noexcept {
        Guard guard(is_taken_);
        Lane* lane = at_once ? find(stream, context) : nullptr;
        Block* block = lane ? lane->bins[bin].newest() : nullptr;
        if (block) take(block);
        ++(block ? hits_ : misses_);
        return block;
    }

    // A block that was freed on any stream, if the work before the free is done; or null. Not for a thread that holds
    // the GIL.
    Block* reuse_done(std::size_t bin, IsDone is_done) noexcept {
        Guard guard(is_taken_);
        for (auto& lane : lanes_) {
            Block* block = lane->bins[bin].oldest();
            if (!block || !is_done(lane.get(), block->freed_at, frees_)) continue;
            take(block);
            ++hits_;
            --misses_;
            return block;
        }
        return nullptr;
    }

    // Puts a block into the cache, which `user` had. Returns the blocks that the caller must free, linked by
    // `in_bin.older`: the least recently used above the limit, or this one.
    Block* put(Block* block, const Allocation& user) noexcept {
        Lanes empty;  // destroyed after the lock is released, because dropping a stream may run Python code
        Guard guard(is_taken_);
        block->in_bin = {};
        const std::size_t size = size_of_bin(block->bin);
        if (is_closed_ || size > limit() || !is_stream_kept(user.h_stream)) return block;
        Lane* lane = find(user.h_stream.get(), user.h_context.get());
        if (!lane) lane = make_lane(user, empty);
        if (!lane) return block;
        block->lane = lane;
        block->freed_at = ++frees_;
        lane->bins[block->bin].push(block);
        all_.push(block);
        ++lane->block_count;
        bytes_ += size;
        return take_down_to(limit());
    }

    // Takes the least recently used blocks above a number of bytes, for the caller to free; linked as above.
    Block* shrink(std::size_t bytes_to_keep) noexcept {
        Guard guard(is_taken_);
        return take_down_to(bytes_to_keep);
    }

    Block* close() noexcept {
        Guard guard(is_taken_);
        is_closed_ = true;
        return take_down_to(0);
    }

    // For the destruction of the cache, when no other thread uses it.
    Block* oldest() noexcept { return all_.oldest(); }
    void take(Block* block) noexcept {
        Lane* lane = block->lane;
        lane->bins[block->bin].remove(block);
        all_.remove(block);
        --lane->block_count;
        bytes_ -= size_of_bin(block->bin);
    }

    std::size_t bytes() noexcept {
        Guard guard(is_taken_);
        return bytes_;
    }
    std::uint64_t hits() noexcept {
        Guard guard(is_taken_);
        return hits_;
    }
    std::uint64_t misses() noexcept {
        Guard guard(is_taken_);
        return misses_;
    }

    // The maximum number of bytes to keep.
    std::size_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
    void set_limit(std::size_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }
    // A forked child can use neither the memory that its parent cached nor a lock that another thread of it held.
    bool is_of_this_process() const noexcept { return born_at_ == fork_generation(); }

private:
    using Lanes = std::vector<std::unique_ptr<Lane>>;

    // A spin lock, held for a few instructions, and rarely during driver queries. Waiting for it releases the
    // GIL: its holder might wait for the driver, and the driver for the GIL.
    class Guard {
    public:
        explicit Guard(std::atomic<bool>& is_taken) noexcept : is_taken_(is_taken) {
            if (!is_taken_.exchange(true, std::memory_order_acquire)) return;
            WithoutGil released;
            for (int tries = 0; is_taken_.exchange(true, std::memory_order_acquire); ++tries) {
                if (tries < 100)
                    std::this_thread::yield();
                else
                    std::this_thread::sleep_for(std::chrono::microseconds(20));
            }
        }
        ~Guard() { is_taken_.store(false, std::memory_order_release); }

    private:
        std::atomic<bool>& is_taken_;
    };

    Lane* find(CUstream stream, CUcontext context) noexcept {
        if (last_ && is_of(*last_, stream, context)) return last_;
        for (auto& lane : lanes_)
            if (is_of(*lane, stream, context)) return last_ = lane.get();
        return nullptr;
    }

    static bool is_of(const Lane& lane, CUstream stream, CUcontext context) noexcept {
        return lane.h_stream.get() == stream && lane.h_context.get() == context;
    }

    // Whether a stream will still exist when its lane is queried. That is not known of a raw handle without an owner;
    // and the per-thread default stream is another stream on each thread.
    static bool is_stream_kept(const Handle<CUstream>& h_stream) noexcept {
        const auto number = reinterpret_cast<std::uintptr_t>(h_stream.get());
        return number <= 1 || (number != 2 && (h_stream.is_owner() || h_stream.anchored_object()));
    }

    Lane* make_lane(const Allocation& user, Lanes& empty) noexcept {
        try {
            empty.reserve(lanes_.size());
            lanes_.push_back(std::make_unique<Lane>());
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
        Lane* lane = lanes_.back().get();
        lane->h_stream = user.h_stream;
        lane->h_context = user.h_context;
        // A lane keeps its stream alive, so lanes without blocks are removed.
        const auto is_used = [lane](const auto& other) { return other->block_count || other.get() == lane; };
        const auto first_empty = std::partition(lanes_.begin(), lanes_.end(), is_used);
        std::move(first_empty, lanes_.end(), std::back_inserter(empty));
        lanes_.erase(first_empty, lanes_.end());
        return last_ = lane;
    }

    Block* take_down_to(std::size_t bytes) noexcept {
        Block* taken = nullptr;
        for (Block *block = all_.oldest(), *next; block && bytes_ > bytes; block = next) {
            next = block->in_cache.newer;
            if (!can_free_(block->lane)) continue;
            take(block);
            block->in_bin.older = taken;
            taken = block;
        }
        return taken;
    }

    std::atomic<std::size_t> limit_{largest_block};
    const CanFree can_free_;
    const std::uint32_t born_at_ = fork_generation();
    std::atomic<bool> is_taken_{false};
    Lanes lanes_;
    Lane* last_ = nullptr;
    BlockList<&Block::in_cache> all_;
    bool is_closed_ = false;
    std::size_t bytes_ = 0;
    std::uint64_t frees_ = 0;
    std::uint64_t hits_ = 0;
    std::uint64_t misses_ = 0;
};

// Frees the blocks that a method of the cache returned; returns their bytes.
inline std::size_t free_blocks(Block* block) noexcept {
    std::size_t bytes = 0;
    while (block) {
        std::unique_ptr<Block> dropped(block);
        bytes += size_of_bin(block->bin);
        block = block->in_bin.older;
    }
    return bytes;
}

// Null if the host is out of memory.
inline Block* make_block(BlockCache* cache, std::size_t bin, const Handle<Allocation>& memory) noexcept {
    return new (std::nothrow) Block(cache, bin, memory);
}

inline CUdeviceptr pointer_of(const Block* block) noexcept { return block->memory.value().pointer; }

// The `destroy` of memory that the cache has allocated.
inline void return_to_cache(Allocation user) noexcept {
    free_after(user.block->memory, user);
    free_blocks(user.block->cache->put(user.block, user));
}

// The `destroy` of a cache, once no block refers to it.
inline void destroy_cache(BlockCache* cache) noexcept {
    while (Block* block = cache->oldest()) {
        cache->take(block);
        delete block;
    }
    delete cache;
}

}  // namespace cuda_core
