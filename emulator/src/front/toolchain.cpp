// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.hpp"
#include "compiler.hpp"
#include "process.hpp"

namespace emu::front {
namespace {

// Splits a command into words like a shell, with quotes.
std::vector<std::string> split_words(const std::string& text)
{
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    bool any = false;
    for (char c : text) {
        if (quote) {
            quote == c ? void(quote = 0) : word.push_back(c);
        } else if (c == '"' || c == '\'') {
            quote = c;
            any = true;
        } else if (c == ' ' || c == '\t') {
            if (any || !word.empty())
                words.push_back(word);
            word.clear();
            any = false;
        } else
            word.push_back(c);
    }
    if (any || !word.empty())
        words.push_back(word);
    return words;
}

std::string find_program(const std::string& name)
{
    if (name.find('/') != std::string::npos)
        return access(name.c_str(), X_OK) == 0 ? name : "";
    const char* path = std::getenv("PATH");
    std::string folders = path ? path : "/usr/bin:/bin";
    for (size_t at = 0; at <= folders.size();) {
        size_t end = std::min(folders.find(':', at), folders.size());
        std::string whole = folders.substr(at, end - at) + "/" + name;
        struct stat info{};
        if (end > at && access(whole.c_str(), X_OK) == 0 && stat(whole.c_str(), &info) == 0 && S_ISREG(info.st_mode))
            return whole;
        at = end + 1;
    }
    return "";
}

std::string& python_of_process = *new std::string;

// Prints the directory of the ziglang package. The first entry of sys.path is the working directory, whose modules we
// must not run: `python -m ziglang` would run ./ziglang.py.
const char* const locate_zig = "import sys\n"
                               "sys.path[:] = [path for path in sys.path if path not in ('', '.')]\n"
                               "from importlib.util import find_spec\n"
                               "spec = find_spec('ziglang')\n"
                               "print(spec.submodule_search_locations[0], end='')\n";

// Finds the compiler in the ziglang package, which pip installs.
std::vector<std::string> find_zig()
{
    for (const std::string& name : {python_of_process, std::string("python3"), std::string("python")}) {
        std::string python = find_program(name);
        if (python.empty())
            continue;
        ProcessResult result = run_process({python, "-c", locate_zig}, "");
        std::string zig = find_program(result.out + "/zig");
        if (result.status == 0 && !zig.empty() && zig[0] == '/')
            return {zig, "c++"};
    }
    return {};
}

const char* const advice = "no C++ compiler was found. The software device needs one to compile kernels for this "
                           "machine: install g++ or clang++, or `pip install ziglang`, or name a compiler in "
                           "CUDA_EMULATOR_CXX";

Found find()
{
    Found found;
    const std::string& wanted = config().compiler;
    if (!wanted.empty()) {
        found.command = split_words(wanted);
        std::string path = found.command.empty() ? "" : find_program(found.command[0]);
        if (path.empty())
            found.error = "CUDA_EMULATOR_CXX=" + wanted + " does not name an executable program";
        else
            found.command[0] = path;
    } else {
        for (const char* name : {"g++", "clang++", "c++"}) {
            std::string path = find_program(name);
            if (!path.empty()) {
                found.command = {path};
                break;
            }
        }
        if (found.command.empty())
            found.command = find_zig();
        if (found.command.empty())
            found.error = advice;
    }
    Hash hash;
    for (const std::string& word : found.command)
        hash.add(word);
    struct stat info{};
    if (!found.command.empty() && stat(found.command[0].c_str(), &info) == 0) {
        hash.add(uint64_t(info.st_size));
        hash.add(&info.st_mtim, sizeof info.st_mtim);
    }
    // These make g++ run other tools; child_environment() drops other variables that change its results.
    for (const char* name : {"COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH"}) {
        const char* value = std::getenv(name);
        hash.add(std::string(value ? value : ""));
    }
    found.identity = hash.hex();
    return found;
}

Toolchain probe()
{
    Toolchain tools;
    const Found& found = find_compiler();
    tools.command = found.command;
    tools.error = found.error;
    if (!tools.error.empty())
        return tools;
    std::vector<std::string> command = found.command;
    command.push_back("--version");
    ProcessResult result = run_process(command, "");
    if (result.status != 0) {
        tools.error = "the C++ compiler " + found.command[0] +
                      " cannot be run: " + (result.failure.empty() ? result.err : result.failure);
        return tools;
    }
    bool known = result.out.find("clang") != std::string::npos ||
                 result.out.find("Free Software Foundation") != std::string::npos;
    if (!known) {
        tools.error = found.command[0] + " is neither g++ nor clang++; name one in CUDA_EMULATOR_CXX";
        return tools;
    }
    tools.version = result.out.substr(0, result.out.find('\n'));
    tools.kind = result.out.find("clang") != std::string::npos ? "clang" : "gcc";
    return tools;
}

} // namespace

void set_python(const std::string& path)
{
    python_of_process = path;
}

const Found& find_compiler()
{
    static const auto& value = *new Found(find());
    return value;
}

const std::string& code_identity()
{
    static const auto& value = *new std::string([] {
        Hash hash;
        hash.add(build_identity());
        hash.add(find_compiler().identity);
        // A command of the user can be a script, which stays the same when its compiler is replaced.
        if (!config().compiler.empty())
            hash.add(toolchain().version);
        hash.add(uint64_t(config().checks.bits()));
        hash.add(uint64_t(config().driver_version));
        hash.add(uint64_t(config().fill != 0)); // of local variables
        return hash.hex();
    }());
    return value;
}

const Toolchain& toolchain()
{
    static const auto& value = *new Toolchain(probe());
    return value;
}

} // namespace emu::front
