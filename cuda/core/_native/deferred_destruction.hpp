// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The list of resources whose last reference was dropped while work may still use them;
// docs/design/handles.md has the reason.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "handle.hpp"
#include "work.hpp"

namespace cuda_core {

struct PendingDestruction {
    Keep resource;
    std::vector<Handle<CUevent>> events;    // recorded behind the work of streams that were busy
    std::vector<QueriedStream> unrecorded;  // streams that can be neither queried nor recorded while they capture
};

// Defers the destruction of a value until the work in flight is done; false if there is no such work.
// The functions are those of _deferred_destruction.pyx: one finds work, one adds to the list.
template <class T>
bool postpone(T& value, void (*destroy)(T), Keep keep, int (*find_work)(PendingDestruction*),
              void (*destroy_later)(PendingDestruction&)) {
    PendingDestruction pending;
    if (!find_work(&pending)) return false;
    pending.resource = Handle<T>::own(std::move(value), destroy, std::move(keep)).keep();
    destroy_later(pending);
    return true;
}

// The same, but with `can_batch` the value is passed to `add_to_batch`: the streams are queried once for a batch.
template <class T>
bool batch_or_postpone(T& value, void (*destroy)(T), bool can_batch, void (*add_to_batch)(Keep&),
                       int (*find_work)(PendingDestruction*), void (*destroy_later)(PendingDestruction&)) {
    if (!can_batch) return postpone(value, destroy, Keep(), find_work, destroy_later);
    Keep resource = Handle<T>::own(std::move(value), destroy, Keep()).keep();
    add_to_batch(resource);
    return true;
}

// The driver is called by functions that the caller passes: `is_done` queries an event, `query` queries a stream, and
// `record` returns an event behind the work of a stream, or an empty handle if none can be recorded. They run no
// Python code.
class DestructionList {
public:
    static DestructionList& current() {
        static PerProcess<DestructionList> list;
        return list.current();
    }

    // Whether anything is deferred, or a tail is left: one number, because every synchronization reads it. A forked
    // child may read that of its parent, and then finds nothing.
    static bool has_any() noexcept { return any_.load(std::memory_order_relaxed); }

    std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

    void add(PendingDestruction pending) {
        std::lock_guard<std::mutex> lock(mutex_);
        pending_.push_back(std::move(pending));
        store_counts();
    }

    // The number of resources for which the streams were not queried yet.
    std::size_t batch_size() const noexcept { return batch_size_.load(std::memory_order_relaxed); }

    void add_to_batch(Keep resource) {
        std::lock_guard<std::mutex> lock(mutex_);
        batch_.push_back(std::move(resource));
        batch_size_.store(batch_.size(), std::memory_order_relaxed);
    }

    void take_batch(std::vector<Keep>& taken) {
        std::lock_guard<std::mutex> lock(mutex_);
        taken.swap(batch_);
        batch_size_.store(batch_.size(), std::memory_order_relaxed);
    }

    // Stores the event behind the last work of a stream that will not be queried again. `event` becomes the previous
    // one of this stream, which the caller drops without the lock.
    void add_tail(unsigned long long stream, Handle<CUevent>& event) {
        std::lock_guard<std::mutex> lock(mutex_);
        std::swap(tails_[stream], event);
        store_counts();
    }
    bool has_tails() const noexcept { return tail_count_.load(std::memory_order_relaxed) != 0; }

    // Adds the tails that have not completed. The others move to `done`, which the caller drops without the lock.
    template <class IsDone>
    void add_tails_to(PendingDestruction& pending, IsDone is_done, std::vector<Handle<CUevent>>& done,
                      UnexpectedError* error) {
        std::lock_guard<std::mutex> lock(mutex_);
        drop_completed_tails(is_done, done, error);
        for (const auto& tail : tails_) pending.events.push_back(tail.second);
    }

    // Moves resources that no work uses any more to `idle`.
    template <class IsDone, class Query, class Record>
    void take_idle(IsDone is_done, Query query, Record record, std::vector<PendingDestruction>& idle,
                   std::vector<Handle<CUevent>>& done, UnexpectedError* error) {
        std::vector<QueriedStream> released;  // dropped after the lock, which the destruction of a stream takes
        std::lock_guard<std::mutex> lock(mutex_);
        for (std::size_t i = 0; i < pending_.size();) {
            PendingDestruction& pending = pending_[i];
            record_events(pending, query, record, released, error);
            if (!all_completed(pending.events, is_done, done, error) || !pending.unrecorded.empty()) {
                ++i;
                continue;
            }
            idle.push_back(std::move(pending));
            if (&pending != &pending_.back()) pending = std::move(pending_.back());
            pending_.pop_back();
        }
        drop_completed_tails(is_done, done, error);
    }

private:
    void store_counts() noexcept {
        count_.store(pending_.size(), std::memory_order_relaxed);
        tail_count_.store(tails_.size(), std::memory_order_relaxed);
        any_.store(!pending_.empty() || !tails_.empty(), std::memory_order_relaxed);
    }

    // Stops at the first event that has not completed: the list may be long, with many events for each resource.
    template <class IsDone>
    static bool all_completed(std::vector<Handle<CUevent>>& events, IsDone is_done, std::vector<Handle<CUevent>>& done,
                              UnexpectedError* error) {
        for (; !events.empty(); events.pop_back()) {
            if (!is_done(events.back().get(), error)) return false;
            done.push_back(std::move(events.back()));
        }
        return true;
    }

    template <class IsDone>
    void drop_completed_tails(IsDone is_done, std::vector<Handle<CUevent>>& done, UnexpectedError* error) {
        for (auto tail = tails_.begin(); tail != tails_.end();) {
            if (!is_done(tail->second.get(), error)) {
                ++tail;
                continue;
            }
            done.push_back(std::move(tail->second));
            tail = tails_.erase(tail);
        }
        store_counts();
    }

    // Queries the streams that were capturing once more, and records events behind those that are busy now.
    template <class Query, class Record>
    static void record_events(PendingDestruction& pending, Query query, Record record,
                              std::vector<QueriedStream>& released, UnexpectedError* error) {
        for (std::size_t i = pending.unrecorded.size(); i-- > 0;) {
            const Work work = query(pending.unrecorded[i], error);
            if (work == UNKNOWN_WORK) continue;
            if (work == SOME_WORK) {
                Handle<CUevent> event = record(pending.unrecorded[i], error);
                if (!event) continue;
                pending.events.push_back(std::move(event));
            }
            released.push_back(std::move(pending.unrecorded[i]));
            pending.unrecorded.erase(pending.unrecorded.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    std::mutex mutex_;
    std::vector<PendingDestruction> pending_;
    std::vector<Keep> batch_;
    std::unordered_map<unsigned long long, Handle<CUevent>> tails_;  // by cuStreamGetId
    std::atomic<std::size_t> count_{0};
    std::atomic<std::size_t> batch_size_{0};
    std::atomic<std::size_t> tail_count_{0};
    static inline std::atomic<bool> any_{false};
};

// What a thread is doing. Used by one extension only, because each would have its own.
struct ThreadState {
    // The user closes a resource, and may wait. The first destructor reads and clears this flag, so that the
    // destructors that it calls do not see it.
    bool is_closing = false;
    // Destroying deferred resources may defer others: without this flag, one would process the list inside another.
    bool is_destroying = false;
    // A batch is destroyed because no stream had work: its destructors do not query again.
    bool are_streams_idle = false;

    static ThreadState& current() noexcept {
        static thread_local ThreadState state;
        return state;
    }
};

}  // namespace cuda_core
