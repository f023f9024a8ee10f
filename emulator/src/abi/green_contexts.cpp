// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Device resources, and the green contexts created from them.
#include "../config.hpp"
#include "../state/green_context.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

constexpr int workqueues_since = 13010;

// Returns INVALID_RESOURCE_TYPE for types that this driver version does not recognize.
CUresult check_type(CUdevResourceType type)
{
    bool known = type == CU_DEV_RESOURCE_TYPE_SM ||
                 (config().driver_version >= workqueues_since &&
                  (type == CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG || type == CU_DEV_RESOURCE_TYPE_WORKQUEUE));
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_RESOURCE_TYPE;
}

CUresult resource_of_device(const Device& device, CUdevResourceType type, CUdevResource* out)
{
    TRY(check_type(type));
    REQUIRE(type != CU_DEV_RESOURCE_TYPE_WORKQUEUE, CUDA_ERROR_NOT_SUPPORTED);
    if (type == CU_DEV_RESOURCE_TYPE_SM) {
        all_multiprocessors(device).write(out);
        return CUDA_SUCCESS;
    }
    *out = {};
    out->type = type;
    out->wqConfig = default_workqueues(device.ordinal());
    return CUDA_SUCCESS;
}

CUresult need_green(CUgreenCtx handle, std::shared_ptr<GreenContext>* out)
{
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    *out = GreenContext::find(handle);
    auto context = *out ? (*out)->context() : nullptr;
    return context ? context->sticky() : GreenContext::error_for(handle);
}

} // namespace

ENTRY(cuDeviceGetDevResource, 12040)(CUdevice device, CUdevResource* resource, CUdevResourceType type)
{
    REQUIRE(resource, CUDA_ERROR_INVALID_VALUE);
    Device* found = device_at(device);
    REQUIRE(found, CUDA_ERROR_INVALID_DEVICE);
    return resource_of_device(*found, type, resource);
}

ENTRY(cuCtxGetDevResource, 12040)(CUcontext hCtx, CUdevResource* resource, CUdevResourceType type)
{
    std::shared_ptr<Context> context;
    REQUIRE(resource, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(hCtx, &context));
    TRY(check_type(type));
    auto green = GreenContext::of(hCtx ? hCtx : current_handle());
    return green ? green->resource(type, resource) : resource_of_device(context->device(), type, resource);
}

ENTRY(cuGreenCtxGetDevResource, 12040)(CUgreenCtx hCtx, CUdevResource* resource, CUdevResourceType type)
{
    std::shared_ptr<GreenContext> green;
    REQUIRE(resource, CUDA_ERROR_INVALID_VALUE);
    TRY(need_green(hCtx, &green));
    TRY(check_type(type));
    return green->resource(type, resource);
}

ENTRY(cuStreamGetDevResource, 13010)(CUstream hStream, CUdevResource* resource, CUdevResourceType type)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(resource, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    TRY(check_type(type));
    auto context = stream->context();
    REQUIRE(context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    auto green = stream->green();
    return green ? green->resource(type, resource) : resource_of_device(context->device(), type, resource);
}

ENTRY(cuDevSmResourceSplitByCount, 12040)(CUdevResource* result, unsigned int* nbGroups, const CUdevResource* input,
                                          CUdevResource* remainder, unsigned int flags, unsigned int minCount)
{
    MultiprocessorResource from, rest;
    std::vector<MultiprocessorResource> groups;
    REQUIRE(nbGroups && input, CUDA_ERROR_INVALID_VALUE);
    TRY(MultiprocessorResource::read(*input, &from));
    TRY(split_evenly(from, flags, minCount, result ? *nbGroups : most_multiprocessors, &groups, &rest));
    *nbGroups = unsigned(groups.size());
    for (size_t i = 0; result && i < groups.size(); ++i)
        groups[i].write(&result[i]);
    if (remainder)
        rest.write(remainder);
    return CUDA_SUCCESS;
}

ENTRY(cuDevSmResourceSplit, 13010)(CUdevResource* result, unsigned int nbGroups, const CUdevResource* input,
                                   CUdevResource* remainder, unsigned int flags,
                                   CU_DEV_SM_RESOURCE_GROUP_PARAMS* groupParams)
{
    MultiprocessorResource from, rest;
    std::vector<MultiprocessorResource> groups;
    REQUIRE(nbGroups && nbGroups <= most_multiprocessors && input && groupParams && !flags, CUDA_ERROR_INVALID_VALUE);
    TRY(MultiprocessorResource::read(*input, &from));
    TRY(split_by_groups(from, groupParams, nbGroups, !result, &groups, &rest));
    for (size_t i = 0; result && i < groups.size(); ++i)
        groups[i].write(&result[i]);
    if (remainder)
        rest.write(remainder);
    return CUDA_SUCCESS;
}

ENTRY(cuDevResourceGenerateDesc, 12040)(CUdevResourceDesc* phDesc, CUdevResource* resources, unsigned int nbResources)
{
    REQUIRE(phDesc && resources && nbResources, CUDA_ERROR_INVALID_VALUE);
    return ResourceDescription::make(resources, nbResources, phDesc);
}

ENTRY(cuGreenCtxCreate, 12040)(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags)
{
    REQUIRE(phCtx && !(flags & ~unsigned(CU_GREEN_CTX_DEFAULT_STREAM)), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    Device* device = device_at(dev);
    auto description = ResourceDescription::find(desc);
    REQUIRE(device, CUDA_ERROR_INVALID_DEVICE);
    REQUIRE(description && description->device == dev, CUDA_ERROR_INVALID_VALUE);
    return GreenContext::create(*device, *description, phCtx);
}

ENTRY(cuGreenCtxDestroy, 12040)(CUgreenCtx hCtx)
{
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    return GreenContext::destroy(hCtx);
}

ENTRY(cuCtxFromGreenCtx, 12040)(CUcontext* pContext, CUgreenCtx hCtx)
{
    std::shared_ptr<GreenContext> green;
    REQUIRE(pContext, CUDA_ERROR_INVALID_VALUE);
    TRY(need_green(hCtx, &green));
    *pContext = green->context_handle();
    return CUDA_SUCCESS;
}

ENTRY(cuGreenCtxGetId, 13000)(CUgreenCtx greenCtx, unsigned long long* greenCtxId)
{
    auto green = greenCtx ? GreenContext::find(greenCtx) : GreenContext::current();
    REQUIRE(greenCtxId, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(green, GreenContext::error_for(greenCtx));
    *greenCtxId = green->id();
    return CUDA_SUCCESS;
}

ENTRY(cuGreenCtxStreamCreate, 12050)(CUstream* phStream, CUgreenCtx greenCtx, unsigned int flags, int priority)
{
    std::shared_ptr<GreenContext> green;
    REQUIRE(phStream && flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
    TRY(need_green(greenCtx, &green));
    return green->create_stream(flags, priority, phStream);
}

ENTRY(cuStreamGetGreenCtx, 12040)(CUstream hStream, CUgreenCtx* phCtx)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(phCtx, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    auto green = stream->green();
    *phCtx = green ? green->handle() : nullptr;
    return CUDA_SUCCESS;
}

ENTRY(cuGreenCtxRecordEvent, 12040)(CUgreenCtx hCtx, CUevent hEvent)
{
    std::shared_ptr<GreenContext> green;
    std::shared_ptr<Event> event;
    TRY(need_green(hCtx, &green));
    TRY(need_event(hEvent, &event));
    return green->record(event);
}

ENTRY(cuGreenCtxWaitEvent, 12040)(CUgreenCtx hCtx, CUevent hEvent)
{
    std::shared_ptr<GreenContext> green;
    std::shared_ptr<Event> event;
    TRY(need_green(hCtx, &green));
    TRY(need_event(hEvent, &event));
    return green->wait(event);
}
