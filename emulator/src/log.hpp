// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The log of failed calls, which programs read with cuLogs*. A message begins with the head that the CUDA Programming
// Guide documents, [time][thread][CUDA][E][call]; its further lines begin with two spaces. The oldest messages are
// removed when the log is full.
#pragma once

#include "common.hpp"

namespace emu {

// Records why the call in progress fails; the log shows it beside the code.
void explain(uint64_t call, std::string text);
// Returns and forgets the explanation of a call; empty if there is none.
std::string take_explanation(uint64_t call);

namespace log {

void add(const char* call, const std::string& text);
unsigned end(); // the number of the next message
// Writes messages from `first` on that fit into `room`; the newest ones if not all fit. `first` becomes end(). If
// messages are missing, the text begins with a line that says so. False if not even one fits.
bool read(unsigned* first, size_t room, std::string* out);

using Listener = CUlogsCallbackEntry_st;
Listener* listen(CUlogsCallback callback, void* data);
bool stop_listening(Listener* listener);

} // namespace log
} // namespace emu
