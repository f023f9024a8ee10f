// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "abi.hpp"

#include <atomic>
#include <memory>

namespace emu::abi {
namespace {

// One counter per row of the table; made at the first refusal.
std::atomic<uint64_t>* counters()
{
    static const std::unique_ptr<std::atomic<uint64_t>[]> rows(
        new std::atomic<uint64_t>[size_t(entry_count)]());
    return rows.get();
}

std::atomic<uint64_t> calls{0};
thread_local bool per_thread = false;
thread_local int entry_in_progress = -1;

} // namespace

Gate::Gate(int entry, bool wants_per_thread) : entry_(entry), outer_per_thread_(per_thread)
{
    calls.fetch_add(1, std::memory_order_relaxed);
    per_thread = wants_per_thread;
    entry_in_progress = entry;
}

Gate::~Gate()
{
    per_thread = outer_per_thread_;
}

void Gate::show(std::initializer_list<Shown>) {}

CUresult Gate::leave(CUresult result)
{
    return result;
}

CUresult not_supported(int entry)
{
    counters()[entry].fetch_add(1, std::memory_order_relaxed);
    return CUDA_ERROR_NOT_SUPPORTED;
}

uint64_t unsupported_calls(int entry)
{
    return counters()[entry].load(std::memory_order_relaxed);
}

bool per_thread_default()
{
    return per_thread;
}

std::string made_by()
{
    const char* symbol = entry_in_progress < 0 ? "?" : entries[entry_in_progress].symbol;
    return std::string(symbol) + ", driver call " + std::to_string(calls.load());
}

} // namespace emu::abi
