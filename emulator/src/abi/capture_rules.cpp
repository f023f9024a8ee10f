// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "capture_rules.hpp"

#include "../state/streams/capture.hpp"
#include "calls.hpp"

namespace emu::abi {

using namespace state;

namespace {

// Returns null while nothing captures. The call itself reports an invalid handle.
std::shared_ptr<Stream> stream_beside_capture(CUstream handle)
{
    std::shared_ptr<Stream> stream;
    return Capture::is_any() && need_stream(handle, &stream) == CUDA_SUCCESS ? stream : nullptr;
}

} // namespace

CUresult reject_unsafe()
{
    return in_callback() ? CUDA_SUCCESS : Capture::reject_unsafe();
}

CUresult reject_joined(CUstream handle)
{
    auto stream = stream_beside_capture(handle);
    return stream && !stream->is_capturing() ? Capture::reject_unsafe() : CUDA_SUCCESS;
}

CUresult reject_stream(CUstream handle)
{
    auto stream = stream_beside_capture(handle);
    bool has_answer = !stream || stream->is_capturing() || stream->is_legacy();
    return has_answer ? CUDA_SUCCESS : Capture::reject_unsafe();
}

CUresult reject_event(CUevent handle)
{
    std::shared_ptr<Event> event;
    if (!Capture::is_any() || need_event(handle, &event) != CUDA_SUCCESS)
        return CUDA_SUCCESS;
    auto point = event->last();
    return point && point->captured ? CUDA_SUCCESS : Capture::reject_unsafe();
}

CUresult reject_never(CUstream handle)
{
    auto stream = stream_beside_capture(handle);
    return stream && stream->is_capturing() ? Capture::reject(*stream) : CUDA_SUCCESS;
}

CUresult reject_context(CUcontext handle)
{
    std::shared_ptr<Context> context;
    bool found = Capture::is_any() && need_context(handle, &context) == CUDA_SUCCESS;
    return found ? Capture::reject_in(*context, false) : CUDA_SUCCESS;
}

} // namespace emu::abi
