// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// An inline PTX instruction during translation: its words, its operands as C++, and the resulting statement.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ptx.hpp"
#include "text.hpp"

namespace emu::front {

// Returns the C++ type of a PTX type, or an empty string if it is unknown.
inline std::string type_of(const std::string& name)
{
    static const std::map<std::string, const char*> types = {{"u8", "emu_u8"},
                                                             {"b8", "emu_u8"},
                                                             {"s8", "signed char"},
                                                             {"u16", "unsigned short"},
                                                             {"b16", "unsigned short"},
                                                             {"s16", "short"},
                                                             {"u32", "emu_u32"},
                                                             {"b32", "emu_u32"},
                                                             {"s32", "emu_i32"},
                                                             {"u64", "unsigned long long"},
                                                             {"b64", "unsigned long long"},
                                                             {"s64", "long long"},
                                                             {"f32", "float"},
                                                             {"f64", "double"},
                                                             {"f16", "unsigned short"},
                                                             {"bf16", "unsigned short"},
                                                             {"pred", "bool"}};
    auto found = types.find(name);
    return found == types.end() ? "" : found->second;
}

inline bool is_half(const std::string& name)
{
    return name == "f16" || name == "bf16";
}

inline bool is_float(const std::string& name)
{
    return name == "f32" || name == "f64" || is_half(name);
}

inline std::string wide_of(const std::string& name)
{
    return name.size() == 3 && name.substr(1) == "16" ? name.substr(0, 1) + "32"
           : name.substr(1) == "32"                   ? name.substr(0, 1) + "64"
                                                      : "";
}

inline bool has_word(const std::string& list, const std::string& word)
{
    return !word.empty() && (" " + list + " ").find(" " + word + " ") != std::string::npos;
}

// Rules remove the words that they use; anything left at the end is not supported.
class PtxInstruction {
public:
    PtxInstruction(const PtxWords& code, const PtxWords& operands, const PtxNames& names)
        : name_(code[0]), words_(code.begin() + 1, code.end()), operands_(operands), names_(names)
    {
    }

protected:
    bool take(const std::string& word)
    {
        auto at = std::find(words_.begin(), words_.end(), word);
        if (at == words_.end())
            return false;
        words_.erase(at);
        return true;
    }
    std::string take_one_of(const PtxWords& list)
    {
        for (const std::string& word : list)
            if (take(word))
                return word;
        return "";
    }
    std::string take_type()
    {
        if (words_.empty() || type_of(words_.back()).empty())
            return "";
        std::string type = words_.back();
        words_.pop_back();
        return type;
    }
    bool count(size_t least, size_t most) const { return operands_.size() >= least && operands_.size() <= most; }

    // LLVM puts a single register of a load or store into braces, too.
    static std::string without_braces(const std::string& text)
    {
        bool is_one = text.size() > 2 && text[0] == '{' && text.back() == '}' && text.find(',') == text.npos;
        return is_one ? trimmed(text.substr(1, text.size() - 2)) : text;
    }
    std::string raw(size_t i)
    {
        std::string text = i < operands_.size() ? without_braces(operands_[i]) : "", value;
        if (!text.empty() && text[0] == '!') {
            value = names_.value(text.substr(1));
            value = value.empty() ? "" : "(emu_u64)!" + value;
        } else
            value = names_.value(text);
        failed_ = failed_ || value.empty();
        return value;
    }
    std::string as(size_t i, const std::string& type)
    {
        if (is_half(type))
            return "::emu::ptx::" + type + "::to(emu_u32(" + raw(i) + ") & 0xffffu)";
        return "::emu::ptx::as<" + type_of(type) + ">(" + raw(i) + ")";
    }
    std::string target(const std::string& text)
    {
        std::string value = names_.target(without_braces(text));
        failed_ = failed_ || value.empty();
        return value;
    }
    bool assign(const std::string& type, const std::string& value)
    {
        made_ = target(operands_[0]) + " = " +
                (is_half(type) ? "::emu::ptx::" + type + "::from(" : "::emu::ptx::of<" + type_of(type) + ">(") + value +
                ");";
        return true;
    }
    // Returns the comparison of two expressions, or an empty string if it is unknown.
    static std::string comparison(const std::string& how, bool of_floats, const std::string& a, const std::string& b)
    {
        static const std::map<std::string, const char*> signs = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="},
                                                                 {"gt", ">"},  {"ge", ">="}, {"lo", "<"}, {"ls", "<="},
                                                                 {"hi", ">"},  {"hs", ">="}};
        std::string base = how, unordered = "__builtin_isunordered(" + a + ", " + b + ")";
        if (how == "num" || how == "nan")
            return of_floats ? (how == "num" ? "!" : "") + unordered : "";
        bool also = of_floats && how.size() == 3 && how.back() == 'u';
        if (also)
            base.pop_back();
        auto sign = signs.find(base);
        if (sign == signs.end())
            return "";
        std::string plain = "(" + a + " " + sign->second + " " + b + ")";
        if (also)
            return "(" + plain + " || " + unordered + ")";
        return of_floats && base == "ne" ? "(" + plain + " && !" + unordered + ")" : plain;
    }
    static std::string flushed(const std::string& type, const std::string& value)
    {
        return type == "f32"   ? "::emu::ptx::flushed(" + value + ")"
               : type == "f16" ? "::emu::ptx::flushed_half(" + value + ")"
                               : value;
    }
    // min.NaN.xorsign.abs.f32 d, a, b; min.NaN.abs.f32 d, a, b, c
    template <class Operand> std::string least_or_most(Operand a)
    {
        bool keeps_nan = take("NaN"), xors = take("xorsign"), is_absolute = take("abs");
        if (!count(3, 4) || (xors && (!is_absolute || count(4, 4))) || (is_absolute && !xors && count(3, 3)))
            return "";
        auto operand = [&](size_t i) { return is_absolute ? "::emu::ptx::absolute(" + a(i) + ")" : a(i); };
        std::string function =
            std::string("::emu::ptx::") + (name_ == "min" ? "least" : "most") + (keeps_nan ? "_nan(" : "(");
        std::string value = function + operand(1) + ", " + operand(2) + ")";
        if (count(4, 4))
            value = function + value + ", " + operand(3) + ")";
        return xors ? "::emu::ptx::signed_as(" + value + ", " + a(1) + ", " + a(2) + ")" : value;
    }
    // The operator that combines a comparison with the predicate of operand 3: "", " & ", " | " or " ^ ".
    std::string take_join()
    {
        std::string word = take_one_of({"and", "or", "xor"});
        return word.empty() ? "" : word == "and" ? " & " : word == "or" ? " | " : " ^ ";
    }
    // Splits "d|p": the second is optional, and "_" discards either.
    void split_target(std::string* first, std::string* second)
    {
        size_t bar = operands_[0].find('|');
        auto strip = [](std::string text) {
            text.erase(0, text.find_first_not_of(" \t"));
            text.erase(text.find_last_not_of(" \t") + 1);
            return text;
        };
        *first = target(strip(operands_[0].substr(0, bar)));
        *second = bar == std::string::npos ? "emu_sink" : target(strip(operands_[0].substr(bar + 1)));
    }
    PtxWords vector(const std::string& text, bool is_target)
    {
        PtxWords out;
        std::string inner =
            text.size() > 2 && text[0] == '{' && text.back() == '}' ? text.substr(1, text.size() - 2) : "";
        for (size_t at = 0; at < inner.size();) {
            size_t end = std::min(inner.find(',', at), inner.size());
            std::string word = inner.substr(at, end - at);
            word.erase(0, word.find_first_not_of(" \t\n"));
            word.erase(word.find_last_not_of(" \t\n") + 1);
            out.push_back(is_target ? names_.target(word) : names_.value(word));
            failed_ = failed_ || out.back().empty();
            at = end + 1;
        }
        return out;
    }

    const std::string name_;
    PtxWords words_;
    const PtxWords& operands_;
    const PtxNames& names_;
    std::string made_;
    bool failed_ = false;
};

} // namespace emu::front
