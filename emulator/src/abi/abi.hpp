// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// How to write exported driver calls:
//
//     ENTRY(cuMemAlloc, 3020)(CUdeviceptr* dptr, size_t bytesize) { ... }
//
// ENTRY is at the start of a line, with a row of entries.txt: name and version. The generator finds it and generates
// the exported symbol (and its per-thread-stream variant), which passes the Gate: initialization, tracing, fault
// injection, counting. Rows without an ENTRY return CUDA_ERROR_NOT_SUPPORTED and are counted. The compiler checks the
// signature against the prototype derived from the .pxd.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "../common.hpp"

#define ENTRY(name, version) extern "C" CUresult entry_##name##_##version
#include "entry_prototypes.hpp"

namespace emu::abi {

struct Entry {
    const char* name;   // the name passed to cuGetProcAddress
    int version;        // the first CUDA version with this entry
    const char* symbol; // the exported symbol
    void* function;
    void* per_thread; // the variant for per-thread default streams, or null
    bool implemented;
};
extern const Entry entries[]; // sorted by name, then by version
extern const int entry_count;

// Finds the entry for a request: the newest one that is not newer than `version` and CUDA_EMULATOR_DRIVER_VERSION.
// Returns null if there is none.
const Entry* find_entry(const char* name, int version);

CUresult not_supported(int entry);
uint64_t unsupported_calls(int entry);

struct ResultName {
    int value;
    const char* name;
};
extern const ResultName result_names[]; // sorted by value
extern const int result_name_count;
const char* result_name(CUresult code); // null for an unknown code
extern const ResultName runtime_result_names[];
extern const int runtime_result_name_count;

// The functions of the CUDA runtime for cuda.bindings. A name that is not among them gets a function that returns "not
// supported"; null if there are too many.
std::string list_runtime_functions();
void* missing_runtime_function(const char* name);
std::string missing_runtime_calls(); // lines with a name and a count

// An argument as displayed by the trace and reports.
struct Shown {
    const char* label;
    uint64_t bits;
    bool pointer;
};

template <class T> Shown shown(const char* label, T value)
{
    if constexpr (std::is_pointer_v<T>)
        return {label, reinterpret_cast<uint64_t>(value), true};
    else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
        return {label, static_cast<uint64_t>(value), false};
    else
        return {label, 0, false};
}

// Encloses every exported call. In the common case (the library is initialized, no trace, no planned fault) it costs
// one load, and the stores that record the call in progress.
class Gate {
public:
    Gate(int entry, bool per_thread);
    ~Gate();
    Gate(const Gate&) = delete;
    bool watched() const { return watch_ != nullptr; }
    void show(std::initializer_list<Shown> arguments);
    void reject(CUresult reason) // CUDA_SUCCESS: not rejected
    {
        if (__builtin_expect(reason != CUDA_SUCCESS, 0) && !rejected())
            reject_with(reason);
    }
    bool rejected() const { return result_ != CUDA_SUCCESS; } // checked before the call has an effect
    CUresult result() const { return result_; }
    CUresult leave(CUresult result); // after the effect
    CUresult caught();               // when an exception leaves the call

private:
    struct Watch;
    void check(int entry); // the slow path
    void reject_with(CUresult reason);
    CUresult leave_watched(CUresult result);
    CUresult result_ = CUDA_SUCCESS;
    bool outer_per_thread_;
    Watch* watch_ = nullptr;
};

// Returns true if a null stream means the per-thread default stream in the call in progress.
bool per_thread_default();
// Names the first invalid CUDA_EMULATOR_* value and the allowed ones. Empty if all are valid.
const std::string& error_of_variables();
// Returns false if a value is invalid, and prints its error the first time.
bool are_variables_valid();
// Called when cuInit has succeeded.
void set_initialized();
bool is_initialized();
void begin_exit(); // from now on, waits of other threads for dropped work do not return

} // namespace emu::abi
