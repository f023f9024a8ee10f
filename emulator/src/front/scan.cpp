// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "scan.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace emu::front {
namespace {

bool is_word(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}

class Lexer {
public:
    Lexer(const std::string& text, const std::string& ours) : text_(text), ours_(ours)
    {
        out_.files.push_back({"<unknown>", false});
    }
    Tokens run();

private:
    char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
    void directive();
    void marker(size_t begin, size_t end);
    void string(size_t begin);
    void raw_string(size_t begin, size_t quote);
    void number();
    void symbol();
    void add(TokenKind kind, size_t begin);

    const std::string& text_;
    const std::string& ours_;
    Tokens out_;
    size_t here_ = 0;
    int line_ = 1, file_ = 0;
};

void Lexer::add(TokenKind kind, size_t begin)
{
    Token token;
    token.kind = kind;
    token.text = std::string_view(text_).substr(begin, here_ - begin);
    token.offset = begin;
    token.line = line_;
    token.file = file_;
    out_.list.push_back(token);
}

// Reads a preprocessor line marker: "# 12 "file" 1 3".
void Lexer::marker(size_t begin, size_t end)
{
    char* after = nullptr;
    long line = std::strtol(text_.c_str() + begin, &after, 10);
    size_t quote = text_.find('"', begin);
    if (quote == std::string::npos || quote >= end)
        return;
    std::string name;
    size_t i = quote + 1;
    for (; i < end && text_[i] != '"'; ++i) {
        if (text_[i] == '\\' && i + 1 < end)
            ++i;
        name += text_[i];
    }
    bool ours = !ours_.empty() && name.compare(0, ours_.size(), ours_) == 0;
    auto known =
        std::find_if(out_.files.begin(), out_.files.end(), [&](const SourceFile& f) { return f.name == name; });
    if (known == out_.files.end()) {
        out_.files.push_back({name, ours});
        known = out_.files.end() - 1;
    }
    file_ = int(known - out_.files.begin());
    line_ = int(line) - 1; // the newline after the marker adds one
}

void Lexer::directive()
{
    size_t begin = here_ + 1;
    size_t end = text_.find('\n', here_);
    end = end == std::string::npos ? text_.size() : end;
    while (begin < end && (text_[begin] == ' ' || text_[begin] == '\t'))
        ++begin;
    if (text_.compare(begin, 4, "line") == 0)
        begin += 4;
    while (begin < end && text_[begin] == ' ')
        ++begin;
    if (begin < end && std::isdigit(static_cast<unsigned char>(text_[begin])))
        marker(begin, end);
    here_ = end;
}

void Lexer::string(size_t begin)
{
    char quote = text_[here_++];
    while (here_ < text_.size() && text_[here_] != quote && text_[here_] != '\n')
        here_ += text_[here_] == '\\' ? 2 : 1;
    here_ = std::min(here_ + 1, text_.size());
    add(TokenKind::text, begin);
}

void Lexer::raw_string(size_t begin, size_t quote)
{
    size_t open = text_.find('(', quote);
    if (open == std::string::npos)
        open = quote;
    std::string close = ")" + text_.substr(quote + 1, open - quote - 1) + "\"";
    size_t end = text_.find(close, open);
    here_ = end == std::string::npos ? text_.size() : end + close.size();
    add(TokenKind::text, begin);
    line_ += int(std::count(text_.begin() + long(begin), text_.begin() + long(here_), '\n'));
}

void Lexer::number()
{
    size_t begin = here_;
    while (here_ < text_.size()) {
        char c = text_[here_];
        bool exponent = (c == '+' || c == '-') && here_ > begin &&
                        (std::tolower(text_[here_ - 1]) == 'e' || std::tolower(text_[here_ - 1]) == 'p');
        bool separator = c == '\'' && is_word(at(here_ + 1));
        if (!is_word(c) && c != '.' && !exponent && !separator)
            break;
        // 0x1e+1 is a sum: a sign belongs to a decimal exponent (e) or a hexadecimal one (p).
        if (exponent && at(begin) == '0' && std::tolower(at(begin + 1)) == 'x' && std::tolower(text_[here_ - 1]) == 'e')
            break;
        ++here_;
    }
    add(TokenKind::number, begin);
}

// Only character pairs that matter for the structure become one token.
void Lexer::symbol()
{
    size_t begin = here_;
    char c = text_[here_], d = at(here_ + 1);
    bool pair = (c == ':' && d == ':') || (c == '-' && d == '>') || (c == '=' && d == '=') || (c == '<' && d == '=') ||
                (c == '>' && d == '=') || (c == '!' && d == '=') || (c == '&' && d == '&') || (c == '|' && d == '|');
    here_ += pair ? 2 : 1;
    add(TokenKind::symbol, begin);
}

Tokens Lexer::run()
{
    bool line_start = true;
    while (here_ < text_.size()) {
        char c = text_[here_];
        if (c == '\n') {
            ++line_, ++here_;
            line_start = true;
            continue;
        }
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++here_;
            continue;
        }
        if (c == '#' && line_start) {
            directive();
            continue;
        }
        line_start = false;
        size_t begin = here_;
        if (c == '"' || c == '\'') {
            string(begin);
        } else if (std::isdigit(static_cast<unsigned char>(c)) ||
                   (c == '.' && std::isdigit(static_cast<unsigned char>(at(here_ + 1))))) {
            number();
        } else if (is_word(c)) {
            while (here_ < text_.size() && is_word(text_[here_]))
                ++here_;
            char quote = at(here_);
            std::string_view prefix = std::string_view(text_).substr(begin, here_ - begin);
            bool encoding = prefix == "L" || prefix == "u" || prefix == "U" || prefix == "u8";
            if (quote == '"' && !prefix.empty() && prefix.back() == 'R' && prefix.size() <= 3)
                raw_string(begin, here_);
            else if ((quote == '"' || quote == '\'') && encoding)
                string(begin);
            else
                add(TokenKind::word, begin);
        } else
            symbol();
    }
    add(TokenKind::end, here_);
    return std::move(out_);
}

} // namespace

Tokens tokenize(const std::string& text, const std::string& ours)
{
    return Lexer(text, ours).run();
}

std::string apply_edits(const std::string& text, std::vector<Edit> edits)
{
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
    std::string out;
    out.reserve(text.size() + edits.size() * 64);
    size_t here = 0;
    for (const Edit& edit : edits) {
        if (edit.offset < here)
            continue; // inside a removed part
        out.append(text, here, edit.offset - here);
        out += edit.inserted;
        here = edit.offset + edit.removed;
        auto lines = std::count(text.begin() + long(edit.offset), text.begin() + long(here), '\n');
        out.append(size_t(lines), '\n');
    }
    out.append(text, here, std::string::npos);
    return out;
}

} // namespace emu::front
