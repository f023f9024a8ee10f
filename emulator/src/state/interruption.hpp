// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Ends work in all contexts of the process: on request, on Ctrl-C, and at exit.
#pragma once

#include <chrono>

namespace emu::state {

// Gives work `patience` to end by itself, then ends kernels and drops queued work. Contexts stay usable; the first call
// that waits or queries returns LAUNCH_FAILED.
void end_work(std::chrono::milliseconds patience);

// Decides whether a SIGINT ends work, because the Python package knows whether the interpreter will raise
// KeyboardInterrupt. If null, no SIGINT ends work.
using InterruptPolicy = int (*)();
void set_interrupt_policy(InterruptPolicy policy);

// Waits until all pending SIGINTs are handled. Returns true if the latest one ended work, which is reported once.
bool settle_interrupts(std::chrono::milliseconds patience);

// Called before a kernel runs, because the program may have replaced the SIGINT handler.
void watch_interrupts();

} // namespace emu::state
