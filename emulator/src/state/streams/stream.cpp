// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include <algorithm>
#include <unordered_map>

#include "../../config.hpp"
#include "capture_calls.hpp"
#include "event.hpp"
#include "event_sharing.hpp"

namespace emu::state {
namespace {

HandleTable<Stream, CUstream>& streams()
{
    static auto* rows = new HandleTable<Stream, CUstream>;
    return *rows;
}

std::atomic<uint64_t> next_stream_id{1};

const AtContextEnd end_streams_with_context(&Stream::forget_context);

} // namespace

std::shared_ptr<Stream> Stream::make(Context& context, unsigned flags, int priority, bool legacy, const GreenHome& home)
{
    auto stream = std::make_shared<Stream>();
    stream->context_ = context.weak_from_this();
    stream->id_ = next_stream_id++;
    stream->flags_ = flags;
    stream->priority_ = std::clamp(priority, int(stream_priority_greatest), int(stream_priority_least));
    stream->legacy_ = legacy;
    bool of_context = legacy && !home.id;
    stream->queue_ = of_context ? context.legacy_queue() : context.make_queue(stream->priority_);
    stream->home_ = home;
    if (!legacy)
        stream->legacy_queue_ = home.id ? home.legacy_queue : context.legacy_queue();
    return stream;
}

StreamRow Stream::row()
{
    return {this, weak_from_this(), queue_, is_blocking(), home_.id};
}

std::shared_ptr<Stream> Stream::legacy_of(Context& context)
{
    return context.legacy_stream([](Context& owner) { return make(owner, 0, 0, true); });
}

std::shared_ptr<Stream> Stream::of_this_thread(Context& context)
{
    thread_local std::unordered_map<uint64_t, std::shared_ptr<Stream>> streams; // by context id
    auto& stream = streams[context.id()];
    if (!stream) {
        stream = make(context, 0, 0, false);
        context.add_stream(stream->row());
    }
    return stream;
}

CUresult Stream::attribute(CUlaunchAttributeID id, CUlaunchAttributeValue* value) const
{
    std::lock_guard lock(attributes_mutex_);
    auto found = attributes_.find(id);
    *value = found == attributes_.end() ? CUlaunchAttributeValue{} : found->second;
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value->priority = priority();
    else if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY && found == attributes_.end())
        value->syncPolicy = CU_SYNC_POLICY_AUTO;
    else if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP && found == attributes_.end())
        value->memSyncDomainMap.remote = 1;
    return CUDA_SUCCESS;
}

CUresult Stream::set_attribute(CUlaunchAttributeID id, const CUlaunchAttributeValue& value)
{
    std::lock_guard lock(attributes_mutex_);
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        priority_ = std::clamp(value.priority, int(stream_priority_greatest), int(stream_priority_least));
    else
        attributes_[id] = value;
    return CUDA_SUCCESS;
}

void Stream::copy_attributes(const Stream& from)
{
    if (this == &from)
        return;
    std::scoped_lock lock(attributes_mutex_, from.attributes_mutex_);
    attributes_ = from.attributes_;
    priority_ = from.priority();
}

CUresult Stream::create(Context& context, unsigned flags, int priority, CUstream* out, const GreenHome& home)
{
    if (flags & ~unsigned(CU_STREAM_NON_BLOCKING))
        return CUDA_ERROR_INVALID_VALUE;
    auto stream = make(context, flags, priority, false, home);
    stream->handle_ = streams().add(stream);
    context.add_stream(stream->row());
    *out = stream->handle_;
    return CUDA_SUCCESS;
}

CUresult Stream::destroy(CUstream handle)
{
    auto stream = streams().remove(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    CaptureCalls::get().leave(*stream);
    if (auto context = stream->context())
        context->remove_stream(stream.get());
    return CUDA_SUCCESS;
}

std::shared_ptr<Stream> Stream::find(CUstream handle)
{
    return streams().find(handle);
}

void Stream::forget_context(const Context& context)
{
    for (auto& row : streams().all())
        if (row.first->context().get() == &context) {
            CaptureCalls::get().leave(*row.first);
            streams().remove(row.first->handle());
        }
}

std::vector<std::pair<std::shared_ptr<Stream>, Origin>> Stream::all()
{
    return streams().all();
}

std::vector<Place> Stream::legacy_places() const
{
    std::vector<Place> places;
    if (legacy_) {
        if (auto context = context_.lock())
            places = context->blocking_ends(home_.id);
    } else if (!(flags_ & CU_STREAM_NON_BLOCKING)) {
        auto legacy = legacy_queue_.lock();
        if (Place end{legacy, legacy ? legacy->submitted() : 0}; !end.can_be_ignored())
            places.push_back(std::move(end));
    }
    return places;
}

CUresult Stream::submit(Operation operation, std::vector<Place> places, bool wait)
{
    if (auto context = context_.lock())
        operation.generation = context->generation();
    auto own = legacy_places();
    places.insert(places.end(), own.begin(), own.end());
    bool serial = config().mode == Mode::deterministic;
    uint64_t number = queue_->add(std::move(operation), std::move(places), !wait && !serial);
    if (serial)
        queue_->wait(number, true);
    return wait ? wait_for({{queue_, number}}) : CUDA_SUCCESS;
}

// Returns the error if blocking streams, which the legacy stream would wait for, are capturing.
CUresult Stream::check_legacy() const
{
    auto context = legacy_ ? context_.lock() : nullptr;
    return context ? CaptureCalls::get().reject_legacy(*context) : CUDA_SUCCESS;
}

CUresult Stream::enqueue(Operation operation)
{
    if (is_capturing())
        return CaptureCalls::get().reject(*this); // graphs have no such node
    if (CUresult failed = check_legacy())
        return failed;
    return submit(std::move(operation), {}, false);
}

CUresult Stream::run(Operation operation)
{
    auto context = context_.lock();
    if (is_capturing())
        return CaptureCalls::get().reject(*this);
    if (CUresult failed = check_legacy())
        return failed;
    CUresult result = submit(std::move(operation), {}, true);
    exec::flush_output();
    return context && context->sticky() ? context->sticky() : result;
}

CUresult Stream::record(const std::shared_ptr<Event>& event, std::vector<Place> before)
{
    if (is_capturing())
        return CaptureCalls::get().record(*this, *event);
    if (CUresult failed = check_legacy())
        return failed;
    auto point = event->new_point();
    point->context = context_;
    auto shared = event->shared();
    if (shared)
        point->shared = shared->begin();
    // The number is known after the operation is queued; nobody reads the point before then.
    Operation operation{Operation::Kind::record, "cuEventRecord", [point, shared] {
                            point->time = std::chrono::steady_clock::now();
                            if (shared)
                                shared->finish(point->shared);
                            return CUDA_SUCCESS;
                        }};
    point->place.queue = queue_;
    auto places = legacy_places();
    places.insert(places.end(), before.begin(), before.end());
    point->before = std::move(before);
    point->place.number = queue_->add(std::move(operation), std::move(places));
    if (config().mode == Mode::deterministic)
        queue_->wait(point->place.number, true);
    event->publish(point);
    return CUDA_SUCCESS;
}

// When captured, records on each run of the graph (cudaEventRecordExternal).
CUresult Stream::record_external(const std::shared_ptr<Event>& event)
{
    return CaptureCalls::get().record_external(*this, event);
}

CUresult Stream::wait(const std::shared_ptr<Event>& event, bool external)
{
    auto point = event->last();
    if (is_capturing() || (point && point->captured))
        return CaptureCalls::get().wait(*this, event, external);
    if (event->is_recorded_elsewhere()) {
        auto shared = event->shared();
        auto work = [shared, number = shared->latest(), weak = context_] {
            shared->wait(number, [&] { return owner_is_interrupted(weak); });
            return CUDA_SUCCESS;
        };
        return submit({Operation::Kind::wait, "cuStreamWaitEvent", work}, {}, false);
    }
    if (!point || point->place.can_be_ignored())
        return CUDA_SUCCESS;
    return submit({Operation::Kind::wait, "cuStreamWaitEvent", nullptr}, {point->place}, false);
}

CUresult Stream::follow(const Place& place)
{
    return submit({Operation::Kind::wait, "cuGraphLaunch", nullptr}, {place}, false);
}

exec::Turn Stream::take_turn(const char* call)
{
    submit({Operation::Kind::allocate, call, nullptr}, {}, false);
    exec::Turn turn;
    turn.queue = queue_->id(), turn.number = queue_->submitted();
    turn.name = call;
    return turn;
}

CUresult Stream::query()
{
    auto context = context_.lock();
    if (context && context->sticky() != CUDA_SUCCESS)
        return context->sticky();
    if (is_capturing())
        return CaptureCalls::get().reject(*this);
    if (CUresult failed = check_legacy())
        return failed;
    std::vector<Place> places{{queue_, queue_->submitted()}};
    auto is_busy = [&] {
        if (legacy_)
            for (const Place& place : legacy_places())
                places.push_back(place);
        return !std::all_of(places.begin(), places.end(), [](const Place& place) { return place.reached(); });
    };
    if (is_busy())
        Queue::let_run();
    if (is_busy())
        return CUDA_ERROR_NOT_READY;
    for (const Place& place : places)
        place.seen();
    if (context && context->sticky() != CUDA_SUCCESS) // the work may have failed since the first check
        return context->sticky();
    return queue_->report_dropped(queue_->dropped()) ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

CUresult Stream::synchronize()
{
    auto context = context_.lock();
    if (is_capturing())
        return CaptureCalls::get().reject(*this);
    if (CUresult failed = check_legacy())
        return failed;
    std::vector<Place> places;
    if (legacy_) // the legacy stream follows all blocking streams
        places = legacy_places();
    places.push_back({queue_, queue_->submitted()});
    CUresult result = wait_for(places);
    exec::flush_output();
    count_synchronization();
    return context && context->sticky() ? context->sticky() : result;
}

} // namespace emu::state
