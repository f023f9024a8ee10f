// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Instructions for f16 and bf16, and for registers that hold several numbers: pairs of 16 bits, and four bytes.
#include "ptx_instruction.hpp"

namespace emu::front {
namespace {

class Packed : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    bool translate(std::string* made)
    {
        bool done = take("f32x2")                      ? floats()
                    : name_ == "dp4a" || name_ == "dp2a" ? bytes()
                    : take("s16x2")                    ? integers("s")
                    : take("u16x2")                    ? integers("u")
                    : name_ == "cvt"                   ? conversion()
                                                       : halves();
        *made = made_;
        return done && !failed_ && words_.empty();
    }

private:
    // fma.rn.f32x2 d, a, b, c
    bool floats()
    {
        bool flush = take("ftz"), is_sum = name_ == "fma";
        std::string rounding = take_one_of({"rn", "rz", "rm", "rp"}), end;
        if (!count(is_sum ? 4 : 3, is_sum ? 4 : 3) || (is_sum && rounding.empty()))
            return false;
        end = rounding == "rm" ? "_rd(" : rounding == "rp" ? "_ru(" : rounding == "rz" ? "_rz(" : "_rn(";
        for (const char* shift : {"0", "32"}) {
            std::string list;
            for (size_t i = 1; i < operands_.size(); ++i) {
                std::string one = "::emu::ptx::as<float>(" + raw(i) + " >> " + shift + ")";
                list += (i > 1 ? ", " : "") + (flush ? flushed("f32", one) : one);
            }
            std::string value = (is_sum ? "__fmaf" : "__f" + name_) + end + list + ")";
            value = "::emu::ptx::of<float>(" + (flush ? flushed("f32", value) : value) + ")";
            made_ += (made_.empty() ? "const emu_u64 emu_v = " : " | ") + value + " << " + shift;
        }
        made_ += "; " + target(operands_[0]) + " = emu_v;";
        return is_sum || name_ == "add" || name_ == "sub" || name_ == "mul";
    }

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
        std::string type = take_one_of({"f16x2", "bf16x2"}), rounding = take_one_of({"rn", "rz"});
        bool relu = take("relu");
        if (!count(3, 3) || rounding.empty() || !take("f32") || type.empty())
            return false;
        type = "::emu::ptx::" + type.substr(0, type.size() - 2) + "::from<::emu::ROUND_" +
               (rounding == "rn" ? "NEAREST>(" : "ZERO>(") + (relu ? "::emu::rectified(" : "(");
        std::string low = type + as(2, "f32") + "))", high = type + as(1, "f32") + "))";
        made_ = target(operands_[0]) + " = " + low + " | (emu_u64)" + high + " << 16;";
        return true;
    }

    // add.f16x2 d, a, b; fma.rn.relu.bf16 d, a, b, c
    bool halves()
    {
        std::string type = take_one_of({"f16x2", "bf16x2", "f16", "bf16"});
        is_pair_ = type.back() == '2', half_ = type.substr(0, type.find("x2"));
        if (name_ == "setp" || name_ == "set")
            return comparisons();
        bool flush = take("ftz"), saturates = take("sat"), relu = name_ == "fma" && take("relu");
        if (count(2, 2) && (name_ == "neg" || name_ == "abs") && !flush) {
            std::string mask = is_pair_         ? (name_ == "neg" ? "0x80008000u" : "0x7fff7fffu")
                               : name_ == "neg" ? "0x8000u"
                                                : "0x7fffu";
            made_ = target(operands_[0]) + " = " + raw(1) + (name_ == "neg" ? " ^ " : " & ") + mask + ";";
            return !saturates;
        }
        const PtxWords all = words_; // each half uses the modifiers
        std::string parts;
        for (int i = 0; i < (is_pair_ ? 2 : 1); ++i) {
            words_ = all;
            std::string value = half_value([&](size_t n) { return flush ? flushed(half_, part(n, i)) : part(n, i); });
            if (value.empty())
                return false;
            value = flush ? flushed(half_, value) : value;
            value = saturates ? "::emu::unit_range(" + value + ")" : relu ? "::emu::rectified(" + value + ")" : value;
            parts += (i ? " | (emu_u64)::emu::ptx::" : "::emu::ptx::") + half_ + "::from(" + value + ")" +
                     (i ? " << 16" : "");
        }
        made_ = target(operands_[0]) + " = " + parts + ";";
        return !(saturates && relu);
    }

    // Returns half i of operand n as a double.
    std::string part(size_t n, int i)
    {
        return "::emu::ptx::" + half_ + "::to((emu_u32)(" + raw(n) + " >> " + std::to_string(16 * i) + ") & 0xffffu)";
    }

    // Computes in double precision and rounds once.
    template <class Operand> std::string half_value(Operand a)
    {
        const std::string& name = name_;
        if (count(2, 2) && (name == "neg" || name == "abs"))
            return (name == "neg" ? "-" : "::emu::ptx::absolute") + ("(" + a(1) + ")");
        if (count(2, 2) && (name == "ex2" || name == "tanh") && take("approx"))
            return (name == "ex2" ? "::exp2(" : "::tanh(") + a(1) + ")";
        if (name == "min" || name == "max")
            return least_or_most(a);
        if (count(3, 3) && (name == "add" || name == "sub" || name == "mul")) {
            take("rn");
            return a(1) + (name == "add" ? " + " : name == "sub" ? " - " : " * ") + a(2);
        }
        return count(4, 4) && name == "fma" && take("rn")
                   ? "::emu::sum_to_odd(" + a(1) + " * " + a(2) + ", " + a(3) + ")"
                   : "";
    }

    // setp.lt.and.f16x2 p|q, a, b, c, with p for the lower halves; set.lt.u32.f16x2 d, a, b
    bool comparisons()
    {
        std::string kind = name_ == "set" ? take_one_of({"f16x2", "bf16x2", "u32", "s32"}) : "", join = take_join();
        bool flush = take("ftz"), is_mask = kind == "u32" || kind == "s32";
        std::string how = words_.size() == 1 ? words_[0] : "";
        if (!is_pair_ || !count(3, 4) || how.empty() || join.empty() != count(3, 3) || (name_ == "set") == kind.empty())
            return false;
        words_.clear();
        if (!join.empty())
            made_ = "const bool emu_c = (bool)(" + raw(3) + "); ";
        std::string tests[2];
        for (int i = 0; i < 2; ++i) {
            auto a = [&](size_t n) { return flush ? flushed(half_, part(n, i)) : part(n, i); };
            std::string test = comparison(how, true, a(1), a(2));
            if (test.empty())
                return false;
            tests[i] = "emu_" + std::string(i ? "high" : "low");
            made_ += "const bool " + tests[i] + " = " + test + (join.empty() ? "" : join + "emu_c") + "; ";
        }
        if (name_ == "set") {
            std::string one = is_mask ? "0xffffu" : kind == "f16x2" ? "0x3c00u" : "0x3f80u";
            made_ += target(operands_[0]) + " = (emu_low ? " + one + " : 0) | (emu_high ? " + one + " << 16 : 0);";
            return is_mask || kind == half_ + "x2";
        }
        std::string first, second;
        split_target(&first, &second);
        made_ += first + " = emu_low; " + second + " = emu_high;";
        return true;
    }

    bool is_pair_ = false;
    std::string half_;
};

} // namespace

bool is_packed(const PtxWords& code)
{
    static const auto& arithmetic = *new PtxWords{"add", "sub", "mul", "fma", "min", "max", "neg", "abs", "ex2", "tanh"};
    bool computes = std::find(arithmetic.begin(), arithmetic.end(), code[0]) != arithmetic.end();
    for (const std::string& word : code)
        if (word == "f16x2" || word == "bf16x2" || word == "s16x2" || word == "u16x2" || word == "f32x2" || (computes && is_half(word)))
            return true;
    return code[0] == "dp4a" || code[0] == "dp2a";
}

bool translate_packed(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    return Packed(code, operands, names).translate(made);
}

} // namespace emu::front
