// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Translates PTX that NVIDIA's compilers did not make to C++ for this device: inline PTX, and PTX modules.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace emu::front {

using PtxWords = std::vector<std::string>;

// "=r"(lane): operand number i of an `asm` statement is written %i.
struct PtxOperand {
    std::string constraint, expression;
};

// The C++ expression for a special register such as "laneid" or "tid.x"; empty: unknown.
std::string special_register(const std::string& name);

// C++ statements with the same effect. Empty if an instruction is unknown, which `refused` names.
std::string translate_ptx(const std::string& code, const std::vector<PtxOperand>& operands, std::string* refused);

// What the functions of a PTX module can name.
struct PtxScope {
    std::map<std::string, std::string> addresses; // of variables and parameters: the C++ for them
    std::set<std::string> functions;
    std::set<std::string> registers; // parameters and results in registers
    bool has_vprintf = false;        // the function of that name is the one of CUDA
    std::map<std::string, std::string> files; // of .file, by their numbers
};

// The body of a C++ function with the same effect, on the same lines; empty as above, and then `place` is that of the
// instruction.
std::string translate_ptx_function(const std::string& body, const PtxScope& scope, std::string* refused, size_t* place);

// .visible .global .align 4 .u32 name[4] = {1, 2}
struct PtxVariable {
    std::string space, type, name, value; // space and type with their dots
    size_t alignment = 0, count = 0, size = 0; // in elements and bytes; count 0: an array without length
    bool is_array = false, is_extern = false;
};
bool read_ptx_variable(const std::string& text, PtxVariable* v);

// The C++ for operands: a value, a place for a result, an address; empty: there is none.
struct PtxNames {
    std::function<std::string(const std::string&)> value, target, address;
    bool* carries; // an instruction before has written the carry
};

// ptx_table.cpp: any instruction but those of ptx_statements.cpp; false if it is not supported.
bool translate_instruction(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                           const PtxNames& names, std::string* made);
// ptx_memory.cpp: loads, stores and atomic operations.
bool is_memory(const std::vector<std::string>& code);
bool translate_memory(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                      const PtxNames& names, std::string* made);
// ptx_packed.cpp: several numbers in a register, and arithmetic of halves.
bool is_packed(const std::vector<std::string>& code);
bool translate_packed(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                      const PtxNames& names, std::string* made);
// ptx_video.cpp: video instructions, and conversions of numbers of 8, 6 and 4 bits.
bool is_video(const std::vector<std::string>& code);
bool translate_video(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                     const PtxNames& names, std::string* made);
// ptx_matrices.cpp: mma, wmma, ldmatrix, stmatrix and movmatrix.
bool is_matrices(const std::vector<std::string>& code);
bool translate_matrices(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                        const PtxNames& names, std::string* made);
// ptx_textures.cpp: textures and surfaces.
bool is_image(const std::vector<std::string>& code);
bool translate_image(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                     const PtxNames& names, std::string* made);

} // namespace emu::front
