// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The driver call in progress on this thread. The gate of `abi` sets it, and each new object keeps a copy, so reports
// can name the call that created it.
#pragma once

#include "../log.hpp"

namespace emu::state {

struct Origin {
    const char* call = nullptr; // the exported name
    uint64_t number = 0;        // counts the driver calls of the process
    const char* place = nullptr; // where the program made the call, if set_locator() asks for it; never freed

    std::string text() const
    {
        if (!call)
            return "?";
        std::string text = std::string(call) + ", driver call " + std::to_string(number);
        return place ? text + ", at " + place : text;
    }
};

// A function that writes the program's current place, "test.py:12", into the buffer.
using Locator = void (*)(char* buffer, size_t size);

// Uses the initial-exec model, because every call reads it.
extern thread_local Origin origin __attribute__((tls_model("initial-exec")));

// Records why the call in progress fails, for the log of failed calls.
inline void explain(std::string text)
{
    emu::explain(origin.number, std::move(text));
}

} // namespace emu::state
