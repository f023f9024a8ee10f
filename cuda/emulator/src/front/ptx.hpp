// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Inline PTX that programmers write by hand for bulk copies, as C++ for this device.
#pragma once

#include <string>
#include <vector>

namespace emu::front {

// "=r"(lane): operand number i of an `asm` statement is %i.
struct PtxOperand {
    std::string constraint, expression;
};

// What a special register such as "laneid" or "tid.x" reads as; empty: not known.
std::string special_register(const std::string& name);

// Statements in C++ that do the same. Empty: `refused` has the first instruction that is not known.
std::string translate_ptx(const std::string& code, const std::vector<PtxOperand>& operands, std::string* refused);

} // namespace emu::front
