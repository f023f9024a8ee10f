// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Contexts, and the stack of current contexts.
#include "../state/green_context.hpp"
#include "../state/streams/event.hpp"
#include "../state/streams/stream.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult create_context(CUcontext* out, unsigned flags, CUdevice dev)
{
    REQUIRE(out && !(flags & ~unsigned(CU_CTX_FLAGS_MASK)), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    Device* device = device_at(dev);
    REQUIRE(device, CUDA_ERROR_INVALID_DEVICE);
    TRY(Context::create(*device, flags, false, out));
    return push_current(*out);
}

} // namespace

ENTRY(cuCtxCreate, 3020)(CUcontext* pctx, unsigned int flags, CUdevice dev)
{
    return create_context(pctx, flags, dev);
}

ENTRY(cuCtxCreate, 11040)(CUcontext* pctx, CUexecAffinityParam*, int numParams, unsigned int flags, CUdevice dev)
{
    REQUIRE(numParams == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    return create_context(pctx, flags, dev);
}

ENTRY(cuCtxCreate, 12050)(CUcontext* pctx, CUctxCreateParams* params, unsigned int flags, CUdevice dev)
{
    REQUIRE(!params || params->numExecAffinityParams == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    REQUIRE(!params || !params->cigParams, CUDA_ERROR_NOT_SUPPORTED);
    return create_context(pctx, flags, dev);
}

ENTRY(cuCtxDestroy, 4000)(CUcontext ctx)
{
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    auto context = Context::find(ctx);
    REQUIRE(context, Context::error_for(ctx));
    REQUIRE(!context->is_primary(), CUDA_ERROR_INVALID_CONTEXT);
    bool on_top = current_handle() == ctx;
    TRY(Context::destroy(ctx));
    return on_top ? pop_current(nullptr) : CUDA_SUCCESS; // stacks of other threads keep the destroyed context
}

ENTRY(cuCtxGetCurrent, 4000)(CUcontext* pctx)
{
    REQUIRE(pctx, CUDA_ERROR_INVALID_VALUE);
    *pctx = current_handle();
    return CUDA_SUCCESS;
}

ENTRY(cuCtxSetCurrent, 4000)(CUcontext ctx)
{
    return set_current(ctx);
}

ENTRY(cuCtxPushCurrent, 4000)(CUcontext ctx)
{
    return push_current(ctx);
}

ENTRY(cuCtxPopCurrent, 4000)(CUcontext* pctx)
{
    return pop_current(pctx);
}

ENTRY(cuCtxGetDevice, 2000)(CUdevice* device)
{
    REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    if (auto context = current()) {
        *device = context->device().ordinal();
        return CUDA_SUCCESS;
    }
    Device* was = Context::device_of_destroyed(current_handle());
    REQUIRE(was, CUDA_ERROR_INVALID_CONTEXT);
    *device = was->ordinal();
    return CUDA_SUCCESS;
}

ENTRY(cuCtxGetDevice, 13000)(CUdevice* device, CUcontext ctx)
{
    if (!ctx)
        return entry_cuCtxGetDevice_2000(device);
    REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    auto context = Context::find(ctx);
    REQUIRE(context, Context::error_for(ctx));
    *device = context->device().ordinal();
    return CUDA_SUCCESS;
}

ENTRY(cuCtxGetId, 12000)(CUcontext ctx, unsigned long long* ctxId)
{
    std::shared_ptr<Context> context;
    REQUIRE(ctxId, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(ctx, &context));
    *ctxId = context->id();
    return CUDA_SUCCESS;
}

ENTRY(cuCtxGetApiVersion, 3020)(CUcontext ctx, unsigned int* version)
{
    std::shared_ptr<Context> context;
    REQUIRE(version, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(ctx, &context));
    *version = context->api_version;
    return CUDA_SUCCESS;
}

ENTRY(cuCtxGetFlags, 7000)(unsigned int* flags)
{
    std::shared_ptr<Context> context;
    REQUIRE(flags, CUDA_ERROR_INVALID_VALUE);
    TRY(need_any_context(&context));
    *flags = context->flags();
    return CUDA_SUCCESS;
}

ENTRY(cuCtxSetFlags, 12010)(unsigned int flags)
{
    std::shared_ptr<Context> context;
    REQUIRE(!(flags & ~unsigned(CU_CTX_FLAGS_MASK)), CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return context->set_flags(flags);
}

ENTRY(cuCtxGetLimit, 3010)(size_t* pvalue, CUlimit limit)
{
    std::shared_ptr<Context> context;
    REQUIRE(pvalue, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return context->limit(limit, pvalue);
}

ENTRY(cuCtxSetLimit, 3010)(CUlimit limit, size_t value)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    return context->set_limit(limit, value);
}

ENTRY(cuCtxGetStreamPriorityRange, 5050)(int* leastPriority, int* greatestPriority)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    if (leastPriority)
        *leastPriority = stream_priority_least;
    if (greatestPriority)
        *greatestPriority = stream_priority_greatest;
    return CUDA_SUCCESS;
}

ENTRY(cuCtxSynchronize, 2000)()
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    auto green = GreenContext::current();
    return green ? green->synchronize() : context->synchronize();
}

ENTRY(cuCtxSynchronize, 13000)(CUcontext ctx)
{
    std::shared_ptr<Context> context;
    TRY(need_context(ctx, &context));
    auto green = GreenContext::of(ctx ? ctx : current_handle());
    return green ? green->synchronize() : context->synchronize();
}

ENTRY(cuCtxRecordEvent, 12050)(CUcontext hCtx, CUevent hEvent)
{
    std::shared_ptr<Context> context;
    std::shared_ptr<Event> event;
    TRY(need_context(hCtx, &context));
    TRY(need_event(hEvent, &event));
    REQUIRE(event->context() == context, CUDA_ERROR_INVALID_HANDLE);
    if (auto green = GreenContext::of(hCtx ? hCtx : current_handle()))
        return green->record(event);
    // After the stream is gone, the context keeps its queue until the queued work has completed.
    auto marks = Stream::make(*context, CU_STREAM_NON_BLOCKING, 0, false);
    context->add_stream(marks->row());
    return marks->record(event, context->ends());
}

ENTRY(cuCtxWaitEvent, 12050)(CUcontext hCtx, CUevent hEvent)
{
    std::shared_ptr<Context> context;
    std::shared_ptr<Event> event;
    TRY(need_context(hCtx, &context));
    TRY(need_event(hEvent, &event));
    if (auto green = GreenContext::of(hCtx ? hCtx : current_handle()))
        return green->wait(event);
    std::vector<std::shared_ptr<Stream>> streams;
    for (const auto& row : Stream::all())
        if (row.first->context() == context)
            streams.push_back(row.first);
    for (const auto& stream : streams)
        REQUIRE(!stream->is_capturing(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    for (const auto& stream : streams)
        TRY(stream->wait(event));
    // The legacy stream, and streams created later, follow it through the queue that all blocking streams share.
    return Stream::legacy_of(*context)->wait(event);
}

// Cache preferences: this device has no such caches and ignores them, as documented for devices without the choice.
ENTRY(cuCtxGetCacheConfig, 3020)(CUfunc_cache* pconfig)
{
    std::shared_ptr<Context> context;
    REQUIRE(pconfig, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    *pconfig = CU_FUNC_CACHE_PREFER_NONE;
    return CUDA_SUCCESS;
}

ENTRY(cuCtxSetCacheConfig, 3020)(CUfunc_cache config)
{
    std::shared_ptr<Context> context;
    REQUIRE(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE);
    return need_context(&context);
}

ENTRY(cuCtxGetSharedMemConfig, 4020)(CUsharedconfig* pConfig)
{
    std::shared_ptr<Context> context;
    REQUIRE(pConfig, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

ENTRY(cuCtxSetSharedMemConfig, 4020)(CUsharedconfig)
{
    std::shared_ptr<Context> context;
    return need_context(&context);
}

ENTRY(cuCtxResetPersistingL2Cache, 11000)()
{
    std::shared_ptr<Context> context;
    return need_context(&context);
}

ENTRY(cuCtxEnablePeerAccess, 4000)(CUcontext peerContext, unsigned int Flags)
{
    std::shared_ptr<Context> context;
    REQUIRE(Flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    auto peer = Context::find(peerContext);
    REQUIRE(peer, Context::error_for(peerContext));
    return context->enable_peer(*peer);
}

ENTRY(cuCtxDisablePeerAccess, 4000)(CUcontext peerContext)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    auto peer = Context::find(peerContext);
    REQUIRE(peer, Context::error_for(peerContext));
    return context->disable_peer(*peer);
}

// Hints for a profiler; there is none.
ENTRY(cuProfilerStart, 4000)()
{
    std::shared_ptr<Context> context;
    return need_context(&context);
}

ENTRY(cuProfilerStop, 4000)()
{
    std::shared_ptr<Context> context;
    return need_context(&context);
}
