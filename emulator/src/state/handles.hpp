// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Driver handles are numbers that look like pointers. They are never reused or dereferenced but looked up in a table,
// which exposes destroyed and foreign handles.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "../common.hpp"
#include "origin.hpp"

namespace emu::state {

enum class HandleState { live, destroyed, never };

// T is the object, H the driver's handle type. Each kind has one table, in its .cpp file.
template <class T, class H> class HandleTable {
public:
    H add(std::shared_ptr<T> object)
    {
        std::unique_lock lock(mutex_);
        uintptr_t number = next();
        rows_[number] = {std::move(object), origin};
        return reinterpret_cast<H>(number);
    }

    // Adds an object under a previously used handle, for primary contexts.
    void put(H handle, std::shared_ptr<T> object)
    {
        std::unique_lock lock(mutex_);
        rows_[reinterpret_cast<uintptr_t>(handle)] = {std::move(object), origin};
    }

    std::shared_ptr<T> find(H handle) const
    {
        std::shared_lock lock(mutex_);
        auto row = rows_.find(reinterpret_cast<uintptr_t>(handle));
        return row == rows_.end() ? nullptr : row->second.object;
    }

    // Returns the object, so it is destroyed after the lock is released.
    std::shared_ptr<T> remove(H handle)
    {
        std::unique_lock lock(mutex_);
        auto row = rows_.find(reinterpret_cast<uintptr_t>(handle));
        if (row == rows_.end())
            return nullptr;
        auto object = std::move(row->second.object);
        rows_.erase(row);
        return object;
    }

    HandleState state_of(H handle) const
    {
        std::shared_lock lock(mutex_);
        auto number = reinterpret_cast<uintptr_t>(handle);
        if (rows_.count(number))
            return HandleState::live;
        bool given = number >= first && number < next_.load() && number % step == 0;
        return given ? HandleState::destroyed : HandleState::never;
    }

    // Returns all live objects in creation order, with the driver call that created each.
    std::vector<std::pair<std::shared_ptr<T>, Origin>> all() const
    {
        std::shared_lock lock(mutex_);
        std::map<uintptr_t, std::pair<std::shared_ptr<T>, Origin>> sorted;
        for (const auto& row : rows_)
            sorted[row.first] = {row.second.object, row.second.made_by};
        std::vector<std::pair<std::shared_ptr<T>, Origin>> out;
        for (auto& row : sorted)
            out.push_back(std::move(row.second));
        return out;
    }

private:
    struct Row {
        std::shared_ptr<T> object;
        Origin made_by;
    };
    // Below every mapped address, so dereferencing a handle faults.
    static constexpr uintptr_t first = 0x10000, step = 16;
    static std::atomic<uintptr_t> next_; // one per kind; different kinds may have equal numbers
    static uintptr_t next() { return next_.fetch_add(step); }

    mutable std::shared_mutex mutex_;
    std::unordered_map<uintptr_t, Row> rows_;
};

template <class T, class H> std::atomic<uintptr_t> HandleTable<T, H>::next_{HandleTable<T, H>::first};

} // namespace emu::state
