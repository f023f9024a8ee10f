// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "event.hpp"

#include "../device.hpp"
#include "capture_calls.hpp"
#include "event_sharing.hpp"

namespace emu::state {
namespace {

HandleTable<Event, CUevent>& events()
{
    static auto* rows = new HandleTable<Event, CUevent>;
    return *rows;
}

const AtContextEnd end_events_with_context(&Event::forget_context);

} // namespace

CUresult Event::create(Context& context, unsigned flags, CUevent* out)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (flags & ~known)
        return CUDA_ERROR_INVALID_VALUE;
    bool shared = flags & CU_EVENT_INTERPROCESS;
    if (shared && !(flags & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_VALUE;
    auto event = std::make_shared<Event>();
    event->context_ = context.weak_from_this();
    event->flags_ = flags;
    if (shared && !(event->shared_ = SharedEvent::make(context.device().ordinal())))
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->handle_ = events().add(event);
    *out = event->handle_;
    return CUDA_SUCCESS;
}

CUresult Event::open(Context& context, const CUipcEventHandle& handle, CUevent* out)
{
    auto event = std::make_shared<Event>();
    if (CUresult failed = SharedEvent::open(handle, &event->shared_))
        return failed;
    event->context_ = context.weak_from_this();
    event->flags_ = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
    event->handle_ = events().add(event);
    *out = event->handle_;
    return CUDA_SUCCESS;
}

bool Event::is_recorded_elsewhere() const
{
    auto point = last();
    return shared_ && shared_->latest() != (point ? point->shared : 0);
}

CUresult Event::destroy(CUevent handle)
{
    return events().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

std::shared_ptr<Event> Event::find(CUevent handle)
{
    return events().find(handle);
}

void Event::forget_context(const Context& context)
{
    for (auto& row : events().all())
        if (row.first->context().get() == &context)
            events().remove(row.first->handle());
}

std::vector<std::pair<std::shared_ptr<Event>, Origin>> Event::all()
{
    return events().all();
}

CUresult Event::error() const
{
    auto context = context_.lock();
    return context ? context->sticky() : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

std::vector<Place> Event::Point::places() const
{
    std::vector<Place> all = before;
    all.push_back(place);
    return all;
}

CUresult Event::query() const
{
    if (CUresult failed = error())
        return failed;
    if (CUresult failed = CaptureCalls::get().reject(*this))
        return failed;
    if (is_recorded_elsewhere())
        return shared_->reached(shared_->latest()) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    auto point = last();
    if (!point)
        return CUDA_SUCCESS;
    if (!point->place.reached())
        Queue::let_run();
    if (!point->place.reached())
        return CUDA_ERROR_NOT_READY;
    bool whole = true;
    for (const Place& place : point->places()) {
        place.seen();
        whole &= !place.queue->report_dropped(place.queue->dropped());
    }
    if (CUresult failed = error()) // the work may have failed since the first check
        return failed;
    return whole ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

CUresult Event::synchronize() const
{
    if (CUresult failed = CaptureCalls::get().reject(*this))
        return failed;
    CUresult result = CUDA_SUCCESS;
    if (is_recorded_elsewhere()) {
        auto context = context_.lock();
        GenerationScope scope(context ? context->generation() : 0);
        shared_->wait(shared_->latest(), [&] { return owner_is_interrupted(context_); });
        if (owner_is_interrupted(context_))
            result = CUDA_ERROR_LAUNCH_FAILED;
    } else if (auto point = last()) {
        result = wait_for(point->places());
        exec::flush_output();
        count_synchronization();
    }
    CUresult failed = error();
    return failed ? failed : result;
}

CUresult Event::elapsed(const Event& start, const Event& end, float* milliseconds)
{
    auto from = start.last(), to = end.last();
    if (!from || !to || ((start.flags_ | end.flags_) & CU_EVENT_DISABLE_TIMING) ||
        start.context_.lock() != end.context_.lock())
        return CUDA_ERROR_INVALID_HANDLE;
    for (const Event* event : {&start, &end})
        if (CUresult failed = CaptureCalls::get().reject(*event))
            return failed;
    if (!from->place.reached() || !to->place.reached())
        return CUDA_ERROR_NOT_READY;
    if (CUresult failed = start.error())
        return failed;
    *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
    return CUDA_SUCCESS;
}

} // namespace emu::state
