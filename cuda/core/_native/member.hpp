// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The handle field of an object, which any thread may close at any time, and the reference by which a call keeps the
// resource that it uses. The raw value can be read only from a `Kept` or a copy, which stay valid.
// docs/design/handles.md has the reasons.
#pragma once

#include <sched.h>

#include <cstddef>

#include "handle.hpp"

namespace cuda_core {

// A field that holds a handle. All methods need the interpreter lock, if there is one.
template <class T>
class Member {
public:
    Member() noexcept = default;
    ~Member() { reset(); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    explicit operator bool() const noexcept { return peek() != nullptr; }

    // The number of references, without those of calls.
    std::uint32_t use_count() const noexcept {
        const Handle<T> handle = copy();
        return handle ? handle.use_count() - 1 : 0;
    }

    Handle<T> copy() const noexcept {
        Cell* const cell = lock();
        if (cell) cell->add_reference();
        unlock(cell);
        return Handle<T>(cell);
    }

    void set(Handle<T> handle) noexcept { replace(std::move(handle), false); }
    void reset() noexcept { replace(Handle<T>(), false); }

    // For a user's call: destroying the resource may wait for the device.
    void close() noexcept { replace(Handle<T>(), true); }

private:
    template <class>
    friend class Kept;
    friend class ArgumentBlock;
    using Cell = typename Handle<T>::TypedCell;

    void replace(Handle<T> handle, bool may_wait) noexcept {
        Cell* const fresh = std::exchange(handle.cell_, nullptr);
        Cell* const old = lock();
        unlock(fresh);
        if (old) drop(old, may_wait);
    }

#ifndef Py_GIL_DISABLED
    Cell* peek() const noexcept { return cell_; }
    Cell* lock() const noexcept { return cell_; }
    void unlock(Cell* cell) const noexcept { cell_ = cell; }
    static void drop(Cell* cell, bool may_wait) noexcept { cell->drop_or_defer(may_wait); }

    mutable Cell* cell_ = nullptr;
#else
    // The lowest bit is a spin lock, held for the few instructions between reading the address of a cell and counting a
    // reference to it: in between, no thread may drop the last reference.
    static constexpr std::uintptr_t locked = 1;

    Cell* peek() const noexcept {
        return reinterpret_cast<Cell*>(word_.load(std::memory_order_acquire) & ~locked);
    }

    Cell* lock() const noexcept {
        std::uintptr_t word = word_.load(std::memory_order_relaxed);
        for (int tries = 0;; ++tries) {
            if (!(word & locked) &&
                word_.compare_exchange_weak(word, word | locked, std::memory_order_acquire, std::memory_order_relaxed))
                return reinterpret_cast<Cell*>(word);
            if (tries >= 100) sched_yield();
            word = word_.load(std::memory_order_relaxed);
        }
    }

    void unlock(Cell* cell) const noexcept {
        word_.store(reinterpret_cast<std::uintptr_t>(cell), std::memory_order_release);
    }

    static void drop(Cell* cell, bool may_wait) noexcept { cell->drop_reference(may_wait); }

    mutable std::atomic<std::uintptr_t> word_{0};
#endif
};

// The reference of a call, taken from a member: the value exists until the end of the scope, even if the object is
// closed. For local variables of functions that hold the interpreter lock when they are entered and when they return.
template <class T>
class Kept {
public:
    Kept() noexcept = default;
    ~Kept() { release(); }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    // Returns whether the member was open.
    bool hold(const Member<T>& member) noexcept {
        release();
#ifndef Py_GIL_DISABLED
        handle_.cell_ = member.cell_;
        if (handle_.cell_) handle_.cell_->pin();
#else
        handle_ = member.copy();
#endif
        return static_cast<bool>(handle_);
    }

    T get() const noexcept { return handle_.get(); }
    T& value() const noexcept { return handle_.value(); }
    const Handle<T>& handle() const noexcept { return handle_; }
    Keep keep() const noexcept { return handle_.keep(); }
    bool is_owner() const noexcept { return handle_.is_owner(); }
    explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

private:
    void release() noexcept {
#ifndef Py_GIL_DISABLED
        // A pin is not a counted reference, so the handle must not drop one.
        if (auto* cell = std::exchange(handle_.cell_, nullptr)) cell->unpin();
#else
        handle_.reset();
#endif
    }

    Handle<T> handle_;
};

// For repr and comparisons only; calls lock a Kept.
template <class T>
inline std::intptr_t address(const Member<T>& member) noexcept {
    const Handle<T> handle = member.copy();
    return reinterpret_cast<std::intptr_t>(handle.get());
}

}  // namespace cuda_core
