// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// wgmma: products of four warps, whose factors are in shared memory or registers. The sums are in registers.
#include <cstdio>
#include <map>

#include "ptx_instruction.hpp"

namespace emu::front {
namespace {

struct Factor {
    const char* reader; // the class that reads elements, see emulator_matrices.h
    const char *kind, *sums;
    unsigned depth;
};
const std::map<std::string, Factor> factors = {
    {"f16", {"Pairs<::emu::ptx::f16>", "f16", "f16 f32", 16}},
    {"bf16", {"Pairs<::emu::ptx::bf16>", "bf16", "f32", 16}},
    {"tf32", {"Tf32", "tf32", "f32", 8}},
    {"e4m3", {"Fours<::emu::ptx::e4m3>", "f8", "f16 f32", 32}},
    {"e5m2", {"Fours<::emu::ptx::e5m2>", "f8", "f16 f32", 32}},
    {"s8", {"Integers<8, true>", "i8", "s32", 32}},
    {"u8", {"Integers<8, false>", "i8", "s32", 32}},
    {"b1", {"BitsAnd", "b1", "s32", 256}},
};

class Warpgroups : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    bool translate(std::string* made)
    {
        bool done = take("sync") && take("aligned") && (take("mma_async") ? product() : order());
        *made = made_;
        return done && !failed_ && words_.empty();
    }

private:
    // A product is complete for its warp when it is issued; a wait completes it for all four warps.
    bool order()
    {
        bool waits = take("wait_group");
        made_ = waits ? "emu_tile_barrier(128);" : ";";
        return waits ? count(1, 1) : (take("fence") || take("commit_group")) && operands_.empty();
    }

    bool take_shape(unsigned* columns, unsigned* depth)
    {
        for (size_t i = 0; i < words_.size(); ++i) {
            unsigned rows = 0;
            int length = 0;
            if (std::sscanf(words_[i].c_str(), "m%un%uk%u%n", &rows, columns, depth, &length) != 3 ||
                size_t(length) != words_[i].size())
                continue;
            words_.erase(words_.begin() + int(i));
            return rows == 64 && *columns >= 8 && *columns <= 256 && *columns % 8 == 0;
        }
        return false;
    }

    // wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {d...}, a, b, scale-d, scale-a, scale-b, trans-a, trans-b
    bool product()
    {
        unsigned columns = 0, depth = 0;
        bool saturates = take("satfinite");
        if (!take_shape(&columns, &depth) || words_.size() < 3 || operands_.size() < 4)
            return false;
        std::string sum = words_[0], a = words_[1], b = words_[2];
        words_.erase(words_.begin(), words_.begin() + 3);
        auto left = factors.find(a), right = factors.find(b);
        if (left == factors.end() || right == factors.end() || std::string(left->second.kind) != right->second.kind ||
            !has_word(left->second.sums, sum) || depth != left->second.depth)
            return false;
        bool is_bits = a == "b1", is_integer = sum == "s32", is_half_factor = is_half(a);
        if ((saturates && (!is_integer || is_bits)) || (is_bits && (!take("and") || !take("popc"))) ||
            (is_integer && columns > 32 && columns % 16))
            return false;
        bool in_registers = operands_[1][0] == '{';
        size_t transposes = !is_half_factor ? 0 : in_registers ? 1 : 2;
        size_t expected = is_integer ? 4 : 6 + transposes;
        if (!count(expected, expected))
            return false;
        std::string type = saturates           ? "::emu::ptx::Clamped, emu_i32"
                           : sum == "f32"      ? "float, float"
                           : sum == "f16"      ? "::emu::ptx::f16, ::emu::ptx::f16"
                                               : "emu_i32, emu_i32";
        std::string signs = is_integer ? "1, 1" : operands_[4] + ", " + operands_[5];
        std::string a_rows = transposes == 2 ? operands_[6] : "0", b_rows = transposes ? operands_.back() : "0";
        for (const std::string& flag : {a_rows, b_rows})
            if (flag != "0" && flag != "1")
                return false;
        if (signs.find_first_not_of("-1, ") != signs.npos)
            return false;
        return call(std::string("::emu::ptx::") + left->second.reader + ", ::emu::ptx::" + right->second.reader + ", " +
                        type,
                    columns, sum == "f16" ? columns / 4 : columns / 2, signs + ", " + a_rows + ", " + b_rows,
                    in_registers);
    }

    bool call(const std::string& types, unsigned columns, size_t registers, const std::string& signs, bool in_registers)
    {
        PtxWords sums = vector(operands_[0], true), a = in_registers ? vector(operands_[1], false) : PtxWords{raw(1)};
        if (sums.size() != registers || a.size() != (in_registers ? 4u : 1u))
            return false;
        std::string list, first;
        for (const std::string& one : sums)
            list += (list.empty() ? "" : ", ") + one;
        for (const std::string& one : a)
            first += (first.empty() ? "" : ", ") + one;
        made_ = "const emu_u64 emu_a[] = {" + first + "}; const emu_u64 emu_c[] = {" + list +
                "}; emu_u64 emu_d[" + std::to_string(registers) + "] = {}; ::emu::ptx::multiply_group<" + types + ", " + std::to_string(columns) + ", " +
                (in_registers ? "true" : "false") + ">(emu_a, " + raw(2) + ", (" + raw(3) + ") != 0 ? emu_c : nullptr, " + signs +
                ", emu_d);";
        for (size_t i = 0; i < sums.size(); ++i)
            made_ += " " + sums[i] + " = emu_d[" + std::to_string(i) + "];";
        return true;
    }
};

} // namespace

bool is_warpgroups(const PtxWords& code)
{
    return code[0] == "wgmma";
}

bool translate_warpgroups(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    return Warpgroups(code, operands, names).translate(made);
}

} // namespace emu::front
