// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// One instruction becomes one statement. This file handles declarations, labels, moves, jumps and calls; ptx_table.cpp
// and the files it names have all other instructions. An `asm` statement becomes an expression, a function of a PTX
// module the body of a function.
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
        find_labels(code);
        for (size_t at = 0; at < code.size();) {
            if (std::strchr(" \t\r\n{};", code[at])) {
                if (code[at] == '{')
                    open_block();
                else if (code[at] == '}' && declared_.size() > 1)
                    close_block();
                keep_lines(code.substr(at++, 1));
                continue;
            }
            if (is_location(code, at)) {
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

    // Returns true if a word begins at a position, and ends there.
    static bool has_word_at(const std::string& code, size_t at, const std::string& word)
    {
        size_t end = at + word.size();
        return code.compare(at, word.size(), word) == 0 && end < code.size() &&
               std::isspace(static_cast<unsigned char>(code[end]));
    }
    bool is_location(const std::string& code, size_t at) const { return scope_ && has_word_at(code, at, ".loc"); }

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

    // Notes the labels of each pair of braces, because a jump can precede its label, and other braces can have a label
    // of the same name.
    void find_labels(const std::string& code)
    {
        std::vector<size_t> open = {0};
        blocks_.assign(1, {});
        for (size_t at = 0; at < code.size();) {
            if (std::strchr(" \t\r\n{};", code[at])) {
                if (code[at] == '{')
                    open.push_back(blocks_.size()), blocks_.emplace_back();
                else if (code[at] == '}' && open.size() > 1)
                    open.pop_back();
                ++at;
            } else if (is_location(code, at)) {
                at = std::min(code.find('\n', at), code.size());
            } else if (size_t colon = label_end(code, at)) {
                blocks_[open.back()].insert(trimmed(code.substr(at, colon - at)));
                at = colon + 1;
            } else {
                at = std::min(code.find(';', at), code.size());
            }
        }
    }
    void open_block()
    {
        declared_.emplace_back();
        open_.push_back(next_block_++);
    }
    void close_block()
    {
        declared_.pop_back();
        open_.pop_back();
    }
    // Returns the C++ name of the label that a name means in the current braces.
    std::string label_named(const std::string& name) const
    {
        for (size_t i = open_.size(); i-- > 0;)
            if (blocks_[open_[i]].count(name))
                return plain(name) + (open_[i] ? "_in" + std::to_string(open_[i]) : "");
        return plain(name);
    }
    // Notes a jump, and returns its target.
    std::string jump(const std::string& name)
    {
        std::string target = label_named(name);
        jumps_.insert(target);
        return "goto emu_l_" + target + ";";
    }
    void label(const std::string& name)
    {
        labels_.insert(label_named(name));
        body_ += "emu_l_" + label_named(name) + ": ; ";
    }

    // NAME: .branchtargets A, B; or NAME: .callprototype (...) _ (...); returns the position of the end.
    size_t list(const std::string& name, const std::string& code, size_t at)
    {
        size_t end = std::min(code.find(';', at), code.size());
        if (has_word_at(code, at, ".branchtargets"))
            branches_[name] = split_operands(code.substr(at + 15, end - at - 15));
        else if (has_word_at(code, at, ".callprototype") || has_word_at(code, at, ".calltargets"))
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
            return has_word_at(text, 0, ".pragma") || local_variable(text);
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
        size_t angle = name.find('<'); // a<2> is a0 and a1, and differs from a
        std::string key = bare(name.substr(0, angle == name.npos ? angle : angle + 1));
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
        if (scope_->runtime.count(function))
            function = function == "vprintf" ? "::emu::ptx::print" : "::emu::ptx::fail_assertion";
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
            *made += "case " + std::to_string(number) + ": " + jump(name) + " ";
        }
        *made += "default: emu_trap(\"brx.idx with an index that has no target\"); }";
        return true;
    }

    // Parameters, local variables and constants are variables here, and need no space. An address in a register can be
    // the lower half of one; "local" and "const" mark such accesses.
    void simplify_space(Words* code, const Words& operands) const
    {
        const std::string at = operands.size() < 2 ? "" : operands[(*code)[0] == "ld" ? 1 : 0];
        size_t begin = at.find_first_not_of("[ \t"), end = at.find_first_of("]+[ \t", std::min(begin, at.size()));
        bool is_variable = begin != at.npos && addresses_.count(at.substr(begin, end - begin));
        for (auto word = code->begin(); word != code->end(); ++word) {
            bool is_parameter = *word == "param" || *word == "param::entry" || *word == "param::func";
            if (!is_parameter && *word != "local" && *word != "const")
                continue;
            if (is_variable) {
                code->erase(word);
                return;
            }
            *word = is_parameter ? "local" : *word;
        }
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
            simplify_space(&code, operands);
        // Kernels of a stream run sequentially.
        static const auto& without_effect = *new std::set<std::string>{"prefetch", "prefetchu", "discard", "applypriority",
                                                             "pmevent", "griddepcontrol"};
        if (without_effect.count(name))
            return true;
        bool packs = name == "mov" && (operands.size() == 2 && (operands[0][0] == '{' || operands[1][0] == '{'));
        if ((name == "mov" && !packs) || name == "bra" || name == "elect")
            return plain_instruction(code, operands, made);
        PtxNames names{[this](const std::string& text) { return value(text); },
                       [this](const std::string& text) { return text.empty() ? text : target(text); },
                       [this](const std::string& text) { return address(text); }, &carries_,
                       scope_ ? scope_->version : 0};
        return translate_instruction(code, operands, names, made);
    }

    bool plain_instruction(const Words& code, const Words& operands, std::string* made)
    {
        if (code[0] == "bra") {
            if (operands.size() != 1)
                return false;
            *made = jump(operands[0]);
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
    std::vector<std::set<std::string>> blocks_; // the labels in each pair of braces, in order; 0: outside
    std::vector<size_t> open_ = {0};            // those that are open, as indices of `blocks_`
    size_t next_block_ = 1;
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
