// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// How far the work of streams is: what the results of the driver mean, in one place.
#pragma once

#include <cuda.h>

#include "handle.hpp"

namespace cuda_core {

// Unknown: a capture forbids the query until it ends.
enum Work { NO_WORK, SOME_WORK, UNKNOWN_WORK };

// After any other error there is nothing to wait for: the context is lost, or has no such stream.
inline Work work_said(CUresult answer) noexcept {
    switch (answer) {
        case CUDA_ERROR_NOT_READY: return SOME_WORK;
        case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
        case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: return UNKNOWN_WORK;
        default: return NO_WORK;
    }
}

// Whether an error is unexpected. Green contexts have no default streams; a failed kernel loses its context, which
// other calls report, and the codes of these errors are consecutive.
inline bool is_odd(CUresult answer) noexcept {
    return answer != CUDA_SUCCESS && work_said(answer) == NO_WORK && answer != CUDA_ERROR_INVALID_HANDLE &&
           !(answer >= CUDA_ERROR_ILLEGAL_ADDRESS && answer < CUDA_ERROR_NOT_PERMITTED);
}

// An unexpected error, where no warning can be given, which would run Python code.
struct OddAnswer {
    CUresult answer = CUDA_SUCCESS;
    const char* api = nullptr;
};

// A stream to query. A default stream comes with its context, which must be current for the query.
struct AskedStream {
    Handle<CUstream> h_stream;
    Handle<CUcontext> h_context;
};

}  // namespace cuda_core
