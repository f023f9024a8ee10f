// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What monitoring tools ask about: how busy each device was, and which faults it had.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "../exec/exec.hpp"

namespace emu::state {

void kernel_begins(int device);
void kernel_ends(int device);
// Percent of the last second during which kernels ran.
unsigned busy_percent(int device);

// A fault as the driver of a GPU logs it: an Xid error.
struct DeviceFault {
    uint64_t number = 0; // ascending, from 1
    int device = 0;
    unsigned xid = 0;
};

void report_fault(int device, const exec::Fault& fault);
uint64_t last_fault();   // number of the latest one, 0: none yet
// The first fault after `number` that is wanted, as soon as there is one. False: none before the
// deadline. The oldest of many faults are forgotten.
bool next_fault(uint64_t number, const std::function<bool(const DeviceFault&)>& wanted,
                std::chrono::steady_clock::time_point deadline, DeviceFault* out);

} // namespace emu::state
