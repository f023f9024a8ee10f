// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Resources that are retired: destroyed later than their last reference is dropped, after the work that may use them,
// after a capture, or on the main thread. docs/design/handles.md has the reasons.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
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
// Destroys retired resources that are ready.
CUDA_CORE_API void cuda_core_destroy_idle();

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

// A stream to query. A default stream comes with its context, which must be current for the query.
struct QueriedStream {
    Handle<CUstream> h_stream;
    Handle<CUcontext> h_context;
};

// A resource to destroy, and what it waits for.
struct Retired {
    Anchor resource;                      // its last reference destroys the resource
    std::vector<Handle<CUevent>> events;  // recorded after the pending work of streams that were busy
    std::vector<QueriedStream> captured;  // streams that can be neither queried nor recorded while they capture
};

// The driver is never called, and nothing is destroyed, under the lock of the list.
class RetirementList {
public:
    CUDA_CORE_API static RetirementList& current();

    // Every synchronization reads it. A forked child may read its parent's, and then finds nothing.
    static bool has_any() noexcept { return any_.load(std::memory_order_relaxed); }
    // With those that a thread is looking at.
    std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

    void add(Retired entry) {
        std::lock_guard<std::mutex> lock(mutex_);
        entries_.push_back(std::move(entry));
        store_count(1);
    }

    std::vector<Retired> take() {
        std::lock_guard<std::mutex> lock(mutex_);
        return std::exchange(entries_, {});
    }

    // Puts back the entries that still wait. `ended` is the number of the others.
    void put_back(std::vector<Retired>& waiting, std::size_t ended) {
        std::lock_guard<std::mutex> lock(mutex_);
        std::move(waiting.begin(), waiting.end(), std::back_inserter(entries_));
        store_count(-ended);
    }

private:
    void store_count(std::size_t change) noexcept { any_.store((count_ += change) != 0, std::memory_order_relaxed); }

    std::mutex mutex_;
    std::vector<Retired> entries_;
    std::atomic<std::size_t> count_{0};
    CUDA_CORE_API static std::atomic<bool> any_;
};

// Destroying a resource may retire others, whose retirement processes the list. This flag ends the recursion.
struct ThreadState {
    bool is_destroying = false;

    CUDA_CORE_API static ThreadState& current() noexcept;
};

// The event after the last free on each stream that the library does not query.
class ForeignFrees {
public:
    CUDA_CORE_API static ForeignFrees& current();

    // `event` becomes the previous one of this stream, which the caller drops without the lock.
    void add(unsigned long long stream, Handle<CUevent>& event) {
        std::lock_guard<std::mutex> lock(mutex_);
        std::swap(events_[stream], event);
    }

    std::vector<Handle<CUevent>> events() {
        std::lock_guard<std::mutex> lock(mutex_);
        std::vector<Handle<CUevent>> all;
        for (auto& item : events_) all.push_back(item.second);
        return all;
    }

    // Forgets an event whose work has completed.
    void forget(const Handle<CUevent>& event) {
        std::lock_guard<std::mutex> lock(mutex_);
        for (auto item = events_.begin(); item != events_.end(); ++item)
            if (item->second.get() == event.get()) return static_cast<void>(events_.erase(item));
    }

private:
    std::mutex mutex_;
    std::unordered_map<unsigned long long, Handle<CUevent>> events_;  // by cuStreamGetId
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

// Operands of graphs. The driver drops references on its own threads, where CUDA calls and the interpreter are forbidden,
// so each dropped reference moves to the retirement list. docs/design/graphs.md has the reasons.
class AnchorList final : public Cell {
public:
    // The list has one reference, which is the caller's.
    static AnchorList* make() { return new AnchorList; }

    void add(Anchor anchor) { items_.push_back(std::move(anchor)); }
    PyObject* object(std::size_t index) const noexcept {
        return index < items_.size() ? items_[index].object() : nullptr;
    }
    std::size_t size() const noexcept { return items_.size(); }

    // Callable from any thread.
    void drop_reference() noexcept {
        Retired entry;
        entry.resource = Anchor::adopt(this);
        RetirementList::current().add(std::move(entry));
        // The interpreter takes few pending calls. If it takes no more, the next synchronization processes the list.
        if (!is_interpreter_exiting()) Py_AddPendingCall(&process_list, nullptr);
    }

private:
    static int process_list(void*) noexcept {
        PendingError kept;
        WithoutGil released;
        cuda_core_destroy_idle();
        return 0;
    }

    void end(bool) noexcept override { items_.clear(); }

    std::vector<Anchor> items_;
};

}  // namespace cuda_core
