// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

#include "../device_include/emulator_abi.h"

namespace emu {
namespace {

const char* variable(const char* name)
{
    const char* text = std::getenv((std::string("CUDA_EMULATOR_") + name).c_str());
    return text && *text ? text : nullptr;
}

void refuse(const char* name, const char* text, const char* form)
{
    say(std::string("CUDA_EMULATOR_") + name + "=" + text + " is not " + form + "; ignored");
}

// Parses "2", "1.5G", "512M"; false if it is something else.
bool read_number(const char* text, double* value)
{
    char* end = nullptr;
    *value = std::strtod(text, &end);
    const char* units = "KMG";
    for (const char* unit = units; *unit && *end; ++unit)
        if (*end == *unit) {
            *value *= double(uint64_t(1) << (10 * (unit - units + 1)));
            ++end;
            break;
        }
    return end != text && *end == 0 && *value >= 0;
}

template <class T> void take(const char* name, T* target, double low, double high, const char* form)
{
    double value = 0;
    if (const char* text = variable(name)) {
        if (read_number(text, &value) && value >= low && value <= high)
            *target = T(value);
        else
            refuse(name, text, form);
    }
}

void take_text(const char* name, std::string* target)
{
    if (const char* text = variable(name))
        *target = text;
}

// Parses "MAJOR.MINOR", or one number MAJOR * 1000 + MINOR * 10.
void take_version(const char* name, int* major, int* minor)
{
    int a = 0, b = 0;
    char rest = 0;
    if (const char* text = variable(name)) {
        if (std::sscanf(text, "%d.%d%c", &a, &b, &rest) == 2 && a > 0 && b >= 0 && b < 100)
            *major = a, *minor = b;
        else if (std::sscanf(text, "%d%c", &a, &rest) == 1 && a >= 1000)
            *major = a / 1000, *minor = a % 1000 / 10;
        else
            refuse(name, text, "a version such as 12.4");
    }
}

void take_mode(Config* out)
{
    const char* text = variable("MODE");
    std::string mode = text ? text : "eager";
    if (mode == "deterministic")
        out->mode = Mode::deterministic;
    else if (mode.compare(0, 7, "shuffle") == 0 && (mode.size() == 7 || mode[7] == ':')) {
        out->mode = Mode::shuffle;
        out->seed = mode.size() > 8 ? std::strtoull(mode.c_str() + 8, nullptr, 0) : 1;
    } else if (mode != "eager")
        refuse("MODE", text, "eager, deterministic or shuffle[:SEED]");
}

// An unknown word must not switch off the default check.
void take_checks(Checks* out)
{
    const char* text = variable("CHECK");
    std::string word = text ? text : "memory";
    if (word == "memory" || word == "none")
        out->memory = word == "memory";
    else if (word.find("races") != word.npos || word.find("initialized") != word.npos || word.find("all") != word.npos)
        say("CUDA_EMULATOR_CHECK=" + word +
            ": races and reads of uninitialized memory cannot be checked; "
            "accesses to memory are checked (CUDA_EMULATOR_CHECK=memory), as without the variable");
    else
        refuse("CHECK", text, "memory or none");
}

Config read()
{
    Config out;
    double seconds = 0;
    int driver_major = 13, driver_minor = 5;
    take("DEVICES", &out.devices, 0, 8, "a number from 0 to 8");
    take("MEMORY", &out.memory, 1 << 20, 1e12, "a size such as 512M or 4G");
    take("THREADS", &out.threads, 0, 1024, "a number from 0 to 1024");
    take("TIME_LIMIT", &seconds, 0, 1e9, "a number of seconds");
    take("LEAKS", &out.leaks, 0, 1, "0 or 1");
    take_version("COMPUTE_CAPABILITY", &out.compute_major, &out.compute_minor);
    take_version("DRIVER_VERSION", &driver_major, &driver_minor);
    take_mode(&out);
    take_checks(&out.checks);
    take_text("FAIL", &out.fail);
    take_text("TRACE", &out.trace);
    take_text("CXX", &out.compiler);
    take_text("CACHE_DIR", &out.cache_dir);
    out.driver_version = driver_major * 1000 + driver_minor * 10;
    out.time_limit = Nanoseconds(int64_t(std::min(seconds, 9e9) * 1e9));
    return out;
}

} // namespace

uint32_t Checks::bits() const
{
    return memory ? uint32_t(EMU_CHECK_MEMORY) : 0;
}

const Config& config()
{
    static const Config value = read();
    return value;
}

const std::string& home()
{
    static const std::string value = [] {
        Dl_info info{};
        if (!dladdr(reinterpret_cast<void*>(&home), &info) || !info.dli_fname)
            return std::string(".");
        std::string path = info.dli_fname;
        size_t slash = path.rfind('/');
        return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
    }();
    return value;
}

void say(const std::string& line)
{
    std::fprintf(stderr, "cuda.emulator: %s\n", line.c_str());
}

} // namespace emu
