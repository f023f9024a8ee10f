// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Which programs need the lanes of a warp to run in step.
#include <cctype>
#include <cstring>

#include "compiler.hpp"

namespace emu::front {
namespace {

bool is_word(const std::string& text, size_t at, size_t size)
{
    auto joins = [&](size_t i) { return i < text.size() && (std::isalnum(text[i] & 0xff) || text[i] == '_'); };
    return !(at && joins(at - 1)) && !joins(at + size);
}

// Returns true if a `volatile` in the text belongs to a pointer to volatile objects, or to a shared variable, that lanes
// of a warp may communicate through: not to one access, a variable of the module or a parameter of a kernel.
bool is_of_shared(const std::string& text, size_t at)
{
    size_t before = at ? text.find_last_not_of(" \t\n", at - 1) : std::string::npos;
    if (before == std::string::npos || std::strchr("*<m_", text[before])) // m and _ end asm and __asm__
        return false;
    if (text[before] == '(' && before && text[before - 1] == '*')
        return false;
    size_t begin = text.find_last_of(";{}", at) + 1;
    for (const char* word : {"__global__", "EMU_KERNEL", "__device__", "__constant__", "__managed__"}) {
        size_t found = text.find(word, begin);
        bool is_kernel = word[2] == 'g' || word[0] == 'E';
        if (found < at && (is_kernel || text.find('(', found) > at))
            return false;
    }
    std::string declared = text.substr(at, text.find_first_of(",;)=({", at) - at);
    return declared.find('*') != std::string::npos || declared.find("emu_shared_type") != std::string::npos;
}

} // namespace

bool needs_steps(const std::string& text)
{
    if (text.find("EMU_SHARED") == std::string::npos)
        return false;
    const std::string word = "volatile";
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        if (!is_word(text, at, word.size()) || !is_of_shared(text, at))
            continue;
        size_t marker = text.rfind("\n# ", at); // # 12 "file" 3: of a system header
        size_t end = marker == std::string::npos ? marker : text.find('\n', marker + 1);
        if (end == std::string::npos || text.compare(end - 2, 2, " 3") != 0)
            return true;
    }
    return false;
}

} // namespace emu::front
