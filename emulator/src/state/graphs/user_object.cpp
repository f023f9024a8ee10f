// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "user_object.hpp"

#include <utility>

#include "../streams/queue.hpp"

namespace emu::state {
namespace {

HandleTable<UserObject, CUuserObject>& user_objects()
{
    static auto* rows = new HandleTable<UserObject, CUuserObject>;
    return *rows;
}

// Destructors run sequentially on a library thread.
Queue& destructors()
{
    static auto* queue = [] {
        auto made = new std::shared_ptr<Queue>(std::make_shared<Queue>(true, 0));
        (*made)->execute = [](Operation& operation) {
            operation.work();
            return true;
        };
        return made;
    }();
    return **queue;
}

} // namespace

CUresult UserObject::create(void* pointer, CUhostFn destroy, unsigned count, CUuserObject* out)
{
    auto object = std::make_shared<UserObject>(pointer, destroy, count);
    object->handle_ = user_objects().add(object);
    *out = object->handle_;
    return CUDA_SUCCESS;
}

std::shared_ptr<UserObject> UserObject::find(CUuserObject handle)
{
    return user_objects().find(handle);
}

// The destructor may free memory that these launches have used.
void UserObject::note_launch()
{
    auto turn = exec::current_turn();
    if (!turn || !turn->before)
        return;
    std::lock_guard lock(mutex_);
    exec::join(launches_, *turn->before);
    exec::join(launches_, {{turn->queue, turn->number}});
}

CUresult UserObject::release(unsigned count)
{
    note_launch();
    unsigned now = count_.load();
    do {
        if (count > now)
            return CUDA_ERROR_INVALID_VALUE;
    } while (!count_.compare_exchange_weak(now, now - count));
    if (now != count)
        return CUDA_SUCCESS;
    auto self = user_objects().remove(handle_);
    Queue::frees_follow(launches_);
    destructors().add({Operation::Kind::host_function, "cuUserObjectRelease",
                       [destroy = destroy_, pointer = pointer_] {
                           if (CallbackScope scope; scope)
                               destroy(pointer);
                           return CUDA_SUCCESS;
                       }},
                      {});
    return CUDA_SUCCESS;
}

UserObjects& UserObjects::operator=(UserObjects other)
{
    std::swap(rows_, other.rows_);
    return *this;
}

UserObjects::~UserObjects()
{
    for (auto& row : rows_)
        row.first->release(row.second);
}

void UserObjects::add(const UserObjects& other)
{
    for (auto& row : other.rows_)
        add(row.first, row.second, false);
}

void UserObjects::add(const std::shared_ptr<UserObject>& object, unsigned count, bool owned)
{
    if (!owned)
        object->retain(count);
    rows_[object] += count;
}

CUresult UserObjects::remove(const std::shared_ptr<UserObject>& object, unsigned count)
{
    auto row = rows_.find(object);
    if (row == rows_.end() || row->second < count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!(row->second -= count))
        rows_.erase(row);
    return object->release(count);
}

} // namespace emu::state
