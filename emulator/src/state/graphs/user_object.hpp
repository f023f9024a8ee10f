// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// User objects: reference-counted program objects kept by graphs. A function is called after the last reference is
// gone, on a thread that may not make driver calls.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "../../common.hpp"
#include "../../exec/checks/turns.hpp"
#include "../handles.hpp"

namespace emu::state {

class UserObject : public std::enable_shared_from_this<UserObject> {
public:
    static CUresult create(void* pointer, CUhostFn destroy, unsigned count, CUuserObject* out);
    static std::shared_ptr<UserObject> find(CUuserObject handle);

    void retain(unsigned count) { count_ += count; }
    CUresult release(unsigned count); // INVALID_VALUE if there are fewer references

    UserObject(void* pointer, CUhostFn destroy, unsigned count) : pointer_(pointer), destroy_(destroy), count_(count) {}

private:
    void note_launch();

    void* pointer_;
    CUhostFn destroy_;
    CUuserObject handle_ = nullptr;
    std::atomic<unsigned> count_;
    std::mutex mutex_;
    exec::Order launches_; // that have released it, if races are checked
};

// The references of one owner, which are released with it.
class UserObjects {
public:
    UserObjects() = default;
    UserObjects(const UserObjects& other) { add(other); }
    UserObjects& operator=(UserObjects other);
    ~UserObjects();

    void add(const UserObjects& other);
    // `owned` means that the references are moved from the caller.
    void add(const std::shared_ptr<UserObject>& object, unsigned count, bool owned);
    CUresult remove(const std::shared_ptr<UserObject>& object, unsigned count);

private:
    std::map<std::shared_ptr<UserObject>, unsigned> rows_;
};

} // namespace emu::state
