// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Ends what runs in all contexts of the process: on request, at Ctrl-C, at exit.
#pragma once

#include <chrono>

namespace emu::state {

// Gives work as much time to end by itself, then ends kernels and drops what is queued. Contexts
// can be used on; whoever waits, or asks first, is told LAUNCH_FAILED.
void end_work(std::chrono::milliseconds patience);

// What decides whether a SIGINT ends work: the Python package knows whether the interpreter will
// raise KeyboardInterrupt. Null: nothing is ended.
using InterruptPolicy = int (*)();
void set_interrupt_policy(InterruptPolicy policy);

// Until the SIGINTs that have arrived are dealt with; true if the latest ended work, which is told once.
bool settle_interrupts(std::chrono::milliseconds patience);

// Before a kernel runs: the handler of SIGINT may have been set anew.
void watch_interrupts();

} // namespace emu::state
