// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What is known of Python types, found by their addresses without a lock.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cuda_core {

// Open addressing. Entries are only added, by one thread at a time, and the type is stored last, so
// that readers need no lock; the table is never more than half full.
template <class Value> class TypeTable {
public:
    const Value* find(PyTypeObject* cls) const noexcept
    {
        for (size_t place = first(cls);; place = (place + 1) % SIZE) {
            PyTypeObject* found = types_[place].load(std::memory_order_acquire);
            if (found == cls)
                return &values_[place];
            if (!found)
                return nullptr;
        }
    }

    // False when there is no room. The type must live as long as the table: another could come to lie at its address.
    bool add(PyTypeObject* cls, const Value& value) noexcept
    {
        if (find(cls))
            return true;
        if (count_ >= SIZE / 2)
            return false;
        size_t place = first(cls);
        while (types_[place].load(std::memory_order_relaxed))
            place = (place + 1) % SIZE;
        values_[place] = value;
        Py_INCREF(reinterpret_cast<PyObject*>(cls));
        types_[place].store(cls, std::memory_order_release);
        ++count_;
        return true;
    }

private:
    static constexpr size_t SIZE = 256;

    static size_t first(PyTypeObject* cls) noexcept
    {
        auto address = reinterpret_cast<uintptr_t>(cls);
        return (address >> 4 ^ address >> 12) % SIZE;
    }

    std::atomic<PyTypeObject*> types_[SIZE] = {};
    Value values_[SIZE] = {};
    size_t count_ = 0;
};

} // namespace cuda_core
