// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace emu::front {
namespace {

enum class Kind {
    flag,
    truth, // true or false
    number,
    text,
    text_equal, // only with =
    joined,     // -DX or -D X
};

using Apply = bool (*)(Options& options, const std::string& value); // false: wrong value

struct Row {
    const char* full; // without dashes; null: none
    const char* brief;
    Kind kind;
    Apply apply; // null: accepted without effect
};

void refuse(Options& options, const std::string& text)
{
    options.log += "nvrtc: error: " + text + "\n";
    options.valid = false;
}

std::string trimmed(const std::string& word)
{
    const char* blanks = " \t\n\r\f\v";
    size_t first = word.find_first_not_of(blanks);
    return first == word.npos ? "" : word.substr(first, word.find_last_not_of(blanks) + 1 - first);
}

bool is_true(const std::string& value)
{
    return value == "true";
}

bool set_architecture(Options& options, const std::string& value)
{
    size_t digits = value.find_first_of("0123456789");
    if (digits == std::string::npos)
        return false;
    std::string prefix = value.substr(0, digits);
    char* end = nullptr;
    long number = std::strtol(value.c_str() + digits, &end, 10);
    std::string suffix = end;
    const auto& known = architectures();
    bool fine = (prefix == "sm_" || prefix == "compute_") &&
                std::find(known.begin(), known.end(), int(number)) != known.end() &&
                (suffix.empty() || (suffix == "a" && number >= 90) || (suffix == "f" && number >= 100));
    if (!fine)
        return false;
    options.architecture = int(number);
    options.suffix = suffix;
    options.real_architecture = prefix == "sm_";
    return true;
}

bool set_standard(Options& options, const std::string& value)
{
    for (int year : {3, 11, 14, 17, 20, 23})
        if (value == (year == 3 ? std::string("c++03") : "c++" + std::to_string(year))) {
            options.standard = year;
            return true;
        }
    return false;
}

bool add_numbers(std::set<int>& target, const std::string& value)
{
    const char* at = value.c_str();
    if (!*at)
        return false;
    while (*at) {
        char* end = nullptr;
        long number = std::strtol(at, &end, 10);
        if (end == at)
            return false;
        target.insert(int(number));
        at = *end == ',' ? end + 1 : end;
        if (*end && *end != ',')
            return false;
    }
    return true;
}

bool set_errors(Options& options, const std::string& value)
{
    static const char* const list[] = {"all-warnings", "reorder", "deprecated-declarations", "conversion"};
    const std::string name = "--warning-as-error(-Werror)";
    bool fine = !value.empty();
    for (size_t at = 0; at < value.size();) {
        size_t end = std::min(value.find(',', at), value.size());
        std::string word = value.substr(at, end - at);
        if (std::find(std::begin(list), std::end(list), word) == std::end(list)) {
            options.log += "nvrtc: error: " + word + " is undefined for " + name + "\n";
            fine = false;
        }
        options.warnings_are_errors |= word == "all-warnings";
        at = end + 1;
    }
    if (!fine)
        options.log += "nvrtc: error: " + name + " expects valid value(s) from the following list: all-warnings, " +
                       "reorder, deprecated-declarations, conversion\n";
    options.valid = options.valid && fine;
    return true; // the error has been written already
}

// These write their own errors.
bool set_density(Options& options, const std::string& value)
{
    if (std::atoi(value.c_str()) < 0 || std::atoi(value.c_str()) > 101)
        refuse(options, "Argument for --jump-table-density must be between [0-101]");
    return true;
}

bool set_split(Options& options, const std::string& value)
{
    if (std::atoi(value.c_str()) < 0)
        refuse(options, "Argument for -split-compile must be non-negative");
    return true;
}

bool set_information(Options& options, const std::string& value)
{
    if (value != "inline")
        refuse(options, "invalid optimization tag for option --optimization-info (-opt-info): " + value);
    return true;
}

#define SET(expression) \
    [](Options& o, const std::string& v) -> bool { \
        (void)o; \
        (void)v; \
        expression; \
        return true; \
    }
#define TEST(expression) [](Options& o, const std::string& v) -> bool { return expression; }

const Row rows[] = {
    {"gpu-architecture", "arch", Kind::text, set_architecture},
    {"device-c", "dc", Kind::flag, SET(o.relocatable = o.separate = true)},
    {"device-w", "dw", Kind::flag, SET(o.whole = true; o.relocatable = false)},
    {"relocatable-device-code", "rdc", Kind::truth, SET(o.relocatable = is_true(v); o.never_relocatable = !is_true(v))},
    {"extensible-whole-program", "ewp", Kind::flag, SET(o.extensible = true)},
    {"device-debug", "G", Kind::flag, SET(o.debug = true)},
    {"generate-line-info", "lineinfo", Kind::flag, SET(o.line_info = true)},
    {"dopt", "dopt", Kind::text, TEST((void(o), v == "on"))},
    {"Ofast-compile", "Ofc", Kind::text, TEST((void(o), v == "0" || v == "min" || v == "mid" || v == "max"))},
    {"ptxas-options", "Xptxas", Kind::text, nullptr},
    {"maxrregcount", "maxrregcount", Kind::number, SET(o.registers = std::atoi(v.c_str()))},
    {"ftz", "ftz", Kind::truth, SET(o.flush_denormals = is_true(v))},
    {"prec-sqrt", "prec-sqrt", Kind::truth, SET(o.fast_root = !is_true(v))},
    {"prec-div", "prec-div", Kind::truth, SET(o.fast_divide = !is_true(v))},
    {"fmad", "fmad", Kind::truth, nullptr},
    {"use_fast_math", "use_fast_math", Kind::flag, SET(o.fast_math = true)},
    {"extra-device-vectorization", "extra-device-vectorization", Kind::flag, nullptr},
    {"modify-stack-limit", "modify-stack-limit", Kind::truth, nullptr},
    {"dlink-time-opt", "dlto", Kind::flag, SET(o.link_time = true)},
    {"gen-opt-lto", "gen-opt-lto", Kind::flag, nullptr},
    {"optix-ir", "optix-ir", Kind::flag, SET(o.optix = true)},
    {"jump-table-density", "jtd", Kind::number, set_density},
    {"device-stack-protector", "device-stack-protector", Kind::truth, nullptr},
    {"no-cache", "no-cache", Kind::flag, nullptr},
    {"frandom-seed", "frandom-seed", Kind::text, nullptr},
    {"define-macro", "D", Kind::joined, SET(o.macros.push_back("-D" + v))},
    {"undefine-macro", "U", Kind::joined, SET(o.macros.push_back("-U" + v))},
    {"include-path", "I", Kind::joined, SET(if (!v.empty()) o.includes.push_back(v))},
    {"pre-include", "include", Kind::text, SET(o.pre_includes.push_back(v))},
    {"no-source-include", "no-source-include", Kind::flag, SET(o.no_source_include = true)},
    {"std", "std", Kind::text_equal, set_standard},
    {"builtin-move-forward", "builtin-move-forward", Kind::truth, SET(o.has_move = is_true(v))},
    {"builtin-initializer-list", "builtin-initializer-list", Kind::truth, nullptr},
    {"pch", "pch", Kind::flag, SET(o.pch_asked = true)},
    {"create-pch", "create-pch", Kind::text, SET(o.pch_asked = true)},
    {"use-pch", "use-pch", Kind::text, SET(o.use_pch = v)},
    {"pch-dir", "pch-dir", Kind::text, nullptr},
    {"pch-verbose", "pch-verbose", Kind::truth, nullptr},
    {"pch-messages", "pch-messages", Kind::truth, nullptr},
    {"instantiate-templates-in-pch", "instantiate-templates-in-pch", Kind::truth, nullptr},
    {"disable-warnings", "w", Kind::flag, SET(o.no_warnings = true)},
    {"restrict", "restrict", Kind::flag, nullptr},
    {"device-as-default-execution-space", "default-device", Kind::flag, SET(o.default_device = true)},
    {"device-int128", "device-int128", Kind::flag, SET(o.int128 = true)},
    {"device-float128", "device-float128", Kind::flag, SET(o.float128 = true)},
    {"numba-debug", "numba-debug", Kind::flag, SET(o.numba_debug = true)},
    {"version-ident", "dQ", Kind::truth, nullptr},
    {"Wreorder", "Wreorder", Kind::flag, nullptr},
    {"optimization-info", "opt-info", Kind::text_equal, set_information},
    {"display-error-number", "err-no", Kind::flag, SET(o.error_numbers = true)},
    {"no-display-error-number", "no-err-no", Kind::flag, SET(o.error_numbers = false)},
    {"diag-error", "diag-error", Kind::text, TEST(add_numbers(o.diagnosed_as_error, v))},
    {"diag-suppress", "diag-suppress", Kind::text, TEST(add_numbers(o.suppressed, v))},
    {"diag-warn", "diag-warn", Kind::text, TEST(add_numbers(o.diagnosed_as_warning, v))},
    {"brief-diagnostics", "brief-diag", Kind::truth, SET(o.brief = is_true(v))},
    {"time", "time", Kind::text_equal, nullptr},
    {"split-compile", "split-compile", Kind::number, set_split},
    {"fdevice-syntax-only", "fdevice-syntax-only", Kind::flag, nullptr},
    {"minimal", "minimal", Kind::flag, nullptr},
    {"fdevice-time-trace", "fdevice-time-trace", Kind::text, nullptr},
    {"uumn", "uumn", Kind::flag, nullptr},
    {"warning-as-error", "Werror", Kind::text, set_errors},
};

const Row* find_row(const std::string& name, bool full)
{
    for (const Row& row : rows)
        if (name == (full ? row.full : row.brief) || (full && name == row.brief && name == row.full))
            return &row;
    return nullptr;
}

// Finds an option whose value follows the letter directly: "-DX", "-I/path".
const Row* find_joined(const std::string& word)
{
    if (word.size() >= 2 && word[0] == '-')
        for (const Row& row : rows)
            if (row.kind == Kind::joined && word[1] == row.brief[0])
                return &row;
    return nullptr;
}

std::string shown(const Row& row)
{
    return std::string("--") + row.full + " (-" + row.brief + ")";
}

void apply(Options& options, const Row& row, const std::string& value, bool given)
{
    char* end = nullptr;
    if (row.kind == Kind::truth && value != "true" && value != "false")
        return refuse(options, shown(row) + " expects true or false");
    if (row.kind == Kind::number && !given)
        return; // as NVRTC does
    if (row.kind == Kind::number && ((void)std::strtol(value.c_str(), &end, 10), value.empty() || *end))
        return refuse(options, shown(row) + " expects an integer value");
    if (!row.apply || row.apply(options, value))
        return;
    std::string name = row.full;
    if (row.apply == set_standard)
        return refuse(options, "invalid value for --std(-std)");
    if (row.apply == set_architecture)
        return refuse(options, "invalid value for " + shown(row));
    if (name.compare(0, 5, "diag-") == 0)
        return refuse(options, "--" + name + " expects a non-zero positive integer value");
    refuse(options, "invalid argument for option " + shown(row) + ": " + value);
}

// Checks combinations of options.
void check_together(Options& options)
{
    if (options.separate && options.whole)
        return refuse(options, "Both --device-c (-dc) and --device-w (-dw) specified");
    if (options.separate && options.never_relocatable)
        return refuse(options, "--device-c (-dc) is not compatible with --relocatable-device-code=false (-rdc=false)");
    if (options.extensible && options.relocatable)
        return refuse(options,
                      std::string("--extensible-whole-program (-ewp) is not compatible with ") +
                          (options.separate ? "--device-c (-dc)" : "--relocatable-device-code=true (-rdc=true)"));
    // NVRTC ends these messages without a newline.
    std::string text;
    if (options.float128 && options.architecture < 100)
        text = "option --device-float128 is not supportedon architectures earlier than sm_100";
    else if (options.numba_debug && !options.debug)
        text = "option --numba-debug is only supported when --device-debug is also specified";
    if (!text.empty()) {
        refuse(options, text);
        options.log.pop_back();
    }
}

} // namespace

const std::vector<int>& architectures()
{
    static const std::vector<int> list{75, 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121};
    return list;
}

Options read_options(const std::vector<std::string>& words)
{
    Options options;
    int architecture_given = 0;
    for (size_t i = 0; i < words.size() && options.valid; ++i) {
        const std::string word = trimmed(words[i]);
        bool full = word.compare(0, 2, "--") == 0;
        size_t dashes = full ? 2 : 1, equals = word.find('=');
        bool has_value = equals != std::string::npos;
        const Row* row = nullptr;
        std::string value;
        bool given = has_value;
        if (!word.empty() && word[0] == '-')
            row = find_row(word.substr(dashes, has_value ? equals - dashes : word.npos), full);
        if (row && row->kind == Kind::flag && has_value) {
            refuse(options, shown(*row) + " does not accept any argument");
            break;
        }
        if (row && (row->kind != Kind::text_equal || has_value)) {
            if (has_value)
                value = word.substr(equals + 1);
            else if (row->kind != Kind::flag && i + 1 < words.size())
                value = words[++i], given = true;
            else if (row->full == std::string("dopt") || row->full == std::string("Ofast-compile")) {
                // NVRTC writes an error and compiles nevertheless.
                options.log += std::string("nvrtc: error: ") + (row->full[0] == 'd' ? "-" : "--") + row->full +
                               " expects a value\n";
                break;
            }
        } else if ((row = full ? nullptr : find_joined(word)) != nullptr)
            value = word.substr(2);
        if (!row) {
            refuse(options, "unrecognized option " + word + " found");
            break;
        }
        int before = options.architecture;
        apply(options, *row, value, given);
        if (row->apply == set_architecture && options.valid) {
            if (architecture_given && before != options.architecture)
                options.log += "nvrtc: warning: \"--gpu-architecture(-arch)=" + std::to_string(before) +
                               "\" followed by \"--gpu-architecture(-arch)=" + std::to_string(options.architecture) +
                               "\"\n";
            architecture_given = 1;
        }
    }
    if (options.valid)
        check_together(options);
    options.relocatable = options.relocatable || options.link_time;
    return options;
}

} // namespace emu::front
