// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Core dumps of failed kernels. The file contains the report of the fault, because there is no state of a GPU to dump.
#pragma once

#include <string>

#include "../common.hpp"

struct CUcoredumpCallbackEntry_st {
    CUcoredumpStatusCallback callback;
    void* data;
    bool at_end; // called when a core dump is complete, not when it begins
};

namespace emu::state::core_dumps {

using Listener = CUcoredumpCallbackEntry_st;

// A null `value` returns only the size of the setting.
CUresult set(CUcoredumpSettings setting, const void* value, size_t* size);
CUresult get(CUcoredumpSettings setting, void* value, size_t* size);
CUresult listen(const Listener& listener, Listener** out);
CUresult stop_listening(Listener* listener, bool at_end);
// Writes a core dump if they are enabled, and aborts the process unless a flag says otherwise.
void write(int device, const std::string& report);

} // namespace emu::state::core_dumps
