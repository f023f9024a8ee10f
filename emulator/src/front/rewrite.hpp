// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The class behind rewrite(): finds declarations (rewrite.cpp), and edits kernels and variables (rewrite_edits.cpp). It
// parses only as much C++ as that needs; other code stays unchanged, for the compiler to judge.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>

#include "ptx.hpp"
#include "scan.hpp"

namespace emu::front {

inline bool one_of(std::string_view text, std::initializer_list<const char*> list)
{
    return std::any_of(list.begin(), list.end(), [&](const char* word) { return text == word; });
}

struct Declaration {
    size_t begin = 0; // first token of the specifiers
    size_t name_begin = 0, name_end = 0;
    size_t open = 0, close = 0; // of the parameter list; 0: not a function
    size_t body = 0, body_end = 0;
    size_t end = 0; // the semicolon or closing brace
    size_t bounds = 0, bounds_end = 0, cluster = 0, cluster_end = 0;
    bool is_template = false, is_specialization = false, is_instantiation = false;
    bool global = false, device = false, host = false;
    bool constant = false, managed = false, shared = false;
    bool immutable = false, external = false, is_friend = false, is_type = false;
    bool ends_without_body = false; // = default, = delete
    int words = 0;
};

class Rewriter {
public:
    Rewriter(const std::string& text, const RewriteRequest& request)
        : text_(text), request_(request), tokens_(tokenize(text, request.ours)), t_(tokens_.list)
    {
        for (const Token& token : t_)
            if (token.kind == TokenKind::word)
                ++words_[token.text];
    }
    Rewritten run();

private:
    // ---- structure (rewrite.cpp)
    bool is(size_t i, const char* text) const { return i < t_.size() && t_[i].text == text; }
    bool is_word(size_t i) const { return i < t_.size() && t_[i].kind == TokenKind::word; }
    bool at_end(size_t i) const { return i >= t_.size() || t_[i].kind == TokenKind::end; }
    size_t after(size_t i) const; // past the bracket that closes the one at i
    size_t after_angles(size_t i) const; // past the closing angle bracket; i + 1 if < is an operator
    void scope(size_t i, size_t end, bool in_class);
    size_t declaration(size_t i, size_t end, bool in_class);
    size_t other_declaration(size_t i);
    size_t prefix(size_t i, Declaration& d);
    size_t namespace_head(size_t i, size_t end);
    void member_at_start(size_t i);
    bool specifier(size_t i, Declaration& d, size_t* next);
    size_t parenthesis(size_t i, Declaration& d);
    bool is_initializer(size_t open) const;
    size_t initializer(size_t i);
    size_t member_initializers(size_t i);
    size_t brace(size_t i, Declaration& d, bool in_class, bool* finished);
    void find_name(size_t open, Declaration& d);

    // ---- edits (rewrite_edits.cpp)
    void function(const Declaration& d, bool in_class);
    void kernel(const Declaration& d);
    void body(size_t open, size_t close);
    void static_variable(size_t i);
    void variable(const Declaration& d, bool in_class);
    size_t shared_variable(size_t begin, size_t at, size_t end, bool outside);
    size_t assembly(size_t i); // rewrite_asm.cpp
    std::vector<PtxOperand> asm_operands(size_t at, size_t close) const;
    void declare_shared(size_t name, size_t floor, size_t close); // rewrite_lambdas.cpp
    size_t lambda_body(size_t i) const;
    void lambda(size_t i);
    void mark_unwritten(size_t open, size_t close); // rewrite_unwritten.cpp
    bool declares_variables(size_t i, size_t* end) const;
    bool is_worth_marking(size_t name, size_t begin, size_t end, size_t close) const;
    bool opens_class(size_t i, size_t floor) const;
    void host_lambdas(size_t begin, size_t end);
    void annotated_lambda(size_t i);
    size_t statement_begin(size_t i, size_t floor) const;
    std::string kernel_record(const Declaration& d, const std::string& id);
    std::string parameter_types(size_t open, size_t close) const;
    bool is_argument_list(size_t i) const;
    std::vector<size_t> declared_names(size_t begin, size_t end) const;
    std::string joined(size_t begin, size_t end) const;
    const char* gap(size_t i) const;
    std::string qualified(size_t name, size_t floor) const;
    void name_expressions(std::string* out);
    bool is_only_declared(const std::string& expression);
    bool ours(size_t i) const { return tokens_.files[size_t(t_[i].file)].ours; }
    void insert_before(size_t i, std::string text);
    void insert_after(size_t i, std::string text);
    void replace(size_t begin, size_t end, std::string text); // tokens [begin, end)
    void error(size_t i, std::string text);
    void calls_of_kernels();
    bool is_unused_template(const Declaration& d) const;
    void remove_unused_templates();

    // Which functions have shared variables, and which names each function mentions. Together they determine the shared
    // memory a kernel uses.
    struct Body {
        size_t open, close;
        bool kernel, has_shared;
    };

    struct Template {
        Declaration declaration;
        size_t first_error, last_error; // in its body
    };

    struct SharedName {
        std::string_view text;
        size_t begin, end; // tokens between which it is visible
    };

    const std::string& text_;
    const RewriteRequest& request_;
    Tokens tokens_;
    const std::vector<Token>& t_;
    std::vector<Edit> edits_;
    std::vector<SourceError> errors_;
    std::multimap<std::string_view, Body> bodies_;
    std::vector<Template> templates_;
    std::multimap<std::string_view, size_t> declared_templates_; // kernels without a body: the closing parenthesis
    std::set<std::string_view> defined_templates_;
    std::vector<SharedName> shared_names_; // of the current function
    std::map<std::string_view, const char*> variable_templates_; // their kinds
    std::set<std::string_view> values_;        // names of variables and enumerators so far
    std::map<std::string_view, size_t> words_; // number of occurrences of each word
    int class_templates_ = 0; // that enclose the current declaration
    bool instantiates_classes_ = false; // with all their members, as in `template struct A<int>;`
    bool has_marks_ = false; // of unwritten variables
    int serial_ = 0;
};

} // namespace emu::front
