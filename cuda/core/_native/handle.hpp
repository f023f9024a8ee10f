// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The handle of every resource: a counted reference to a cell with the value, the function that destroys it, and a
// reference to what must outlive it. No CUDA call is made here; `destroy` is a function of the extension that owns
// the resource. docs/design/handles.md has the reasons.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "native.hpp"

namespace cuda_core {

// The reference-counted part of a handle, without its type. `weak_` counts the registry entries and `WeakCell`s, plus
// one for all strong references together.
class Cell {
public:
    void add_reference() noexcept { strong_.fetch_add(1, std::memory_order_relaxed); }

    bool add_reference_if_alive() noexcept {
        std::uint32_t count = strong_.load(std::memory_order_relaxed);
        while (count != 0)
            if (strong_.compare_exchange_weak(count, count + 1, std::memory_order_acquire)) return true;
        return false;
    }

    // `may_wait`: a user closes the resource, so destroying it may wait for the device. All other drops never wait.
    void drop_reference(bool may_wait = false) noexcept {
        if (strong_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            end(may_wait);
            drop_weak();
        }
    }

    void add_weak() noexcept { weak_.fetch_add(1, std::memory_order_relaxed); }

    void drop_weak() noexcept {
        if (weak_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    bool is_alive() const noexcept { return strong_.load(std::memory_order_acquire) != 0; }
    std::uint32_t use_count() const noexcept { return strong_.load(std::memory_order_relaxed); }

#ifndef Py_GIL_DISABLED
    // Pins are the references of calls (handle_field.hpp). The caller holds the GIL, which guards both counts:
    // an atomic count would cost a launch more than all of its other checks.
    void pin() noexcept { ++pins_; }

    void unpin() noexcept {
        if (--pins_ == 0 && drops_while_pinned_ != 0) drop_after_pins();
    }

    // If the cell is pinned, the last unpin() drops the reference.
    void drop_unless_pinned(bool may_wait) noexcept {
        if (pins_ == 0)
            drop_reference(may_wait);
        else
            ++drops_while_pinned_;
    }
#endif

protected:
    Cell() = default;
    virtual ~Cell() = default;
    virtual void end(bool may_wait) noexcept = 0;

private:
    std::atomic<std::uint32_t> strong_{1};
    std::atomic<std::uint32_t> weak_{1};

#ifndef Py_GIL_DISABLED
    // At exit the interpreter may unwind this thread, which then does not hold the lock; the process ends anyway.
    void drop_after_pins() noexcept {
        if (is_interpreter_exiting()) return;
        for (std::uint32_t count = std::exchange(drops_while_pinned_, 0); count != 0; --count) drop_reference();
    }

    std::uint32_t pins_ = 0;
    std::uint32_t drops_while_pinned_ = 0;
#endif
};

// A type-erased reference that keeps another handle's cell, or a Python object, alive.
class Anchor {
public:
    Anchor() noexcept = default;

    // The caller holds the GIL.
    static Anchor of_object(PyObject* object) noexcept {
        Anchor anchor;
        anchor.object_ = Py_NewRef(object);
        return anchor;
    }

    static Anchor of_cell(Cell* cell) noexcept {
        Anchor anchor;
        anchor.cell_ = cell;
        if (cell) cell->add_reference();
        return anchor;
    }

    // Takes over a reference.
    static Anchor adopt(Cell* cell) noexcept {
        Anchor anchor;
        anchor.cell_ = cell;
        return anchor;
    }

    Anchor(const Anchor& other) noexcept : cell_(other.cell_), object_(other.object_) {
        if (cell_) cell_->add_reference();
        if (object_) copy_object();
    }

    Anchor(Anchor&& other) noexcept
        : cell_(std::exchange(other.cell_, nullptr)), object_(std::exchange(other.object_, nullptr)) {}

    Anchor& operator=(Anchor other) noexcept {
        std::swap(cell_, other.cell_);
        std::swap(object_, other.object_);
        return *this;
    }

    ~Anchor() { drop(false); }

    void drop(bool may_wait) noexcept {
        if (Cell* cell = std::exchange(cell_, nullptr)) cell->drop_reference(may_wait);
        if (object_) drop_object();
        object_ = nullptr;
    }

    PyObject* object() const noexcept { return object_; }
    explicit operator bool() const noexcept { return cell_ || object_; }

private:
    void copy_object() noexcept {
        with_interpreter([this] { Py_INCREF(object_); });
    }

    // References to Python objects are not dropped once the interpreter exits.
    void drop_object() noexcept {
        if (is_interpreter_exiting()) return;
        with_interpreter([this] { Py_DECREF(object_); });
    }

    Cell* cell_ = nullptr;
    PyObject* object_ = nullptr;
};

// A counted reference to a value of type T. An empty handle is a closed one. Test it by its truth value, not by its
// value, because zero can be a legal driver value.
template <class T>
class Handle {
public:
    using Destroy = void (*)(T);
    using DestroyOrWait = void (*)(T, bool may_wait);

    Handle() noexcept = default;
    Handle(const Handle& other) noexcept : cell_(other.cell_) {
        if (cell_) cell_->add_reference();
    }
    Handle(Handle&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    Handle& operator=(Handle other) noexcept {
        std::swap(cell_, other.cell_);
        return *this;
    }
    ~Handle() { reset(); }

    // Takes ownership: `destroy(value)` runs once, when the last copy is dropped. If the cell cannot be allocated, the
    // value is destroyed before the exception is thrown.
    static Handle own(T value, Destroy destroy, Anchor anchor) {
        return make(std::move(value), destroy, nullptr, std::move(anchor), true);
    }

    // The same for a `destroy` that may wait for the device if a user closes the resource.
    static Handle own_with_wait(T value, DestroyOrWait destroy, Anchor anchor) {
        return make(std::move(value), nullptr, destroy, std::move(anchor), true);
    }

    // The same for a `destroy` that never blocks. It runs with the GIL held, because releasing and taking the GIL costs
    // more than such a `destroy`.
    static Handle own_holding_gil(T value, Destroy destroy, Anchor anchor) {
        return make(std::move(value), destroy, nullptr, std::move(anchor), false);
    }

    // Refers to a value that is destroyed elsewhere.
    static Handle borrow(T value, Anchor anchor) {
        return Handle(new TypedCell(std::move(value), nullptr, nullptr, std::move(anchor), false));
    }

    void reset() noexcept {
        if (TypedCell* cell = std::exchange(cell_, nullptr)) cell->drop_reference();
    }

    // For a user's call: destroying the value may wait for the device.
    void close() noexcept {
        if (TypedCell* cell = std::exchange(cell_, nullptr)) cell->drop_reference(true);
    }

    // The value, or zero if the handle is empty. Deleted for temporaries, whose value may be destroyed before its use.
    T get() const& noexcept { return cell_ ? cell_->value : T{}; }
    T get() const&& = delete;

    // A reference to the value, for structs. Only for open handles.
    T& value() const& noexcept { return cell_->value; }
    T& value() const&& = delete;

    Anchor anchor() const noexcept { return Anchor::of_cell(cell_); }
    PyObject* anchored_object() const noexcept { return cell_ ? cell_->anchor.object() : nullptr; }
    bool is_owner() const noexcept { return cell_ && cell_->is_owner(); }
    std::uint32_t use_count() const noexcept { return cell_ ? cell_->use_count() : 0; }
    explicit operator bool() const noexcept { return cell_ != nullptr; }

private:
    template <class>
    friend class Registry;
    template <class>
    friend class HandleField;
    template <class>
    friend class Pin;
    friend class ArgumentBlock;
    friend class LaunchList;
    friend class WeakCell;

    struct TypedCell final : Cell {
        TypedCell(T&& value, Destroy destroy, DestroyOrWait destroy_or_wait, Anchor&& anchor, bool can_block) noexcept
            : value(std::move(value)),
              anchor(std::move(anchor)),
              destroy(destroy),
              destroy_or_wait(destroy_or_wait),
              born_at(fork_generation()),
              can_block(can_block) {}

        bool is_owner() const noexcept { return destroy || destroy_or_wait; }

        // A forked child cannot use resources of its parent: there the value is not destroyed.
        void end(bool may_wait) noexcept override {
            if (is_owner() && born_at == fork_generation() && !skips_release_at_exit()) {
                WithoutGil released(can_block);
                run_or_block_at_exit([this, may_wait] {
                    if (destroy)
                        destroy(std::move(value));
                    else
                        destroy_or_wait(std::move(value), may_wait);
                });
            }
            // A `destroy` that cannot wait passes the permission on: from an adaptor's memory to its backing memory.
            anchor.drop(may_wait && !destroy_or_wait);
        }

        T value;
        Anchor anchor;
        const Destroy destroy;
        const DestroyOrWait destroy_or_wait;
        const std::uint32_t born_at;
        const bool can_block;
    };

    static Handle make(T&& value, Destroy destroy, DestroyOrWait destroy_or_wait, Anchor&& anchor, bool can_block) {
        TypedCell* cell =
            new (std::nothrow) TypedCell(std::move(value), destroy, destroy_or_wait, std::move(anchor), can_block);
        if (!cell) {
            WithoutGil released(can_block);
            destroy ? destroy(std::move(value)) : destroy_or_wait(std::move(value), false);
            throw std::bad_alloc();
        }
        return Handle(cell);
    }

    explicit Handle(TypedCell* cell) noexcept : cell_(cell) {}

    TypedCell* cell_ = nullptr;
};

// Tells whether a cell is alive, without keeping its value alive.
class WeakCell {
public:
    WeakCell() noexcept = default;
    ~WeakCell() { observe(nullptr); }
    WeakCell(const WeakCell&) = delete;
    WeakCell& operator=(const WeakCell&) = delete;

    template <class T>
    void observe(const Handle<T>& handle) noexcept {
        observe(handle.cell_);
    }

    std::uint32_t use_count() const noexcept { return cell_ ? cell_->use_count() : 0; }

private:
    void observe(Cell* cell) noexcept {
        if (cell) cell->add_weak();
        if (Cell* old = std::exchange(cell_, cell)) old->drop_weak();
    }

    Cell* cell_ = nullptr;
};

template <class T>
inline std::intptr_t address(const Handle<T>& handle) noexcept {
    return reinterpret_cast<std::intptr_t>(handle.get());
}

}  // namespace cuda_core
