// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Operations on values in memory: streams and nodes write values and wait for values.
#pragma once

#include <functional>

#include "calls.hpp"

namespace emu::abi {

struct MemoryOperations {
    std::function<CUresult()> work; // executes the operations in order
    bool can_wait = false;
};

// Checks all operations before any is executed.
CUresult make_operations(const std::shared_ptr<state::Context>& context, unsigned count,
                         const CUstreamBatchMemOpParams* operations, unsigned flags, MemoryOperations* out);

} // namespace emu::abi
