// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "green_context.hpp"

#include "device.hpp"
#include "primary_context.hpp"
#include "streams/capture.hpp"
#include "streams/event.hpp"

namespace emu::state {
namespace {

HandleTable<GreenContext, CUgreenCtx>& green_contexts()
{
    static auto* rows = new HandleTable<GreenContext, CUgreenCtx>;
    return *rows;
}

// Descriptions live as long as the process, because the interface has no call that destroys them.
HandleTable<ResourceDescription, CUdevResourceDesc>& descriptions()
{
    static auto* rows = new HandleTable<ResourceDescription, CUdevResourceDesc>;
    return *rows;
}

std::atomic<uint64_t> next_green_context_id{1};
std::atomic<int> living{0}; // programs without green contexts pay for no lookup

// Adds a set of SMs. If a description contains several sets, they must come from one split, with one alignment.
CUresult add_resource(ResourceDescription* description, const MultiprocessorResource& more)
{
    auto& mine = description->multiprocessors;
    if (!mine) {
        mine = more;
        return CUDA_SUCCESS;
    }
    if (!more.split || more.split != mine->split || more.alignment != mine->alignment || more.domain != mine->domain)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    mine->members |= more.members;
    return CUDA_SUCCESS;
}

CUresult add_resource(ResourceDescription* description, const CUdevResource& resource, int* device)
{
    MultiprocessorResource multiprocessors;
    switch (resource.type) {
    case CU_DEV_RESOURCE_TYPE_SM:
        if (CUresult failed = MultiprocessorResource::read(resource, &multiprocessors))
            return failed;
        *device = multiprocessors.device;
        return add_resource(description, multiprocessors);
    case CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG:
        if (description->workqueues || !are_valid(resource.wqConfig))
            return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        *device = resource.wqConfig.device;
        description->workqueues = resource.wqConfig;
        return CUDA_SUCCESS;
    case CU_DEV_RESOURCE_TYPE_WORKQUEUE: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    }
}

const AtContextEnd end_green_contexts_with_context(&GreenContext::forget_context);

} // namespace

CUresult ResourceDescription::make(const CUdevResource* resources, unsigned count, CUdevResourceDesc* out)
{
    auto made = std::make_shared<ResourceDescription>();
    for (unsigned i = 0; i < count; ++i) {
        int device = 0;
        if (CUresult failed = add_resource(made.get(), resources[i], &device))
            return failed;
        if (!device_at(device))
            return CUDA_ERROR_INVALID_VALUE;
        if (i && device != made->device)
            return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        made->device = device;
    }
    *out = descriptions().add(std::move(made));
    return CUDA_SUCCESS;
}

std::shared_ptr<ResourceDescription> ResourceDescription::find(CUdevResourceDesc handle)
{
    return descriptions().find(handle);
}

MultiprocessorResource all_multiprocessors(const Device& device)
{
    return all_multiprocessors(device.ordinal(), unsigned(device.number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)),
                               device.major() >= 9 ? 8 : 2);
}

GreenHome GreenContext::home()
{
    return {weak_from_this(), id_, partition_, legacy_ ? legacy_->queue() : nullptr};
}

CUresult GreenContext::create(Device& device, const ResourceDescription& description, CUgreenCtx* out)
{
    CUcontext primary = nullptr;
    if (CUresult failed = PrimaryContext::of(device).retain(&primary))
        return failed;
    auto context = Context::find(primary);
    auto green = std::make_shared<GreenContext>();
    green->context_ = context;
    green->id_ = next_green_context_id++;
    green->multiprocessors_ = description.multiprocessors.value_or(all_multiprocessors(device));
    green->multiprocessors_.split = 0; // resources returned by a query may be split again
    green->workqueues_ = description.workqueues.value_or(default_workqueues(device.ordinal()));
    if (green->multiprocessors_.members != all_multiprocessors(device).members)
        green->partition_ = partition_of(green->multiprocessors_.members);
    green->legacy_ = Stream::make(*context, 0, 0, true, green->home());
    green->marks_ = Stream::make(*context, CU_STREAM_NON_BLOCKING, 0, false, green->home());
    context->add_stream(green->legacy_->row());
    green->alias_ = context->add_alias();
    green->handle_ = green_contexts().add(green);
    ++living;
    *out = green->handle_;
    return CUDA_SUCCESS;
}

CUresult GreenContext::destroy(CUgreenCtx handle)
{
    auto green = green_contexts().remove(handle);
    if (!green)
        return error_for(handle);
    auto context = green->context();
    green->end();
    return context ? PrimaryContext::of(context->device()).release() : CUDA_SUCCESS;
}

// Streams of an ended green context can only be destroyed.
void GreenContext::end()
{
    --living;
    Context::remove_alias(alias_);
    for (const auto& stream : streams())
        Capture::leave(*stream);
}

void GreenContext::forget_context(const Context& context)
{
    for (const auto& row : green_contexts().all())
        if (row.first->context().get() == &context && green_contexts().remove(row.first->handle()))
            row.first->end();
}

std::shared_ptr<GreenContext> GreenContext::find(CUgreenCtx handle)
{
    return green_contexts().find(handle);
}

CUresult GreenContext::error_for(CUgreenCtx handle)
{
    return handle && green_contexts().state_of(handle) == HandleState::destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                                                 : CUDA_ERROR_INVALID_CONTEXT;
}

std::shared_ptr<GreenContext> GreenContext::of(CUcontext handle)
{
    if (living.load(std::memory_order_relaxed) == 0)
        return nullptr;
    for (const auto& row : green_contexts().all())
        if (row.first->alias_ == handle)
            return row.first;
    return nullptr;
}

std::shared_ptr<GreenContext> GreenContext::current()
{
    return of(current_handle());
}

CUresult GreenContext::resource(CUdevResourceType type, CUdevResource* out) const
{
    if (type == CU_DEV_RESOURCE_TYPE_SM) {
        multiprocessors_.write(out);
        return CUDA_SUCCESS;
    }
    if (type != CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG)
        return type == CU_DEV_RESOURCE_TYPE_WORKQUEUE ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *out = {};
    out->type = type;
    out->wqConfig = workqueues_;
    return CUDA_SUCCESS;
}

CUresult GreenContext::create_stream(unsigned flags, int priority, CUstream* out)
{
    auto context = this->context();
    if (!context)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (CUresult failed = Stream::create(*context, flags, priority, out, home()))
        return failed;
    Place before{marks_->queue(), marks_->queue()->submitted()};
    // All later work of the green context waits for the event.
    return before.can_be_ignored() ? CUDA_SUCCESS : Stream::find(*out)->follow(before);
}

std::vector<std::shared_ptr<Stream>> GreenContext::streams() const
{
    auto context = this->context();
    return context ? context->streams(id_) : std::vector<std::shared_ptr<Stream>>{};
}

CUresult GreenContext::synchronize()
{
    auto context = this->context();
    return context ? context->synchronize(id_) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult GreenContext::record(const std::shared_ptr<Event>& event)
{
    for (const auto& stream : streams())
        if (stream->is_capturing())
            return Capture::reject(*stream);
    std::vector<Place> places;
    for (const auto& stream : streams())
        places.push_back({stream->queue(), stream->queue()->submitted()});
    return marks_->record(event, std::move(places));
}

CUresult GreenContext::wait(const std::shared_ptr<Event>& event)
{
    for (const auto& stream : streams())
        if (stream->is_capturing())
            return Capture::reject(*stream);
    if (CUresult failed = marks_->wait(event))
        return failed;
    for (const auto& stream : streams())
        if (CUresult failed = stream->wait(event))
            return failed;
    return CUDA_SUCCESS;
}

} // namespace emu::state
