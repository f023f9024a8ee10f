// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The handle field of an object, which any thread may close at any time, and the reference by which a call keeps the
// resource that it uses. The raw value can be read only from a `Pin` or a copy, which stay valid.
// docs/design/handles.md has the reasons.
#pragma once

#include <sched.h>

#include <cstddef>

#include "handle.hpp"

namespace cuda_core {

// A field that holds a handle. All methods need the GIL, if there is one.
template <class T>
class HandleField {
public:
    HandleField() noexcept = default;
    ~HandleField() { reset(); }
    HandleField(const HandleField&) = delete;
    HandleField& operator=(const HandleField&) = delete;

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
    friend class Pin;
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
    static void drop(Cell* cell, bool may_wait) noexcept { cell->drop_unless_pinned(may_wait); }

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

// The reference of a call, taken from a handle field: the value exists until the end of the scope, even if the object is
// closed. For local variables of functions that hold the GIL when they are entered and when they return.
template <class T>
class Pin {
public:
    Pin() noexcept = default;
    ~Pin() { release(); }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

    // Returns whether the field was open.
    bool hold(const HandleField<T>& field) noexcept {
        release();
#ifndef Py_GIL_DISABLED
        handle_.cell_ = field.cell_;
        if (handle_.cell_) handle_.cell_->pin();
#else
        handle_ = field.copy();
#endif
        return static_cast<bool>(handle_);
    }

    T get() const noexcept { return handle_.get(); }
    T& value() const noexcept { return handle_.value(); }
    const Handle<T>& handle() const noexcept { return handle_; }
    Anchor anchor() const noexcept { return handle_.anchor(); }
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

// For repr and comparisons only; calls lock a Pin.
template <class T>
inline std::intptr_t address(const HandleField<T>& field) noexcept {
    const Handle<T> handle = field.copy();
    return reinterpret_cast<std::intptr_t>(handle.get());
}

}  // namespace cuda_core
