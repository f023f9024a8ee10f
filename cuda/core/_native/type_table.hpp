// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// A hash table from Python types, by address, to values; lookups take no lock.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cuda_core {

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

    // Returns false if the table is full. Keeps a reference to the type for ever: if it were freed, another type could
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

} // namespace cuda_core
