// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// A minimal device for the executor: memory in one address range, one module, and launches
// with typed parameters.
#pragma once

#include <atomic>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <vector>

#include "exec/checks/heap.hpp"
#include "exec/checks/regions.hpp"
#include "exec/checks/shadow.hpp"
#include "exec/exec.hpp"

using emu::Dim3;

struct Options {
    uint32_t dynamic_shared = 0;
    bool cooperative = false;
    uint64_t id = 0, seed = 0;
    emu::Nanoseconds time_limit{0};
    size_t stack_bytes = 64 << 10;
};
extern thread_local Options options; // of the next launch

void load(const char* path);
void* allocate(size_t bytes, int device = 0); // zeroed
void release(void* memory);
void give_heap();
emu::exec::Fault launch_packed(const char* kernel, Dim3 grid, Dim3 block, emu::Bytes parameters,
                               std::vector<EmuParameter> layout);
void show(const emu::exec::Fault& fault);

template <class T> void pack(emu::Bytes* bytes, std::vector<EmuParameter>* layout, T value)
{
    size_t at = (bytes->size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes->resize(at + sizeof(T));
    __builtin_memcpy(bytes->data() + at, &value, sizeof value);
    layout->push_back({uint32_t(at), uint32_t(sizeof value)});
}

template <class... T>
emu::exec::Fault launch(const char* kernel, Dim3 grid, Dim3 block, T... values)
{
    emu::Bytes bytes;
    std::vector<EmuParameter> layout;
    (pack(&bytes, &layout, values), ...);
    return launch_packed(kernel, grid, block, std::move(bytes), std::move(layout));
}
