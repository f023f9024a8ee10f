// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Translates PTX from sources other than NVIDIA's compilers to C++ for this device: inline PTX, and PTX modules.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace emu::front {

using PtxWords = std::vector<std::string>;

// "=r"(lane): an `asm` statement refers to operand number i as %i.
struct PtxOperand {
    std::string constraint, expression;
};

// Returns the C++ expression for a special register such as "laneid" or "tid.x", or an empty string if it is unknown.
std::string special_register(const std::string& name);

// Returns C++ statements with the same effect. If an instruction is unknown, returns an empty string and the
// instruction in `unsupported`.
std::string translate_ptx(const std::string& code, const std::vector<PtxOperand>& operands, std::string* unsupported);

// The names that functions of a PTX module can refer to.
struct PtxScope {
    std::map<std::string, std::string> addresses; // of variables and parameters: the C++ for them
    std::set<std::string> functions;
    std::set<std::string> registers; // parameters and results in registers
    std::set<std::string> runtime;   // declared functions of CUDA's runtime: vprintf, __assertfail
    std::map<std::string, std::string> files; // from .file, by number
    int version = 0;                          // of the PTX language: 86 for 8.6
};

// Returns the body of a C++ function with the same effect, on the same lines. If an instruction is unknown, returns an
// empty string, the instruction in `unsupported`, and its position in `place`.
std::string translate_ptx_function(const std::string& body, const PtxScope& scope, std::string* unsupported,
                                   size_t* place);

// .visible .global .align 4 .u32 name[4] = {1, 2}
struct PtxVariable {
    std::string space, type, name, value; // space and type with their dots
    size_t alignment = 0, count = 0, size = 0; // in elements and bytes; count 0: an array without length
    bool is_array = false, is_extern = false;
};
bool read_ptx_variable(const std::string& text, PtxVariable* v);

// ptx_libdevice.cpp: returns the definition of a function of libdevice, or an empty string if there is none.
std::string define_libdevice(const std::string& name);

// The C++ for operands: a value, a place for a result, an address; empty: there is none.
struct PtxNames {
    std::function<std::string(const std::string&)> value, target, address;
    bool* carries;   // an earlier instruction has written the carry
    int version = 0; // of the PTX language: 86 for 8.6; 0: inline PTX
};

// ptx_table.cpp: any instruction not in ptx_statements.cpp. Returns false if it is not supported.
bool translate_instruction(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                           const PtxNames& names, std::string* made);
// ptx_memory.cpp: loads, stores and atomic operations.
bool is_memory(const std::vector<std::string>& code);
bool translate_memory(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                      const PtxNames& names, std::string* made);
// ptx_packed.cpp: several numbers in a register, and half arithmetic.
bool is_packed(const std::vector<std::string>& code);
bool translate_packed(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                      const PtxNames& names, std::string* made);
// ptx_video.cpp: video instructions, and conversions of 8-, 6- and 4-bit numbers.
bool is_video(const std::vector<std::string>& code);
bool translate_video(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                     const PtxNames& names, std::string* made);
// ptx_copies.cpp: mbarriers, asynchronous copies and stores, tensor maps and fences.
bool is_copies(const std::vector<std::string>& code);
bool translate_copies(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                      const PtxNames& names, std::string* made);
// ptx_warpgroups.cpp: wgmma.
bool is_warpgroups(const std::vector<std::string>& code);
bool translate_warpgroups(const std::vector<std::string>& code, const std::vector<std::string>& operands,
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
