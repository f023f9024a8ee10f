// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Inline assembly: the instructions handled by ptx_statements.cpp become C++, all others are rejected by name. The
// table of special registers is here.
#include <cstring>

#include "ptx.hpp"
#include "rewrite.hpp"

namespace emu::front {
namespace {

struct Register {
    const char* name;
    const char* value;
};

const Register registers[] = {
    {"laneid", "EMU_LANE"},
    {"warpid", "EMU_WARP"},
    {"nwarpid", "(::emu_thread.threads + 31) / 32"},
    {"smid", "::emu_thread.smid"},
    {"nsmid", "::emu_thread.nsmid"},
    {"gridid", "0"},
    {"clock", "::emu_clock()"},
    {"clock_hi", "::emu_clock() >> 32"},
    {"clock64", "::emu_clock()"},
    {"globaltimer", "::emu_global_timer()"},
    {"globaltimer_lo", "::emu_global_timer()"},
    {"globaltimer_hi", "::emu_global_timer() >> 32"},
    {"lanemask_eq", "1u << EMU_LANE"},
    {"lanemask_lt", "(1u << EMU_LANE) - 1"},
    {"lanemask_le", "(2u << EMU_LANE) - 1"},
    {"lanemask_ge", "~0u << EMU_LANE"},
    {"lanemask_gt", "~1u << EMU_LANE"},
    {"dynamic_smem_size", "::emu_thread.dynamic_shared_size"},
    {"total_smem_size", "::emu_thread.dynamic_shared_size + ::emu_thread.static_shared_size"},
    {"cluster_ctarank", "::emu_cluster_rank()"},
    {"cluster_nctarank", "::emu_cluster_blocks()"},
    {"is_explicit_cluster", "::emu_cluster_blocks() > 1"},
};
// Followed by .x, .y or .z; $ stands in for the letter.
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

} // namespace

std::string special_register(const std::string& name)
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

namespace {

// Returns the text of string tokens. Of the escapes that occur in PTX, an n after the backslash ends a line; the others
// count as blanks.
std::string content(std::string_view token)
{
    size_t first = token.find('"'), last = token.rfind('"');
    if (first == token.npos || last <= first)
        return "";
    std::string text(token.substr(first + 1, last - first - 1));
    for (size_t i = text.find('\\'); i != text.npos && i + 1 < text.size(); i = text.find('\\', i))
        text.replace(i, 2, text[i + 1] == 'n' ? "\n" : " ");
    return text;
}

} // namespace

// Escapes text for a string literal on one line.
static std::string escaped(const std::string& text)
{
    std::string out;
    for (char c : text)
        out += c == '\n' ? std::string(" ") : (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    return out;
}

// `asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));` at i; returns its last token.
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
        return close; // a compiler barrier, which means the same here
    std::vector<PtxOperand> operands = asm_operands(at, close);
    std::string unsupported, text = translate_ptx(code, operands, &unsupported);
    if (!text.empty()) {
        replace(i, close + 1, text);
        return close;
    }
    size_t first = code.find_first_not_of(" \t\n");
    if (unsupported.empty())
        unsupported = code.substr(first, code.find_first_of("\n;", first) - first);
    // Only used functions report it, because headers contain instructions that few programs need.
    std::string name = "emu_unsupported_" + std::to_string(++serial_), outputs;
    for (const PtxOperand& operand : operands)
        if (operand.constraint[0] == '=')
            outputs += " ::emu::ptx_set(" + operand.expression + ", 0);";
    replace(i, close + 1,
            "{ extern void " + name + "() __attribute__((error(\"inline PTX is not supported by the software device " +
                "with this instruction: " + escaped(unsupported) + "\"))); " + name + "();" + outputs + " }");
    return close;
}

// Returns the operands after the code, outputs first; their expressions are not examined.
std::vector<PtxOperand> Rewriter::asm_operands(size_t at, size_t close) const
{
    std::vector<PtxOperand> found;
    int section = 0;
    while (at < close && section < 3) {
        if (is(at, ":") || is(at, "::"))
            section += is(at, "::") ? 2 : 1;
        else if (is(at, "["))
            at = after(at) - 1;
        else if (section > 0 && section < 3 && t_[at].kind == TokenKind::text && is(at + 1, "(")) {
            found.push_back({content(t_[at].text), joined(at + 2, after(at + 1) - 1)});
            at = after(at + 1) - 1;
        }
        ++at;
    }
    return found;
}

} // namespace emu::front
