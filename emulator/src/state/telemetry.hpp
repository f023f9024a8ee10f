// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Data for monitoring tools: how busy each device was, and its faults.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "../exec/exec.hpp"

namespace emu::state {

void kernel_begins(int device);
void kernel_ends(int device);
// Returns the percentage of the last second during which kernels ran.
unsigned busy_percent(int device);

// A fault in the form that a driver logs it, an Xid error.
struct DeviceFault {
    uint64_t number = 0; // ascending, from 1
    int device = 0;
    unsigned xid = 0;
};

void report_fault(int device, const exec::Fault& fault);
uint64_t last_fault(); // 0: none yet
// Waits for the first wanted fault after `number`. Returns false if there is none before the deadline. Only the latest
// faults are remembered.
bool next_fault(uint64_t number, const std::function<bool(const DeviceFault&)>& wanted,
                std::chrono::steady_clock::time_point deadline, DeviceFault* out);

} // namespace emu::state
