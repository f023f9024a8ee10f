// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// One instruction becomes one statement. Here are mbarriers, bulk copies with and without tensors, fences, moves and
// jumps; ptx_table.cpp has all others.
#include "ptx.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "text.hpp"

namespace emu::front {
namespace {

using Words = std::vector<std::string>;

// Splits at commas outside of brackets.
Words split_operands(const std::string& text)
{
    Words found;
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

Words split_dots(const std::string& opcode)
{
    Words found(1);
    for (char c : opcode)
        if (c == '.')
            found.emplace_back();
        else
            found.back() += c;
    return found;
}

class Translator {
public:
    explicit Translator(const std::vector<PtxOperand>& operands) : operands_(operands) {}

    std::string run(std::string code, std::string* refused)
    {
        drop_comments(&code);
        for (size_t at = 0; at < code.size();) {
            if (std::strchr(" \t\n{};", code[at])) {
                ++at;
                continue;
            }
            if (size_t colon = label_end(code, at)) {
                label(trimmed(code.substr(at, colon - at)));
                at = colon + 1;
                continue;
            }
            size_t end = std::min(code.find(';', at), code.size());
            std::string text = trimmed(code.substr(at, end - at));
            if (!statement(text)) {
                *refused = text;
                return "";
            }
            at = end + 1;
        }
        return whole();
    }

private:
    static void drop_comments(std::string* code)
    {
        for (const auto& [begin, end] : {std::pair<const char*, const char*>{"/*", "*/"}, {"//", "\n"}})
            for (size_t at = code->find(begin); at != code->npos; at = code->find(begin)) {
                size_t last = code->find(end, at + 2);
                code->replace(at, last == code->npos ? code->npos : last + std::strlen(end) - at, " ");
            }
    }

    static bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

    // The place of the colon if the code begins with a label; else 0.
    static size_t label_end(const std::string& code, size_t at)
    {
        size_t end = at;
        while (end < code.size() && is_name(code[end]))
            ++end;
        if (end == at)
            return 0;
        while (end < code.size() && std::strchr(" \t\n", code[end]))
            ++end;
        return end < code.size() && code[end] == ':' && code.compare(end, 2, "::") != 0 ? end : 0;
    }

    // The name of a register of the statement, which may begin with % or %%.
    static std::string bare(const std::string& name)
    {
        return plain(name.substr(std::min(name.find_first_not_of('%'), name.size())));
    }

    static std::string plain(std::string name)
    {
        std::replace(name.begin(), name.end(), '$', '_');
        return name;
    }

    void label(const std::string& name)
    {
        labels_.insert(plain(name));
        body_ += "emu_l_" + plain(name) + ": ; ";
    }

    // -------------------------------------------------------------------- operands

    // The C++ for a source operand: %0, %laneid, %%laneid, a number, or a register of the statement. Empty: unknown.
    std::string value(const std::string& text) const
    {
        if (text.empty())
            return "";
        if (registers_.count(bare(text)))
            return "emu_r_" + bare(text);
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
            return text.find_first_not_of("-0123456789abcdefxABCDEFXuU") == text.npos ? "(emu_u64)(" + text + ")" : "";
        return "";
    }

    std::string operand(const std::string& text) const
    {
        char* end;
        size_t number = std::strtoul(text.c_str() + 1, &end, 10);
        return *end || number >= operands_.size() ? "" : "emu_o" + std::to_string(number);
    }

    // The C++ for a destination operand; "_" discards the value.
    std::string target(const std::string& text) const
    {
        if (text == "_")
            return "emu_sink";
        bool is_output = text[0] == '%' && !operand(text).empty();
        return is_output || registers_.count(bare(text)) ? value(text) : "";
    }

    // The C++ for an address: [%0] or [%0 + 16].
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

    // The C++ for a vector {%2, %3}, as members of an array; `count` becomes its length.
    std::string numbers(const std::string& text, size_t* count) const
    {
        if (text.size() < 3 || text.front() != '{' || text.back() != '}')
            return "";
        std::string list;
        Words words = split_operands(text.substr(1, text.size() - 2));
        for (const std::string& word : words) {
            std::string one = value(word);
            if (one.empty())
                return "";
            list += (list.empty() ? "(emu_i32)" : ", (emu_i32)") + one;
        }
        *count = words.size();
        return list;
    }

    // -------------------------------------------------------------------- statements

    bool statement(const std::string& text)
    {
        if (text.compare(0, 4, ".reg") == 0)
            return declaration(text);
        std::string condition, rest = text;
        if (rest[0] == '@') {
            size_t end = rest.find_first_of(" \t\n");
            if (end == rest.npos)
                return false;
            bool is_not = rest[1] == '!';
            std::string name = value(trimmed(rest.substr(is_not ? 2 : 1, end - (is_not ? 2 : 1))));
            if (name.empty())
                return false;
            condition = std::string("if (") + (is_not ? "!" : "") + name + ") ";
            rest = trimmed(rest.substr(end));
        }
        size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
        std::string made;
        if (!instruction(split_dots(rest.substr(0, end)), split_operands(rest.substr(end)), &made))
            return false;
        body_ += condition + "{ " + made + " } ";
        return true;
    }

    // .reg .pred p, q
    bool declaration(const std::string& text)
    {
        size_t type = text.find('.', 4), names = text.find_first_of(" \t\n", type);
        if (type == text.npos || names == text.npos)
            return false;
        for (std::string name : split_operands(text.substr(names))) {
            name = bare(name);
            size_t angle = name.find('<'); // t<4> is t0, t1, t2 and t3
            if (angle == name.npos)
                registers_.insert(name);
            for (int i = 0; angle != name.npos && i < std::min(std::atoi(name.c_str() + angle + 1), 256); ++i)
                registers_.insert(name.substr(0, angle) + std::to_string(i));
        }
        return true;
    }

    bool instruction(const Words& code, const Words& operands, std::string* made)
    {
        const std::string& name = code[0];
        if (name == "fence" || name == "membar" || name == "prefetch")
            return true; // copies are complete and visible already
        bool packs = name == "mov" && (operands.size() == 2 && (operands[0][0] == '{' || operands[1][0] == '{'));
        if ((name == "mov" && !packs) || name == "bra" || name == "elect")
            return plain_instruction(code, operands, made);
        if (name == "mbarrier" && code.size() > 1)
            return mbarrier(code, operands, made);
        if (name == "cp" && code.size() > 3 && code[1] == "async" && code[2] == "bulk")
            return bulk(code, operands, made);
        if (name == "cp" && code.size() > 2 && code[1] == "async")
            return copy(code, operands, made);
        return general(code, operands, made);
    }

    bool general(const Words& code, const Words& operands, std::string* made)
    {
        PtxNames names{[this](const std::string& text) { return value(text); },
                       [this](const std::string& text) { return text.empty() ? text : target(text); },
                       [this](const std::string& text) { return address(text); }, &carries_};
        return translate_instruction(code, operands, names, made);
    }

    bool plain_instruction(const Words& code, const Words& operands, std::string* made)
    {
        if (code[0] == "bra") {
            if (operands.size() != 1)
                return false;
            jumps_.insert(plain(operands[0]));
            *made = "goto emu_l_" + plain(operands[0]) + ";";
            return true;
        }
        if (operands.size() < 2)
            return false;
        if (code[0] == "elect")
            return elect(operands, made);
        std::string to = target(operands[0]), a = value(operands[1]);
        if (to.empty() || a.empty() || operands.size() != 2)
            return false;
        *made = to + " = " + a + ";";
        return true;
    }

    // elect.sync _|p, mask: elects the lowest lane of the mask.
    bool elect(const Words& operands, std::string* made)
    {
        size_t bar = operands[0].find('|');
        if (bar == std::string::npos)
            return false;
        std::string lane = target(trimmed(operands[0].substr(0, bar)));
        std::string chosen = target(trimmed(operands[0].substr(bar + 1))), mask = value(operands[1]);
        if (lane.empty() || chosen.empty() || mask.empty())
            return false;
        *made = lane + " = (emu_u64)__builtin_ctzll(" + mask + " | 1ull << 32); " + chosen + " = " + lane +
                " == ::emu_thread.lane; __syncwarp((unsigned)" + mask + ");";
        if (lane == "emu_sink")
            made->insert(0, "emu_sink = 0; ");
        return true;
    }

    // -------------------------------------------------------------------- copies

    static bool has(const Words& code, const char* word)
    {
        return std::find(code.begin(), code.end(), word) != code.end();
    }

    bool mbarrier(const Words& code, const Words& operands, std::string* made)
    {
        const std::string& what = code[1];
        if (has(code, "shared::cluster") || has(code, "noComplete"))
            return false;
        bool gives = what == "arrive" || what == "try_wait" || what == "test_wait";
        if (operands.size() < (gives ? 2u : 1u))
            return false;
        std::string to = gives ? target(operands[0]) : "emu_sink";
        std::string at = address(operands[gives ? 1 : 0]);
        std::string number = operands.size() > (gives ? 2u : 1u) ? value(operands[gives ? 2 : 1]) : "";
        if (to.empty() || at.empty())
            return false;
        if (what == "init" && !number.empty())
            *made = "emu_mbarrier_init(" + at + ", (emu_u32)" + number + ");";
        else if (what == "inval")
            *made = "emu_mbarrier_end(" + at + ");";
        else if (what == "expect_tx" && !number.empty())
            *made = "emu_mbarrier_arrive(" + at + ", 0, (emu_u32)" + number + ");";
        else if (what == "arrive" && has(code, "expect_tx") && !number.empty())
            *made = to + " = emu_mbarrier_arrive(" + at + ", 1, (emu_u32)" + number + ");";
        else if (what == "arrive" && !has(code, "expect_tx"))
            *made = to + " = emu_mbarrier_arrive(" + at + ", (emu_u32)" + (number.empty() ? "1" : number) + ", 0);";
        else if ((what == "try_wait" || what == "test_wait") && !number.empty())
            *made = to + " = emu_mbarrier_test(" + at + ", " + number + ");";
        return !made->empty();
    }

    // cp.async.ca.shared.global [to], [from], 16, bytes; the rest of the 16 bytes becomes zero. Done immediately.
    bool copy(const Words& code, const Words& operands, std::string* made)
    {
        if (code[2] == "commit_group" || code[2] == "wait_group" || code[2] == "wait_all")
            return true;
        if (code[2] == "mbarrier" && has(code, "arrive") && operands.size() == 1) {
            std::string at = address(operands[0]);
            // Without "noinc", the pending count is raised before the arrival lowers it again.
            *made = has(code, "noinc") ? "emu_mbarrier_arrive(" + at + ", 1, 0);" : "(void)" + at + ";";
            return !at.empty();
        }
        bool is_copy = (code[2] == "ca" || code[2] == "cg") && has(code, "global") && !has(code, "L2::cache_hint") &&
                       (has(code, "shared") || has(code, "shared::cta"));
        if (!is_copy || operands.size() < 3 || operands.size() > 4)
            return false;
        std::string to = address(operands[0]), from = address(operands[1]), size = value(operands[2]);
        std::string bytes = value(operands.back());
        *made = "::emu::ptx::copy(" + to + ", " + from + ", " + size + ", " + bytes + ");";
        return !to.empty() && !from.empty() && !size.empty() && !bytes.empty();
    }

    bool bulk(const Words& code, const Words& operands, std::string* made)
    {
        if (code[3] == "commit_group" || code[3] == "wait_group")
            return true;
        if (has(code, "multicast::cluster") || has(code, "cta_group::1") || has(code, "cta_group::2"))
            return false;
        if (code[3] == "tensor")
            return code.size() > 5 && tensor(code, operands, made);
        bool loads = (code[3] == "shared::cluster" || code[3] == "shared::cta") && code[4] == "global";
        bool stores = code[3] == "global" && code[4] == "shared::cta";
        if ((!loads && !stores) || operands.size() < (loads ? 4u : 3u))
            return false;
        std::string to = address(operands[0]), from = address(operands[1]), size = value(operands[2]);
        std::string barrier = loads ? address(operands[3]) : "0";
        if (to.empty() || from.empty() || size.empty() || barrier.empty())
            return false;
        *made = "emu_bulk_copy(" + to + ", " + from + ", (emu_u32)" + size + ", " + barrier + ", " +
                (loads ? "1" : "0") + ");";
        return true;
    }

    // cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [to], [map, {x, y}], [barrier]
    bool tensor(const Words& code, const Words& operands, std::string* made)
    {
        const std::string& axes = code[4];
        if (axes.size() != 2 || axes[1] != 'd' || axes[0] < '1' || axes[0] > '5' || operands.size() < 2)
            return false;
        bool loads = (code[5] == "shared::cluster" || code[5] == "shared::cta") && has(code, "global");
        bool stores = code[5] == "global" && has(code, "shared::cta");
        for (const std::string& word : code)
            if (word.compare(0, 4, "tile") == 0 ? word != "tile"
                                                : word.compare(0, 6, "im2col") == 0 && word != "im2col")
                return false;
        bool columns = has(code, "im2col");
        if (stores && columns)
            return false;
        size_t count = 0, more = 0;
        const std::string& named = operands[stores ? 0 : 1];
        size_t comma = named.find(',');
        if (named.empty() || named.back() != ']' || comma == named.npos)
            return false;
        std::string map = address(named.substr(0, comma) + "]");
        std::string place = numbers(trimmed(named.substr(comma + 1, named.size() - comma - 2)), &count);
        std::string shared = address(operands[stores ? 1 : 0]);
        if (map.empty() || shared.empty() || count != size_t(axes[0] - '0'))
            return false;
        *made = "const emu_i32 emu_place[] = {" + place + "}; ";
        std::string number = axes.substr(0, 1) + "u, ";
        if (stores) {
            *made += "emu_tensor_store(" + number + map + ", emu_place, " + shared + ");";
            return true;
        }
        std::string barrier = operands.size() > 2 ? address(operands[2]) : "";
        std::string offsets = columns && operands.size() > 3 ? numbers(operands[3], &more) : "";
        if (!loads || barrier.empty() || (columns && more + 2 != count))
            return false;
        if (columns)
            *made += "const emu_i32 emu_offsets[] = {" + offsets + "}; ";
        *made += "emu_tensor_load(" + number + shared + ", " + map + ", emu_place, " + barrier + ", " +
                 (columns ? "emu_offsets" : "nullptr") + ");";
        return true;
    }

    // -------------------------------------------------------------------- the whole

    std::string whole() const
    {
        std::string text = "__extension__ ({ ", after;
        for (const std::string& name : labels_)
            text += "__label__ emu_l_" + name + "; ";
        text += "emu_u64 emu_sink = 0; (void)emu_sink; ";
        text += carries_ ? "emu_u64 emu_carry = 0; (void)emu_carry; " : "";
        for (const std::string& name : registers_)
            text += "emu_u64 emu_r_" + name + " = 0; (void)emu_r_" + name + "; ";
        for (size_t i = 0; i < operands_.size(); ++i) {
            const PtxOperand& o = operands_[i];
            std::string name = "emu_o" + std::to_string(i);
            bool is_output = o.constraint[0] == '=' || o.constraint[0] == '+';
            text += "emu_u64 " + name + " = " +
                    (o.constraint[0] == '=' ? "0" : "::emu::ptx_bits(" + o.expression + ")") + "; (void)" + name + "; ";
            if (is_output)
                after += "::emu::ptx_set(" + o.expression + ", " + name + "); ";
        }
        for (const std::string& name : jumps_)
            if (!labels_.count(name))
                return "";
        return text + body_ + after + "})";
    }

    const std::vector<PtxOperand>& operands_;
    std::set<std::string> registers_, labels_, jumps_;
    bool carries_ = false;
    std::string body_;
};

} // namespace

std::string translate_ptx(const std::string& code, const std::vector<PtxOperand>& operands, std::string* refused)
{
    return Translator(operands).run(code, refused);
}

} // namespace emu::front
