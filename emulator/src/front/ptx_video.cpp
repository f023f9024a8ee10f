// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Video instructions, which work on bytes and halves of registers, and conversions of 8-, 6- and 4-bit numbers.
#include "ptx_instruction.hpp"

namespace emu::front {
namespace {

const std::map<std::string, std::string> narrow_pairs = {
    {"e4m3x2", "e4m3"}, {"e5m2x2", "e5m2"}, {"e2m3x2", "e2m3"}, {"e3m2x2", "e3m2"}, {"e2m1x2", "e2m1"}};
const PtxWords video_names = {"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg", "vset", "vshl", "vshr", "vmad"};

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
        if (from == "ue8m0x2" || to == "ue8m0x2")
            return exponents(d, to, from);
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
        auto half = [&](const char* shift) { return "::emu::ptx::f16::to((emu_u32)" + raw(1) + shift + " & 0xffffu)"; };
        std::string high = from == "f32" ? as(1, "f32") : half(" >> 16"), low = from == "f32" ? as(2, "f32") : half("");
        made_ = d + " = ::emu::ptx::pair_of<::emu::ptx::" + narrow_pairs.at(to) + ">(" + high + ", " + low + relu;
        return true;
    }

    // cvt.rz.satfinite.ue8m0x2.f32 d, high, low; cvt.rp.ue8m0x2.bf16x2 d, a; cvt.rn.bf16x2.ue8m0x2 d, a
    bool exponents(const std::string& d, const std::string& to, const std::string& from)
    {
        if (from == "ue8m0x2") {
            std::string low = "::emu::ptx::bf16::from(::emu::power_of_two((emu_u32)" + raw(1) + " & 0xff))";
            std::string high = "::emu::ptx::bf16::from(::emu::power_of_two((emu_u32)" + raw(1) + " >> 8 & 0xff))";
            made_ = d + " = " + low + " | (emu_u64)" + high + " << 16;";
            return to == "bf16x2" && take("rn") && count(2, 2);
        }
        bool is_pair = from == "bf16x2";
        std::string rounding = take_one_of({"rz", "rp"}), saturates = take("satfinite") ? "true" : "false";
        if (rounding.empty() || (!is_pair && from != "f32") || !count(is_pair ? 2 : 3, is_pair ? 2 : 3))
            return false;
        auto half = [&](const char* shift) {
            return "::emu::ptx::bf16::to((emu_u32)" + raw(1) + shift + " & 0xffffu)";
        };
        std::string end = ", " + saturates + (rounding == "rz" ? ", ::emu::ROUND_ZERO)" : ", ::emu::ROUND_UP)");
        made_ = d + " = ::emu::exponent_of(" + (is_pair ? half("") : as(2, "f32")) + end + " | ::emu::exponent_of(" +
                (is_pair ? half(" >> 16") : as(1, "f32")) + end + " << 8;";
        return true;
    }

    // vadd.s32.u32.s32.sat.max d, a.b1, b.h0, c; vset4.u32.s32.lt.add d.b10, a.b3201, b, c
    bool video()
    {
        parts_ = name_.back() == '2' ? 2 : name_.back() == '4' ? 4 : 1;
        std::string name = parts_ == 1 ? name_ : name_.substr(0, name_.size() - 1);
        bool shifts = name == "vshl" || name == "vshr", only_one = shifts || name == "vmad", compares = name == "vset";
        if (std::find(video_names.begin(), video_names.end(), name) == video_names.end() || !take_types(compares) ||
            (only_one && parts_ > 1) || (name == "vavrg" && parts_ == 1) || operands_.size() < 3)
            return false;
        if (name == "vmad")
            return mad();
        std::string how = compares ? take_one_of({"eq", "ne", "lt", "le", "gt", "ge"}) : name.substr(1);
        std::string limit = shifts ? take_one_of({"clamp", "wrap"}) : "none";
        saturates_ = !compares && take("sat") ? "true" : "false";
        if (how.empty() || limit.empty() || (shifts && signs_[2] == "true"))
            return false;
        how = "::emu::ptx::Video::" + how;
        return parts_ == 1 ? one(how, limit) : several(how);
    }

    // The result is unsigned if the instruction has only two types.
    bool take_types(bool two)
    {
        size_t count = two ? 2 : 3;
        for (size_t i = 0; i < count; ++i) {
            if (i >= words_.size() || (words_[i] != "u32" && words_[i] != "s32"))
                return false;
            signs_[i + 3 - count] = words_[i] == "s32" ? "true" : "false";
        }
        words_.erase(words_.begin(), words_.begin() + int(count));
        return true;
    }

    bool one(const std::string& how, const std::string& limit)
    {
        std::string joined = take_one_of({"add", "min", "max"}), to = operands_[0];
        std::string place = take_part(&to), a = part(1), b = part(2);
        bool merges = place != whole_;
        if (count(4, 4) != (merges || !joined.empty()) || (merges && !joined.empty()))
            return false;
        b = limit == "clamp" ? "::emu::ptx::least(" + b + ", 32ll)" : limit == "wrap" ? "(" + b + " & 31)" : b;
        std::string value = "::emu::ptx::limited(::emu::ptx::video(" + how + ", " + a + ", " + b + "), " + signs_[0] +
                            ", " + saturates_ + ", " + place.substr(0, place.find(',')) + ")";
        std::string c = count(4, 4) ? "(emu_u32)" + raw(3) : "", whole = ", " + whole_ + ", " + signs_[0] + ")";
        if (merges)
            value = "::emu::ptx::merged(" + c + ", " + value + ", " + place + ")";
        if (!joined.empty())
            value = "(emu_u32)::emu::ptx::video(::emu::ptx::Video::" + joined + ", ::emu::ptx::part(" + value + whole +
                    ", ::emu::ptx::part(" + c + whole + ")";
        made_ = target(to) + " = " + value + ";";
        return true;
    }

    bool several(const std::string& how)
    {
        bool adds = take("add");
        std::string to = operands_[0], a = operands_[1], b = operands_[2];
        std::string mask = take_selector(&to, parts_), a_parts = take_selector(&a, 2 * parts_),
                    b_parts = take_selector(&b, 2 * parts_);
        a_parts = a_parts.empty() ? (parts_ == 2 ? "10" : "3210") : a_parts;
        b_parts = b_parts.empty() ? (parts_ == 2 ? "32" : "7654") : b_parts;
        unsigned bits = mask.empty() ? (1u << parts_) - 1 : 0;
        for (char c : mask)
            bits |= 1u << (c - '0');
        if (!count(4, 4) || a_parts.size() != parts_ || b_parts.size() != parts_ || (adds && saturates_ == "true"))
            return false;
        std::string x = names_.value(a), y = names_.value(b);
        failed_ = failed_ || x.empty() || y.empty();
        made_ = target(to) + " = ::emu::ptx::video_parts(" + how + ", " + std::to_string(parts_) + ", " + signs_[0] +
                ", " + saturates_ + ", " + signs_[1] + ", " + signs_[2] + ", (emu_u32)" + x + ", (emu_u32)" + y +
                ", (emu_u32)" + raw(3) + ", 0x" + a_parts + ", 0x" + b_parts + ", " + std::to_string(bits) +
                (adds ? ", true);" : ", false);");
        return true;
    }

    // vmad.s32.u32.s32.po.sat.shr7 d, -a.h0, b.h1, c
    bool mad()
    {
        bool negative[4] = {}, plus_one = take("po"), saturates = take("sat");
        PtxWords sources = operands_;
        std::string scale = take_one_of({"shr7", "shr15"});
        if (!count(4, 4))
            return false;
        for (size_t i = 1; i < 4; ++i) // -1 is a number
            if ((negative[i] = sources[i][0] == '-' && sources[i].size() > 1 && sources[i][1] > '9') ||
                (negative[i] = sources[i].compare(0, 2, "-%") == 0))
                sources[i].erase(0, 1);
        bool negates = negative[1] != negative[2],
             is_signed = signs_[1] == "true" || signs_[2] == "true" || negates || negative[3];
        if ((plus_one && (negative[1] || negative[2] || negative[3])) || (negates && negative[3]))
            return false;
        auto word = [](bool is) { return is ? ", true" : ", false"; };
        std::string c = names_.value(sources[3]);
        failed_ = failed_ || c.empty();
        made_ = target(sources[0]) + " = ::emu::ptx::video_mad(" + part(1, sources[1]) + ", " + part(2, sources[2]) +
                ", (emu_u32)" + c + word(is_signed) + word(negates) + word(negative[3]) + word(plus_one) + ", " +
                (scale.empty() ? "0" : scale.substr(3)) + word(saturates) + ");";
        return true;
    }

    // Removes the part that an operand names (a.b0 to a.b3, a.h0 or a.h1), and returns its bits and index.
    std::string take_part(std::string* text)
    {
        size_t dot = text->rfind('.');
        if (dot == std::string::npos || text->size() != dot + 3 || ((*text)[dot + 1] != 'b' && (*text)[dot + 1] != 'h'))
            return whole_;
        bool is_byte = (*text)[dot + 1] == 'b';
        std::string index = text->substr(dot + 2);
        failed_ = failed_ || index < "0" || index > (is_byte ? "3" : "1");
        text->erase(dot);
        return (is_byte ? "8, " : "16, ") + index;
    }
    std::string part(size_t i) { return part(i, operands_[i]); }
    std::string part(size_t i, std::string text)
    {
        std::string place = take_part(&text), value = names_.value(text);
        failed_ = failed_ || value.empty();
        return "::emu::ptx::part((emu_u32)" + value + ", " + place + ", " + signs_[i] + ")";
    }

    // Returns the digits of a.h32 or a.b7610, which are below `limit`.
    std::string take_selector(std::string* text, size_t limit)
    {
        size_t dot = text->rfind('.');
        if (dot == std::string::npos)
            return "";
        std::string digits = text->substr(std::min(dot + 2, text->size()));
        for (char c : digits)
            failed_ = failed_ || c < '0' || size_t(c - '0') >= limit;
        failed_ = failed_ || digits.empty() || (*text)[dot + 1] != (parts_ == 2 ? 'h' : 'b');
        text->erase(dot);
        return digits;
    }

    const std::string whole_ = "32, 0";
    size_t parts_ = 1;
    std::string signs_[3] = {"false", "false", "false"}, saturates_; // for the result and both operands
};

} // namespace

bool is_video(const PtxWords& code)
{
    if (code[0] != "cvt")
        return code[0][0] == 'v' && code[0] != "vote";
    for (const std::string& word : code)
        if (narrow_pairs.count(word) || word == "ue8m0x2")
            return true;
    return false;
}

bool translate_video(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    return Video(code, operands, names).translate(made);
}

} // namespace emu::front
