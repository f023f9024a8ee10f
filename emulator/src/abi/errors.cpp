// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Names and descriptions of results.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "abi.hpp"
#include "calls.hpp"

using namespace emu;

namespace {

struct Text {
    CUresult code;
    const char* text;
};

// Descriptions that do not follow from the name.
const Text texts[] = {
    {CUDA_SUCCESS, "no error"},
    {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
    {CUDA_ERROR_NOT_INITIALIZED, "the driver was not initialized in this process"},
    {CUDA_ERROR_DEINITIALIZED, "the driver is shutting down"},
    {CUDA_ERROR_NO_DEVICE, "no CUDA device is present"},
    {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "the device code image cannot be read"},
    {CUDA_ERROR_INVALID_CONTEXT, "invalid context, or none is current"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "the image has no code for this device"},
    {CUDA_ERROR_INVALID_PTX, "the text image does not compile"},
    {CUDA_ERROR_NOT_FOUND, "the named symbol was not found"},
    {CUDA_ERROR_NOT_READY, "the device has not finished"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel accessed memory that is not allocated"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the launch requests too many resources"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "a kernel ran longer than its time limit"},
    {CUDA_ERROR_ASSERT, "an assertion failed in a kernel"},
    {CUDA_ERROR_LAUNCH_FAILED, "a kernel ended abnormally"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "a kernel accessed memory at a misaligned address"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks for a cooperative launch: not all can be resident"},
    {CUDA_ERROR_NOT_PERMITTED, "the call is not permitted here, for example in a host function"},
    {CUDA_ERROR_NOT_SUPPORTED, "the call is not supported by this device"},
    {CUDA_ERROR_UNKNOWN, "unknown error"},
};

// Derives "invalid handle" from "CUDA_ERROR_INVALID_HANDLE".
const std::map<int, std::string>& all_texts()
{
    static const auto* rows = [] {
        auto* out = new std::map<int, std::string>;
        for (int i = 0; i < emu::abi::result_name_count; ++i) {
            std::string text = emu::abi::result_names[i].name;
            text.erase(0, text.rfind("CUDA_ERROR_", 0) == 0 ? 11 : 5);
            for (char& c : text)
                c = c == '_' ? ' ' : char(std::tolower(c));
            (*out)[abi::result_names[i].value] = text;
        }
        for (const Text& row : texts)
            (*out)[row.code] = row.text;
        return out;
    }();
    return *rows;
}

} // namespace

const char* emu::abi::result_name(CUresult code)
{
    const auto* end = result_names + result_name_count;
    const auto* row =
        std::lower_bound(result_names, end, int(code), [](const auto& r, int value) { return r.value < value; });
    return row != end && row->value == int(code) ? row->name : nullptr;
}

ENTRY(cuGetErrorName, 6000)(CUresult error, const char** pStr)
{
    REQUIRE(pStr, CUDA_ERROR_INVALID_VALUE);
    *pStr = emu::abi::result_name(error); // null for an unknown code, as documented
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuGetErrorString, 6000)(CUresult error, const char** pStr)
{
    REQUIRE(pStr, CUDA_ERROR_INVALID_VALUE);
    auto row = all_texts().find(int(error));
    *pStr = row == all_texts().end() ? nullptr : row->second.c_str();
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
