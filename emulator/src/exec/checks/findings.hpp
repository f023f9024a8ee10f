// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Findings after which a launch can continue (races, uninitialized reads): known ones (CUDA_EMULATOR_SUPPRESS), and
// several of a launch (CUDA_EMULATOR_KEEP_GOING). CUDA_EMULATOR_REPORT records all findings.
#pragma once

#include "../carrier.hpp"

namespace emu::exec {

// Called on a fiber. Returns true if the launch continues after this finding.
bool goes_on(Carrier& carrier, const Trouble& trouble);
// Appends a finding to this process's file; `reason`: why it is suppressed.
void record_finding(const Fault& fault, const std::string& reason);

} // namespace emu::exec
