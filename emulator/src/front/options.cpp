// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "../config.hpp"
#include "text.hpp"

namespace emu::front {
namespace {

enum class OptionKind {
    flag,
    truth, // true or false
    number,
    text,
    text_equal, // only with =
    joined,     // -DX or -D X
};

using ApplyOption = bool (*)(Options& options, const std::string& value); // false: invalid value

struct OptionRow {
    const char* full; // without dashes; null: none
    const char* brief;
    OptionKind kind;
    ApplyOption apply; // null: accepted without effect
};

void reject_option(Options& options, const std::string& text)
{
    options.log += "nvrtc: error: " + text + "\n";
    options.valid = false;
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
    const auto& known = known_architectures();
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
    return true; // the error has already been written
}

// These write their own errors.
bool set_density(Options& options, const std::string& value)
{
    if (std::atoi(value.c_str()) < 0 || std::atoi(value.c_str()) > 101)
        reject_option(options, "Argument for --jump-table-density must be between [0-101]");
    return true;
}

bool set_split(Options& options, const std::string& value)
{
    if (std::atoi(value.c_str()) < 0)
        reject_option(options, "Argument for -split-compile must be non-negative");
    return true;
}

bool set_information(Options& options, const std::string& value)
{
    if (value != "inline")
        reject_option(options, "invalid optimization tag for option --optimization-info (-opt-info): " + value);
    return true;
}

bool no_tiles(Options& options, const std::string&)
{
    reject_option(options, "tile kernels are not supported on the software device");
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

const OptionRow option_rows[] = {
    {"gpu-architecture", "arch", OptionKind::text, set_architecture},
    {"device-c", "dc", OptionKind::flag, SET(o.relocatable = o.separate = true)},
    {"device-w", "dw", OptionKind::flag, SET(o.whole = true; o.relocatable = false)},
    {"relocatable-device-code", "rdc", OptionKind::truth,
     SET(o.relocatable = is_true(v); o.never_relocatable = !is_true(v))},
    {"extensible-whole-program", "ewp", OptionKind::flag, SET(o.extensible = true)},
    {"device-debug", "G", OptionKind::flag, SET(o.debug = true)},
    {"generate-line-info", "lineinfo", OptionKind::flag, SET(o.line_info = true)},
    {"dopt", "dopt", OptionKind::text, TEST((void(o), v == "on"))},
    {"Ofast-compile", "Ofc", OptionKind::text, TEST((void(o), v == "0" || v == "min" || v == "mid" || v == "max"))},
    {"ptxas-options", "Xptxas", OptionKind::text, nullptr},
    {"maxrregcount", "maxrregcount", OptionKind::number, SET(o.registers = std::atoi(v.c_str()))},
    {"ftz", "ftz", OptionKind::truth, SET(o.flush_denormals = is_true(v))},
    {"prec-sqrt", "prec-sqrt", OptionKind::truth, SET(o.fast_root = !is_true(v))},
    {"prec-div", "prec-div", OptionKind::truth, SET(o.fast_divide = !is_true(v))},
    {"fmad", "fmad", OptionKind::truth, nullptr},
    {"use_fast_math", "use_fast_math", OptionKind::flag, SET(o.fast_math = true)},
    {"extra-device-vectorization", "extra-device-vectorization", OptionKind::flag, nullptr},
    {"modify-stack-limit", "modify-stack-limit", OptionKind::truth, nullptr},
    {"dlink-time-opt", "dlto", OptionKind::flag, SET(o.link_time = true)},
    {"gen-opt-lto", "gen-opt-lto", OptionKind::flag, nullptr},
    {"optix-ir", "optix-ir", OptionKind::flag, SET(o.optix = true)},
    {"jump-table-density", "jtd", OptionKind::number, set_density},
    {"device-stack-protector", "device-stack-protector", OptionKind::truth, nullptr},
    {"no-cache", "no-cache", OptionKind::flag, nullptr},
    {"frandom-seed", "frandom-seed", OptionKind::text, nullptr},
    {"define-macro", "D", OptionKind::joined, SET(o.macros.push_back("-D" + v))},
    {"undefine-macro", "U", OptionKind::joined, SET(o.macros.push_back("-U" + v))},
    {"include-path", "I", OptionKind::joined, SET(if (!v.empty()) o.includes.push_back(v))},
    {"pre-include", "include", OptionKind::text, SET(o.pre_includes.push_back(v))},
    {"no-source-include", "no-source-include", OptionKind::flag, SET(o.no_source_include = true)},
    {"std", "std", OptionKind::text_equal, set_standard},
    {"builtin-move-forward", "builtin-move-forward", OptionKind::truth, SET(o.has_move = is_true(v))},
    {"builtin-initializer-list", "builtin-initializer-list", OptionKind::truth, nullptr},
    {"pch", "pch", OptionKind::flag, nullptr},
    {"create-pch", "create-pch", OptionKind::text, SET(o.create_pch = v)},
    {"use-pch", "use-pch", OptionKind::text, SET(o.use_pch = v)},
    {"pch-dir", "pch-dir", OptionKind::text, nullptr},
    {"pch-verbose", "pch-verbose", OptionKind::truth, nullptr},
    {"pch-messages", "pch-messages", OptionKind::truth, nullptr},
    {"instantiate-templates-in-pch", "instantiate-templates-in-pch", OptionKind::truth, nullptr},
    {"disable-warnings", "w", OptionKind::flag, SET(o.no_warnings = true)},
    {"restrict", "restrict", OptionKind::flag, nullptr},
    {"device-as-default-execution-space", "default-device", OptionKind::flag, SET(o.default_device = true)},
    {"device-int128", "device-int128", OptionKind::flag, SET(o.int128 = true)},
    {"device-float128", "device-float128", OptionKind::flag, SET(o.float128 = true)},
    {"numba-debug", "numba-debug", OptionKind::flag, SET(o.numba_debug = true)},
    {"version-ident", "dQ", OptionKind::truth, nullptr},
    {"Wreorder", "Wreorder", OptionKind::flag, nullptr},
    {"optimization-info", "opt-info", OptionKind::text_equal, set_information},
    {"display-error-number", "err-no", OptionKind::flag, SET(o.error_numbers = true)},
    {"no-display-error-number", "no-err-no", OptionKind::flag, SET(o.error_numbers = false)},
    {"diag-error", "diag-error", OptionKind::text, TEST(add_numbers(o.diagnosed_as_error, v))},
    {"diag-suppress", "diag-suppress", OptionKind::text, TEST(add_numbers(o.suppressed, v))},
    {"diag-warn", "diag-warn", OptionKind::text, TEST(add_numbers(o.diagnosed_as_warning, v))},
    {"brief-diagnostics", "brief-diag", OptionKind::truth, SET(o.brief = is_true(v))},
    {"time", "time", OptionKind::text_equal, nullptr},
    {"split-compile", "split-compile", OptionKind::number, set_split},
    {"fdevice-syntax-only", "fdevice-syntax-only", OptionKind::flag, nullptr},
    {"minimal", "minimal", OptionKind::flag, nullptr},
    {"fdevice-time-trace", "fdevice-time-trace", OptionKind::text, nullptr},
    {"uumn", "uumn", OptionKind::flag, nullptr},
    {"warning-as-error", "Werror", OptionKind::text, set_errors},
    {"Wconversion", "Wconversion", OptionKind::flag, nullptr},
    {"fmax-errors", "fmax-errors", OptionKind::number, nullptr},
    {"ffinite-math-only", "ffinite-math-only", OptionKind::flag, nullptr},
    {"fno-signed-zeros", "fno-signed-zeros", OptionKind::flag, nullptr},
    {"tile-preview", "tile-preview", OptionKind::text, no_tiles},
    {"enable-tile", "enable-tile", OptionKind::flag, no_tiles},
    {"tile-only", "tile-only", OptionKind::flag, no_tiles},
    {"simt-only", "simt-only", OptionKind::flag, no_tiles},
    {"diagnose-implicit-tile-var", "diagnose-implicit-tile-var", OptionKind::flag, no_tiles},
};

const OptionRow* find_row(const std::string& name, bool full)
{
    for (const OptionRow& row : option_rows)
        if (name == (full ? row.full : row.brief) || (full && name == row.brief && name == row.full))
            return &row;
    return nullptr;
}

// Finds an option whose value directly follows the letter: "-DX", "-I/path".
const OptionRow* find_joined(const std::string& word)
{
    if (word.size() >= 2 && word[0] == '-')
        for (const OptionRow& row : option_rows)
            if (row.kind == OptionKind::joined && word[1] == row.brief[0])
                return &row;
    return nullptr;
}

std::string shown(const OptionRow& row)
{
    return std::string("--") + row.full + " (-" + row.brief + ")";
}

void apply(Options& options, const OptionRow& row, const std::string& value, bool given)
{
    char* end = nullptr;
    if (row.kind == OptionKind::truth && value != "true" && value != "false")
        return reject_option(options, shown(row) + " expects true or false");
    if (row.kind == OptionKind::number && !given)
        return; // like NVRTC
    if (row.kind == OptionKind::number && ((void)std::strtol(value.c_str(), &end, 10), value.empty() || *end))
        return reject_option(options, shown(row) + " expects an integer value");
    if (!row.apply || row.apply(options, value))
        return;
    std::string name = row.full;
    if (row.apply == set_standard)
        return reject_option(options, "invalid value for --std(-std)");
    if (row.apply == set_architecture)
        return reject_option(options, "invalid value for " + shown(row));
    if (name.compare(0, 5, "diag-") == 0)
        return reject_option(options, "--" + name + " expects a non-zero positive integer value");
    reject_option(options, "invalid argument for option " + shown(row) + ": " + value);
}

// Checks combinations of options.
void check_together(Options& options)
{
    if (options.separate && options.whole)
        return reject_option(options, "Both --device-c (-dc) and --device-w (-dw) specified");
    if (options.separate && options.never_relocatable)
        return reject_option(options,
                             "--device-c (-dc) is not compatible with --relocatable-device-code=false (-rdc=false)");
    if (options.extensible && options.relocatable)
        return reject_option(
            options, std::string("--extensible-whole-program (-ewp) is not compatible with ") +
                         (options.separate ? "--device-c (-dc)" : "--relocatable-device-code=true (-rdc=true)"));
    // NVRTC ends these messages without a newline.
    std::string text;
    if (options.float128 && options.architecture < 100)
        text = "option --device-float128 is not supportedon architectures earlier than sm_100";
    else if (options.numba_debug && !options.debug)
        text = "option --numba-debug is only supported when --device-debug is also specified";
    if (!text.empty()) {
        reject_option(options, text);
        options.log.pop_back();
    }
}

} // namespace

Options read_options(const std::vector<std::string>& words)
{
    Options options;
    int architecture_given = 0;
    for (size_t i = 0; i < words.size() && options.valid; ++i) {
        const std::string word = trimmed(words[i]);
        bool full = word.compare(0, 2, "--") == 0;
        size_t dashes = full ? 2 : 1, equals = word.find('=');
        bool has_value = equals != std::string::npos;
        const OptionRow* row = nullptr;
        std::string value;
        bool given = has_value;
        if (!word.empty() && word[0] == '-')
            row = find_row(word.substr(dashes, has_value ? equals - dashes : word.npos), full);
        if (row && row->kind == OptionKind::flag && has_value) {
            reject_option(options, shown(*row) + " does not accept any argument");
            break;
        }
        if (row && (row->kind != OptionKind::text_equal || has_value)) {
            if (has_value)
                value = word.substr(equals + 1);
            else if (row->kind != OptionKind::flag && i + 1 < words.size())
                value = words[++i], given = true;
            else if (row->full == std::string("dopt") || row->full == std::string("Ofast-compile")) {
                // NVRTC writes an error but compiles anyway.
                options.log += std::string("nvrtc: error: ") + (row->full[0] == 'd' ? "-" : "--") + row->full +
                               " expects a value\n";
                break;
            }
        } else if ((row = full ? nullptr : find_joined(word)) != nullptr)
            value = word.substr(2);
        if (!row) {
            reject_option(options, "unrecognized option " + word + " found");
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
