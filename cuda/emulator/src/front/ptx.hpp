// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Translates inline PTX that programmers write by hand for bulk copies to C++ for this device.
#pragma once

#include <string>
#include <vector>

namespace emu::front {

// "=r"(lane): operand number i of an `asm` statement is written %i.
struct PtxOperand {
    std::string constraint, expression;
};

// The C++ expression for a special register such as "laneid" or "tid.x"; empty: unknown.
std::string special_register(const std::string& name);

// C++ statements with the same effect. Empty if an instruction is unknown, which `refused` names.
std::string translate_ptx(const std::string& code, const std::vector<PtxOperand>& operands, std::string* refused);

} // namespace emu::front
