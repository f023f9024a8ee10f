// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "../state/streams/event_sharing.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

ENTRY(cuEventCreate, 2000)(CUevent* phEvent, unsigned int Flags)
{
    std::shared_ptr<Context> context;
    REQUIRE(phEvent, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return Event::create(*context, Flags, phEvent);
}

ENTRY(cuEventDestroy, 4000)(CUevent hEvent)
{
    std::shared_ptr<Event> event;
    TRY(need_event(hEvent, &event));
    TRY(Event::destroy(hEvent));
    auto context = event->context();
    return context ? context->sticky() : CUDA_SUCCESS;
}

ENTRY(cuEventRecord, 2000)(CUevent hEvent, CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    std::shared_ptr<Event> event;
    TRY(need_event(hEvent, &event));
    TRY(need_stream(hStream, &stream));
    REQUIRE(event->context() == stream->context(), CUDA_ERROR_INVALID_HANDLE);
    return stream->record(event);
}

ENTRY(cuEventRecordWithFlags, 11010)(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    REQUIRE((flags & ~1u) == 0, CUDA_ERROR_INVALID_VALUE);
    if (flags & CU_EVENT_RECORD_EXTERNAL) {
        std::shared_ptr<Stream> stream;
        std::shared_ptr<Event> event;
        TRY(need_event(hEvent, &event));
        TRY(need_stream(hStream, &stream));
        REQUIRE(stream->is_capturing(), CUDA_ERROR_INVALID_VALUE); // the flag is for captures only
        return stream->record_external(event);
    }
    return entry_cuEventRecord_2000(hEvent, hStream);
}

ENTRY(cuEventQuery, 2000)(CUevent hEvent)
{
    std::shared_ptr<Event> event;
    TRY(need_event(hEvent, &event));
    return event->query();
}

ENTRY(cuEventSynchronize, 2000)(CUevent hEvent)
{
    std::shared_ptr<Event> event;
    TRY(need_event(hEvent, &event));
    return event->synchronize();
}

ENTRY(cuEventElapsedTime, 12080)(float* pMilliseconds, CUevent hStart, CUevent hEnd)
{
    std::shared_ptr<Event> start, end;
    REQUIRE(pMilliseconds, CUDA_ERROR_INVALID_VALUE);
    TRY(need_event(hStart, &start));
    TRY(need_event(hEnd, &end));
    return Event::elapsed(*start, *end, pMilliseconds);
}

// ------------------------------------------------------------------------- other processes

ENTRY(cuIpcGetEventHandle, 4010)(CUipcEventHandle* pHandle, CUevent event)
{
    std::shared_ptr<Context> context;
    std::shared_ptr<Event> found;
    REQUIRE(pHandle, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context)); // hardware drivers also need a current context
    TRY(need_event(event, &found));
    REQUIRE(found->shared(), CUDA_ERROR_INVALID_HANDLE);
    return found->shared()->describe(pHandle);
}

ENTRY(cuIpcOpenEventHandle, 4010)(CUevent* phEvent, CUipcEventHandle handle)
{
    std::shared_ptr<Context> context;
    REQUIRE(phEvent, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return Event::open(*context, handle, phEvent);
}
