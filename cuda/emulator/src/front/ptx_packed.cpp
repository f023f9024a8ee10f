// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Instructions for registers that hold several numbers: pairs of f16 and bf16, and four bytes.
#include "ptx_instruction.hpp"

namespace emu::front {
namespace {

class Packed : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    bool translate(std::string* made)
    {
        bool done = name_ == "dp4a" ? bytes() : name_ == "cvt" ? conversion() : pairs();
        *made = made_;
        return done && !failed_ && words_.empty();
    }

private:
    // dp4a.u32.s32 d, a, b, c
    bool bytes()
    {
        PtxWords types = words_;
        words_.clear();
        if (!count(4, 4) || types.size() != 2 || (types[0] != "u32" && types[0] != "s32") ||
            (types[1] != "u32" && types[1] != "s32"))
            return false;
        auto byte = [](const std::string& type) { return type == "s32" ? "signed char" : "emu_u8"; };
        made_ = "emu_u32 emu_sum = (emu_u32)" + raw(3) +
                "; for (unsigned i = 0; i < 32; i += 8) emu_sum += (emu_u32)((" + byte(types[0]) + ")(" + raw(1) +
                " >> i) * (" + byte(types[1]) + ")(" + raw(2) + " >> i)); " + target(operands_[0]) + " = emu_sum;";
        return true;
    }

    // cvt.rn.f16x2.f32 d, high, low
    bool conversion()
    {
        std::string type = take_one_of({"f16x2", "bf16x2"});
        if (!count(3, 3) || !take("rn") || !take("f32") || type.empty())
            return false;
        type = "::emu::ptx::" + type.substr(0, type.size() - 2) + "::from(";
        made_ = target(operands_[0]) + " = " + type + as(2, "f32") + ") | (emu_u64)" + type + as(1, "f32") + ") << 16;";
        return true;
    }

    bool pairs()
    {
        std::string type = take_one_of({"f16x2", "bf16x2"}),
                    half = type.substr(0, type.size() < 2 ? 0 : type.size() - 2);
        bool saturates = take("sat");
        if (type.empty())
            return false;
        if (count(2, 2) && (name_ == "neg" || name_ == "abs")) {
            made_ = target(operands_[0]) + " = " + raw(1) + (name_ == "neg" ? " ^ 0x80008000u;" : " & 0x7fff7fffu;");
            return !saturates;
        }
        bool is_sum = name_ == "add" || name_ == "sub" || name_ == "mul", is_choice = name_ == "min" || name_ == "max";
        bool rounds = take("rn");
        if (!(count(3, 3) && (is_sum || (is_choice && !rounds))) && !(count(4, 4) && name_ == "fma" && rounds))
            return false;
        std::string parts;
        for (int i = 0; i < 2; ++i) {
            auto a = [&](size_t n) {
                return "::emu::ptx::" + half + "::to((emu_u32)(" + raw(n) + " >> " + std::to_string(16 * i) +
                       ") & 0xffffu)";
            };
            std::string value = name_ == "fma" ? "::emu::sum_to_odd(" + a(1) + " * " + a(2) + ", " + a(3) + ")"
                                : is_choice
                                    ? (name_ == "min" ? "::emu::smaller(" : "::emu::larger(") + a(1) + ", " + a(2) + ")"
                                    : a(1) +
                                          (name_ == "add"   ? " + "
                                           : name_ == "sub" ? " - "
                                                            : " * ") +
                                          a(2);
            value = saturates ? "::emu::unit_range(" + value + ")" : value;
            parts += (i ? " | (emu_u64)::emu::ptx::" : "::emu::ptx::") + half + "::from(" + value + ")" +
                     (i ? " << 16" : "");
        }
        made_ = target(operands_[0]) + " = " + parts + ";";
        return true;
    }
};

} // namespace

bool is_packed(const PtxWords& code)
{
    for (const std::string& word : code)
        if (word == "f16x2" || word == "bf16x2")
            return true;
    return code[0] == "dp4a";
}

bool translate_packed(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    return Packed(code, operands, names).translate(made);
}

} // namespace emu::front
