// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The installed devices that CUDA sees: the CUDA_VISIBLE_DEVICES variable, read as drivers read it.
#pragma once

#include <string>
#include <vector>

namespace emu::state {

// Returns the numbers of the visible devices in order, given the UUIDs of all installed ones ("GPU-..."). `text` is the
// value of the variable; null: all are visible. The list ends before the first entry that is neither a device number
// nor a prefix of exactly one UUID, or that is of another kind than the first one. A repeated device hides all.
std::vector<int> visible_devices(const char* text, const std::vector<std::string>& uuids);

} // namespace emu::state
