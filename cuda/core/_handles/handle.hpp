// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// One mechanism for every resource: a counted reference to a value, to what must outlive it, and
// to the function that destroys it. No CUDA call is made here; `destroy` is a function of the extension that owns
// the resource. docs/design/handles.md has the reasons.
#pragma once

#include <Python.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../_utils/cpython.hpp"

namespace cuda_core {

// The key, in the dict of the interpreter, by which all extensions learn at exit that a device is still busy.
inline constexpr const char* work_left_at_exit = "cuda.core: work is left at exit";

// Whether resources are not released at exit, because a release could wait forever. A
// thread without the interpreter lock cannot know.
inline bool is_left_at_exit() noexcept {
    if (!is_interpreter_exiting()) return false;
    if (!PyGILState_Check()) return true;
    PyObject* state = PyInterpreterState_GetDict(PyInterpreterState_Get());
    return state && PyDict_GetItemString(state, work_left_at_exit);
}

// Counts forks of this process. Each extension has its own counter, and all count the same
// forks; a cell compares only with the counter of the extension that made it.
inline std::uint32_t fork_count() noexcept {
    static std::atomic<std::uint32_t> count{0};
    static const int registered = pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1); });
    (void)registered;
    return count.load(std::memory_order_relaxed);
}

// Releases the interpreter lock for a scope, if this thread holds it and the caller asks for it.
class WithoutGil {
public:
    explicit WithoutGil(bool is_wanted = true) noexcept {
        if (is_wanted && !is_interpreter_exiting() && PyGILState_Check()) state_ = PyEval_SaveThread();
    }
    ~WithoutGil() {
        if (state_) or_wait_for_exit([this] { PyEval_RestoreThread(state_); });
    }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

private:
    PyThreadState* state_ = nullptr;
};

// The reference-counted part of a handle, without its type. `weak` counts the registry entries
// and, as one, all strong references together.
class Cell {
public:
    void add_reference() noexcept { strong_.fetch_add(1, std::memory_order_relaxed); }

    bool add_reference_if_alive() noexcept {
        std::uint32_t count = strong_.load(std::memory_order_relaxed);
        while (count != 0)
            if (strong_.compare_exchange_weak(count, count + 1, std::memory_order_acquire)) return true;
        return false;
    }

    void drop_reference() noexcept {
        if (strong_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            end();
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
    // The references of calls, which member.hpp explains. The caller holds the interpreter lock, which
    // guards both counts: an atomic one would cost a launch more than all else that it checks.
    void pin() noexcept { ++pins_; }

    void unpin() noexcept {
        if (--pins_ == 0 && left_ != 0) drop_left();
    }

    // For what is pinned, the last pin drops the reference instead.
    void drop_or_leave_reference() noexcept {
        if (pins_ == 0)
            drop_reference();
        else
            ++left_;
    }
#endif

protected:
    Cell() = default;
    virtual ~Cell() = default;
    virtual void end() noexcept = 0;

private:
    std::atomic<std::uint32_t> strong_{1};
    std::atomic<std::uint32_t> weak_{1};

#ifndef Py_GIL_DISABLED
    // A thread that the interpreter ends at exit by unwinding has no lock; the process ends anyway.
    void drop_left() noexcept {
        if (is_interpreter_exiting()) return;
        for (std::uint32_t count = std::exchange(left_, 0); count != 0; --count) drop_reference();
    }

    std::uint32_t pins_ = 0;
    std::uint32_t left_ = 0;
#endif
};

// A type-erased reference that keeps another handle's cell, or a Python object, alive.
class Keep {
public:
    Keep() noexcept = default;

    // The caller holds the interpreter lock.
    static Keep of_object(PyObject* object) noexcept {
        Keep keep;
        keep.object_ = Py_NewRef(object);
        return keep;
    }

    static Keep of_cell(Cell* cell) noexcept {
        Keep keep;
        keep.cell_ = cell;
        if (cell) cell->add_reference();
        return keep;
    }

    Keep(const Keep& other) noexcept : cell_(other.cell_), object_(other.object_) {
        if (cell_) cell_->add_reference();
        if (object_) copy_object();
    }

    Keep(Keep&& other) noexcept
        : cell_(std::exchange(other.cell_, nullptr)), object_(std::exchange(other.object_, nullptr)) {}

    Keep& operator=(Keep other) noexcept {
        std::swap(cell_, other.cell_);
        std::swap(object_, other.object_);
        return *this;
    }

    ~Keep() {
        if (cell_) cell_->drop_reference();
        if (object_) drop_object();
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

// A counted reference to a value of type T. Empty and closed are the same state, given by the truth
// value and not by the address, because zero can be a legal driver value.
template <class T>
class Handle {
public:
    using Destroy = void (*)(T);

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

    // Takes ownership: `destroy(value)` runs once, when the last copy goes. If the cell cannot be
    // allocated, the value is destroyed before the exception leaves.
    static Handle own(T value, Destroy destroy, Keep keep) {
        TypedCell* cell = new (std::nothrow) TypedCell(std::move(value), destroy, std::move(keep), true);
        if (!cell) {
            WithoutGil released;
            destroy(std::move(value));
            throw std::bad_alloc();
        }
        return Handle(cell);
    }

    // The same where `destroy` waits for nothing while it holds the interpreter lock: the lock is not
    // dropped around it, because taking it again costs more than such a `destroy`.
    static Handle own_without_blocking(T value, Destroy destroy, Keep keep) {
        TypedCell* cell = new (std::nothrow) TypedCell(std::move(value), destroy, std::move(keep), false);
        if (!cell) {
            destroy(std::move(value));
            throw std::bad_alloc();
        }
        return Handle(cell);
    }

    // Refers to a value that is destroyed elsewhere.
    static Handle borrow(T value, Keep keep) {
        return Handle(new TypedCell(std::move(value), nullptr, std::move(keep), false));
    }

    void reset() noexcept {
        if (TypedCell* cell = std::exchange(cell_, nullptr)) cell->drop_reference();
    }

    // The value, or a zero value when empty. Not of a temporary handle, which would end before the value is used.
    T get() const& noexcept { return cell_ ? cell_->value : T{}; }
    T get() const&& = delete;

    // Access in place, for values that are structs. Only for open handles.
    T& value() const& noexcept { return cell_->value; }
    T& value() const&& = delete;

    Keep keep() const noexcept { return Keep::of_cell(cell_); }
    PyObject* kept_object() const noexcept { return cell_ ? cell_->keep.object() : nullptr; }
    bool is_owner() const noexcept { return cell_ && cell_->destroy; }
    std::uint32_t use_count() const noexcept { return cell_ ? cell_->use_count() : 0; }
    explicit operator bool() const noexcept { return cell_ != nullptr; }

private:
    template <class>
    friend class Registry;
    template <class>
    friend class Member;
    template <class>
    friend class Kept;
    friend class ArgumentBlock;
    friend class LaunchList;
    friend class WeakCell;

    struct TypedCell final : Cell {
        TypedCell(T&& value, Destroy destroy, Keep&& keep, bool can_block) noexcept
            : value(std::move(value)),
              destroy(destroy),
              keep(std::move(keep)),
              born_at(fork_count()),
              can_block(can_block) {}

        // A forked child cannot use resources of its parent: there `destroy` is not called.
        void end() noexcept override {
            if (destroy && born_at == fork_count() && !is_left_at_exit()) {
                WithoutGil released(can_block);
                or_wait_for_exit([this] { destroy(std::move(value)); });
            }
            keep = Keep();
        }

        T value;
        Destroy destroy;
        Keep keep;
        const std::uint32_t born_at;
        const bool can_block;
    };

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

// An object that each process has for itself. A forked child begins with a fresh one: what its parent's refers
// to means nothing there, and its lock may have been taken by a thread that the child does not have.
template <class T>
class PerProcess {
public:
    T& current() {
        Born* born = born_.load(std::memory_order_acquire);
        if (born->at == fork_count()) return born->object;
        Born* fresh = new Born;
        if (born_.compare_exchange_strong(born, fresh)) return fresh->object;
        delete fresh;
        return born->object;
    }

private:
    struct Born {
        T object;
        const std::uint32_t at = fork_count();
    };

    std::atomic<Born*> born_{new Born};  // never deleted: threads may outlive the interpreter
};

// Finds the live handle of a raw value, so that what comes back from the driver is the object
// that went in. An entry whose handle has ended is replaced or removed, a live one never. The
// methods are virtual so that only the extension that made the registry counts its forks.
template <class T>
class Registry {
public:
    using H = Handle<T>;

    // The registered handle of the same value if one is alive, else `handle`, now registered unless it is empty.
    virtual H add(const H& handle) {
        if (!handle) return handle;
        State& state = state_.current();
        std::lock_guard<std::mutex> lock(state.mutex);
        auto [place, is_new] = state.cells.try_emplace(handle.get(), handle.cell_);
        if (!is_new) {
            if (place->second->add_reference_if_alive()) return H(place->second);
            place->second->drop_weak();
            place->second = handle.cell_;
        }
        handle.cell_->add_weak();
        return handle;
    }

    // The live handle of `value`, or an empty one.
    virtual H find(T value) {
        State& state = state_.current();
        std::lock_guard<std::mutex> lock(state.mutex);
        auto place = state.cells.find(value);
        if (place == state.cells.end() || !place->second->add_reference_if_alive()) return H();
        return H(place->second);
    }

    // Called as the value is destroyed, before the driver can hand out the same value again.
    virtual void remove(T value) noexcept {
        State& state = state_.current();
        std::lock_guard<std::mutex> lock(state.mutex);
        auto place = state.cells.find(value);
        if (place == state.cells.end() || place->second->is_alive()) return;
        place->second->drop_weak();
        state.cells.erase(place);
    }

    virtual std::vector<H> living() {
        State& state = state_.current();
        std::lock_guard<std::mutex> lock(state.mutex);
        std::vector<H> found;
        for (auto& [value, cell] : state.cells)
            if (cell->add_reference_if_alive()) found.push_back(H(cell));
        return found;
    }

    virtual std::size_t size() {
        State& state = state_.current();
        std::lock_guard<std::mutex> lock(state.mutex);
        return state.cells.size();
    }

private:
    struct State {
        std::mutex mutex;
        std::unordered_map<T, typename H::TypedCell*> cells;
    };

    PerProcess<State> state_;
};

template <class T>
inline std::intptr_t address(const Handle<T>& handle) noexcept {
    return reinterpret_cast<std::intptr_t>(handle.get());
}

}  // namespace cuda_core
