// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// User objects: counted things of the program that graphs hold, each with a function that is
// called when the last reference has gone: later, on a thread that may make no driver calls.
#pragma once

#include <atomic>
#include <map>
#include <memory>

#include "../../common.hpp"
#include "../handles.hpp"

namespace emu::state {

class UserObject : public std::enable_shared_from_this<UserObject> {
public:
    static CUresult create(void* pointer, CUhostFn destroy, unsigned count, CUuserObject* out);
    static std::shared_ptr<UserObject> find(CUuserObject handle);

    void retain(unsigned count) { count_ += count; }
    CUresult release(unsigned count);          // INVALID_VALUE: there are not so many

    UserObject(void* pointer, CUhostFn destroy, unsigned count) : pointer_(pointer), destroy_(destroy), count_(count) {}

private:
    void* pointer_;
    CUhostFn destroy_;
    CUuserObject handle_ = nullptr;
    std::atomic<unsigned> count_;
};

// The references that one owner holds; they go with it.
class UserObjects {
public:
    UserObjects() = default;
    UserObjects(const UserObjects& other) { add(other); }
    UserObjects& operator=(UserObjects other);
    ~UserObjects();

    void add(const UserObjects& other);
    // `owned`: takes references over that the caller has.
    void add(const std::shared_ptr<UserObject>& object, unsigned count, bool owned);
    CUresult remove(const std::shared_ptr<UserObject>& object, unsigned count);

private:
    std::map<std::shared_ptr<UserObject>, unsigned> rows_;
};

} // namespace emu::state
