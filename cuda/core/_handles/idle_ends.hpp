// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Resources without references, until the work is done that may still use them;
// docs/design/handles.md has the reason.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "handle.hpp"
#include "image.hpp"

namespace cuda_core {

struct WaitingEnd {
    Keep resource;
    std::vector<Handle<CUevent>> marks;     // behind the work of streams that were busy
    std::vector<Handle<CUstream>> unmarked; // streams that cannot be asked, or marked, as long as they capture
};

// No work uses an image whose number nobody was given.
template <class T>
bool may_be_in_use(const T&) noexcept { return true; }
template <class T>
bool may_be_in_use(const Image<T>& image) noexcept { return image.may_be_in_use(); }

// Destroys a value of a context: now, or, if work in flight may use it, after that work.
template <class T>
void end_when_idle(const T& value, void (*destroy)(T),
                   int (*has_work)(const Handle<CUcontext>&, WaitingEnd*), void (*end_later)(WaitingEnd&)) {
    WaitingEnd end;
    if (may_be_in_use(value) && has_work(value.h_context, &end)) {
        end.resource = Handle<T>::own(value, destroy, Keep()).keep();
        end_later(end);
    } else {
        destroy(value);
    }
}

// The driver is called by the functions that are given: whether an event is done, how far the work of a stream is,
// and an event behind it, which is empty where there can be none. They run no Python code.
class IdleEnds {
public:
    static IdleEnds& current() {
        static PerProcess<IdleEnds> ends;
        return ends.current();
    }

    bool is_empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

    void add(WaitingEnd end) {
        std::lock_guard<std::mutex> lock(mutex_);
        ends_.push_back(std::move(end));
        count_.store(ends_.size(), std::memory_order_relaxed);
    }

    // The last work of a stream that was destroyed before it was done.
    void add_tail(Handle<CUevent> mark) {
        std::lock_guard<std::mutex> lock(mutex_);
        tails_.push_back(std::move(mark));
        tail_count_.store(tails_.size(), std::memory_order_relaxed);
    }
    bool has_tails() const noexcept { return tail_count_.load(std::memory_order_relaxed) != 0; }

    // Adds the marks of destroyed streams that are not done. Completed ones move to `done`, to be dropped unlocked.
    template <class IsDone>
    void add_tails_to(WaitingEnd& end, IsDone is_done, std::vector<Handle<CUevent>>& done) {
        std::lock_guard<std::mutex> lock(mutex_);
        drop_done(tails_, is_done, done);
        tail_count_.store(tails_.size(), std::memory_order_relaxed);
        end.marks.insert(end.marks.end(), tails_.begin(), tails_.end());
    }

    // Moves resources that no work uses any more to `idle`.
    template <class IsDone, class State, class Mark>
    void take_idle(IsDone is_done, State state, Mark mark, std::vector<WaitingEnd>& idle,
                   std::vector<Handle<CUevent>>& done) {
        std::vector<Handle<CUstream>> released; // these end without the lock, which the end of a stream takes
        std::lock_guard<std::mutex> lock(mutex_);
        for (std::size_t i = 0; i < ends_.size();) {
            WaitingEnd& end = ends_[i];
            mark_what_can_be(end, state, mark, released);
            drop_done(end.marks, is_done, done);
            if (!end.marks.empty() || !end.unmarked.empty()) {
                ++i;
                continue;
            }
            idle.push_back(std::move(end));
            if (&end != &ends_.back()) end = std::move(ends_.back());
            ends_.pop_back();
        }
        count_.store(ends_.size(), std::memory_order_relaxed);
        drop_done(tails_, is_done, done);
        tail_count_.store(tails_.size(), std::memory_order_relaxed);
    }

private:
    template <class IsDone>
    static void drop_done(std::vector<Handle<CUevent>>& marks, IsDone is_done, std::vector<Handle<CUevent>>& done) {
        for (std::size_t i = 0; i < marks.size();) {
            if (!is_done(marks[i].get())) {
                ++i;
                continue;
            }
            done.push_back(std::move(marks[i]));
            if (&marks[i] != &marks.back()) marks[i] = std::move(marks.back());
            marks.pop_back();
        }
    }

    template <class State, class Mark>
    static void mark_what_can_be(WaitingEnd& end, State state, Mark mark, std::vector<Handle<CUstream>>& released) {
        for (std::size_t i = end.unmarked.size(); i-- > 0;) {
            const CUresult result = state(end.unmarked[i].get());
            if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) continue;
            if (result == CUDA_ERROR_NOT_READY) {
                Handle<CUevent> made = mark(end.unmarked[i].get());
                if (!made) continue;
                end.marks.push_back(std::move(made));
            }
            released.push_back(std::move(end.unmarked[i]));
            end.unmarked.erase(end.unmarked.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    std::mutex mutex_;
    std::vector<WaitingEnd> ends_;
    std::vector<Handle<CUevent>> tails_;
    std::atomic<std::size_t> count_{0};
    std::atomic<std::size_t> tail_count_{0};
};

}  // namespace cuda_core
