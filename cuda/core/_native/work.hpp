// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Whether streams have work in flight: what the results of stream queries mean.
#pragma once

#include <cuda.h>

#include "handle.hpp"

namespace cuda_core {

// Unknown: a capture forbids the query until it ends.
enum Work { NO_WORK, SOME_WORK, UNKNOWN_WORK };

// After any other error there is nothing to wait for: the context is lost, or has no such stream.
inline Work work_of_result(CUresult err) noexcept {
    switch (err) {
        case CUDA_ERROR_NOT_READY: return SOME_WORK;
        case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
        case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: return UNKNOWN_WORK;
        default: return NO_WORK;
    }
}

// Whether an error is unexpected. Green contexts have no default streams, which CUDA_ERROR_INVALID_HANDLE reports. A
// failed kernel loses its context, which other calls report; the codes of these errors are consecutive.
inline bool is_unexpected(CUresult err) noexcept {
    return err != CUDA_SUCCESS && work_of_result(err) == NO_WORK && err != CUDA_ERROR_INVALID_HANDLE &&
           !(err >= CUDA_ERROR_ILLEGAL_ADDRESS && err < CUDA_ERROR_NOT_PERMITTED);
}

// An unexpected error, returned by functions that must not run Python code, as a warning would.
struct UnexpectedError {
    CUresult code = CUDA_SUCCESS;
    const char* api = nullptr;
};

// A stream to query. A default stream comes with its context, which must be current for the query.
struct QueriedStream {
    Handle<CUstream> h_stream;
    Handle<CUcontext> h_context;
};

}  // namespace cuda_core
