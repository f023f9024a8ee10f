// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Lambdas. In CUDA, shared variables are static, so lambdas use them without capturing. Here they are references, so a
// lambda that mentions one gets a capture by reference. Lambdas that NVRTC rejects are errors.
#include "rewrite.hpp"

namespace emu::front {
namespace {

const char* const host_lambda =
    "The execution space for the lambda closure class members was inferred to be __host__ (based on context). This is "
    "not allowed in JIT mode. Consider using -default-device to infer __device__ execution space for namespace scope "
    "lambda closure classes.";

} // namespace

// Lambdas outside functions, in an initializer, a default argument or an assertion.
void Rewriter::host_lambdas(size_t begin, size_t end)
{
    for (size_t i = begin; i < end; ++i) {
        if (!is(i, "[") || ours(i) || !lambda_body(i))
            continue;
        annotated_lambda(i);
        if (!request_.default_device)
            error(after(i), host_lambda);
    }
}

void Rewriter::annotated_lambda(size_t i)
{
    size_t at = after(i);
    while (is(at, "__device__") || is(at, "__host__"))
        ++at;
    if (at != after(i) && !ours(i) && lambda_body(i))
        error(at, "__host__ or __device__ annotation on lambda is not allowed in JIT mode");
}

// The variable is visible from its name at i to the brace that closes the block.
void Rewriter::declare_shared(size_t name, size_t floor, size_t close)
{
    int depth = 0;
    size_t end = close;
    for (size_t i = name; i < close; ++i) {
        depth += is(i, "{") ? 1 : is(i, "}") ? -1 : 0;
        if (depth < 0) {
            end = i;
            break;
        }
    }
    shared_names_.push_back({t_[name].text, std::max(name, floor), end});
}

// Returns the opening brace of a lambda's body if one begins at i, otherwise 0.
size_t Rewriter::lambda_body(size_t i) const
{
    if (!is(i, "[") || is(i + 1, "["))
        return 0;
    bool subscript = is(i - 1, ")") || is(i - 1, "]") || t_[i - 1].kind == TokenKind::text ||
                     (is_word(i - 1) && !is(i - 1, "return") && !is(i - 1, "case"));
    if (subscript)
        return 0;
    size_t at = after(i);
    bool may_be =
        is(at, "(") || is(at, "{") || is(at, "<") || is(at, "__device__") || is(at, "__host__") || is(at, "mutable");
    if (!may_be)
        return 0;
    while (!at_end(at) && !is(at, "{")) {
        if (is(at, ";") || is(at, "}") || is(at, ")") || is(at, "]"))
            return 0;
        at = is(at, "(") || is(at, "[") ? after(at) : is(at, "<") ? after_angles(at) : at + 1;
    }
    return at;
}

void Rewriter::lambda(size_t i)
{
    size_t body = shared_names_.empty() ? 0 : lambda_body(i);
    bool all = is(i + 1, "&") && (is(i + 2, "]") || is(i + 2, ","));
    if (!body || all)
        return;
    size_t list_end = after(i) - 1, end = after(body);
    std::string added;
    for (auto name = shared_names_.rbegin(); name != shared_names_.rend(); ++name) {
        if (i < name->begin || i > name->end)
            continue;
        bool used = false, captured = false;
        for (size_t k = body; k < end; ++k)
            used = used || (is_word(k) && t_[k].text == name->text && !is(k - 1, ".") && !is(k - 1, "::"));
        for (size_t k = i; k < body; ++k) // or a parameter with that name
            captured = captured || t_[k].text == name->text;
        std::string item = "&" + std::string(name->text);
        if (used && !captured && (added + ",").find(item + ",") == added.npos)
            added += ", " + item;
    }
    if (!added.empty())
        insert_before(list_end, list_end == i + 1 ? added.substr(2) : added);
}

} // namespace emu::front
