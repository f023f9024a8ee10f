// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Makes a device usable again after a faulty kernel.
#pragma once

#include "../common.hpp"

namespace emu::state {

// Waits until all submitted work has run. Returns false if some still runs after `patience`.
bool wait_for_work(std::chrono::milliseconds patience);
// Concatenates the reports of failed contexts whose failure no driver call has returned yet.
std::string take_unreported_faults();
bool is_spoiled(); // returns true if a context has failed or a stream is capturing
// Ends captures and, after `patience`, running kernels, and makes failed contexts usable again. All objects stay valid.
void recover(std::chrono::milliseconds patience);

} // namespace emu::state
