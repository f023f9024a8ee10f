// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Preprocessed C++ as tokens, and edits that preserve line numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace emu::front {

enum class TokenKind { word, number, text, symbol, end };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string_view text;
    size_t offset = 0; // in the scanned text
    int line = 0;      // by the line markers
    int file = 0;      // index into Tokens::files
};

struct SourceFile {
    std::string name;
    bool ours = false; // from a device header
};

struct Tokens {
    std::vector<Token> list; // the last one is of kind `end`
    std::vector<SourceFile> files;
};

// `ours` is the device header directory. The text must outlive the tokens.
Tokens tokenize(const std::string& text, const std::string& ours);

struct Edit {
    size_t offset, removed;
    std::string inserted;
};

// Line breaks in a removed part are kept.
std::string apply_edits(const std::string& text, std::vector<Edit> edits);

struct SourceError {
    std::string file;
    int line = 0;
    size_t column = 0; // from 1; 0: unknown
    std::string text;
};

struct Rewritten {
    std::string text;
    std::vector<SourceError> errors;
    std::vector<std::string> files; // all files of the program, except device headers
};

struct RewriteRequest {
    bool default_device = false, int128 = false;
    std::vector<std::string> name_expressions;
    std::string ours;
    bool marks_unwritten = false; // see rewrite_unwritten.cpp
};

// Rewrites a program's preprocessed text for the host compiler: kernels get records, shared variables become
// thread-local, and code that cannot run here is rejected.
Rewritten rewrite(const std::string& preprocessed, const RewriteRequest& request);

} // namespace emu::front
