// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Resources that are retired: destroyed later than their last reference is dropped, after the work that may use them,
// after a capture, or on the main thread. docs/design/handles.md has the reasons.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "values.hpp"

namespace cuda_core {
struct Retired;
}

// Implemented in _cuda_core.pyx, where the driver is called.

// Records an event after the pending work of each busy stream, in `entry`; 0 if no stream is busy.
CUDA_CORE_API int cuda_core_find_work(cuda_core::Retired* entry);
// Retires a small resource: many share one query of the streams.
CUDA_CORE_API void cuda_core_retire_small(cuda_core::Anchor& resource);

namespace cuda_core {

// Unknown: a capture forbids the query until it ends.
enum Work { NO_WORK, SOME_WORK, UNKNOWN_WORK };

// After any other error there is nothing to wait for: the context is lost, or has no such stream.
inline Work work_of_result(CUresult err) noexcept {
    switch (err) {
        case CUDA_ERROR_NOT_READY: return SOME_WORK;
        case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
        case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: return UNKNOWN_WORK;
        default: return NO_WORK;
    }
}

// Whether an error is unexpected. Green contexts have no default streams, which CUDA_ERROR_INVALID_HANDLE reports. A
// failed kernel loses its context, which other calls report; the codes of these errors are consecutive.
inline bool is_unexpected(CUresult err) noexcept {
    return err != CUDA_SUCCESS && work_of_result(err) == NO_WORK && err != CUDA_ERROR_INVALID_HANDLE &&
           !(err >= CUDA_ERROR_ILLEGAL_ADDRESS && err < CUDA_ERROR_NOT_PERMITTED);
}

// An unexpected error, returned by functions that must not run Python code, as a warning would.
struct UnexpectedError {
    CUresult code = CUDA_SUCCESS;
    const char* api = nullptr;
};

// A stream to query. A default stream comes with its context, which must be current for the query.
struct QueriedStream {
    Handle<CUstream> h_stream;
    Handle<CUcontext> h_context;
};

// What a retired resource waits for.
enum class Until {
    IDLE,     // the work that may use it has not completed
    QUERY,    // the streams have not been queried yet: small resources share one query
    CAPTURE,  // a stream that captures cannot free memory from outside the capture
};

struct Retired {
    Anchor resource;                          // its last reference destroys the resource
    std::vector<Handle<CUevent>> events;    // recorded after the pending work of streams that were busy
    std::vector<QueriedStream> unrecorded;  // streams that can be neither queried nor recorded while they capture
};

// The driver is called by functions that the caller passes: `is_done` queries an event, and `mark_work` queries a stream
// and returns an event after its pending work, or an empty handle if none can be recorded. They run no Python code.
class RetirementList {
public:
    CUDA_CORE_API static RetirementList& current();

    // True if the list has an entry or a tail. It is one number, because every synchronization reads it. A forked child
    // may read its parent's, and then finds nothing.
    static bool has_any() noexcept { return any_.load(std::memory_order_relaxed); }

    std::size_t count(Until until) const noexcept {
        return counts_[static_cast<int>(until)].load(std::memory_order_relaxed);
    }

    void add(Retired entry, Until until = Until::IDLE) {
        std::lock_guard<std::mutex> lock(mutex_);
        entries(until).push_back(std::move(entry));
        store_counts();
    }

    // Moves the entries that wait for a query or a capture to `taken`, which is empty.
    void take(Until until, std::vector<Retired>& taken) {
        std::lock_guard<std::mutex> lock(mutex_);
        taken.swap(entries(until));
        store_counts();
    }

    // Stores the event after the last work of a stream that will not be queried again. `event` becomes the previous
    // one of this stream, which the caller drops without the lock.
    void add_tail(unsigned long long stream, Handle<CUevent>& event) {
        std::lock_guard<std::mutex> lock(mutex_);
        std::swap(tails_[stream], event);
        store_counts();
    }
    bool has_tails() const noexcept { return tail_count_.load(std::memory_order_relaxed) != 0; }

    // Adds the tails that have not completed. The others move to `done`, which the caller drops without the lock.
    template <class IsDone>
    void add_tails_to(Retired& entry, IsDone is_done, std::vector<Handle<CUevent>>& done,
                      UnexpectedError* error) {
        std::lock_guard<std::mutex> lock(mutex_);
        drop_completed_tails(is_done, done, error);
        for (const auto& tail : tails_) entry.events.push_back(tail.second);
    }

    // Moves resources that are no longer in use to `idle`.
    template <class IsDone, class MarkWork>
    void take_idle(IsDone is_done, MarkWork mark_work, std::vector<Retired>& idle,
                   std::vector<Handle<CUevent>>& done, UnexpectedError* error) {
        std::vector<QueriedStream> released;  // dropped after the lock, which the destruction of a stream takes
        std::lock_guard<std::mutex> lock(mutex_);
        std::vector<Retired>& waiting = entries(Until::IDLE);
        for (std::size_t i = 0; i < waiting.size();) {
            Retired& entry = waiting[i];
            record_events(entry, mark_work, released, error);
            if (!all_completed(entry.events, is_done, done, error) || !entry.unrecorded.empty()) {
                ++i;
                continue;
            }
            idle.push_back(std::move(entry));
            if (&entry != &waiting.back()) entry = std::move(waiting.back());
            waiting.pop_back();
        }
        drop_completed_tails(is_done, done, error);
    }

private:
    std::vector<Retired>& entries(Until until) noexcept { return entries_[static_cast<int>(until)]; }

    void store_counts() noexcept {
        for (int i = 0; i < 3; ++i) counts_[i].store(entries_[i].size(), std::memory_order_relaxed);
        tail_count_.store(tails_.size(), std::memory_order_relaxed);
        any_.store(!entries(Until::IDLE).empty() || !tails_.empty(), std::memory_order_relaxed);
    }

    // Stops at the first event that has not completed, because the list can be long, with many events per resource.
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

    // Queries the streams that were capturing once more, and records events after the work of those that are busy now.
    template <class MarkWork>
    static void record_events(Retired& entry, MarkWork mark_work, std::vector<QueriedStream>& released,
                              UnexpectedError* error) {
        for (std::size_t i = entry.unrecorded.size(); i-- > 0;) {
            Handle<CUevent> event;
            const Work work = mark_work(entry.unrecorded[i], event, error);
            if (work != NO_WORK && !event) continue;
            if (event) entry.events.push_back(std::move(event));
            released.push_back(std::move(entry.unrecorded[i]));
            entry.unrecorded.erase(entry.unrecorded.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    std::mutex mutex_;
    std::vector<Retired> entries_[3];  // by what they wait for
    std::unordered_map<unsigned long long, Handle<CUevent>> tails_;  // by cuStreamGetId
    std::atomic<std::size_t> counts_[3] = {};
    std::atomic<std::size_t> tail_count_{0};
    CUDA_CORE_API static std::atomic<bool> any_;
};

// What a thread is doing.
struct ThreadState {
    // Destroying a resource may retire others. Without this flag, processing the list would recurse.
    bool is_destroying = false;
    // A batch is destroyed because no stream had work: its destructors do not query again.
    bool are_streams_idle = false;

    CUDA_CORE_API static ThreadState& current() noexcept;
};

// Retires a value: `destroy(value)` is called once the work in flight has completed. False if there is no such work; the
// caller then destroys the value.
template <class T>
bool retire(T& value, void (*destroy)(T), Anchor anchor) {
    Retired entry;
    if (!cuda_core_find_work(&entry)) return false;
    entry.resource = Handle<T>::own(std::move(value), destroy, std::move(anchor)).anchor();
    RetirementList::current().add(std::move(entry));
    return true;
}

// The same for a value that may be small, which is then always retired.
template <class T>
bool retire(T& value, void (*destroy)(T), bool is_small) {
    if (!is_small) return retire(value, destroy, Anchor());
    Anchor resource = Handle<T>::own(std::move(value), destroy, Anchor()).anchor();
    cuda_core_retire_small(resource);
    return true;
}

// --- Releases that wait for the main thread ---
//
// Moves releases from threads of the driver, where CUDA calls and the interpreter are forbidden, to the main thread.
// docs/design/graphs.md has the reasons.

// An item of the queue: deleted on the main thread, with the GIL held.
class InboxItem {
public:
    virtual ~InboxItem() = default;

private:
    friend class MainThreadInbox;
    InboxItem* next_ = nullptr;
};

class MainThreadInbox {
public:
    // Callable from any thread; never waits.
    void push(InboxItem* item) noexcept {
        InboxItem* head = head_.load(std::memory_order_relaxed);
        do {
            item->next_ = head;
        } while (!head_.compare_exchange_weak(head, item, std::memory_order_release));
        resume();
    }

    // Schedules a pending call of the interpreter that drains the queue. The interpreter takes few pending calls: if it
    // takes no more, a later resume() tries again.
    void resume() noexcept {
        if (!head_.load(std::memory_order_acquire) || is_interpreter_exiting()) return;
        if (is_scheduled_.exchange(true)) return;
        if (Py_AddPendingCall(&drain, this) != 0) is_scheduled_.store(false);
    }

    std::size_t size() const noexcept {
        std::size_t count = 0;
        for (InboxItem* item = head_.load(); item; item = item->next_) ++count;
        return count;
    }

    bool is_stuck() const noexcept {
        return head_.load(std::memory_order_relaxed) && !is_scheduled_.load(std::memory_order_relaxed);
    }

private:
    static int drain(void* self) noexcept {
        static_cast<MainThreadInbox*>(self)->run();
        return 0;
    }

    // Deleting an item may run Python code, which may push again.
    void run() noexcept {
        is_scheduled_.store(false);
        InboxItem* item = head_.exchange(nullptr, std::memory_order_acquire);
        PendingError kept;
        while (item) {
            InboxItem* next = item->next_;
            delete item;
            item = next;
        }
    }

    std::atomic<InboxItem*> head_{nullptr};
    std::atomic<bool> is_scheduled_{false};
};

// A counted list of references; the last reference to the list may be dropped on any thread.
class AnchorList final : public InboxItem {
public:
    // The list has one reference, which is the caller's.
    static AnchorList* make(MainThreadInbox* queue) { return new AnchorList(queue); }

    void add(Anchor anchor) { items_.push_back(std::move(anchor)); }
    PyObject* object(std::size_t index) const noexcept {
        return index < items_.size() ? items_[index].object() : nullptr;
    }
    std::size_t size() const noexcept { return items_.size(); }

    void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void drop_reference() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) queue_->push(this);
    }

private:
    explicit AnchorList(MainThreadInbox* queue) noexcept : queue_(queue) {}

    std::vector<Anchor> items_;
    std::atomic<std::uint32_t> references_{1};
    MainThreadInbox* queue_;
};

CUDA_CORE_API MainThreadInbox* main_thread_inbox() noexcept;

}  // namespace cuda_core
