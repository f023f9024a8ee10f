// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Inline assembly: reading a special register is what everyday programs use it for, and
// needs no PTX here. Everything else is refused by its text.
#include <cstring>

#include "rewrite.hpp"

namespace emu::front {
namespace {

struct Register {
    const char* name;
    const char* value;
};

const Register registers[] = {
    {"laneid", "::emu_thread.lane"},
    {"warpid", "::emu_thread.warp"},
    {"nwarpid", "(::emu_thread.threads + 31) / 32"},
    {"smid", "0"},
    {"nsmid", "1"},
    {"gridid", "0"},
    {"clock", "::emu_clock()"},
    {"clock_hi", "::emu_clock() >> 32"},
    {"clock64", "::emu_clock()"},
    {"globaltimer", "::emu_global_timer()"},
    {"globaltimer_lo", "::emu_global_timer()"},
    {"globaltimer_hi", "::emu_global_timer() >> 32"},
    {"lanemask_eq", "1u << ::emu_thread.lane"},
    {"lanemask_lt", "(1u << ::emu_thread.lane) - 1"},
    {"lanemask_le", "(2u << ::emu_thread.lane) - 1"},
    {"lanemask_ge", "~0u << ::emu_thread.lane"},
    {"lanemask_gt", "~1u << ::emu_thread.lane"},
    {"dynamic_smem_size", "::emu_thread.dynamic_shared_size"},
    {"total_smem_size", "::emu_thread.dynamic_shared_size + ::emu_thread.static_shared_size"},
    {"cluster_ctarank", "::emu_cluster_rank()"},
    {"cluster_nctarank", "::emu_cluster_blocks()"},
    {"is_explicit_cluster", "::emu_cluster_blocks() > 1"},
};
// With .x, .y or .z behind; $ stands for the letter.
const Register triples[] = {
    {"tid", "::threadIdx.$"},
    {"ntid", "::blockDim.$"},
    {"ctaid", "::blockIdx.$"},
    {"nctaid", "::gridDim.$"},
    {"clusterid", "::blockIdx.$ / ::emu_thread.cluster_dim.$"},
    {"nclusterid", "::gridDim.$ / ::emu_thread.cluster_dim.$"},
    {"cluster_ctaid", "::emu_thread.cluster_block.$"},
    {"cluster_nctaid", "::emu_thread.cluster_dim.$"},
};

std::string value_of(const std::string& name)
{
    for (const Register& row : registers)
        if (name == row.name)
            return row.value;
    size_t dot = name.find('.');
    if (dot == std::string::npos || name.size() != dot + 2 || !std::strchr("xyz", name[dot + 1]))
        return "";
    for (const Register& row : triples)
        if (name.compare(0, dot, row.name) == 0) {
            std::string value = row.value;
            for (char& c : value)
                c = c == '$' ? name[dot + 1] : c;
            return value;
        }
    return "";
}

// "mov.u32 %0, %%tid.x;" as words: mov.u32, %0, tid.x.
std::string register_read(const std::string& code)
{
    size_t at = 0;
    auto blank = [&] {
        while (at < code.size() && std::strchr(" \t\n,", code[at]))
            ++at;
    };
    auto word = [&] {
        blank();
        size_t begin = at;
        while (at < code.size() && !std::strchr(" \t\n,;", code[at]))
            ++at;
        return code.substr(begin, at - begin);
    };
    std::string instruction = word(), target = word(), source = word();
    blank();
    if (at < code.size() && code[at] == ';')
        ++at;
    blank();
    bool read = at == code.size() && target == "%0" && source.size() > 1 && source[0] == '%';
    for (const char* known : {"mov.u32", "mov.u64", "mov.s32", "mov.s64", "mov.b32", "mov.b64"})
        if (read && instruction == known)
            return value_of(source.substr(source[1] == '%' ? 2 : 1));
    return "";
}

// What string tokens say; the escapes that occur in PTX are blanks.
std::string content(std::string_view token)
{
    size_t first = token.find('"'), last = token.rfind('"');
    if (first == token.npos || last <= first)
        return "";
    std::string text(token.substr(first + 1, last - first - 1));
    for (size_t i = text.find('\\'); i != text.npos && i + 1 < text.size(); i = text.find('\\', i))
        text.replace(i, 2, " ");
    return text;
}

} // namespace

// `asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));` at i; gives its last token.
size_t Rewriter::assembly(size_t i)
{
    size_t open = i + 1;
    while (is_word(open))
        ++open;
    if (!is(open, "("))
        return i;
    size_t close = after(open) - 1, at = open + 1;
    std::string code;
    for (; at < close && t_[at].kind == TokenKind::text; ++at)
        code += content(t_[at].text);
    if (code.find_first_not_of(" \t\n") == code.npos)
        return close; // a barrier for the compiler, which means the same here
    std::string value = register_read(code);
    bool one_output = !value.empty() && is(at, ":") && (is(at + 1, "\"=r\"") || is(at + 1, "\"=l\"")) && is(at + 2, "(");
    size_t end = one_output ? after(at + 2) : at;
    if (one_output && (is(end, ":") || is(end, "::") || end == close)) {
        replace(i, close + 1, "(void)((" + joined(at + 3, end - 1) + ") = " + value + ")");
        return close;
    }
    size_t first = code.find_first_not_of(" \t\n");
    error(i, "inline PTX is not supported by the software device, except for reading special registers: " +
                 code.substr(first, code.find_first_of("\n;", first) - first));
    return close;
}

} // namespace emu::front
