// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The arguments of one launch, in the layout that the driver reads: on the stack for most kernels. It also
// keeps the memory of the buffers among them. Pinning each, as a `Kept` does, would cost more than writing
// it; so closing a buffer searches the arguments of the launches in progress.
#pragma once

#include <Python.h>
#include <pthread.h>

#include <cstddef>

#include "member.hpp"

namespace cuda_core {

class ArgumentBlock;

// The launches in progress, guarded by the interpreter lock; without one, the list is empty. It
// exists once and is never destroyed.
class LaunchList {
public:
    LaunchList() {
        instance() = this;
        pthread_atfork(nullptr, nullptr, [] { instance()->forget_all(); });
    }

    // Passes the reference that an object is about to drop to the launches that have it among their arguments.
    template <class T>
    void keep_memory_of(PyObject* object, const Member<T>& member) noexcept;

private:
    friend class ArgumentBlock;

    static LaunchList*& instance() noexcept {
        static LaunchList* list = nullptr;
        return list;
    }

    inline void forget_all() noexcept;

    ArgumentBlock* first_ = nullptr;
};

class ArgumentBlock {
public:
    static constexpr std::size_t near_count = 48;
    static constexpr std::size_t near_size = 512;

    ArgumentBlock() noexcept {}
    ~ArgumentBlock() { clear(); }
    ArgumentBlock(const ArgumentBlock&) = delete;
    ArgumentBlock& operator=(const ArgumentBlock&) = delete;

    // Reserves room for so many arguments of so many bytes; returns the address of the bytes, or null without
    // memory. From here on the memory of buffers among the arguments is kept.
    char* begin(LaunchList& list, PyObject* const* arguments, std::size_t count, std::size_t size) noexcept {
        char* bytes = near_bytes_;
        cells = near_cells_;
        places_ = near_places_;
        if ((count > near_count || size > near_size) && !(bytes = reserve_far(count, size))) return nullptr;
#ifndef Py_GIL_DISABLED
        arguments_ = arguments;
        count_ = count;
        next_ = list.first_;
        link_ = &list.first_;
        if (next_) next_->link_ = &next_;
        list.first_ = this;
#endif
        return bytes;
    }

    // The value of a member of an argument, or null if it is closed.
    template <class T>
    T* value_of(const Member<T>& member) noexcept {
#ifndef Py_GIL_DISABLED
        return member.cell_ ? &member.cell_->value : nullptr;
#else
        Handle<T> handle = member.copy();
        auto* const cell = std::exchange(handle.cell_, nullptr);
        if (!cell) return nullptr;
        keep(cell);
        return &cell->value;
#endif
    }

    // Lets go of the memory. The addresses stay.
    void end() noexcept {
        if (link_) unlink();
        while (kept_count_ != 0) places_[--kept_count_]->drop_reference();
    }

    void** cells = nullptr;  // one address for each argument; null without arguments

private:
    friend class LaunchList;

    void clear() noexcept {
        end();
        if (heap_) PyMem_RawFree(std::exchange(heap_, nullptr));
    }

    char* reserve_far(std::size_t count, std::size_t size) noexcept {
        heap_ = PyMem_RawMalloc(count * (sizeof(void*) + sizeof(Cell*)) + size);
        if (!heap_) return nullptr;
        cells = static_cast<void**>(heap_);
        places_ = reinterpret_cast<Cell**>(cells + count);
        return reinterpret_cast<char*>(places_ + count);
    }

    // Takes over a reference. Each argument gives one at most: it is closed once.
    void keep(Cell* cell) noexcept { places_[kept_count_++] = cell; }

    void unlink() noexcept {
        *link_ = next_;
        if (next_) next_->link_ = link_;
        next_ = nullptr;
        link_ = nullptr;
    }

    PyObject* const* arguments_ = nullptr;
    std::size_t count_ = 0;
    ArgumentBlock* next_ = nullptr;
    ArgumentBlock** link_ = nullptr;  // what refers to this block in the list
    void* heap_ = nullptr;            // null while all fits below
    Cell** places_ = nullptr;
    std::size_t kept_count_ = 0;
    void* near_cells_[near_count];
    Cell* near_places_[near_count];
    char near_bytes_[near_size];
};

template <class T>
inline void LaunchList::keep_memory_of(PyObject* object, const Member<T>& member) noexcept {
    for (ArgumentBlock* launch = first_; launch; launch = launch->next_) {
        for (std::size_t index = 0; index < launch->count_; ++index) {
            if (launch->arguments_[index] != object) continue;
            Handle<T> handle = member.copy();
            if (handle.cell_) launch->keep(std::exchange(handle.cell_, nullptr));
            break;
        }
    }
}

// In a forked child: what other threads of the parent were launching is not going on there.
inline void LaunchList::forget_all() noexcept {
    while (first_) first_->unlink();
}

}  // namespace cuda_core
