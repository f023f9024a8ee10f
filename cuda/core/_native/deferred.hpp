// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Moves releases from threads of the driver, where CUDA calls and the interpreter are forbidden, to the main thread.
// docs/design/graphs.md has the reasons.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "handle.hpp"

namespace cuda_core {

// An item of the queue: deleted on the main thread, with the interpreter lock held.
class Deferred {
public:
    virtual ~Deferred() = default;

private:
    friend class DeferredQueue;
    Deferred* next_ = nullptr;
};

// The methods are virtual, so that all extensions use the code and the pending call of the one that created the queue.
class DeferredQueue {
public:
    // Callable from any thread; never waits.
    virtual void push(Deferred* item) noexcept {
        Deferred* head = head_.load(std::memory_order_relaxed);
        do {
            item->next_ = head;
        } while (!head_.compare_exchange_weak(head, item, std::memory_order_release));
        resume();
    }

    // Schedules a pending call of the interpreter that drains the queue. The interpreter takes few pending calls: if it
    // takes no more, a later resume() tries again.
    virtual void resume() noexcept {
        if (!head_.load(std::memory_order_acquire) || is_interpreter_exiting()) return;
        if (is_scheduled_.exchange(true)) return;
        if (Py_AddPendingCall(&drain, this) != 0) is_scheduled_.store(false);
    }

    virtual std::size_t size() const noexcept {
        std::size_t count = 0;
        for (Deferred* item = head_.load(); item; item = item->next_) ++count;
        return count;
    }

    bool is_stuck() const noexcept {
        return head_.load(std::memory_order_relaxed) && !is_scheduled_.load(std::memory_order_relaxed);
    }

private:
    static int drain(void* self) noexcept {
        static_cast<DeferredQueue*>(self)->run();
        return 0;
    }

    // Deleting an item may run Python code, which may push again.
    void run() noexcept {
        is_scheduled_.store(false);
        Deferred* item = head_.exchange(nullptr, std::memory_order_acquire);
        PendingError kept;
        while (item) {
            Deferred* next = item->next_;
            delete item;
            item = next;
        }
    }

    std::atomic<Deferred*> head_{nullptr};
    std::atomic<bool> is_scheduled_{false};
};

// A counted list of references; the last reference to the list may be dropped on any thread.
class KeepList final : public Deferred {
public:
    // The list has one reference, which is the caller's.
    static KeepList* make(DeferredQueue* queue) { return new KeepList(queue); }

    void add(Keep keep) { items_.push_back(std::move(keep)); }
    PyObject* object(std::size_t index) const noexcept {
        return index < items_.size() ? items_[index].object() : nullptr;
    }
    std::size_t size() const noexcept { return items_.size(); }

    void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void drop_reference() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) queue_->push(this);
    }

private:
    explicit KeepList(DeferredQueue* queue) noexcept : queue_(queue) {}

    std::vector<Keep> items_;
    std::atomic<std::uint32_t> references_{1};
    DeferredQueue* queue_;
};

}  // namespace cuda_core
