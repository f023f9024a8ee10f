// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The arguments of one launch, in the layout that the driver reads: on the stack for most kernels. The block also keeps
// the memory of buffers among the arguments. Pinning each buffer, as a `Pin` does, would cost more than writing its
// address; so closing a buffer searches the arguments of the launches in progress.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "handle_field.hpp"

namespace cuda_core {

class ArgumentBlock;

// The launches in progress, guarded by the GIL; empty on free-threaded Python. The only instance is never
// destroyed.
class LaunchList {
public:
    // Lets the launches that have `object` as an argument keep its memory; called before `object` is closed.
    template <class T>
    void keep_memory_of(PyObject* object, const HandleField<T>& field) noexcept;

    // In a forked child: the launches of the parent's other threads do not exist there.
    inline void forget_all() noexcept;

private:
    friend class ArgumentBlock;

    ArgumentBlock* first_ = nullptr;
};

class ArgumentBlock {
public:
    static constexpr std::size_t inline_count = 48;
    static constexpr std::size_t inline_size = 512;

    ArgumentBlock() noexcept {}
    ~ArgumentBlock() { clear(); }
    ArgumentBlock(const ArgumentBlock&) = delete;
    ArgumentBlock& operator=(const ArgumentBlock&) = delete;

    // Reserves space for `count` arguments of `size` bytes in all; returns the address of the bytes, or null if the
    // host is out of memory. From here on the memory of buffers among the arguments is kept.
    char* begin(LaunchList& list, PyObject* const* arguments, std::size_t count, std::size_t size) noexcept {
        char* bytes = inline_bytes_;
        kernel_params = inline_params_;
        kept_ = inline_kept_;
        if ((count > inline_count || size > inline_size) && !(bytes = allocate(count, size))) return nullptr;
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

    // The value of a field of an argument, or null if it is closed.
    template <class T>
    T* value_of(const HandleField<T>& field) noexcept {
#ifndef Py_GIL_DISABLED
        return field.cell_ ? &field.cell_->value : nullptr;
#else
        Handle<T> handle = field.copy();
        auto* const cell = std::exchange(handle.cell_, nullptr);
        if (!cell) return nullptr;
        keep(cell);
        return &cell->value;
#endif
    }

    // Drops the references to memory. The written addresses stay.
    void end() noexcept {
        if (link_) unlink();
        while (kept_count_ != 0) kept_[--kept_count_]->drop_reference();
    }

    void** kernel_params = nullptr;  // the address of each argument's bytes; null without arguments

private:
    friend class LaunchList;

    void clear() noexcept {
        end();
        if (heap_) PyMem_RawFree(std::exchange(heap_, nullptr));
    }

    char* allocate(std::size_t count, std::size_t size) noexcept {
        heap_ = PyMem_RawMalloc(count * (sizeof(void*) + sizeof(Cell*)) + size);
        if (!heap_) return nullptr;
        kernel_params = static_cast<void**>(heap_);
        kept_ = reinterpret_cast<Cell**>(kernel_params + count);
        return reinterpret_cast<char*>(kept_ + count);
    }

    // Takes over a reference. There is room, because each argument is closed at most once.
    void keep(Cell* cell) noexcept { kept_[kept_count_++] = cell; }

    void unlink() noexcept {
        *link_ = next_;
        if (next_) next_->link_ = link_;
        next_ = nullptr;
        link_ = nullptr;
    }

    PyObject* const* arguments_ = nullptr;
    std::size_t count_ = 0;
    ArgumentBlock* next_ = nullptr;
    ArgumentBlock** link_ = nullptr;  // the pointer in the list that points to this block
    void* heap_ = nullptr;            // null if all fits into the arrays below
    Cell** kept_ = nullptr;
    std::size_t kept_count_ = 0;
    void* inline_params_[inline_count];
    Cell* inline_kept_[inline_count];
    char inline_bytes_[inline_size];
};

template <class T>
inline void LaunchList::keep_memory_of(PyObject* object, const HandleField<T>& field) noexcept {
    for (ArgumentBlock* launch = first_; launch; launch = launch->next_) {
        for (std::size_t index = 0; index < launch->count_; ++index) {
            if (launch->arguments_[index] != object) continue;
            Handle<T> handle = field.copy();
            if (handle.cell_) launch->keep(std::exchange(handle.cell_, nullptr));
            break;
        }
    }
}

inline void LaunchList::forget_all() noexcept {
    while (first_) first_->unlink();
}

// The list of this process. It is never destroyed, because threads may outlive the interpreter.
CUDA_CORE_API LaunchList* launch_list() noexcept;

// A hash table from Python types, by address, to values; lookups take no lock.
// Open addressing. Entries are only added, by one thread at a time, and the type is stored after its value, so readers
// need no lock. The table is never more than half full.
template <class Value> class TypeTable {
public:
    const Value* find(PyTypeObject* cls) const noexcept
    {
        for (size_t slot = first_slot(cls);; slot = (slot + 1) % SIZE) {
            PyTypeObject* found = types_[slot].load(std::memory_order_acquire);
            if (found == cls)
                return &values_[slot];
            if (!found)
                return nullptr;
        }
    }

    // Returns false if the table is full. Keeps a reference to the type forever. If it were freed, another type could
    // get its address.
    bool add(PyTypeObject* cls, const Value& value) noexcept
    {
        if (find(cls))
            return true;
        if (count_ >= SIZE / 2)
            return false;
        size_t slot = first_slot(cls);
        while (types_[slot].load(std::memory_order_relaxed))
            slot = (slot + 1) % SIZE;
        values_[slot] = value;
        Py_INCREF(reinterpret_cast<PyObject*>(cls));
        types_[slot].store(cls, std::memory_order_release);
        ++count_;
        return true;
    }

private:
    static constexpr size_t SIZE = 256;

    static size_t first_slot(PyTypeObject* cls) noexcept
    {
        auto address = reinterpret_cast<uintptr_t>(cls);
        return (address >> 4 ^ address >> 12) % SIZE;
    }

    std::atomic<PyTypeObject*> types_[SIZE] = {};
    Value values_[SIZE] = {};
    size_t count_ = 0;
};

}  // namespace cuda_core
