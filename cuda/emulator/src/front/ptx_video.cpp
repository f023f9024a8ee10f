// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Video instructions, which work on bytes and halves of registers, and conversions of floating-point numbers of 8 bits.
#include "ptx_instruction.hpp"

namespace emu::front {
namespace {

const std::map<std::string, std::string> narrow_pairs = {{"e4m3x2", "e4m3"}, {"e5m2x2", "e5m2"}};
const std::map<std::string, char> video_names = {
    {"vadd", '+'}, {"vsub", '-'}, {"vabsdiff", 'd'}, {"vmin", '<'}, {"vmax", '>'}};

class Video : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    bool translate(std::string* made)
    {
        bool done = name_ == "cvt" ? conversion() : video();
        *made = made_;
        return done && !failed_ && words_.empty();
    }

private:
    // cvt.rn.satfinite.e4m3x2.f32 d, high, low; cvt.rn.satfinite.e4m3x2.f16x2 d, a; cvt.rn.f16x2.e4m3x2 d, a
    bool conversion()
    {
        std::string from = words_.back(), to = words_[words_.size() - 2], d = target(operands_[0]);
        words_.resize(words_.size() - 2);
        std::string relu = take("relu") ? ", true);" : ", false);";
        if (!take("rn"))
            return false;
        if (narrow_pairs.count(from) && to == "f16x2" && count(2, 2)) {
            made_ = d + " = ::emu::ptx::halves_of<::emu::ptx::" + narrow_pairs.at(from) + ">((emu_u32)" + raw(1) + relu;
            return true;
        }
        if (!narrow_pairs.count(to) || !take("satfinite") || (from != "f32" && from != "f16x2") ||
            !count(from == "f32" ? 3 : 2, from == "f32" ? 3 : 2))
            return false;
        auto half = [&](const char* shift) {
            return "::emu::ptx::f16::to((emu_u32)" + raw(1) + shift + " & 0xffffu)";
        };
        std::string high = from == "f32" ? as(1, "f32") : half(" >> 16"), low = from == "f32" ? as(2, "f32") : half("");
        made_ = d + " = ::emu::ptx::bytes_of<::emu::ptx::" + narrow_pairs.at(to) + ">(" + high + ", " + low + relu;
        return true;
    }

    // vadd.s32.u32.s32.sat.max d, a.b1, b.h0, c; vadd4.u32.u32.u32.add d, a, b, c
    bool video()
    {
        char last = name_.back();
        bool several = last == '2' || last == '4';
        auto operation = video_names.find(several ? name_.substr(0, name_.size() - 1) : name_);
        if (operation == video_names.end() || words_.size() < 3 || !count(several ? 4 : 3, 4))
            return false;
        std::string types(3, ' ');
        for (size_t i = 0; i < 3; ++i) {
            if (words_[i] != "u32" && words_[i] != "s32")
                return false;
            types[i] = words_[i][0];
        }
        words_.erase(words_.begin(), words_.begin() + 3);
        auto is_signed = [&](size_t i) { return types[i] == 's' ? "true, " : "false, "; };
        std::string how = std::string("'") + operation->second + "', ", d = target(operands_[0]);
        how += is_signed(0);
        how += take("sat") ? "true, " : "false, ";
        std::string joined = several ? take_one_of({"add"}) : take_one_of({"add", "min", "max"});
        if (!several && joined.empty() != count(3, 3)) // a fourth operand merges a part, which is not supported
            return false;
        std::string c = count(4, 4) ? "(emu_u32)" + raw(3) : "";
        if (several) {
            std::string lanes = std::string(1, last) + ", " + is_signed(1) + is_signed(2);
            made_ = d + " = ::emu::ptx::video_lanes(" + how + lanes + "(emu_u32)" + raw(1) + ", (emu_u32)" + raw(2) + ", " +
                    (joined.empty() ? "0, false);" : c + ", true);");
            return true;
        }
        made_ = "::emu::ptx::video(" + how + part(1, is_signed(1)) + ", " + part(2, is_signed(2)) + ", 32)";
        char sign = joined == "add" ? '+' : joined == "min" ? '<' : '>';
        if (!joined.empty())
            made_ = std::string("::emu::ptx::video('") + sign + "', " + is_signed(0) + "false, ::emu::ptx::part(" + made_ +
                    ", 32, 0, " + (types[0] == 's' ? "true" : "false") + "), ::emu::ptx::part(" + c + ", 32, 0, " +
                    (types[0] == 's' ? "true" : "false") + "), 32)";
        made_ = d + " = " + made_ + ";";
        return true;
    }

    // An operand with the part of it that counts: a.b0 to a.b3, a.h0 or a.h1.
    std::string part(size_t i, const std::string& is_signed)
    {
        std::string text = operands_[i], bits = "32", index = "0", sign = is_signed.substr(0, is_signed.size() - 2);
        size_t dot = text.rfind('.');
        if (dot != std::string::npos && text.size() == dot + 3 && (text[dot + 1] == 'b' || text[dot + 1] == 'h')) {
            bits = text[dot + 1] == 'b' ? "8" : "16";
            index = text.substr(dot + 2);
            text.erase(dot);
            failed_ = failed_ || index < "0" || index > (bits == "8" ? "3" : "1");
        }
        std::string value = names_.value(text);
        failed_ = failed_ || value.empty();
        return "::emu::ptx::part((emu_u32)" + value + ", " + bits + ", " + index + ", " + sign + ")";
    }
};

} // namespace

bool is_video(const PtxWords& code)
{
    if (code[0] != "cvt")
        return code[0][0] == 'v' && code[0] != "vote";
    for (const std::string& word : code)
        if (narrow_pairs.count(word))
            return true;
    return false;
}

bool translate_video(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    return Video(code, operands, names).translate(made);
}

} // namespace emu::front
