// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The log of calls that failed, which programs read with cuLogs*. A message begins with the head
// that the CUDA Programming Guide gives, [time][thread][CUDA][E][call]; further lines of it with
// two spaces. The oldest messages go when the log is full.
#pragma once

#include "common.hpp"

namespace emu {

// Why the call in progress fails: what a program can read in the log, beside the code.
void explain(uint64_t call, std::string text);
// The explanation of that call, which is forgotten; empty: none.
std::string take_explanation(uint64_t call);

namespace log {

void add(const char* call, const std::string& text);
unsigned end();                                    // number of the next message
// Messages from `first` on that fit into `room`, the newest ones if not all do; `first` becomes end().
// Begins with a line of its own where messages are missing. False: not even one fits.
bool read(unsigned* first, size_t room, std::string* out);

using Listener = CUlogsCallbackEntry_st;
Listener* listen(CUlogsCallback callback, void* data);
bool stop_listening(Listener* listener);

} // namespace log
} // namespace emu
