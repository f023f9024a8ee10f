// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The log of failed calls.
#include <cstdio>
#include <cstring>

#include "../log.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::abi;

ENTRY(cuLogsRegisterCallback, 12090)(CUlogsCallback callbackFunc, void* userData, CUlogsCallbackHandle* callback_out)
{
    REQUIRE(callbackFunc, CUDA_ERROR_INVALID_VALUE);
    auto* listener = log::listen(callbackFunc, userData);
    if (callback_out)
        *callback_out = listener;
    return CUDA_SUCCESS;
}

ENTRY(cuLogsUnregisterCallback, 12090)(CUlogsCallbackHandle callback)
{
    return log::stop_listening(callback) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuLogsCurrent, 12090)(CUlogIterator* iterator_out, unsigned int flags)
{
    REQUIRE(iterator_out && flags == 0, CUDA_ERROR_INVALID_VALUE);
    *iterator_out = log::end();
    return CUDA_SUCCESS;
}

ENTRY(cuLogsDumpToMemory, 12090)(CUlogIterator* iterator, char* buffer, size_t* size, unsigned int flags)
{
    REQUIRE(buffer && size && *size && flags == 0, CUDA_ERROR_INVALID_VALUE);
    std::string text;
    CUlogIterator first = iterator ? *iterator : 0;
    bool fits = log::read(&first, *size - 1, &text);
    *size = text.size();
    std::memcpy(buffer, text.c_str(), text.size() + 1);
    REQUIRE(fits, CUDA_ERROR_INVALID_VALUE);
    if (iterator)
        *iterator = first;
    return CUDA_SUCCESS;
}

ENTRY(cuLogsDumpToFile, 12090)(CUlogIterator* iterator, const char* pathToFile, unsigned int flags)
{
    REQUIRE(pathToFile && flags == 0, CUDA_ERROR_INVALID_VALUE);
    std::FILE* file = std::fopen(pathToFile, "we");
    REQUIRE(file, CUDA_ERROR_INVALID_VALUE);
    std::string text;
    CUlogIterator first = iterator ? *iterator : 0;
    log::read(&first, SIZE_MAX, &text);
    bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written &= std::fclose(file) == 0;
    REQUIRE(written, CUDA_ERROR_INVALID_VALUE);
    if (iterator)
        *iterator = first;
    return CUDA_SUCCESS;
}
