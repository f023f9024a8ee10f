// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "rewrite.hpp"

namespace emu::front {
namespace {

// Words followed by a parenthesis that is not a parameter list.
bool takes_arguments(std::string_view text)
{
    return one_of(text, {"alignas", "__align__", "__attribute__", "decltype", "noexcept", "explicit",
                         "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__", "requires", "typeof",
                         "__typeof__", "asm", "__asm__", "throw", "_Alignas", "__declspec"});
}

// Words that begin or end a type. A misread declaration may have taken one for a name.
bool is_type_word(std::string_view text)
{
    return one_of(text, {"void", "bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double", "auto",
                         "const", "volatile", "typename"});
}

bool is_class_key(std::string_view text)
{
    return one_of(text, {"class", "struct", "union", "enum"});
}

} // namespace

size_t Rewriter::after(size_t i) const
{
    int depth = 0;
    for (; !at_end(i); ++i) {
        std::string_view text = t_[i].text;
        if (t_[i].kind != TokenKind::symbol || text.size() != 1)
            continue;
        char c = text[0];
        if (c == '(' || c == '[' || c == '{')
            ++depth;
        else if ((c == ')' || c == ']' || c == '}') && --depth == 0)
            return i + 1;
    }
    return i;
}

size_t Rewriter::after_angles(size_t i) const
{
    int depth = 0;
    size_t start = i;
    while (!at_end(i)) {
        if (is(i, "<"))
            ++depth;
        else if (is(i, ">") && --depth == 0)
            return i + 1;
        else if (is(i, "(") || is(i, "[") || is(i, "{")) {
            i = after(i);
            continue;
        } else if (is(i, ";") || is(i, ")") || is(i, "}") || is(i, "]"))
            return start + 1;
        ++i;
    }
    return start + 1;
}

void Rewriter::scope(size_t i, size_t end, bool in_class)
{
    while (i < end && !at_end(i)) {
        size_t next = declaration(i, end, in_class);
        i = next > i ? next : i + 1;
    }
}

// `namespace a::b {`, `inline namespace {`, `namespace a = b;`
size_t Rewriter::namespace_head(size_t i, size_t end)
{
    size_t at = i;
    while (at < end && !at_end(at) && !is(at, "{") && !is(at, ";"))
        ++at;
    if (!is(at, "{"))
        return at + 1;
    size_t close = after(at);
    scope(at + 1, close - 1, false);
    return close;
}

// template <...>, explicit instantiation, extern "C", [[...]]
size_t Rewriter::prefix(size_t i, Declaration& d)
{
    for (;;) {
        if (is(i, "template") && is(i + 1, "<")) {
            d.is_template = true;
            d.is_specialization = is(i + 2, ">");
            i = after_angles(i + 1);
        } else if (is(i, "template")) {
            d.is_instantiation = true;
            ++i;
        } else if (is(i, "extern") && i + 1 < t_.size() && t_[i + 1].kind == TokenKind::text) {
            i += 2;
        } else if (is(i, "extern") && is(i + 1, "template")) {
            d.external = true;
            ++i;
        } else if (is(i, "[") && is(i + 1, "["))
            i = after(i);
        else
            return i;
    }
}

bool Rewriter::specifier(size_t i, Declaration& d, size_t* next)
{
    std::string_view text = t_[i].text;
    *next = i + 1;
    bool* flag = text == "__global__"     ? &d.global
                 : text == "__device__"   ? &d.device
                 : text == "__host__"     ? &d.host
                 : text == "__constant__" ? &d.constant
                 : text == "__managed__"  ? &d.managed
                 : text == "__shared__"   ? &d.shared
                 : text == "friend"       ? &d.is_friend
                 : text == "extern"       ? &d.external
                                          : nullptr;
    if (one_of(text, {"const", "constexpr", "constinit"}))
        flag = &d.immutable;
    if (flag) {
        *flag = true;
        return true;
    }
    if (!takes_arguments(text) || !is(i + 1, "("))
        return false;
    *next = after(i + 1);
    if (text == "__launch_bounds__")
        d.bounds = i + 2, d.bounds_end = *next - 1;
    if (text == "__cluster_dims__")
        d.cluster = i + 2, d.cluster_end = *next - 1;
    return true;
}

// Finds the name before a parameter list: `f`, `a::f`, `f<int>`, `operator+`.
void Rewriter::find_name(size_t open, Declaration& d)
{
    size_t i = open;
    auto one_back = [&] {
        if (i > d.begin && is(i - 1, ">")) {
            int depth = 0;
            while (i > d.begin) {
                --i;
                depth += is(i, ">") ? 1 : is(i, "<") ? -1 : 0;
                if (depth == 0)
                    break;
            }
        }
        if (i > d.begin && is_word(i - 1))
            --i;
    };
    one_back();
    while (i > d.begin && is(i - 1, "::")) {
        --i;
        one_back();
    }
    d.name_begin = i;
    d.name_end = open;
}

// Returns true if the parenthesis after a variable's name contains its value, as in `constexpr int half(N / 2);`,
// instead of a parameter list.
bool Rewriter::is_initializer(size_t open) const
{
    if (is_word(open + 1) && !is_type_word(t_[open + 1].text) &&
        (values_.count(t_[open + 1].text) ||
         one_of(t_[open + 1].text, {"true", "false", "nullptr", "sizeof", "alignof", "static_cast"})))
        return true;
    for (size_t i = open + 1; !at_end(i) && !is(i, ")") && !is(i, ",") && !is(i, "=");) {
        bool operation = t_[i].kind == TokenKind::symbol &&
                         one_of(t_[i].text, {"+", "-", "/", "%", "|", "^", "!", "~", "?", "==", "||"});
        if (operation || t_[i].kind == TokenKind::number || t_[i].kind == TokenKind::text)
            return true;
        i = is(i, "(") || is(i, "[") || is(i, "{") ? after(i) : is(i, "<") ? after_angles(i) : i + 1;
    }
    return false;
}

// Handles a parenthesis among the specifiers: a parameter list, or part of a declarator.
size_t Rewriter::parenthesis(size_t i, Declaration& d)
{
    size_t next = after(i);
    bool declarator = is(i + 1, "*") || is(i + 1, "&") || is(i + 1, "&&") || is(i + 2, "::");
    bool named = i > d.begin && (is_word(i - 1) || is(i - 1, ">"));
    if (d.open || !named || is_initializer(i))
        return next;
    if (declarator && !is(i + 2, ",") && !is(i + 2, ")") && is(next, "("))
        return after(next); // float (*name)(int)
    find_name(i, d);
    d.open = i;
    d.close = next - 1;
    return next;
}

// From `=` to the comma or semicolon that ends the initializer.
size_t Rewriter::initializer(size_t i)
{
    while (!at_end(i) && !is(i, ";") && !is(i, ",") && !is(i, "}"))
        i = is(i, "(") || is(i, "[") || is(i, "{") ? after(i)
            : is(i, "<") && is_word(i - 1)         ? after_angles(i) // f<a, b>()
                                                   : i + 1;
    return i;
}

// From the colon of a constructor to its body.
size_t Rewriter::member_initializers(size_t i)
{
    while (!at_end(i) && !is(i, ";")) {
        if (is(i, "<"))
            i = after_angles(i);
        else if (is(i, "(") || is(i, "{")) {
            i = after(i);
            if (is(i, "{"))
                return i;
        } else
            ++i;
    }
    return i;
}

size_t Rewriter::brace(size_t i, Declaration& d, bool in_class, bool* finished)
{
    size_t close = after(i);
    *finished = false;
    if (d.open) {
        d.body = i;
        d.body_end = d.end = close - 1;
        function(d, in_class);
        *finished = true;
    } else if (d.is_type) {
        bool is_enum = false;
        for (size_t k = d.begin; k < i; ++k)
            is_enum = is_enum || is(k, "enum");
        bool templated = d.is_template && !d.is_specialization;
        class_templates_ += templated;
        if (!is_enum)
            scope(i + 1, close - 1, true);
        class_templates_ -= templated;
        for (size_t k = i; is_enum && k + 1 < close; ++k)
            if ((is(k, "{") || is(k, ",")) && is_word(k + 1))
                values_.insert(t_[k + 1].text);
    }
    return close;
}

// `!(&(((T*) 0)->member))` at i, which g++ does not accept as a constant.
void Rewriter::member_at_start(size_t i)
{
    const char* const begin[] = {"!", "(", "&", "(", "(", "("};
    for (size_t k = 0; k < 6; ++k)
        if (!is(i + k, begin[k]))
            return;
    size_t close = after(i + 5) - 1;
    if (is(close - 1, "*") && is(close + 1, "0") && is(close + 3, "->") && is_word(close + 4))
        replace(i, close + 7,
                "!__builtin_offsetof(" + joined(i + 6, close - 1) + ", " + std::string(t_[close + 4].text) + ")");
}

// A declaration of neither functions nor variables: `using A = int;`
size_t Rewriter::other_declaration(size_t i)
{
    size_t begin = i;
    if (is(i, "static_assert"))
        member_at_start(i + 2);
    if (is(i, "asm") || is(i, "__asm__"))
        error(i, "inline PTX is not supported by the software device");
    while (!at_end(i) && !is(i, ";"))
        i = is(i, "(") || is(i, "[") || is(i, "{") ? after(i) : i + 1;
    host_lambdas(begin, i);
    return i + 1;
}

size_t Rewriter::declaration(size_t i, size_t end, bool in_class)
{
    Declaration d;
    if (is(i, ";") || is(i, "}"))
        return i + 1;
    if (in_class && one_of(t_[i].text, {"public", "private", "protected"}) && is(i + 1, ":"))
        return i + 2;
    if (is(i, "extern") && i + 2 < t_.size() && t_[i + 1].kind == TokenKind::text && is(i + 2, "{"))
        return namespace_head(i + 1, end);
    if (is(i, "namespace") || (is(i, "inline") && is(i + 1, "namespace")))
        return namespace_head(i, end);
    d.begin = prefix(i, d);
    i = d.begin;
    if (one_of(t_[i].text, {"using", "typedef", "static_assert", "concept", "asm", "__asm__"}))
        return other_declaration(i);
    while (i < end && !at_end(i)) {
        size_t next = i + 1;
        bool finished = false;
        if (is(i, ";")) {
            d.end = i;
            instantiates_classes_ = instantiates_classes_ || (d.is_instantiation && d.is_type && !ours(d.begin));
            d.open ? function(d, in_class) : variable(d, in_class);
            return i + 1;
        } else if (is(i, "{")) {
            next = brace(i, d, in_class, &finished);
            if (finished)
                return next;
        } else if (is(i, "operator")) {
            // Skips the operator symbol up to the parameter list; operator() has its own parentheses.
            next = is(i + 1, "(") && is(i + 2, ")") ? i + 3 : i + 1;
            while (!at_end(next) && !is(next, "(") && !is(next, ";"))
                ++next;
            if (is(next, "(")) {
                d.name_begin = i, d.name_end = d.open = next, d.close = after(next) - 1;
                next = d.close + 1;
            }
        } else if (is(i, "(")) {
            next = parenthesis(i, d);
        } else if (is(i, "[")) {
            next = after(i);
        } else if (is(i, "<") && i > d.begin && is_word(i - 1)) {
            next = after_angles(i);
        } else if (is(i, "=")) {
            d.ends_without_body = d.open && (is(i + 1, "default") || is(i + 1, "delete"));
            next = initializer(i + 1);
            host_lambdas(i + 1, next);
        } else if (is(i, ":") && d.open) {
            next = member_initializers(i + 1);
        } else if (is_word(i)) {
            if (!specifier(i, d, &next)) {
                d.is_type = d.is_type || (is_class_key(t_[i].text) && !d.open);
                ++d.words;
            }
        }
        i = next;
    }
    return i;
}

Rewritten rewrite(const std::string& preprocessed, const RewriteRequest& request)
{
    return Rewriter(preprocessed, request).run();
}

} // namespace emu::front
