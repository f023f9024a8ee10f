// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Streams and host functions.
#include "../exec/exec.hpp"
#include "../state/green_context.hpp"
#include "../state/streams/capture.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

bool is_attribute(CUlaunchAttributeID id)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return true;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: return need_attribute(id) == CUDA_SUCCESS;
    default: return false;
    }
}

bool is_valid(const Device& device, CUlaunchAttributeID id, const CUlaunchAttributeValue& value)
{
    const auto& window = value.accessPolicyWindow;
    const int domains = device.number(CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return window.num_bytes <= size_t(device.number(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE)) &&
               window.hitRatio >= 0 && window.hitRatio <= 1 && window.missProp != CU_ACCESS_PROPERTY_PERSISTING;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        return value.syncPolicy >= CU_SYNC_POLICY_AUTO && value.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return value.memSyncDomainMap.default_ < domains && value.memSyncDomainMap.remote < domains;
    default: return true;
    }
}

} // namespace

ENTRY(cuStreamCreate, 2000)(CUstream* phStream, unsigned int Flags)
{
    return entry_cuStreamCreateWithPriority_5050(phStream, Flags, 0);
}

ENTRY(cuStreamCreateWithPriority, 5050)(CUstream* phStream, unsigned int flags, int priority)
{
    std::shared_ptr<Context> context;
    REQUIRE(phStream, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    if (auto green = GreenContext::current())
        return green->create_stream(flags, priority, phStream);
    return Stream::create(*context, flags, priority, phStream);
}

ENTRY(cuStreamDestroy, 4000)(CUstream hStream)
{
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    auto stream = Stream::find(hStream);
    TRY(Stream::destroy(hStream));
    auto context = stream ? stream->context() : nullptr;
    return context ? context->sticky() : CUDA_SUCCESS;
}

ENTRY(cuStreamSynchronize, 2000)(CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    TRY(need_stream(hStream, &stream));
    return stream->synchronize();
}

ENTRY(cuStreamQuery, 2000)(CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    TRY(need_stream(hStream, &stream));
    return stream->query();
}

ENTRY(cuStreamWaitEvent, 3020)(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    std::shared_ptr<Stream> stream;
    std::shared_ptr<Event> event;
    REQUIRE((Flags & ~1u) == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    TRY(need_event(hEvent, &event));
    return stream->wait(event, Flags & CU_EVENT_WAIT_EXTERNAL);
}

ENTRY(cuStreamGetPriority, 5050)(CUstream hStream, int* priority)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(priority, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    *priority = stream->priority();
    return CUDA_SUCCESS;
}

ENTRY(cuStreamGetAttribute, 11000)(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value_out)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(value_out && is_attribute(attr), CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    return stream->attribute(attr, value_out);
}

ENTRY(cuStreamSetAttribute, 11000)(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* value)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(value && is_attribute(attr), CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    auto context = stream->context();
    REQUIRE(context && is_valid(context->device(), attr, *value), CUDA_ERROR_INVALID_VALUE);
    return stream->set_attribute(attr, *value);
}

ENTRY(cuStreamCopyAttributes, 11000)(CUstream dst, CUstream src)
{
    std::shared_ptr<Stream> target, source;
    TRY(need_stream(dst, &target));
    TRY(need_stream(src, &source));
    REQUIRE(target->context() == source->context(), CUDA_ERROR_INVALID_VALUE);
    target->copy_attributes(*source);
    return CUDA_SUCCESS;
}

ENTRY(cuStreamGetFlags, 5050)(CUstream hStream, unsigned int* flags)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(flags, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    *flags = stream->flags();
    return CUDA_SUCCESS;
}

ENTRY(cuStreamGetId, 12000)(CUstream hStream, unsigned long long* streamId)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(streamId, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    *streamId = stream->id();
    return CUDA_SUCCESS;
}

ENTRY(cuStreamGetCtx, 9020)(CUstream hStream, CUcontext* pctx)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(pctx, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    auto context = stream->context();
    REQUIRE(context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    auto green = stream->green();
    *pctx = green ? green->context_handle() : context->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuStreamGetCtx, 12050)(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(pCtx, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    auto context = stream->context();
    auto green = stream->green();
    REQUIRE(context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    *pCtx = context->handle();
    if (pGreenCtx)
        *pGreenCtx = green ? green->handle() : nullptr;
    return CUDA_SUCCESS;
}

ENTRY(cuStreamGetDevice, 12080)(CUstream hStream, CUdevice* device)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    auto context = stream->context();
    REQUIRE(context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    *device = context->device().ordinal();
    return CUDA_SUCCESS;
}

// ---------------------------------------------------------------------------- host functions

ENTRY(cuLaunchHostFunc, 10000)(CUstream hStream, CUhostFn fn, void* userData)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(fn, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    if (stream->is_capturing())
        return Capture::add(*stream, std::make_shared<HostWork>(CUDA_HOST_NODE_PARAMS{fn, userData}));
    return stream->enqueue({Operation::Kind::host_function, "cuLaunchHostFunc", [fn, userData] {
                                exec::flush_output();
                                if (CallbackScope scope; scope)
                                    fn(userData);
                                return CUDA_SUCCESS;
                            }});
}

ENTRY(cuLaunchHostFunc, 13020)(CUstream hStream, CUhostFn fn, void* userData, unsigned int syncMode)
{
    REQUIRE(syncMode <= 1, CUDA_ERROR_INVALID_VALUE);
    return entry_cuLaunchHostFunc_10000(hStream, fn, userData);
}

// Unlike a host function, a callback is called even after an error, which it receives.
ENTRY(cuStreamAddCallback, 5000)(CUstream hStream, CUstreamCallback callback, void* userData, unsigned int flags)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(callback && flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    auto work = [callback, userData, hStream, weak = std::weak_ptr<Context>(stream->context())] {
        auto context = weak.lock();
        if (CallbackScope scope; scope)
            callback(hStream, context ? context->sticky() : CUDA_SUCCESS, userData);
        return CUDA_SUCCESS;
    };
    return stream->enqueue({Operation::Kind::other, "cuStreamAddCallback", work});
}
