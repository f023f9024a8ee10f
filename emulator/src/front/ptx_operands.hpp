// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// PTX names as C++: operands of an asm statement, registers, variables, addresses and numbers.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ptx.hpp"
#include "text.hpp"

namespace emu::front {

// Splits at commas outside brackets.
inline PtxWords split_operands(const std::string& text)
{
    PtxWords found;
    std::string word;
    int depth = 0;
    for (char c : text + ",") {
        if (c == ',' && !depth) {
            if (!trimmed(word).empty())
                found.push_back(trimmed(word));
            word.clear();
            continue;
        }
        depth += std::strchr("[{", c) ? 1 : std::strchr("]}", c) ? -1 : 0;
        word += c;
    }
    return found;
}

class PtxOperands {
protected:
    PtxOperands(const std::vector<PtxOperand>& operands, const PtxScope* scope) : operands_(operands), scope_(scope)
    {
        if (scope)
            addresses_ = scope->addresses;
    }

    // Returns the name of a register of the statement, which may begin with % or %%.
    static std::string bare(const std::string& name)
    {
        return plain(name.substr(std::min(name.find_first_not_of('%'), name.size())));
    }

    static std::string plain(std::string name)
    {
        std::replace(name.begin(), name.end(), '$', '_');
        return name;
    }

    // Returns the C++ for a source operand: %0, %laneid, %%laneid, a number, or a register of the statement. Empty if
    // unknown.
    std::string value(const std::string& text) const
    {
        if (text.empty())
            return "";
        std::string found = variable(text);
        if (!found.empty())
            return found;
        if (is_register(bare(text)))
            return "emu_r_" + bare(text);
        if (scope_ && text == "WARP_SZ")
            return "(emu_u64)32";
        if (scope_ && scope_->functions.count(text))
            return "(emu_u64)&" + text;
        if (text[0] == '%') {
            if (text.size() > 1 && std::isdigit(static_cast<unsigned char>(text[1])))
                return operand(text);
            std::string known = special_register(text.substr(text.compare(0, 2, "%%") == 0 ? 2 : 1));
            return known.empty() ? "" : "(emu_u64)(" + known + ")";
        }
        bool is_bits = text.size() > 2 && text[0] == '0' && std::strchr("fFdD", text[1]);
        if (is_bits) // 0f3F800000, 0d3FF0000000000000: the bits of a float
            return text.size() == (std::strchr("fF", text[1]) ? 10u : 18u) ? "(emu_u64)(0x" + text.substr(2) + "ull)"
                                                                           : "";
        if (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-')
            return text.find_first_not_of("-0123456789abcdefxABCDEFXuU") == text.npos // all have 64 bits
                       ? "(emu_u64)(" + text.substr(0, text.find_last_not_of("uU") + 1) + "ull)"
                       : "";
        return "";
    }

    // Returns the address of a module variable: name, name[0] or name+8.
    std::string variable(const std::string& text) const
    {
        size_t end = std::min(text.find_first_of("+[ "), text.size());
        auto found = addresses_.find(text.substr(0, end));
        if (found == addresses_.end())
            return "";
        std::string rest = trimmed(text.substr(end));
        if (rest.empty() || rest == "[0]")
            return found->second;
        std::string offset = rest[0] == '+' ? value(trimmed(rest.substr(1))) : "";
        return offset.empty() ? "" : "(" + found->second + " + " + offset + ")";
    }

    // Registers in a range, such as %r<100>, exist when they are used.
    bool is_register(const std::string& name) const
    {
        if (registers_.count(name))
            return true;
        for (size_t at = name.size(); at > 1 && std::isdigit(static_cast<unsigned char>(name[at - 1])); --at) {
            auto range = ranges_.find(name.substr(0, at - 1));
            if (range != ranges_.end() && std::atoi(name.c_str() + at - 1) < range->second) {
                registers_.insert(name);
                return true;
            }
        }
        return false;
    }

    std::string operand(const std::string& text) const
    {
        char* end;
        size_t number = std::strtoul(text.c_str() + 1, &end, 10);
        return *end || number >= operands_.size() ? "" : "emu_o" + std::to_string(number);
    }

    // Returns the C++ for a destination operand; "_" discards the value.
    std::string target(const std::string& text) const
    {
        if (text == "_")
            return "emu_sink";
        bool is_output = text[0] == '%' && !operand(text).empty();
        return is_output || is_register(bare(text)) ? value(text) : "";
    }

    // Returns the C++ for an address: [%0] or [%0 + 16].
    std::string address(const std::string& text) const
    {
        if (text.size() < 3 || text.front() != '[' || text.back() != ']')
            return "";
        std::string inner = text.substr(1, text.size() - 2);
        size_t plus = inner.find('+');
        std::string base = value(trimmed(inner.substr(0, plus)));
        if (plus == inner.npos || base.empty())
            return base;
        std::string offset = value(trimmed(inner.substr(plus + 1)));
        return offset.empty() ? "" : "(" + base + " + " + offset + ")";
    }

    const std::vector<PtxOperand>& operands_;
    const PtxScope* scope_;                        // null: an asm statement
    std::map<std::string, std::string> addresses_; // of variables
    std::map<std::string, int> ranges_;            // of registers
    mutable std::set<std::string> registers_;      // those in use
};

} // namespace emu::front
