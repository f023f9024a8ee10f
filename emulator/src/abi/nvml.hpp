// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// How to write NVML functions:
//
//     NVML_ENTRY(nvmlDeviceGetIndex)(nvmlDevice_t device, unsigned int* index)
//
// starts a line. The generator exports every function declared by the bindings; functions without an NVML_ENTRY return
// NVML_ERROR_NOT_SUPPORTED, as NVML does for missing device features. Nothing here needs a context or starts the
// driver.
#pragma once

#include <cstring>
#include <string>

#include "../common.hpp"
#include "nvml_types.hpp"

#define NVML_ENTRY(name) extern "C" nvmlReturn_t entry_##name
#define NVML_REQUIRE(condition, code) \
    do { \
        if (!(condition)) \
            return code; \
    } while (false)
#define NVML_TRY(call) \
    do { \
        if (nvmlReturn_t emu_failed = (call)) \
            return emu_failed; \
    } while (false)

namespace emu::state {
class Device;
}

namespace emu::nvml {

bool is_open(); // between nvmlInit and the last nvmlShutdown

// Returns INVALID_ARGUMENT for a handle that is not one of our devices.
nvmlReturn_t need_device(nvmlDevice_t handle, state::Device** out);
nvmlDevice_t handle_of(int number);

// Returns INSUFFICIENT_SIZE if the string and its terminating zero do not fit.
inline nvmlReturn_t return_text(const std::string& text, char* out, unsigned length)
{
    NVML_REQUIRE(out, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(text.size() < length, NVML_ERROR_INSUFFICIENT_SIZE);
    std::memcpy(out, text.c_str(), text.size() + 1);
    return NVML_SUCCESS;
}

template <class T> nvmlReturn_t give(T value, T* out)
{
    NVML_REQUIRE(out, NVML_ERROR_INVALID_ARGUMENT);
    *out = value;
    return NVML_SUCCESS;
}

// Fills the caller's array. *count is its length on entry, and the number of values on return.
template <class T, class List> nvmlReturn_t return_list(const List& list, unsigned* count, T* out)
{
    NVML_REQUIRE(count, NVML_ERROR_INVALID_ARGUMENT);
    unsigned room = *count, needed = unsigned(list.size());
    *count = needed;
    NVML_REQUIRE(room >= needed, NVML_ERROR_INSUFFICIENT_SIZE);
    NVML_REQUIRE(out || !needed, NVML_ERROR_INVALID_ARGUMENT);
    for (unsigned i = 0; i < needed; ++i)
        out[i] = list[i];
    return NVML_SUCCESS;
}

// Checks a structure's version field, its first member.
template <class T> bool has_version(const T* record, unsigned version)
{
    return record->version == (unsigned(sizeof(T)) | version << 24);
}

} // namespace emu::nvml
