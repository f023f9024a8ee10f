// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// One instruction becomes one statement. This file handles mbarriers, bulk copies with and without tensors, fences,
// moves, jumps and calls; ptx_table.cpp has all other instructions. An `asm` statement becomes an expression, a
// function of a PTX module the body of a function.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "ptx_operands.hpp"
#include "text.hpp"

namespace emu::front {
namespace {

using Words = PtxWords;

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

class Translator : PtxOperands {
public:
    Translator(const std::vector<PtxOperand>& operands, const PtxScope* scope)
        : PtxOperands(operands, scope), keeps_lines_(scope)
    {
        for (const std::string& name : scope ? scope->registers : std::set<std::string>())
            registers_.insert(bare(name));
    }

    std::string run(std::string code, std::string* unsupported, size_t* place = nullptr)
    {
        if (!scope_) // a module has none left
            drop_comments(&code);
        for (size_t at = 0; at < code.size();) {
            if (std::strchr(" \t\r\n{};", code[at])) {
                if (code[at] == '{')
                    declared_.emplace_back();
                else if (code[at] == '}' && declared_.size() > 1)
                    declared_.pop_back();
                keep_lines(code.substr(at++, 1));
                continue;
            }
            if (scope_ && code.compare(at, 5, ".loc ") == 0) {
                size_t end = std::min(code.find('\n', at), code.size());
                location(code.substr(at + 5, end - at - 5));
                at = end;
                continue;
            }
            if (size_t colon = label_end(code, at)) {
                std::string name = trimmed(code.substr(at, colon - at));
                at = code.find_first_not_of(" \t", colon + 1);
                at = std::min(at, code.size());
                if (scope_ && code[at] == '.')
                    at = list(name, code, at);
                else
                    label(name);
                continue;
            }
            size_t end = std::min(code.find(';', at), code.size());
            std::string text = trimmed(code.substr(at, end - at));
            if (!statement(text)) {
                *unsupported = text;
                if (place)
                    *place = at;
                return "";
            }
            keep_lines(text);
            at = end + 1;
        }
        return scope_ ? function() : whole();
    }

private:
    void keep_lines(const std::string& text)
    {
        if (keeps_lines_)
            body_.append(size_t(std::count(text.begin(), text.end(), '\n')), '\n');
    }

    // .loc 1 12 3: the following code is line 12 of the program that the PTX was compiled from.
    void location(const std::string& text)
    {
        char* rest;
        std::string file = std::to_string(std::strtoul(text.c_str(), &rest, 10));
        auto name = scope_->files.find(file);
        if (name == scope_->files.end())
            return;
        body_ += "\n#line " + std::to_string(std::strtoul(rest, nullptr, 10)) + " \"" + name->second + "\"\n";
        keeps_lines_ = false;
    }

    static void drop_comments(std::string* code)
    {
        for (const auto& [begin, end] : {std::pair<const char*, const char*>{"/*", "*/"}, {"//", "\n"}})
            for (size_t at = code->find(begin); at != code->npos; at = code->find(begin)) {
                size_t last = code->find(end, at + 2);
                code->replace(at, last == code->npos ? code->npos : last + std::strlen(end) - at, " ");
            }
    }

    static bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

    // Returns the position of the colon if the code begins with a label, otherwise 0.
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

    void label(const std::string& name)
    {
        labels_.insert(plain(name));
        body_ += "emu_l_" + plain(name) + ": ; ";
    }

    // NAME: .branchtargets A, B; or NAME: .callprototype (...) _ (...); returns the position of the end.
    size_t list(const std::string& name, const std::string& code, size_t at)
    {
        size_t end = std::min(code.find(';', at), code.size());
        if (code.compare(at, 15, ".branchtargets ") == 0)
            branches_[name] = split_operands(code.substr(at + 15, end - at - 15));
        else if (code.compare(at, 15, ".callprototype ") == 0 || code.compare(at, 13, ".calltargets ") == 0)
            prototypes_.insert(name);
        else
            return at;
        keep_lines(code.substr(at, end - at));
        return end;
    }

    // -------------------------------------------------------------------- statements

    bool statement(const std::string& text)
    {
        if (text.compare(0, 4, ".reg") == 0)
            return declaration(text);
        if (scope_ && text[0] == '.')
            return text.compare(0, 8, ".pragma ") == 0 || local_variable(text);
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
        Words code = split_dots(rest.substr(0, end));
        bool done = scope_ && code[0] == "call" ? call(rest.substr(end), &made)
                                                : instruction(code, split_operands(rest.substr(end)), &made);
        if (!done)
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
            if (!declare(name))
                return false;
            name = bare(name);
            size_t angle = name.find('<'); // t<4> is t0, t1, t2 and t3
            if (angle == name.npos)
                registers_.insert(name);
            else
                ranges_[name.substr(0, angle)] = std::atoi(name.c_str() + angle + 1);
        }
        return true;
    }

    // Returns false for a register that hides another one, or that differs from another one only by the %.
    bool declare(const std::string& name)
    {
        std::string key = bare(name.substr(0, name.find('<')));
        for (const std::set<std::string>& names : declared_)
            if (names.count(key))
                return false;
        bool has_percent = name[0] == '%';
        if (!has_percent)
            addresses_.erase(name); // it hides a variable
        declared_.back().insert(key);
        return spellings_.insert({key, has_percent}).first->second == has_percent;
    }

    // .shared .align 4 .b8 s[64], and likewise .local and .param.
    bool local_variable(const std::string& text)
    {
        PtxVariable v;
        if (!read_ptx_variable(text, &v) || v.name.empty() || !v.value.empty() || (v.space == ".shared" && !v.size))
            return false;
        if (v.space != ".shared" && v.space != ".local" && v.space != ".param")
            return false;
        std::string name = "emu_v_" + plain(v.name);
        size_t& size = sizes_[name];
        if (size && v.space == ".shared")
            return false;
        size = std::max(size, std::max<size_t>(v.size, 1));
        spaces_[name] = v.space == ".shared" ? "__shared__ " : "";
        alignments_[name] = std::max(alignments_[name], v.alignment);
        addresses_[v.name] = "(emu_u64)" + name;
        return true;
    }

    // call.uni (result), name, (parameter, ...), prototype: functions take the addresses of results and parameters. The
    // name may be a register with a function's address.
    bool call(const std::string& text, std::string* made)
    {
        Words results, names, parameters;
        for (size_t at = 0; at < text.size();) {
            bool opens = text[at] == '(';
            size_t end = std::min(text.find_first_of(opens ? ")" : "(,", at), text.size());
            std::string inside = trimmed(text.substr(at + opens, end - at - opens));
            if (opens)
                (names.empty() ? results : parameters) = split_operands(inside);
            else if (!inside.empty())
                names.push_back(inside);
            at = end + (end < text.size() && text[end] != '(');
        }
        if (names.empty() || names.size() > 2 || (names.size() == 2 && !prototypes_.count(names[1])))
            return false;
        std::string list, types, function = names[0];
        for (const std::string& word : results)
            if (!argument(word, true, made, &list, &types))
                return false;
        for (const std::string& word : parameters)
            if (!argument(word, false, made, &list, &types))
                return false;
        if (function == "vprintf" && scope_->has_vprintf)
            function = "::emu::ptx::print";
        else if (!scope_->functions.count(function)) {
            if (!is_register(bare(function)))
                return false;
            function = "((void (*)(" + types + "))" + value(function) + ")";
        }
        *made += function + "(" + list + ");";
        return true;
    }
    // Adds the address of a variable, of a register for a result, or of a copy of a value.
    bool argument(const std::string& word, bool is_result, std::string* made, std::string* list, std::string* types)
    {
        std::string found;
        if (addresses_.count(word))
            found = addresses_.at(word);
        else if (is_result)
            found = word.empty() || target(word).empty() ? "" : "(emu_u64)&" + target(word);
        else if (!value(word).empty()) {
            std::string copy = "emu_p" + std::to_string(list->size());
            *made += "emu_u64 " + copy + " = " + value(word) + "; ";
            found = "(emu_u64)&" + copy;
        }
        *list += (list->empty() ? "" : ", ") + found;
        *types += types->empty() ? "emu_u64" : ", emu_u64";
        return !found.empty();
    }

    // brx.idx %r1, targets;
    bool branch_by_index(const std::string& index, const std::string& targets, std::string* made)
    {
        if (index.empty() || !branches_.count(targets))
            return false;
        *made = "switch ((emu_u32)" + index + ") { ";
        for (const std::string& name : branches_.at(targets)) {
            auto number = &name - branches_.at(targets).data();
            jumps_.insert(plain(name));
            *made += "case " + std::to_string(number) + ": goto emu_l_" + plain(name) + "; ";
        }
        *made += "default: emu_trap(\"brx.idx with an index that has no target\"); }";
        return true;
    }

    // Parameters are variables here, so their space makes no difference.
    static void drop_parameter_space(Words* code)
    {
        code->erase(std::remove_if(code->begin(), code->end(),
                                   [](const std::string& word) {
                                       return word == "param" || word == "param::entry" || word == "param::func";
                                   }),
                    code->end());
    }

    bool instruction(Words code, const Words& operands, std::string* made)
    {
        const std::string name = code[0];
        if (scope_ && name == "brx")
            return operands.size() == 2 && branch_by_index(value(operands[0]), operands[1], made);
        if (scope_ && (name == "ret" || name == "exit")) {
            *made = name == "ret" ? "return;" : "emu_exit_thread();";
            return operands.empty();
        }
        if (scope_ && (name == "ld" || name == "st"))
            drop_parameter_space(&code);
        // Copies are already complete and visible, and kernels of a stream run sequentially.
        static const auto& without_effect = *new std::set<std::string>{"fence",   "membar",        "prefetch", "prefetchu",
                                                             "discard", "applypriority", "pmevent",  "griddepcontrol"};
        if (without_effect.count(name))
            return true;
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
        *made = to + " = " + a + (code.back() == "pred" ? " != 0;" : ";");
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
                " == EMU_LANE; __syncwarp((unsigned)" + mask + ");";
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
        bool arrives = what == "arrive" || what == "arrive_drop", is_remote = has(code, "shared::cluster");
        bool gives = arrives || what == "try_wait" || what == "test_wait";
        if (what == "pending_count" && operands.size() == 2) {
            std::string count = target(operands[0]), token = value(operands[1]);
            *made = count + " = " + token + " >> 1;";
            return !count.empty() && !token.empty();
        }
        // An arrival at another block's barrier returns nothing.
        if (is_remote && what != "expect_tx" && (!arrives || operands.empty() || operands[0] != "_"))
            return false;
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
        else if (what == "arrive_drop" && !has(code, "expect_tx"))
            *made = to + " = emu_mbarrier_drop(" + at + ", (emu_u32)" + (number.empty() ? "1" : number) + ");";
        else if (what == "arrive" && !has(code, "expect_tx"))
            *made = to + " = emu_mbarrier_arrive(" + at + ", (emu_u32)" + (number.empty() ? "1" : number) + ", 0);";
        else if ((what == "try_wait" || what == "test_wait") && !number.empty())
            *made = to + " = emu_mbarrier_test(" + at + ", " + number + ");";
        return !made->empty();
    }

    // cp.async.ca.shared.global [to], [from], 16, bytes; the rest of the 16 bytes becomes zero. Completes immediately.
    bool copy(const Words& code, Words operands, std::string* made)
    {
        if (code[2] == "commit_group" || code[2] == "wait_group" || code[2] == "wait_all")
            return true;
        if (code[2] == "mbarrier" && has(code, "arrive") && operands.size() == 1) {
            std::string at = address(operands[0]);
            // Without "noinc", the pending count is raised before the arrival lowers it again.
            *made = has(code, "noinc") ? "emu_mbarrier_arrive(" + at + ", 1, 0);" : "(void)" + at + ";";
            return !at.empty();
        }
        if (has(code, "L2::cache_hint") && operands.size() > 3)
            operands.pop_back(); // a policy
        bool is_copy = (code[2] == "ca" || code[2] == "cg") && has(code, "global") &&
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
        bool to_block = code[3] == "shared::cluster" && code[4] == "shared::cta"; // in the same cluster
        bool loads = to_block || ((code[3] == "shared::cluster" || code[3] == "shared::cta") && code[4] == "global");
        bool stores = code[3] == "global" && code[4] == "shared::cta";
        if ((!loads && !stores) || operands.size() < (loads ? 4u : 3u))
            return false;
        std::string to = address(operands[0]), from = address(operands[1]), size = value(operands[2]);
        std::string barrier = loads ? address(operands[3]) : "0";
        if (to.empty() || from.empty() || size.empty() || barrier.empty())
            return false;
        if (to_block)
            from = "(emu_u64)__cvta_shared_to_generic(" + from + ")";
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

    std::string function() const
    {
        std::string text;
        for (const auto& [name, size] : sizes_)
            text += spaces_.at(name) + "__align__(" + std::to_string(alignments_.at(name)) + ") unsigned char " + name +
                    "[" + std::to_string(size) + "]; ";
        text += "emu_u64 emu_sink = 0; (void)emu_sink; ";
        text += carries_ ? "emu_u64 emu_carry = 0; (void)emu_carry; " : "";
        std::set<std::string> given;
        for (const std::string& name : scope_->registers)
            given.insert(bare(name));
        for (const std::string& name : registers_)
            text += given.count(name) ? "emu_u64& emu_r_" + name + " = *(emu_u64*)emu_a_" + name + "; "
                                      : "emu_u64 emu_r_" + name + " = 0; (void)emu_r_" + name + "; ";
        for (const std::string& name : jumps_)
            if (!labels_.count(name))
                return "";
        return text + body_ + "return; ";
    }

    bool keeps_lines_;
    std::vector<std::set<std::string>> declared_ = {{}}; // registers, by enclosing scope
    std::map<std::string, bool> spellings_; // true if a register begins with %
    std::map<std::string, std::string> spaces_; // of local variables
    std::map<std::string, size_t> sizes_, alignments_;
    std::map<std::string, Words> branches_; // of .branchtargets
    std::set<std::string> prototypes_; // of .callprototype
    std::set<std::string> labels_, jumps_;
    bool carries_ = false;
    std::string body_;
};

} // namespace

std::string translate_ptx(const std::string& code, const std::vector<PtxOperand>& operands, std::string* unsupported)
{
    return Translator(operands, nullptr).run(code, unsupported);
}

std::string translate_ptx_function(const std::string& body, const PtxScope& scope, std::string* unsupported,
                                   size_t* place)
{
    return Translator({}, &scope).run(body, unsupported, place);
}

} // namespace emu::front
