// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Searching and trimming text.
#pragma once

#include <string>

namespace emu::front {

inline bool contains(const std::string& text, const char* part)
{
    return text.find(part) != std::string::npos;
}

inline std::string trimmed(const std::string& text)
{
    const char* blanks = " \t\n\r\f\v";
    size_t first = text.find_first_not_of(blanks);
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

} // namespace emu::front
