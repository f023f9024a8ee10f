// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Definitions shared by all layers. Of our own files, it depends only on the generated driver types.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "driver_types.hpp"

#define EMU_EXPORT __attribute__((visibility("default")))

namespace emu {

using Bytes = std::vector<std::byte>;

// The size of a call instruction. With coverage or advice, every basic block begins with one.
#if defined(__x86_64__)
constexpr size_t call_bytes = 5;
#else
constexpr size_t call_bytes = 4;
#endif
using Nanoseconds = std::chrono::nanoseconds;

struct Dim3 {
    uint32_t x = 1, y = 1, z = 1;
    uint64_t count() const { return uint64_t(x) * y * z; }
    bool operator==(const Dim3& other) const { return x == other.x && y == other.y && z == other.z; }
};

constexpr size_t round_up(size_t value, size_t step)
{
    return (value + step - 1) / step * step;
}

// A failure: the text goes to the log and to stderr, the code to the caller.
struct Error {
    CUresult code = CUDA_SUCCESS;
    std::string text;
    explicit operator bool() const { return code != CUDA_SUCCESS; }
};

// The directory of the loaded library, which contains device_include/.
const std::string& home();

// Returns RLIMIT_FSIZE. A longer file would raise SIGXFSZ, which kills a process.
uint64_t file_size_limit();

// Writes one line to stderr, prefixed with "cuda.emulator: ".
void say(const std::string& line);

} // namespace emu
