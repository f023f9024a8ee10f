// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Context limits: one row for each, with its default and its range.
#pragma once

#include "../common.hpp"
#include "../exec/exec.hpp"

namespace emu::state {

class LimitTable {
public:
    LimitTable();
    CUresult get(CUlimit limit, size_t* value) const;
    CUresult set(CUlimit limit, size_t value);
    exec::Limits for_launch() const;

private:
    size_t values_[CU_LIMIT_MAX];
};

} // namespace emu::state
