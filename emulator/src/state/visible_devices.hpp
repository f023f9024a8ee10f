// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Which of the installed devices CUDA sees: the variable CUDA_VISIBLE_DEVICES, as drivers read it.
#pragma once

#include <string>
#include <vector>

namespace emu::state {

// Returns the numbers of the visible devices in order, given the UUIDs of all installed ones ("GPU-..."). `text` is the
// value of the variable; null: all are visible. The list ends before the first entry that is neither the number of a
// device nor the beginning of exactly one UUID, and before one that was named already.
std::vector<int> visible_devices(const char* text, const std::vector<std::string>& uuids);

} // namespace emu::state
