// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Instructions for registers that hold several numbers: pairs of f16, bf16 and 16-bit integers, and four bytes.
#include "ptx_instruction.hpp"

namespace emu::front {
namespace {

class Packed : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    bool translate(std::string* made)
    {
        bool done = name_ == "dp4a" || name_ == "dp2a" ? bytes()
                    : take("s16x2")                    ? integers("s")
                    : take("u16x2")                    ? integers("u")
                    : name_ == "cvt" ? conversion() : pairs();
        *made = made_;
        return done && !failed_ && words_.empty();
    }

private:
    // add.s16x2 d, a, b
    bool integers(const std::string& sign)
    {
        if (!count(3, 3) || (name_ != "add" && name_ != "min" && name_ != "max"))
            return false;
        made_ = target(operands_[0]) + " = __v" + name_ + (name_ == "add" ? "" : sign) + "2((emu_u32)" + raw(1) +
                ", (emu_u32)" + raw(2) + ");";
        return true;
    }

    // dp4a.u32.s32 d, a, b, c; dp2a.lo.u32.s32 d, a, b, c
    bool bytes()
    {
        bool high = name_ == "dp2a" && take("hi");
        if (name_ == "dp2a" && !high && !take("lo"))
            return false;
        PtxWords types = words_;
        words_.clear();
        if (!count(4, 4) || types.size() != 2 || (types[0] != "u32" && types[0] != "s32") ||
            (types[1] != "u32" && types[1] != "s32"))
            return false;
        if (name_ == "dp2a") {
            auto sign = [](const std::string& type) { return type == "s32" ? ", true)" : ", false)"; };
            made_ = "emu_u32 emu_sum = (emu_u32)" + raw(3) +
                    "; for (int i = 0; i < 2; ++i) emu_sum += (emu_u32)(::emu::ptx::part(" + raw(1) + ", 16, i" +
                    sign(types[0]) + " * ::emu::ptx::part(" + raw(2) + ", 8, i + " + (high ? "2" : "0") +
                    sign(types[1]) + "); " + target(operands_[0]) + " = emu_sum;";
            return true;
        }
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
        bool relu = take("relu");
        if (!count(3, 3) || !take("rn") || !take("f32") || type.empty())
            return false;
        type = "::emu::ptx::" + type.substr(0, type.size() - 2) + "::from(" + (relu ? "::emu::rectified(" : "(");
        std::string low = type + as(2, "f32") + "))", high = type + as(1, "f32") + "))";
        made_ = target(operands_[0]) + " = " + low + " | (emu_u64)" + high + " << 16;";
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
        if (word == "f16x2" || word == "bf16x2" || word == "s16x2" || word == "u16x2")
            return true;
    return code[0] == "dp4a" || code[0] == "dp2a";
}

bool translate_packed(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    return Packed(code, operands, names).translate(made);
}

} // namespace emu::front
