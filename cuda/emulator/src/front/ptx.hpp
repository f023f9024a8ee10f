// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Translates inline PTX that programmers write by hand to C++ for this device.
#pragma once

#include <functional>
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

// The C++ for operands: a value, a place for a result, an address; empty: there is none.
struct PtxNames {
    std::function<std::string(const std::string&)> value, target, address;
    bool* carries; // an instruction before has written the carry
};

// ptx_table.cpp: an instruction for arithmetic, memory, warps or barriers; false if it is not supported.
bool translate_instruction(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                           const PtxNames& names, std::string* made);

} // namespace emu::front
