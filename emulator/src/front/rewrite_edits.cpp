// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "rewrite.hpp"

#include <algorithm>
#include <set>

namespace emu::front {
namespace {

const char* const unannotated_function =
    "A function without execution space annotations (__host__/__device__/__global__) is "
    "considered a host function, and host functions are not allowed in JIT mode. Consider using "
    "-default-device flag to process unannotated functions as __device__ functions in JIT mode";
const char* const unannotated_variable =
    "A namespace scope variable without memory space annotations "
    "(__device__/__constant__/__shared__/__managed__) is considered a host variable, and host "
    "variables are not allowed in JIT mode. Consider using -default-device flag to process "
    "unannotated namespace scope variables as __device__ variables in JIT mode";

} // namespace

void Rewriter::insert_before(size_t i, std::string text)
{
    edits_.push_back({t_[i].offset, 0, std::move(text)});
}

void Rewriter::insert_after(size_t i, std::string text)
{
    edits_.push_back({t_[i].offset + t_[i].text.size(), 0, std::move(text)});
}

void Rewriter::replace(size_t begin, size_t end, std::string text)
{
    size_t from = t_[begin].offset, to = t_[end - 1].offset + t_[end - 1].text.size();
    edits_.push_back({from, to - from, std::move(text)});
}

void Rewriter::error(size_t i, std::string text)
{
    const Token& token = t_[i];
    size_t line_begin = text_.rfind('\n', token.offset);
    line_begin = line_begin == std::string::npos ? 0 : line_begin + 1;
    errors_.push_back(
        {tokens_.files[size_t(token.file)].name, token.line, token.offset - line_begin + 1, std::move(text)});
}

// The separator between a token and the previous one: none if they touch, because an operator may be two tokens (<<).
const char* Rewriter::gap(size_t i) const
{
    return i && t_[i].offset == t_[i - 1].offset + t_[i - 1].text.size() ? "" : " ";
}

std::string Rewriter::joined(size_t begin, size_t end) const
{
    std::string out;
    for (size_t i = begin; i < end; ++i) {
        out += out.empty() ? "" : gap(i);
        out += t_[i].text;
    }
    return out;
}

// Returns a declared name with the classes and namespaces before it: `S::count`.
std::string Rewriter::qualified(size_t name, size_t floor) const
{
    size_t begin = name;
    while (begin >= floor + 2 && is(begin - 1, "::") && is_word(begin - 2))
        begin -= 2;
    return joined(begin, name + 1);
}

// Returns the parameter list without default arguments, for use in a type.
std::string Rewriter::parameter_types(size_t open, size_t close) const
{
    std::string out;
    int depth = 0;
    for (size_t i = open + 1; i < close; ++i) {
        if (is(i, "=") && depth == 0) {
            int angles = 0;
            while (i < close && !(is(i, ",") && angles <= 0)) {
                angles += is(i, "<") ? 1 : is(i, ">") ? -1 : 0;
                i = is(i, "(") || is(i, "[") || is(i, "{") ? after(i) : i + 1;
            }
            if (i >= close)
                break;
        }
        depth += is(i, "<") || is(i, "(") ? 1 : is(i, ">") || is(i, ")") ? -1 : 0;
        out += gap(i);
        out += t_[i].text;
    }
    return out;
}

std::string Rewriter::kernel_record(const Declaration& d, const std::string& id)
{
    return " EMU_KERNEL(" + id + ", " + std::to_string(t_[d.name_begin].line) + ", (void (*emu_f)(" +
           parameter_types(d.open, d.close) + ")), " + joined(d.name_begin, d.name_end) + ")";
}

void Rewriter::kernel(const Declaration& d)
{
    bool returns_nothing = false;
    for (size_t i = d.begin; i < d.name_begin; ++i)
        returns_nothing = returns_nothing || is(i, "void") || is(i, "auto");
    if (!returns_nothing)
        error(d.begin, "a __global__ function must have a void return type");
    std::string id = std::to_string(++serial_);
    bool generic = false; // a parameter of type auto makes it a template
    for (size_t i = d.open; i < d.close; ++i)
        generic = generic || is(i, "auto");
    if (d.body) {
        if (d.bounds || d.cluster)
            insert_after(d.body, " EMU_LAUNCH_BOUNDS((" + joined(d.bounds, d.bounds_end) + "), (" +
                                     joined(d.cluster, d.cluster_end) + "))");
        if ((!d.is_template && !generic) || d.is_specialization)
            insert_after(d.body_end, kernel_record(d, id));
    } else if (d.is_instantiation && !d.external)
        insert_after(d.end, kernel_record(d, id));
}

// Returns true for a function template, or a member of a class template, whose name occurs nowhere else. NVRTC does not
// look up names in the body of an uninstantiated template; a host compiler does.
bool Rewriter::is_unused_template(const Declaration& d) const
{
    bool simple = !d.is_specialization && !d.is_friend && d.name_end == d.name_begin + 1 && is_word(d.name_begin) &&
                  !is(d.name_begin, "operator");
    if (!simple || (!d.is_template && instantiates_classes_))
        return false;
    for (size_t i = d.begin; i < d.body; ++i)
        if (one_of(t_[i].text, {"virtual", "override", "final"})) // called without its name
            return false;
    std::string_view name = t_[d.name_begin].text;
    if (name == "begin" || name == "end" || name == "get") // the language calls these
        return false;
    size_t inside = 0;
    for (size_t i = d.body; i < d.body_end; ++i)
        inside += is_word(i) && t_[i].text == name;
    bool named = std::any_of(request_.name_expressions.begin(), request_.name_expressions.end(),
                             [&](const std::string& text) { return text.find(name) != text.npos; });
    return words_.at(name) == inside + 1 && !named;
}

void Rewriter::function(const Declaration& d, bool in_class)
{
    size_t errors = errors_.size();
    if (!ours(d.begin)) {
        bool annotated = d.global || d.device || request_.default_device;
        // A deduction guide has no return type, and needs no annotation.
        size_t type = d.begin + (is(d.begin, "explicit") ? 1 : 0);
        bool guides = is(d.close + 1, "->"); // after a requires-clause
        for (size_t i = d.begin; i < d.name_begin; ++i)
            guides = guides && !is(i, "auto");
        bool declared = !in_class && type < d.name_begin && !guides && !d.is_instantiation && !d.is_friend &&
                        !d.ends_without_body;
        if ((d.body || declared) && !annotated)
            error(d.name_begin, d.host ? "A function explicitly marked as a __host__ function is "
                                         "not allowed in JIT mode"
                                       : unannotated_function);
        host_lambdas(d.open, d.close);
        if (d.global && in_class)
            error(d.name_begin, "a __global__ function must not be a member of a class");
        else if (d.global)
            kernel(d);
        if (d.global && d.is_template && d.name_end > d.name_begin) {
            std::string_view name = t_[d.name_end - 1].text;
            d.body ? void(defined_templates_.insert(name)) : void(declared_templates_.insert({name, d.close}));
        }
    }
    if (d.body && !ours(d.body)) {
        int before = serial_;
        body(d.body, d.body_end);
        size_t name = d.name_end;
        while (name > d.name_begin && !is_word(name - 1))
            --name;
        std::string_view text = name > d.name_begin ? t_[name - 1].text : std::string_view();
        if (is(d.name_end - 1, ">")) // f<int>: the name is before the bracket
            text = t_[d.name_begin].text;
        bodies_.insert({text, {d.body, d.body_end, d.global, serial_ != before}});
    }
    bool in_template = d.is_template || class_templates_;
    if (!ours(d.begin) && (d.global || d.device) && in_template && d.body)
        templates_.push_back({d, errors, errors_.size()});
}

// Removes the bodies of templates that only such templates name, and the errors in them.
void Rewriter::remove_unused_templates()
{
    for (bool is_done = false; !is_done;) {
        is_done = true;
        for (size_t k = templates_.size(); k-- > 0;) {
            const Template unused = templates_[k];
            if (!is_unused_template(unused.declaration))
                continue;
            is_done = false;
            templates_.erase(templates_.begin() + long(k));
            const Declaration& d = unused.declaration;
            replace(d.body, d.body_end + 1, ";");
            for (size_t i = d.body; i < d.body_end; ++i)
                if (is_word(i))
                    --words_[t_[i].text];
            for (size_t i = unused.first_error; i < unused.last_error; ++i)
                errors_[i].text.clear();
        }
    }
    errors_.erase(std::remove_if(errors_.begin(), errors_.end(), [](const SourceError& e) { return e.text.empty(); }),
                  errors_.end());
}

// Records for each kernel which functions with shared variables it can reach.
void Rewriter::calls_of_kernels()
{
    bool any = std::any_of(bodies_.begin(), bodies_.end(),
                           [](const auto& row) { return row.second.has_shared && !row.second.kernel; });
    for (auto& kernel : bodies_) {
        if (!any || !kernel.second.kernel)
            continue;
        std::set<std::string_view> seen;
        std::vector<Body> todo{kernel.second};
        std::string names;
        while (!todo.empty()) {
            Body body = todo.back();
            todo.pop_back();
            for (size_t i = body.open; i < body.close; ++i) {
                if (!is_word(i) || !seen.insert(t_[i].text).second)
                    continue;
                auto range = bodies_.equal_range(t_[i].text);
                bool shared = false;
                for (auto at = range.first; at != range.second; ++at) {
                    shared = shared || (at->second.has_shared && !at->second.kernel);
                    todo.push_back(at->second);
                }
                if (shared)
                    names += std::to_string(t_[i].text.size()) + std::string(t_[i].text) + " ";
            }
        }
        insert_after(kernel.second.open, " EMU_SHARED_CALLS(\"" + names + "\")");
    }
}

size_t Rewriter::statement_begin(size_t i, size_t floor) const
{
    while (i > floor + 1 && !is(i - 1, ";") && !is(i - 1, "{") && !is(i - 1, "}") && !is(i - 1, ":"))
        --i;
    return i;
}

// `static A a;` in a function: the compiler must reject a constructor that has to run.
void Rewriter::static_variable(size_t i)
{
    if (!is(i - 1, ";") && !is(i - 1, "{") && !is(i - 1, "}"))
        return;
    size_t at = i + 1;
    for (; is_word(at) || is(at, "*") || is(at, "&") || is(at, "::") || is(at, "[") || is(at, "<");
         at = is(at, "[")   ? after(at)
              : is(at, "<") ? after_angles(at)
                            : at + 1)
        for (const char* word : {"constexpr", "constinit", "__shared__", "struct", "class", "union", "enum"})
            if (is(at, word))
                return;
    if (is(at, ";") || is(at, "=") || is(at, "{"))
        insert_before(i, is(at, "=") ? "EMU_CONSTINIT " : "EMU_CONSTINIT_DEFAULT ");
    if (is(at, ";") && is(at - 1, "]"))
        for (size_t name : declared_names(i, at))
            insert_after(at, " EMU_DEFAULT(" + std::string(t_[name].text) + ")");
}

void Rewriter::body(size_t open, size_t close)
{
    shared_names_.clear();
    if (request_.marks_unwritten)
        mark_unwritten(open, close);
    for (size_t i = open + 1; i < close; ++i) {
        if (is(i, "<") && is(i + 1, "<") && is(i + 2, "<") && t_[i + 2].offset == t_[i].offset + 2)
            error(i, "kernels cannot launch kernels on the software device");
        if (is(i, "[")) {
            annotated_lambda(i);
            lambda(i);
        }
        if (!is_word(i))
            continue;
        if (is(i, "static_assert"))
            member_at_start(i + 2);
        if (is(i, "__shared__"))
            i = shared_variable(statement_begin(i, open), i, close, false);
        else if (is(i, "static"))
            static_variable(i);
        else if (is(i, "asm") || is(i, "__asm__") || is(i, "__asm"))
            i = assembly(i);
    }
}

// Returns true for `<` in a value that does not compare, as `x < 1, y = 2 > 1` does.
bool Rewriter::is_argument_list(size_t i) const
{
    for (size_t close = after_angles(i), k = i; k < close; ++k)
        if (is(k, "="))
            return false;
    return true;
}

// Returns the declared names as token indices.
std::vector<size_t> Rewriter::declared_names(size_t begin, size_t end) const
{
    std::vector<size_t> names;
    size_t last = 0;
    bool in_value = false, has_body = false; // of a type, as in `union { int i; float f; } x`
    auto flush = [&] {
        if (last)
            names.push_back(last);
        last = 0;
        in_value = false;
    };
    for (size_t i = begin; i < end;) {
        if (is(i, ",")) {
            flush();
            ++i;
        } else if (is(i, "=")) {
            in_value = true;
            ++i;
        } else if (is(i, "[") || is(i, "{")) {
            in_value = in_value || (is(i, "{") && !has_body);
            has_body = has_body && !is(i, "{");
            i = after(i);
        } else if (is(i, "(")) {
            if (!in_value && (is(i + 1, "*") || is(i + 1, "&"))) {
                for (size_t k = i; k + 1 < after(i); ++k)
                    if (is_word(k))
                        last = k;
                in_value = true;
            }
            i = after(i);
        } else if (is(i, "<") && (!in_value || (is_word(i - 1) && is_argument_list(i)))) {
            i = after_angles(i);
        } else if (is_word(i) && !in_value) {
            bool attribute = is(i, "__attribute__") || is(i, "__align__") || is(i, "alignas") || is(i, "decltype");
            if (attribute && is(i + 1, "(")) {
                i = after(i + 1);
                continue;
            }
            has_body = has_body || is(i, "struct") || is(i, "class") || is(i, "union");
            last = i++;
        } else
            ++i;
    }
    flush();
    return names;
}

// A variable at namespace scope, or a static member.
void Rewriter::variable(const Declaration& d, bool in_class)
{
    for (size_t name : d.is_type ? std::vector<size_t>() : declared_names(d.begin, d.end))
        values_.insert(t_[name].text);
    bool placed = d.device || d.constant || d.managed || d.shared;
    const char* kind = d.constant  ? "EMU_VARIABLE_CONSTANT"
                       : d.managed ? "EMU_VARIABLE_MANAGED"
                                   : "EMU_VARIABLE_DEVICE";
    if (d.is_template && placed && !in_class)
        for (size_t name : declared_names(d.begin, d.end))
            variable_templates_[t_[name].text] = kind;
    bool simple = !d.is_template && !d.is_instantiation && !in_class;
    if (ours(d.begin) || d.is_friend || !simple)
        return;
    if (!placed) {
        if (d.words >= 2 && !d.immutable && !d.is_type && !d.external && !request_.default_device)
            error(declared_names(d.begin, d.end).empty() ? d.begin : declared_names(d.begin, d.end)[0],
                  unannotated_variable);
        return;
    }
    if (d.shared) {
        for (size_t i = d.begin; i < d.end; ++i)
            if (is(i, "__shared__"))
                shared_variable(d.begin, i, d.end + 1, true);
        return;
    }
    if (d.external)
        return;
    std::string records;
    for (size_t name : declared_names(d.begin, d.end))
        records += " EMU_VARIABLE(" + std::to_string(++serial_) + ", " + qualified(name, d.begin) + ", " + kind + ")";
    // Dynamic initialization would run on the host when the module is loaded, so the compiler must reject it. A
    // function pointer has no place for the annotation, and constexpr needs none.
    bool initialized = false, pointer = false;
    for (size_t i = d.begin; i < d.end; ++i) {
        pointer = pointer || (!initialized && ((is(i, "(") && is(i + 1, "*")) || is(i, "constexpr")));
        initialized = initialized || is(i, "=");
    }
    for (size_t name : declared_names(d.begin, d.end))
        if (!initialized && !is(d.end - 1, "}") && is(name + 1, "["))
            records += " EMU_DEFAULT(" + qualified(name, d.begin) + ")";
    insert_before(d.begin, pointer ? "EMU_ALIGNED " : "EMU_ALIGNED EMU_CONSTINIT_DEFAULT ");
    insert_after(d.end, records);
}

// `__shared__ float tile[16][17], x;` becomes types of these shapes, thread-local storage for each, and references to
// it. `begin` is the start of the statement, `at` the word __shared__.
size_t Rewriter::shared_variable(size_t begin, size_t at, size_t end, bool outside)
{
    size_t stop = at;
    bool dynamic = false;
    std::string alignment;
    while (stop < end && !is(stop, ";"))
        stop = is(stop, "(") || is(stop, "[") || is(stop, "{") ? after(stop) : stop + 1;
    std::vector<size_t> names = declared_names(begin, stop);
    if (names.empty() || !is(stop, ";"))
        return at;
    if (!outside)
        for (size_t name : names)
            declare_shared(name, stop, end);
    std::string type, storage;
    for (size_t i = begin; i < stop; ++i) {
        if (is(i, "__align__") || is(i, "alignas") || (is(i, "__attribute__") && is(i + 3, "aligned"))) {
            size_t close = after(i + 1);
            bool gnu = is(i, "__attribute__");
            alignment += " EMU_ALIGNAS(" + (gnu ? joined(i + 5, close - 3) : joined(i + 2, close - 1)) + ")";
            i = close - 1;
        } else if (is(i, "extern")) {
            dynamic = true;
        } else if (is(i, "=")) {
            error(names[0], "initializer not allowed for __shared__ variable ");
            return stop;
        } else if (is(i, "__shared__") || is(i, "static") || is(i, "constexpr")) {
            continue;
        } else if (std::find(names.begin(), names.end(), i) != names.end()) {
            std::string id = std::to_string(++serial_);
            type += " emu_shared_type_" + id;
            const char* macro = dynamic ? "EMU_SHARED_DYNAMIC" : "EMU_SHARED";
            storage += std::string(" ") + macro + (outside ? "_OUTSIDE(" : "(") + id + ", " + std::string(t_[i].text) +
                       "," + (alignment.empty() ? " " : alignment) + ")";
        } else {
            type += gap(i);
            type += t_[i].text;
        }
    }
    replace(begin, stop + 1, "typedef" + type + ";" + storage);
    return stop;
}

// Returns `c` for `a::b::c<int>`.
std::string_view last_name(const std::string& expression)
{
    std::string_view name = std::string_view(expression).substr(0, expression.find('<'));
    name.remove_prefix(name.rfind(':') + 1); // the last part of its name, or all of it
    return name;
}

// Returns true if an expression names an instance of a kernel template without a definition, which is made weak: NVRTC
// tells the lowered name, and there is no code.
bool Rewriter::is_only_declared(const std::string& expression)
{
    std::string_view name = last_name(expression);
    if (defined_templates_.count(name))
        return false;
    auto range = declared_templates_.equal_range(name);
    for (auto at = range.first; at != range.second; ++at)
        insert_after(at->second, " __attribute__((weak))");
    return range.first != range.second;
}

void Rewriter::name_expressions(std::string* out)
{
    for (size_t i = 0; i < request_.name_expressions.size(); ++i) {
        // One line each; NVRTC numbers them from 2.
        std::string expression = request_.name_expressions[i];
        std::replace(expression.begin(), expression.end(), '\n', ' ');
        size_t first = expression.find_first_not_of(" \t");
        expression.erase(0, first == std::string::npos ? expression.size() : first);
        bool cast = !expression.empty() && expression[0] == '(';
        if (!expression.empty() && expression[0] == '&')
            expression.erase(0, 1);
        const char* record = is_only_declared(expression) ? "EMU_DECLARED_NAME" : "EMU_NAME";
        *out += "\n# " + std::to_string(i + 2) + " \"" + name_map + "\"\n" + record + "(" + std::to_string(i) + ", " +
                (cast ? "" : "&") + expression + ")";
        auto variable = variable_templates_.find(last_name(expression));
        if (variable != variable_templates_.end())
            *out += " EMU_VARIABLE_OF_TEMPLATE(name_" + std::to_string(i) + ", " + variable->second + ", " + expression +
                    ")";
    }
    *out += "\n";
}

Rewritten Rewriter::run()
{
    for (size_t i = 0; i < t_.size() && !request_.int128; ++i)
        if (is(i, "__int128") && !ours(i)) {
            error(i, "128-bit integer type is only supported in Linux with the \"--device-int128\" flag in NVRTC");
            break;
        }
    scope(0, t_.size(), false);
    remove_unused_templates();
    calls_of_kernels();
    Rewritten out;
    std::string names;
    name_expressions(&names);
    out.errors = std::move(errors_);
    out.text = apply_edits(text_, std::move(edits_)) + (has_marks_ ? "\nEMU_MARKS_UNWRITTEN" : "") + names;
    for (const SourceFile& file : tokens_.files)
        if (!file.ours && file.name[0] != '<')
            out.files.push_back(file.name);
    return out;
}

} // namespace emu::front
