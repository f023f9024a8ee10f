// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// PTX modules written by hand or by open compilers, as CUDA C++ on the same lines. Each .entry becomes a kernel, and
// each .func a function that takes the addresses of its parameters and results.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "compiler.hpp"
#include "contents.hpp"
#include "ptx_instruction.hpp"
#include "text.hpp"

namespace emu::front {
namespace {

bool is_word_char(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._$%", c);
}

// Returns the next word at `at`, or the next other character.
std::string next_word(const std::string& text, size_t* at)
{
    while (*at < text.size() && std::isspace(static_cast<unsigned char>(text[*at])))
        ++*at;
    size_t begin = *at;
    while (*at < text.size() && text[*at] && is_word_char(text[*at]))
        ++*at;
    if (*at == begin && begin < text.size())
        ++*at;
    return text.substr(begin, *at - begin);
}

// Comments become blanks, but keep their line ends.
std::string without_comments(std::string text)
{
    for (size_t at = 0; at + 1 < text.size(); ++at) {
        if (text[at] == '"') {
            at = std::min(text.find_first_of("\"\n", at + 1), text.size());
            continue;
        }
        if (text[at] != '/' || (text[at + 1] != '/' && text[at + 1] != '*'))
            continue;
        bool is_line = text[at + 1] == '/';
        size_t end = is_line ? text.find('\n', at) : text.find("*/", at + 2);
        end = end == text.npos ? text.size() : end + (is_line ? 0 : 2);
        for (; at < end; ++at)
            text[at] = text[at] == '\n' ? '\n' : ' ';
        --at;
    }
    return text;
}

// LLVM counts lines within inline assembly, so its .loc directives there name wrong lines.
std::string without_locations(std::string text)
{
    for (size_t at = text.find("// begin inline asm"); at != text.npos; at = text.find("// begin inline asm", at)) {
        size_t end = std::min(text.find("// end inline asm", at), text.size());
        for (; at < end; at = std::min(text.find('\n', at), end) + 1) {
            size_t word = text.find_first_not_of(" \t", at);
            if (text.compare(word, 4, ".loc") == 0)
                std::fill(text.begin() + long(word), text.begin() + long(std::min(text.find('\n', word), end)), ' ');
        }
    }
    return text;
}

size_t size_of(const std::string& type) // ".u32"
{
    return type.size() < 2 || type_of(type.substr(1)).empty() || type == ".pred"
               ? 0
               : size_t(std::atoi(type.c_str() + 2)) / 8;
}

std::string type_with(size_t bytes)
{
    return bytes == 1   ? "unsigned char"
           : bytes == 2 ? "unsigned short"
           : bytes == 4 ? "unsigned int"
                        : "unsigned long long";
}

class Module {
public:
    explicit Module(const std::string& text) : text_(without_comments(without_locations(text)))
    {
        for (size_t at = 0; at < text_.size();) { // they may come after the functions
            size_t end = std::min(text_.find('\n', at), text_.size()), word = text_.find_first_not_of(" \t", at);
            if (text_.compare(std::min(word, end), 5, ".file") == 0)
                file(text_.substr(word + 5, end - word - 5));
            at = end + 1;
        }
    }

    std::string run(std::string* error)
    {
        while (error_.empty() && at_ < text_.size())
            item();
        *error = error_;
        return error_.empty() ? out_ : "";
    }

private:
    void fail(const std::string& why)
    {
        auto line = std::count(text_.begin(), text_.begin() + long(std::min(at_, text_.size())), '\n') + 1;
        error_ = "ptx(" + std::to_string(line) + "): error: " + why + "\n";
    }

    void keep_lines(size_t begin, size_t end)
    {
        out_.append(size_t(std::count(text_.begin() + long(begin), text_.begin() + long(end), '\n')), '\n');
    }

    size_t end_of_block(size_t open) const
    {
        int depth = 0;
        for (size_t at = open; at < text_.size(); ++at)
            if (text_[at] == '{')
                ++depth;
            else if (text_[at] == '}' && --depth == 0)
                return at;
        return text_.npos;
    }

    void item()
    {
        size_t begin = at_, next = at_;
        std::string first = next_word(text_, &next);
        if (first.empty() || first == ";") {
            keep_lines(begin, next);
            at_ = next;
            return;
        }
        size_t line = std::min(text_.find('\n', next), text_.size());
        if (first == ".version")
            scope_.version = version(trimmed(text_.substr(next, line - next)));
        if (first == ".version" || first == ".target" || first == ".address_size" || first == ".file") {
            keep_lines(begin, line);
            at_ = line;
            return;
        }
        if (first == ".section") {
            size_t end = end_of_block(std::min(text_.find('{', next), text_.size()));
            at_ = end == text_.npos ? text_.size() : end + 1;
            return keep_lines(begin, at_);
        }
        size_t end = text_.find_first_of(";{", next);
        if (end == text_.npos)
            return fail("a declaration has no end");
        std::string head = text_.substr(begin, end - begin);
        if (contains(head, ".entry") || contains(head, ".func"))
            return function(begin, head, end);
        end = text_.find(';', next);
        variable(trimmed(text_.substr(begin, std::min(end, text_.size()) - begin)));
        at_ = std::min(end, text_.size());
        keep_lines(begin, at_);
    }

    // 8.6 becomes 86.
    static int version(const std::string& text)
    {
        size_t dot = text.find('.');
        return std::atoi(text.c_str()) * 10 + (dot == text.npos ? 0 : std::atoi(text.c_str() + dot + 1));
    }

    // 1 "name", ...
    void file(const std::string& text)
    {
        size_t open = text.find('"'), close = text.find('"', open + 1);
        if (open == text.npos || close == text.npos)
            return;
        std::string name = text.substr(open + 1, close - open - 1);
        if (!contains(name, "\\"))
            scope_.files[trimmed(text.substr(0, open))] = name;
    }

    void variable(const std::string& text)
    {
        PtxVariable v;
        if (!read_ptx_variable(text, &v))
            return fail("this declaration is not supported: " + text);
        if (v.space == ".shared" && v.is_extern) {
            scope_.addresses[v.name] = "(emu_u64)::emu_thread.dynamic_shared";
            return;
        }
        if (v.is_extern || !v.count || (v.space != ".global" && v.space != ".const" && v.space != ".shared"))
            return fail("this variable is not supported: " + text);
        const char* space = v.space == ".global"  ? "__device__ "
                            : v.space == ".const" ? "__constant__ "
                                                  : "__shared__ ";
        // A pointer, because only a pointer can hold a function's address before the program runs.
        std::string type = has_addresses(v.value) ? "void*" : type_with(v.size / v.count);
        if (type == "void*" && v.size / v.count != 8)
            return fail("an address has 64 bits: " + text);
        out_ += space + std::string("__align__(") + std::to_string(v.alignment) + ") " + type + " " + v.name +
                (v.is_array ? "[" + std::to_string(v.count) + "]" : "") +
                (v.value.empty() ? "" : " = " + values(v.value, type)) + ";";
        scope_.addresses[v.name] = "(emu_u64)&" + v.name;
    }

    bool is_address(const std::string& word) const
    {
        return scope_.functions.count(word) || scope_.addresses.count(word);
    }
    bool has_addresses(const std::string& text) const
    {
        for (size_t at = 0; at < text.size();)
            if (is_address(next_word(text, &at)))
                return true;
        return false;
    }

    // Converts {1, -2, 0f3F800000} to bits, and names of functions and variables to their addresses.
    std::string values(const std::string& text, const std::string& type)
    {
        std::string out;
        for (size_t at = 0; at < text.size();) {
            std::string word = next_word(text, &at);
            if (word.empty() || word == "{" || word == "}" || word == "," || word == "(" || word == ")") {
                out += word;
                continue;
            }
            if (word == "generic") // generic(name)
                continue;
            bool is_negative = word == "-";
            word = is_negative ? next_word(text, &at) : word;
            if (word.size() > 2 && word[0] == '0' && std::strchr("fFdD", word[1]))
                word = "0x" + word.substr(2) + "u";
            if (is_address(word)) {
                out += "(void*)&" + word;
                continue;
            }
            if (!std::isdigit(static_cast<unsigned char>(word[0])))
                fail("an initial value must be a number or an address, not " + word);
            out += "(" + type + ")" + (is_negative ? "-" : "") + word;
        }
        return out;
    }

    // Returns the contents of the parentheses at `at`.
    static std::string parentheses(const std::string& head, size_t* at)
    {
        size_t close = std::min(head.find(')', *at), head.size());
        std::string inside = head.substr(*at + 1, close - *at - 1);
        *at = std::min(close + 1, head.size());
        return inside;
    }
    static bool opens(const std::string& head, size_t at)
    {
        size_t next = head.find_first_not_of(" \t\r\n", at);
        return next != head.npos && head[next] == '(';
    }

    // .visible .entry name(.param .u64 a, ...) .maxntid 128 { ... }
    void function(size_t begin, const std::string& head, size_t end)
    {
        bool is_kernel = contains(head, ".entry");
        size_t at = head.find(is_kernel ? ".entry" : ".func") + (is_kernel ? 6 : 5);
        std::string results, list, name;
        PtxScope scope = scope_;
        if (!is_kernel && opens(head, at)) {
            at = head.find('(', at);
            results = parentheses(head, &at);
        }
        name = next_word(head, &at);
        if (opens(head, at)) {
            at = head.find('(', at);
            list = parentheses(head, &at);
        }
        std::string types, parameters = this->parameters(results + (results.empty() ? "" : ",") + list, name, is_kernel,
                                                         &types, &scope);
        std::string bounds = is_kernel ? launch_bounds(head.substr(at)) : "";
        if (!error_.empty())
            return;
        if ((name == "vprintf" || name == "__assertfail") && contains(head, ".extern")) { // calls of it are translated
            scope_.runtime.insert(name);
            keep_lines(begin, end);
            at_ = end + 1;
            return;
        }
        if (!is_kernel)
            scope_.functions.insert(name), scope.functions.insert(name);
        std::string known = contains(head, ".extern") ? define_libdevice(name) : "";
        if (!known.empty()) {
            out_ += known;
            keep_lines(begin, end);
            at_ = end + 1;
            return;
        }
        out_ += types + "extern \"C\" " + (is_kernel ? "__global__ void " + bounds + ptx_entry_prefix : "__device__ void ") + name + "(" +
                parameters + ")";
        keep_lines(begin, end);
        if (text_[end] == ';') {
            out_ += ";";
            at_ = end + 1;
            return;
        }
        size_t close = end_of_block(end);
        if (close == text_.npos)
            return fail("a function has no end");
        size_t place = 0;
        std::string unsupported, inside = text_.substr(end + 1, close - end - 1);
        std::string body = translate_ptx_function(inside, scope, &unsupported, &place);
        if (body.empty()) {
            at_ = end + 1 + place;
            return fail(unsupported.empty() ? "a label is missing"
                                            : "this is not supported by the software device: " + unsupported);
        }
        out_ += " { " + body + "}";
        at_ = close + 1;
    }

    std::string parameters(const std::string& list, const std::string& function, bool is_kernel, std::string* types,
                           PtxScope* scope)
    {
        std::string out;
        for (size_t at = 0; at < list.size();) {
            size_t comma = std::min(list.find(',', at), list.size());
            std::string text = trimmed(list.substr(at, comma - at));
            at = comma + 1;
            PtxVariable v;
            if (text.empty())
                continue;
            bool is_known = read_ptx_variable(text, &v), is_register = v.space == ".reg" && !is_kernel && !v.is_array;
            if (!is_known || (v.space != ".param" && !is_register) || !v.count)
                fail("this parameter is not supported: " + text);
            if (is_register) { // without the %
                v.name.erase(0, std::min(v.name.find_first_not_of('%'), v.name.size()));
                scope->registers.insert(v.name);
            }
            std::string name = "emu_a_" + v.name, type = "emu_u64";
            std::replace(name.begin(), name.end(), '%', '_');
            std::replace(name.begin(), name.end(), '$', '_');
            if (is_kernel && v.is_array) {
                type = "emu_t_" + function + "_" + v.name;
                *types += "struct __align__(" + std::to_string(v.alignment) + ") " + type + " { unsigned char bytes[" +
                          std::to_string(v.size) + "]; }; ";
            } else if (is_kernel)
                type = type_with(v.size);
            out += (out.empty() ? "" : ", ") + type + " " + name;
            if (!is_register)
                scope->addresses[v.name] = is_kernel ? "(emu_u64)&" + name : name;
        }
        return out;
    }

    static std::string launch_bounds(const std::string& text)
    {
        std::string out, word;
        for (size_t at = 0; at < text.size();) {
            word = word.empty() ? next_word(text, &at) : word;
            std::string directive = word, numbers;
            unsigned long threads = 1;
            for (word = next_word(text, &at); !word.empty() && word[0] != '.'; word = next_word(text, &at)) {
                numbers += word;
                threads *=
                    std::isdigit(static_cast<unsigned char>(word[0])) ? std::strtoul(word.c_str(), nullptr, 10) : 1;
            }
            if (directive == ".maxntid" || directive == ".reqntid")
                out += "__launch_bounds__(" + std::to_string(threads) + ") ";
            else if (directive == ".reqnctapercluster")
                out += "__cluster_dims__(" + numbers + ") ";
        }
        return out;
    }

    const std::string text_;
    size_t at_ = 0;
    PtxScope scope_;
    std::string out_, error_;
};

} // namespace

bool read_ptx_variable(const std::string& text, PtxVariable* v)
{
    size_t at = 0, equals = text.find('=');
    std::string declared = text.substr(0, equals);
    v->value = equals == text.npos ? "" : trimmed(text.substr(equals + 1));
    while (v->name.empty()) {
        std::string word = next_word(declared, &at);
        bool is_type = word[0] == '.' && size_of(word);
        if (word == ".align")
            v->alignment = std::strtoul(next_word(declared, &at).c_str(), nullptr, 10);
        else if (word == ".ptr" && v->type == ".u64") { // the alignment of the pointed-to memory does not matter here
            while (at < declared.size() && !v->name.size()) {
                word = next_word(declared, &at);
                if (word == ".align")
                    next_word(declared, &at);
                else if (word[0] != '.')
                    v->name = word;
            }
        } else if (word == ".extern")
            v->is_extern = true;
        else if (is_type)
            v->type = word;
        else if (word[0] == '.' && word != ".visible" && word != ".weak")
            v->space = v->space.empty() ? word : "?";
        else if (word[0] != '.')
            v->name = word;
        if (word.empty())
            return false;
    }
    v->count = 1;
    while (at < declared.size()) {
        std::string word = next_word(declared, &at);
        if (word == "[") {
            v->is_array = true;
            word = next_word(declared, &at);
            v->count *= word == "]" ? 0 : std::strtoul(word.c_str(), nullptr, 10);
        } else if (!word.empty() && word != "]")
            return false;
    }
    v->size = v->count * size_of(v->type);
    v->alignment = std::max(v->alignment, size_of(v->type));
    return !v->type.empty() && !v->space.empty() && v->space != "?" && is_word_char(v->name[0]);
}

Error compile_ptx(const std::string& text, std::string* container)
{
    for (const char* mark : {"NVIDIA NVVM Compiler", "Cuda compilation tools"})
        if (contains(text, mark))
            return {CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "this PTX was generated by NVIDIA's compilers, whose output the software device does not "
                    "translate; it runs such kernels only from CUDA C++ source"};
    size_t target = text.find(".target");
    target = target == text.npos ? target : text.find("sm_", target);
    int device = config().compute_major * 10 + config().compute_minor;
    int wanted = target == text.npos ? 0 : std::atoi(text.c_str() + target + 3);
    if (!wanted)
        return {CUDA_ERROR_INVALID_PTX, "ptx(1): error: the directive .target is missing"};
    if (wanted > device)
        return {CUDA_ERROR_NO_BINARY_FOR_GPU, "PTX for sm_" + std::to_string(wanted) + " does not run on this device"};
    size_t version = text.find(".version");
    int newest = config().driver_version / 1000 - 4; // PTX 9 came with CUDA 13
    if (version != text.npos && std::atoi(text.c_str() + version + 8) > newest)
        return {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "ptx(1): error: the driver knows no .version above " +
                                                        std::to_string(newest) + ".x"};
    CompileRequest request;
    std::string error;
    request.source = Module(text).run(&error);
    if (!error.empty())
        return {CUDA_ERROR_INVALID_PTX, error};
    request.name = "ptx";
    request.options = {"-arch=compute_" + std::to_string(device), "-std=c++17", "-w"};
    CompileResult result = compile(request);
    if (result.status == CompileStatus::no_toolchain)
        return {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, result.log};
    if (result.status != CompileStatus::ok)
        return {CUDA_ERROR_INVALID_PTX, result.log};
    container->assign(reinterpret_cast<const char*>(result.ptx.data()), result.ptx.size() - 1);
    return {};
}

} // namespace emu::front
