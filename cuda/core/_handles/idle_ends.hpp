// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Resources without references, until the work is done that may still use them;
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

struct WaitingEnd {
    Keep resource;
    std::vector<Handle<CUevent>> marks;  // behind the work of streams that were busy
    std::vector<AskedStream> unmarked;   // streams that cannot be asked, or marked, as long as they capture
};

// Defers the destruction of a value until the work in flight is done; false if there is no such work.
// The functions are those of _idle_ends.pyx: whether there is work, and the list of deferred ends.
template <class T>
bool postpone(T& value, void (*destroy)(T), Keep keep, int (*has_work)(WaitingEnd*), void (*end_later)(WaitingEnd&)) {
    WaitingEnd end;
    if (!has_work(&end)) return false;
    end.resource = Handle<T>::own(std::move(value), destroy, std::move(keep)).keep();
    end_later(end);
    return true;
}

// The same, where the streams are queried for several values at once if `can_gather`: `gather` is given this one.
template <class T>
bool gather_or_postpone(T& value, void (*destroy)(T), bool can_gather, void (*gather)(Keep&),
                        int (*has_work)(WaitingEnd*), void (*end_later)(WaitingEnd&)) {
    if (!can_gather) return postpone(value, destroy, Keep(), has_work, end_later);
    Keep resource = Handle<T>::own(std::move(value), destroy, Keep()).keep();
    gather(resource);
    return true;
}

// The driver is called by the functions that are given: whether an event is done, how far the work of a stream is,
// and an event behind it, which is empty where there can be none. They run no Python code.
class IdleEnds {
public:
    static IdleEnds& current() {
        static PerProcess<IdleEnds> ends;
        return ends.current();
    }

    // Whether anything is deferred, or a tail is left: one number, because every synchronisation reads it. A forked child
    // may read that of its parent, and then finds nothing.
    static bool has_any() noexcept { return any_.load(std::memory_order_relaxed); }

    std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

    void add(WaitingEnd end) {
        std::lock_guard<std::mutex> lock(mutex_);
        ends_.push_back(std::move(end));
        note_counts();
    }

    // Resources for which the streams were not queried yet.
    std::size_t gathered() const noexcept { return gathered_count_.load(std::memory_order_relaxed); }

    void gather(Keep resource) {
        std::lock_guard<std::mutex> lock(mutex_);
        gathered_.push_back(std::move(resource));
        gathered_count_.store(gathered_.size(), std::memory_order_relaxed);
    }

    void take_gathered(std::vector<Keep>& taken) {
        std::lock_guard<std::mutex> lock(mutex_);
        taken.swap(gathered_);
        gathered_count_.store(gathered_.size(), std::memory_order_relaxed);
    }

    // The last work of a stream that is not asked again; `mark` becomes the one before, to be dropped unlocked.
    void add_tail(unsigned long long stream, Handle<CUevent>& mark) {
        std::lock_guard<std::mutex> lock(mutex_);
        std::swap(tails_[stream], mark);
        note_counts();
    }
    bool has_tails() const noexcept { return tail_count_.load(std::memory_order_relaxed) != 0; }

    // Adds the marks of these streams that are not done. Completed ones move to `done`, to be dropped unlocked.
    template <class IsDone>
    void add_tails_to(WaitingEnd& end, IsDone is_done, std::vector<Handle<CUevent>>& done, OddAnswer* odd) {
        std::lock_guard<std::mutex> lock(mutex_);
        drop_done_tails(is_done, done, odd);
        for (const auto& tail : tails_) end.marks.push_back(tail.second);
    }

    // Moves resources that no work uses any more to `idle`.
    template <class IsDone, class Ask, class Mark>
    void take_idle(IsDone is_done, Ask ask, Mark mark, std::vector<WaitingEnd>& idle,
                   std::vector<Handle<CUevent>>& done, OddAnswer* odd) {
        std::vector<AskedStream> released; // these end without the lock, which the end of a stream takes
        std::lock_guard<std::mutex> lock(mutex_);
        for (std::size_t i = 0; i < ends_.size();) {
            WaitingEnd& end = ends_[i];
            mark_what_can_be(end, ask, mark, released, odd);
            if (!all_done(end.marks, is_done, done, odd) || !end.unmarked.empty()) {
                ++i;
                continue;
            }
            idle.push_back(std::move(end));
            if (&end != &ends_.back()) end = std::move(ends_.back());
            ends_.pop_back();
        }
        drop_done_tails(is_done, done, odd);
    }

private:
    void note_counts() noexcept {
        count_.store(ends_.size(), std::memory_order_relaxed);
        tail_count_.store(tails_.size(), std::memory_order_relaxed);
        any_.store(!ends_.empty() || !tails_.empty(), std::memory_order_relaxed);
    }

    // Queries no further than the first mark that is not done: there may be many ends with many marks.
    template <class IsDone>
    static bool all_done(std::vector<Handle<CUevent>>& marks, IsDone is_done, std::vector<Handle<CUevent>>& done,
                         OddAnswer* odd) {
        for (; !marks.empty(); marks.pop_back()) {
            if (!is_done(marks.back().get(), odd)) return false;
            done.push_back(std::move(marks.back()));
        }
        return true;
    }

    template <class IsDone>
    void drop_done_tails(IsDone is_done, std::vector<Handle<CUevent>>& done, OddAnswer* odd) {
        for (auto tail = tails_.begin(); tail != tails_.end();) {
            if (!is_done(tail->second.get(), odd)) {
                ++tail;
                continue;
            }
            done.push_back(std::move(tail->second));
            tail = tails_.erase(tail);
        }
        note_counts();
    }

    template <class Ask, class Mark>
    static void mark_what_can_be(WaitingEnd& end, Ask ask, Mark mark, std::vector<AskedStream>& released,
                                 OddAnswer* odd) {
        for (std::size_t i = end.unmarked.size(); i-- > 0;) {
            const Work work = ask(end.unmarked[i], odd);
            if (work == UNKNOWN_WORK) continue;
            if (work == SOME_WORK) {
                Handle<CUevent> made = mark(end.unmarked[i], odd);
                if (!made) continue;
                end.marks.push_back(std::move(made));
            }
            released.push_back(std::move(end.unmarked[i]));
            end.unmarked.erase(end.unmarked.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    std::mutex mutex_;
    std::vector<WaitingEnd> ends_;
    std::vector<Keep> gathered_;
    std::unordered_map<unsigned long long, Handle<CUevent>> tails_;  // by the driver's number of the stream
    std::atomic<std::size_t> count_{0};
    std::atomic<std::size_t> gathered_count_{0};
    std::atomic<std::size_t> tail_count_{0};
    static inline std::atomic<bool> any_{false};
};

// What a thread is doing. Used by one extension only, because each would have its own.
struct ThreadState {
    // A user closes a resource, and may wait. The first destructor takes this note, not those that it calls.
    bool is_closing = false;
    // Deferred ends are destroyed, which may defer others: without this, one would process the list inside another.
    bool is_ending = false;
    // Gathered resources are destroyed, because no stream had work.
    bool is_idle = false;

    static ThreadState& current() noexcept {
        static thread_local ThreadState state;
        return state;
    }
};

}  // namespace cuda_core
