// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The log of failed calls, which programs read with cuLogs*. A message begins with the head documented in the CUDA
// Programming Guide, [time][thread][CUDA][E][call]; its continuation lines are indented by two spaces. The oldest
// messages are removed when the log is full.
#pragma once

#include "common.hpp"

namespace emu {

// Records why the call in progress fails; the log shows it next to the code.
void explain(uint64_t call, std::string text);
// Returns and clears a call's explanation. Returns an empty string if there is none.
std::string take_explanation(uint64_t call);

namespace log {

// `is_report`: it describes a fault that no call has returned before. If the program reads neither this message nor has
// a listener, take_unread_report() returns it once, on the thread that added it or with `all`.
void add(const char* call, const std::string& text, bool is_report = false);
std::string take_unread_report(bool all = false);
bool has_unread_report();
unsigned end(); // the number of the next message
// Writes the messages starting at `first` that fit into `room`, or the newest ones if not all fit. `first` becomes
// end(). If messages are missing, the text begins with a line that reports it. Returns false if not even one fits.
bool read(unsigned* first, size_t room, std::string* out);

using Listener = CUlogsCallbackEntry_st;
Listener* listen(CUlogsCallback callback, void* data);
bool stop_listening(Listener* listener);

} // namespace log
} // namespace emu
