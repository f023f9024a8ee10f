// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Messages of g++ and clang, in NVRTC's wording and format.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compiler.hpp"
#include "process.hpp"
#include "text.hpp"

namespace emu::front {
namespace {

constexpr const char* constant_value = "expression must have a constant value";

struct Message {
    std::string file, kind, text; // kind: error, warning, remark, note, fatal
    std::string hint;             // a note added by us
    bool is_type = false;         // the message is about an unknown type
    int line = 0, number = 0;
    size_t column = 0;
};

// Returns a line of a file, by the names and numbers that #line directives in the text give its lines.
std::string line_of(const std::string& text, std::string name, const std::string& file, int line)
{
    int number = 1;
    for (size_t at = 0; at < text.size(); ++number) {
        size_t end = std::min(text.find('\n', at), text.size());
        size_t begin = text.find('"', at), close = text.rfind('"', end);
        if (text.compare(at, 6, "#line ") == 0) {
            number = std::atoi(text.c_str() + at + 6) - 1;
            if (begin < close && close < end)
                name = text.substr(begin + 1, close - begin - 1);
        } else if (number == line && name == file) {
            return text.substr(at, end - at);
        }
        at = end + 1;
    }
    return "";
}

std::string source_line(const Sources& sources, const std::string& file, int line)
{
    for (const auto& [name, text] : sources.texts)
        if (std::string found = line_of(text, name, file, line); !found.empty())
            return found;
    Bytes bytes;
    return file.find('/') != std::string::npos && read_file(file, &bytes) ? line_of(text_of(bytes), file, file, line)
                                                                         : "";
}

// Returns the text in the first pair of quotes, ASCII or typographic.
std::string quoted(const std::string& text)
{
    size_t begin = text.find('\''), end = begin == std::string::npos ? begin : text.find('\'', begin + 1);
    return end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
}

// Rewords warnings, which are identified by the flag that disables them.
void reword_warning(Message* message, const std::string& name)
{
    std::string& text = message->text;
    if (contains(text, "[-Wunused-variable]") || contains(text, "[-Wunused-but-set-variable]")) {
        message->number = contains(text, "but-set") || contains(text, "set but not used") ? 550 : 177;
        text = message->number == 177 ? "variable \"" + name + "\" was declared but never referenced"
                                      : "variable \"" + name + "\" was set but never used";
    } else if (contains(text, "[-Wreturn-type]")) {
        message->number = 940;
        text = "missing return statement at end of non-void function";
    } else if (contains(text, "[-Wuninitialized]")) {
        message->number = 549;
        text = "variable \"" + name + "\" is used before its value is set";
    } else if (contains(text, "[-Wformat=]") || contains(text, "[-Wformat-insufficient-args]")) {
        message->number = 224;
        text = "the format string requires additional arguments";
    } else if (contains(text, "[-Wdiv-by-zero]")) {
        message->number = 39;
        text = "division by zero";
    }
}

void reword_undefined(Message* message, std::string name)
{
    std::string& text = message->text;
    size_t dot = name.rfind("::");
    name = dot == std::string::npos ? name : name.substr(dot + 2);
    message->is_type = contains(text, "unknown type name") || contains(text, "does not name a type");
    text = "identifier \"" + name + "\" is undefined";
    bool sized = name.size() > 2 && name.compare(name.size() - 2, 2, "_t") == 0 && contains(name, "int");
    for (const char* begin : {"__shfl", "__ballot", "__any", "__all"})
        if (name.compare(0, std::strlen(begin), begin) == 0 && !contains(name, "_sync"))
            message->hint = "write " + name +
                            "_sync, whose first argument is the mask of the threads that take part, such as "
                            "0xffffffff: the function without it was removed for compute capability 7.0";
    if (sized)
        message->hint = "#include <cuda/std/cstdint> declares it";
    message->is_type = message->is_type || sized;
}

// Rewords messages of directives. Returns false for other messages.
bool reword_directive(Message* message)
{
    std::string& text = message->text;
    if (text.compare(0, 7, "#error ") == 0) {
        text = "#error directive: " + text.substr(7);
        message->kind = "fatal";
    } else if (contains(text, "[-Wcpp]") || contains(text, "[-W#warnings]")) {
        text = "#warning directive: " + text.substr(text.compare(0, 9, "#warning ") ? 0 : 9);
        message->number = 1105;
    } else if (text.compare(0, 17, "'#pragma message:") == 0 || contains(text, "[-W#pragma-messages]")) {
        std::string said = text[0] == '\'' ? text.substr(18, text.size() - 19) : text.substr(0, text.rfind(" [-W"));
        text = "#pragma message: \"" + said + "\"";
        message->kind = "remark";
        message->number = 20200;
        message->column = ~size_t(0); // the end of the line
    } else {
        return false;
    }
    return true;
}

// The types of threadIdx and other built-in variables, which CUDA calls uint3 and dim3.
void rename_types(std::string* text)
{
    for (const auto& [ours, theirs] : {std::pair("emu::ThreadIndex", "uint3"), std::pair("emu::Extent", "dim3")})
        for (size_t at; (at = text->find(ours)) != text->npos;)
            text->replace(at, std::strlen(ours), theirs);
}

// Rewords common errors; others keep the compiler's wording.
void reword_error(Message* message)
{
    std::string& text = message->text;
    std::string name = quoted(text);
    if (contains(text, "was not declared in this scope") || contains(text, "use of undeclared identifier") ||
        contains(text, "does not name a type") || contains(text, "unknown type name") ||
        contains(text, "has not been declared")) {
        reword_undefined(message, name);
    } else if (contains(text, "No such file or directory") || contains(text, "file not found")) {
        name = contains(text, "file not found") ? name : text.substr(0, text.find(": No such file"));
        text = "cannot open source file \"" + name + "\"";
        message->kind = "fatal";
        message->hint = missing_header_hint(name);
    } else if (size_t at = text.find("attribute error: "); at != text.npos) {
        text.erase(0, at + std::strlen("attribute error: "));
    } else if (size_t quoted_at = text.find("'error' attribute: "); quoted_at != text.npos) {
        text.erase(0, quoted_at + std::strlen("'error' attribute: "));
    } else if (contains(text, "use of dynamic_cast requires -frtti")) {
        text = "'dynamic_cast' not permitted with '-fno-rtti'";
    } else if (text.compare(0, 13, "expected ';' ") == 0) {
        text = "expected a \";\"";
    } else if (text.compare(0, 13, "expected '}' ") == 0) {
        text = "expected a \"}\"";
    } else if (text.compare(0, 13, "expected ')' ") == 0) {
        text = "expected a \")\"";
    } else if (contains(text, "exception handling disabled") || contains(text, "with exceptions disabled")) {
        text = "device code does not support exception handling";
    } else if (contains(text, "variable length array") || contains(text, "variable-sized object") ||
               (contains(text, "storage size of '") && contains(text, "isn't constant"))) {
        text = constant_value;
    } else if (contains(text, "does not have a constant initializer") ||
               contains(text, "requires a global constructor")) {
        size_t at = text.find("variable '"); // clang does not name it
        std::string subject = at == text.npos ? "" : " \"" + quoted(text.substr(at)) + "\"";
        text = "dynamic initialization is not supported for a __device__ variable" + subject;
    } else if (contains(text, "is not a member of 'std'") || contains(text, "in namespace 'std'")) {
        text = "namespace \"std\" has no member \"" + name + "\"";
    } else if (contains(text, "too many arguments to function")) {
        text = "too many arguments in function call";
    } else if (contains(text, "too few arguments to function")) {
        text = "too few arguments in function call";
    } else if (text.compare(0, 15, "redefinition of") == 0 && contains(name, "(")) {
        std::string function = name.substr(0, name.find('('));
        text = "function \"" + function.substr(function.rfind(' ') + 1) + "\" has already been defined";
    } else if (contains(text, "static assertion failed")) {
        size_t colon = text.find(": ");
        text = colon == std::string::npos ? "static assertion failed"
                                          : "static assertion failed with \"" + text.substr(colon + 2) + "\"";
    } else if (contains(text, "has no member named")) {
        size_t named = text.find("named '");
        text =
            "class \"" + name.substr(name.rfind(' ') + 1) + "\" has no member \"" + quoted(text.substr(named)) + "\"";
    } else {
        reword_warning(message, name);
    }
}

void reword(Message* message)
{
    rename_types(&message->text);
    if (!reword_directive(message))
        reword_error(message);
    std::string& text = message->text;
    size_t flag = text.rfind(" [-W");
    if (flag != std::string::npos && text.back() == ']')
        text.erase(flag);
}

// Parses "file:12:3: error: text".
bool parse(const std::string& line, Message* message)
{
    static const struct {
        const char* sign;
        const char* kind;
    } kinds[] = {{": fatal error: ", "fatal"},
                 {": error: ", "error"},
                 {": warning: ", "warning"},
                 {": note: ", "note"},
                 {": sorry, unimplemented: ", "error"}};
    for (const auto& row : kinds) {
        size_t at = line.find(row.sign);
        if (at == std::string::npos)
            continue;
        std::string place = line.substr(0, at);
        message->kind = row.kind;
        message->text = line.substr(at + std::strlen(row.sign));
        long numbers[2] = {0, 0};
        int count = 0;
        while (count < 2) {
            size_t colon = place.rfind(':');
            char* end = nullptr;
            if (colon == std::string::npos || colon + 1 == place.size())
                break;
            long number = std::strtol(place.c_str() + colon + 1, &end, 10);
            if (*end)
                break;
            numbers[count++] = number;
            place.erase(colon);
        }
        message->file = place;
        message->line = int(count == 2 ? numbers[1] : numbers[0]);
        message->column = count == 2 ? size_t(numbers[0]) : 0;
        return true;
    }
    return false;
}

std::string show(const Message& message, const Sources& sources, const DiagnosticStyle& style)
{
    std::string kind = message.kind == "fatal" ? "catastrophic error" : message.kind;
    if (message.number && style.error_numbers)
        kind += " #" + std::to_string(message.number) + "-D";
    if (message.file == "<command-line>")
        return "Command-line error: " + message.text + "\n";
    std::string out = message.file + "(" + std::to_string(message.line) + "): " + kind + ": " + message.text + "\n";
    if (style.brief)
        return out;
    std::string text = source_line(sources, message.file, message.line);
    if (!text.empty()) {
        out += "  " + text + "\n";
        size_t column = std::min(std::max<size_t>(message.column, 1), text.size() + 1);
        std::string pad = "  " + text.substr(0, column - 1);
        for (char& c : pad)
            c = c == '\t' ? '\t' : ' ';
        out += pad + "^\n";
    }
    return out;
}

std::string count_line(int errors, bool fatal, const std::string& program)
{
    std::string many = errors == 1 ? " error" : " errors";
    std::string out = std::to_string(errors) + (fatal ? " catastrophic" : "") + many +
                      " detected in the compilation of \"" + program + "\".\n";
    return fatal ? out + "Compilation terminated.\n" : out;
}

} // namespace

bool is_linker_text(const std::string& output)
{
    return output.compare(0, 6, "ptxas ") == 0;
}

// Finds the line where the program includes a header, as far as its text shows.
static int including_line(const Sources& sources, const std::string& file)
{
    const std::string& text = sources.texts.at(sources.program);
    std::string name = file.substr(file.rfind('/') + 1);
    size_t at = text.find(name);
    return at == text.npos ? 1 : 1 + int(std::count(text.begin(), text.begin() + long(at), '\n'));
}

static bool is_foreign(const Sources& sources, const std::string& file)
{
    return !sources.texts.count(file) && is_foreign_header(file);
}

static Message unavailable_header(const Sources& sources, const std::string& file)
{
    Message message;
    message.file = sources.program, message.kind = "fatal", message.text = foreign_header_error(file);
    message.line = including_line(sources, file);
    return message;
}

// A declaration with an unknown type makes the compiler report everything in and after it, including code that the
// front end added to kernels. Keeps only the message about the unknown type.
static void keep_first_cause(std::vector<Message>* messages)
{
    bool echoes = std::any_of(messages->begin(), messages->end(), [](const Message& message) {
        return contains(message.text, "declared void") || contains(message.text, "\"emu_f\"");
    });
    auto cause = std::find_if(messages->begin(), messages->end(), [&](const Message& message) {
        return message.kind == "error" && (message.is_type || (echoes && contains(message.text, "is undefined")));
    });
    if (cause == messages->end())
        return;
    std::vector<Message> kept{*cause};
    for (auto before = messages->begin(); before != cause; ++before)
        if (before->kind != "error" && before->kind != "note")
            kept.insert(kept.end() - 1, *before);
    *messages = kept;
}

static bool is_in_our_headers(const Message& message)
{
    return message.file.compare(0, device_headers().size(), device_headers()) == 0;
}

// The compiler recommends headers that do not exist here, and names from the device's own headers.
static bool is_about_others(const Message& note)
{
    return contains(note.text, "is defined in header") || contains(note.text, "suggested alternative") ||
           is_in_our_headers(note);
}

// Shows an error in a device header where the program uses it. Returns false if that line has an error already.
static bool move_to_program(Message* error, const Message& use, const std::vector<Message>& earlier)
{
    if (!is_in_our_headers(*error))
        return true;
    bool known = std::any_of(earlier.begin(), earlier.end(), [&](const Message& other) {
        return other.kind == "error" && other.file == use.file && other.line == use.line;
    });
    if (known || use.file.empty())
        return earlier.empty();
    error->file = use.file, error->line = use.line, error->column = use.column;
    if (contains(error->text, "emu"))
        error->text = "no instance of the function matches the argument list";
    return true;
}

static std::vector<Message> read_messages(const std::string& output, const Sources& sources,
                                          const DiagnosticStyle& style)
{
    std::vector<Message> messages;
    Message use; // the place in the program that needs an instance of a template
    for (size_t at = 0; at < output.size();) {
        size_t end = std::min(output.find('\n', at), output.size());
        Message message;
        std::string line = output.substr(at, end - at);
        bool known = parse(line, &message);
        at = end + 1;
        if (size_t place = line.find(":   required from here"); place != line.npos)
            parse(line.substr(0, place) + ": note: ", &use);
        if (!known || (message.kind == "note" && is_about_others(message)))
            continue;
        // Reported for x = y where the operator returns a volatile reference; CUDA's compilers do not mention it.
        if (message.kind == "warning" && contains(message.text, "implicit dereference will not access object"))
            continue;
        // Only for system headers.
        if (message.kind == "warning" && contains(message.text, "[-fpermissive]"))
            message.kind = "error";
        reword(&message);
        if (message.kind == "error" && !move_to_program(&message, std::exchange(use, Message()), messages))
            continue;
        if (message.kind == "warning" && style.warnings_are_errors)
            message.kind = "error";
        if ((message.kind == "error" || message.kind == "fatal") && is_foreign(sources, message.file))
            return {unavailable_header(sources, message.file)};
        // clang reports a remark when preprocessing, and again when compiling; a shared array has a type and memory.
        bool may_repeat = message.kind == "remark" || message.text == constant_value;
        bool told = may_repeat && std::any_of(messages.begin(), messages.end(), [&](const Message& other) {
                        return other.line == message.line && other.file == message.file && other.text == message.text;
                    });
        if (!told)
            messages.push_back(message);
    }
    keep_first_cause(&messages);
    for (size_t i = messages.size(); i-- > 0;)
        if (!messages[i].hint.empty()) {
            Message note;
            note.file = messages[i].file, note.kind = "note", note.text = messages[i].hint;
            note.line = messages[i].line, note.column = messages[i].column;
            messages.insert(messages.begin() + long(i) + 1, note);
        }
    return messages;
}

Report report_errors(const std::vector<SourceError>& errors, const Sources& sources)
{
    Report report;
    for (const SourceError& error : errors) {
        if (is_foreign(sources, error.file)) {
            report.log = show(unavailable_header(sources, error.file), sources, {}) + "\n" +
                         count_line(1, true, sources.program);
            report.errors = 1;
            return report;
        }
        Message message;
        message.file = error.file, message.kind = "error", message.text = error.text;
        message.line = error.line, message.column = error.column;
        report.log += show(message, sources, {}) + "\n";
        ++report.errors;
    }
    if (report.errors)
        report.log += count_line(report.errors, false, sources.program);
    return report;
}

Report translate_diagnostics(const std::string& output, const Sources& sources, const DiagnosticStyle& style)
{
    Report report;
    if (is_linker_text(output)) {
        report.log = output;
        report.errors = 1;
        return report;
    }
    std::vector<Message> messages = read_messages(output, sources, style);
    bool fatal = false, advised = false, silent = false, warned = false;
    for (size_t i = 0; i < messages.size(); ++i) {
        const Message& message = messages[i];
        bool numbered = message.number && message.kind != "note" && message.kind != "remark";
        if (message.kind != "note") {
            warned = message.kind == "warning" || numbered;
            silent = (message.kind == "warning" || message.kind == "remark") &&
                     (style.no_warnings || style.suppressed.count(message.number) != 0);
            fatal = fatal || message.kind == "fatal";
            report.errors += message.kind == "error" || message.kind == "fatal";
        }
        if (silent)
            continue;
        report.log += show(message, sources, style);
        if (i + 1 < messages.size() && messages[i + 1].kind == "note")
            continue; // a note follows without an empty line
        report.log += "\n";
        if (warned && !advised)
            report.log += "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n";
        advised = advised || warned;
    }
    if (report.errors)
        report.log += count_line(report.errors, fatal, sources.program);
    return report;
}

} // namespace emu::front
