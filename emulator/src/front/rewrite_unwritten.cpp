// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// With the `initialized` check, local variables without an initializer get a value that is reported when a kernel
// stores it to global memory: `float x;` becomes `float x; EMU_UNWRITTEN(x)` (emulator_unwritten.h). Only simple
// declarations are found; a variable that is not marked is not reported.
#include "rewrite.hpp"

namespace emu::front {

// Returns true if the brace at i opens a class, whose members cannot be followed by statements.
bool Rewriter::opens_class(size_t i, size_t floor) const
{
    for (; i > floor && !is(i - 1, ";") && !is(i - 1, "{") && !is(i - 1, "}"); --i)
        if (one_of(t_[i - 1].text, {"struct", "class", "union", "enum"}))
            return true;
    return false;
}

// Returns true for two or more words at i, the type and the first name, such as `unsigned long n`. Sets `end` to the
// semicolon of the declaration.
bool Rewriter::declares_variables(size_t i, size_t* end) const
{
    size_t at = i;
    for (; is_word(at) || is(at, "::"); ++at)
        if (one_of(t_[at].text,
                   {"alignof",  "asm",          "auto",        "case",      "class",    "co_await",  "co_return",
                    "co_yield", "compl",        "const",       "constexpr", "default",  "delete",    "do",
                    "else",     "enum",         "extern",      "friend",    "goto",     "namespace", "new",
                    "not",      "operator",     "requires",    "return",    "sizeof",   "static",    "struct",
                    "template", "thread_local", "throw",       "typedef",   "typename", "union",     "using",
                    "volatile", "__shared__",   "__constant__"}))
            return false;
    if (at < i + 2 || !is_word(at - 1) || !is_word(at - 2) || !(is(at, ";") || is(at, ",") || is(at, "=")))
        return false;
    for (*end = at; !is(*end, ";"); *end = is(*end, "(") || is(*end, "[") || is(*end, "{") ? after(*end) : *end + 1)
        if (is(*end, "}") || at_end(*end))
            return false;
    return true;
}

// A small integer has no rare value, and the compiler warns of unused variables, but not of marked ones. A variable whose
// address is taken is in memory, where emu_watch() sees its loads.
bool Rewriter::is_worth_marking(size_t name, size_t begin, size_t end, size_t close) const
{
    bool used = false, is_int = false, is_long = false;
    for (size_t i = begin; i < name; ++i) {
        is_int = is_int || one_of(t_[i].text, {"int", "unsigned", "short", "char", "bool"});
        is_long = is_long || is(i, "long");
    }
    for (size_t i = name + 1; i < close; ++i) {
        if (!is_word(i) || t_[i].text != t_[name].text)
            continue;
        if (i < end || (is(i - 1, "&") && !is(i - 2, "&"))) // `int error, count = read(error);` may write it
            return false;
        used = true;
    }
    return used && (is_long || !is_int);
}

void Rewriter::mark_unwritten(size_t open, size_t close)
{
    std::vector<bool> classes{false}; // of the open braces
    for (size_t i = open + 1; i < close; ++i) {
        if (is(i, "{"))
            classes.push_back(opens_class(i, open));
        else if (is(i, "}") && classes.size() > 1)
            classes.pop_back();
        size_t end = 0;
        bool begins = is(i - 1, ";") || is(i - 1, "{") || is(i - 1, "}");
        if (classes.back() || !begins || !is_word(i) || !declares_variables(i, &end))
            continue;
        std::string marks;
        for (size_t name : declared_names(i, end))
            if ((is(name + 1, ";") || is(name + 1, ",")) && (is_word(name - 1) || is(name - 1, ",")) &&
                is_worth_marking(name, i, end, close))
                marks += " EMU_UNWRITTEN(" + std::string(t_[name].text) + ")";
        if (marks.empty())
            continue;
        insert_after(end, marks);
        has_marks_ = true;
    }
}

} // namespace emu::front
