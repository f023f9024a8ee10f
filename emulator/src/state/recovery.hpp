// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// A working device after a faulty kernel.
#pragma once

#include "../common.hpp"

namespace emu::state {

// Waits until all submitted work has run; false if some still runs after `patience`.
bool wait_for_work(std::chrono::milliseconds patience);
// The reports of failed contexts whose failure no driver call has returned yet, one after another.
std::string unreported_faults();
bool is_spoiled(); // whether a context has failed or a stream is capturing
// Ends captures and, after `patience`, running kernels, and makes failed contexts usable again. All objects stay valid.
void recover(std::chrono::milliseconds patience);

} // namespace emu::state
