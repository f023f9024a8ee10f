// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include "../config.hpp"
#include "../state/green_context.hpp"

namespace emu::abi {

using namespace state;

CUresult need_any_context(std::shared_ptr<Context>* out)
{
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    *out = current();
    if (*out)
        return CUDA_SUCCESS;
    CUcontext handle = current_handle();
    return handle ? Context::error_for(handle) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult need_context(std::shared_ptr<Context>* out)
{
    TRY(need_any_context(out));
    return (*out)->sticky();
}

CUresult need_context(CUcontext handle, std::shared_ptr<Context>* out)
{
    if (!handle)
        return need_context(out);
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    *out = Context::find(handle);
    return *out ? (*out)->sticky() : Context::error_for(handle);
}

int copying_device()
{
    std::shared_ptr<Context> context;
    return need_context(&context) == CUDA_SUCCESS ? context->device().ordinal() : -1;
}

CUresult need_stream(CUstream handle, std::shared_ptr<Stream>* out)
{
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    if (reinterpret_cast<uintptr_t>(handle) > CU_STREAM_PER_THREAD) {
        *out = Stream::find(handle);
        auto context = *out ? (*out)->context() : nullptr;
        REQUIRE(!*out || !(*out)->is_detached(), CUDA_ERROR_STREAM_DETACHED);
        return context ? context->sticky() : CUDA_ERROR_INVALID_HANDLE;
    }
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    if (auto green = GreenContext::current()) { // green contexts have no per-thread default streams
        REQUIRE(reinterpret_cast<uintptr_t>(handle) != CU_STREAM_PER_THREAD, CUDA_ERROR_INVALID_HANDLE);
        *out = green->legacy_stream();
        return CUDA_SUCCESS;
    }
    bool of_thread = reinterpret_cast<uintptr_t>(handle) == CU_STREAM_PER_THREAD || (!handle && per_thread_default());
    *out = of_thread ? Stream::of_this_thread(*context) : Stream::legacy_of(*context);
    return CUDA_SUCCESS;
}

CUresult copy_alone(CUcontext target, CUcontext source, const std::function<CUresult()>& copy)
{
    if (target == source)
        return copy();
    for (CUcontext handle : {target, source})
        if (auto context = Context::find(handle))
            TRY(Stream::legacy_of(*context)->synchronize());
    TRY(copy());
    std::shared_ptr<Stream> stream;
    TRY(need_stream(nullptr, &stream));
    return stream->synchronize();
}

CUresult need_own_stream(CUstream handle, std::shared_ptr<Stream>* out)
{
    TRY(need_stream(handle, out));
    return (*out)->is_legacy() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult merge_domains(CUmemLocation* location)
{
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN)
        return CUDA_SUCCESS;
    int device = location->localized.deviceId;
    REQUIRE(config().driver_version >= domains_since && location->localized.localityDomainId == 0,
            CUDA_ERROR_INVALID_VALUE);
    *location = {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
    return CUDA_SUCCESS;
}

CUresult need_event(CUevent handle, std::shared_ptr<Event>* out)
{
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    *out = Event::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

} // namespace emu::abi
