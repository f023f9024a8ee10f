// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <sys/resource.h>

#include "device_include/emulator_abi.h"

namespace emu {
namespace {

std::atomic<bool> shuffled{false};
std::atomic<uint64_t> next_random{0};

constexpr int oldest_driver = 11000, newest_driver = 13050;

const char* variable(const char* name)
{
    const char* text = std::getenv((std::string("CUDA_EMULATOR_") + name).c_str());
    return text && *text ? text : nullptr;
}

// Reads the variables one by one, and keeps the error of the first invalid value.
class Reader {
public:
    Config read();

private:
    void reject(const char* name, const char* text, const std::string& form);
    template <class T> void take(const char* name, T* target, double low, double high, bool whole, const char* form);
    void take_text(const char* name, std::string* target);
    void take_fill();
    void take_compute_capability();
    void take_driver_version();
    void take_mode();
    void take_checks();
    void take_suppressions();

    Config out_;
};

void Reader::reject(const char* name, const char* text, const std::string& form)
{
    if (out_.error.empty())
        out_.error = std::string("CUDA_EMULATOR_") + name + "=" + text + " is not valid: " + form;
}

// Parses "2", "1.5G" or "512M". Returns false for anything else.
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

template <class T> void Reader::take(const char* name, T* target, double low, double high, bool whole, const char* form)
{
    double value = 0;
    if (const char* text = variable(name)) {
        if (read_number(text, &value) && value >= low && value <= high && (!whole || value == std::floor(value)))
            *target = T(value);
        else
            reject(name, text, std::string("it must be ") + form);
    }
}

void Reader::take_text(const char* name, std::string* target)
{
    if (const char* text = variable(name))
        *target = text;
}

// Parses a byte such as 0xfd or 253.
void Reader::take_fill()
{
    const char* text = variable("FILL");
    if (!text)
        return;
    char* end = nullptr;
    long value = std::strtol(text, &end, 0);
    if (end == text || *end || value < 0 || value > 255)
        return reject("FILL", text, "it must be a byte such as 0xfd, or 0");
    out_.fill = int(value);
}

// Parses "MAJOR.MINOR". Returns false for anything else.
bool read_version(const char* text, int* major, int* minor)
{
    char rest = 0;
    return std::sscanf(text, "%3d.%2d%c", major, minor, &rest) == 2 && *major > 0 && *minor >= 0;
}

void Reader::take_compute_capability()
{
    const char* text = variable("COMPUTE_CAPABILITY");
    if (!text)
        return;
    int major = 0, minor = 0;
    bool is_known = read_version(text, &major, &minor) && minor < 10;
    is_known = is_known && std::count(known_architectures().begin(), known_architectures().end(), major * 10 + minor);
    if (is_known) {
        out_.compute_major = major;
        out_.compute_minor = minor;
        return;
    }
    std::string list;
    for (int one : known_architectures())
        list += (list.empty() ? "" : ", ") + std::to_string(one / 10) + "." + std::to_string(one % 10);
    reject("COMPUTE_CAPABILITY", text, "it must be one of " + list);
}

// Parses "12.4", or a single number such as 12040.
void Reader::take_driver_version()
{
    const char* text = variable("DRIVER_VERSION");
    if (!text)
        return;
    int major = 0, minor = 0, number = 0;
    char rest = 0;
    if (read_version(text, &major, &minor))
        number = major * 1000 + minor * 10;
    else if (std::sscanf(text, "%6d%c", &number, &rest) != 1 || number % 10)
        number = 0;
    if (number >= oldest_driver && number <= newest_driver)
        out_.driver_version = number;
    else
        reject("DRIVER_VERSION", text, "it must be a version from 11.0 to 13.5, such as 12.4 or 12040");
}

void Reader::take_mode()
{
    const char* text = variable("MODE");
    std::string mode = text ? text : "eager";
    char* end = nullptr;
    if (mode == "deterministic")
        out_.mode = Mode::deterministic;
    else if (mode == "shuffle") {
        out_.mode = Mode::shuffle;
        set_shuffle(1);
    } else if (mode.compare(0, 8, "shuffle:") == 0 && std::isdigit(static_cast<unsigned char>(mode[8]))) {
        out_.mode = Mode::shuffle;
        errno = 0;
        set_shuffle(std::strtoull(mode.c_str() + 8, &end, 0));
        if (*end || errno)
            reject("MODE", text, "the seed must be a whole number from 0 to 18446744073709551615");
    } else if (mode != "eager")
        reject("MODE", text, "it must be eager, deterministic, shuffle, or shuffle:SEED with a whole number");
}

// An unknown word must not switch off the default check. All other checks imply the memory check.
void Reader::take_checks()
{
    const char* text = variable("CHECK");
    std::string words = std::string(text ? text : "memory") + ",";
    Checks found{false, false, false};
    for (size_t at = 0, end; at < words.size(); at = end + 1) {
        end = words.find(',', at);
        std::string word = words.substr(at, end - at);
        bool all = word == "all";
        found.initialized |= all || word == "initialized";
        found.races |= all || word == "races";
        found.stack |= word == "stack";
        found.rows |= word == "rows";
        found.memory |= all || word == "memory" || word == "sync"; // the same instrumentation finds both
        const char* const known[] = {"all", "sync", "initialized", "races", "stack", "rows", "memory", "none"};
        if (std::find(std::begin(known), std::end(known), word) == std::end(known))
            return reject("CHECK", text, "it must be none, all, or a list of memory, sync, initialized, races, stack and rows");
    }
#if defined(__aarch64__)
    if (found.stack)
        return reject("CHECK", text, "the check 'stack' is not available on AArch64");
#endif
    found.memory |= found.initialized || found.races || found.stack || found.rows;
    found.stack &= !found.races; // the compiler has no red zones with the instrumentation for races
    out_.checks = found;
}

// Reads a file with a finding in each line.
void Reader::take_suppressions()
{
    const char* path = variable("SUPPRESS");
    if (!path)
        return;
    std::ifstream file(path);
    if (!file)
        return reject("SUPPRESS", path, "the file cannot be read");
    std::string text;
    for (int number = 1; std::getline(file, text); ++number) {
        if (text.find_first_not_of(" \t\r") == std::string::npos || text[0] == '#')
            continue;
        Suppression row;
        size_t hash = text.find('#'), first = hash == std::string::npos ? hash : text.find_first_not_of(" \t", hash + 1);
        std::istringstream words(text.substr(0, hash));
        std::string extra;
        bool good = first != std::string::npos && words >> row.kind >> row.file && !(words >> extra) &&
                    (row.kind == "data-race" || row.kind == "uninitialized-read");
        if (!good)
            return reject("SUPPRESS", path,
                          "line " + std::to_string(number) +
                              " must be data-race or uninitialized-read, FILE or FILE:LINE, and # with the reason");
        row.reason = text.substr(first);
        size_t colon = row.file.rfind(':');
        if (colon != std::string::npos) {
            row.line = std::atoi(row.file.c_str() + colon + 1);
            row.file.erase(colon);
        }
        out_.suppressions.push_back(std::move(row));
    }
}

Config Reader::read()
{
    double seconds = 0;
    take("DEVICES", &out_.devices, 0, 8, true, "a whole number from 0 to 8");
    take("MEMORY", &out_.memory, double(1 << 20), double(uint64_t(1) << 40), false,
         "a size from 1M to 1024G, such as 512M");
    take("THREADS", &out_.threads, 0, 1024, true, "a whole number from 0 to 1024");
    take("TIME_LIMIT", &seconds, 0, 1e9, false, "a number of seconds from 0 to 1000000000");
    take("LEAKS", &out_.leaks, 0, 1, true, "0 or 1");
    take("KEEP_GOING", &out_.keep_going, 1, 1000, true, "a whole number from 1 to 1000");
    take_fill();
    take_compute_capability();
    take_driver_version();
    take_mode();
    take_checks();
    take_text("COVERAGE", &out_.coverage);
    out_.checks.coverage = !out_.coverage.empty();
    take_text("ADVISE", &out_.advise);
    out_.checks.advice = !out_.advise.empty();
    out_.checks.memory |= out_.checks.advice;
    out_.checks.stack &= !out_.checks.advice; // compiled as for races
    take_text("DEBUG", &out_.debug);
    out_.checks.debug = !out_.debug.empty();
    take_suppressions();
    take_text("REPORT", &out_.report);
    take_text("FAIL", &out_.fail);
    take_text("TRACE", &out_.trace);
    take_text("CXX", &out_.compiler);
    take_text("CACHE_DIR", &out_.cache_dir);
    out_.time_limit = Nanoseconds(int64_t(seconds * 1e9));
    return out_;
}

} // namespace

uint32_t Checks::bits() const
{
    return (memory ? uint32_t(EMU_CHECK_MEMORY) : 0) | (initialized ? uint32_t(EMU_CHECK_INITIALIZED) : 0) |
           (races || advice ? uint32_t(EMU_CHECK_RACES) : 0) | (stack ? uint32_t(EMU_CHECK_STACK) : 0) |
           (rows ? uint32_t(EMU_CHECK_ROWS) : 0) | (coverage || advice ? uint32_t(EMU_CHECK_COVERAGE) : 0) |
           (advice ? uint32_t(EMU_CHECK_ADVICE) : 0) |
           (debug ? uint32_t(EMU_CHECK_DEBUG) : 0);
}

bool Checks::reads_shadow() const
{
#if defined(__x86_64__)
    return (bits() & ~uint32_t(EMU_CHECK_ROWS)) == EMU_CHECK_MEMORY;
#else
    return false; // not measured
#endif
}

bool is_shuffled()
{
    config();
    return shuffled.load(std::memory_order_relaxed);
}

void set_shuffle(uint64_t seed)
{
    next_random = seed * 0xd1342543de82ef95u;
    shuffled = true;
}

void end_shuffle()
{
    shuffled = config().mode == Mode::shuffle;
}

// The splitmix64 generator.
uint64_t next_choice()
{
    uint64_t x = next_random.fetch_add(0x9e3779b97f4a7c15u) + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

const std::vector<int>& known_architectures()
{
    static const auto& list = *new std::vector<int>{75, 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121};
    return list;
}

const Config& config()
{
    static const Config* value = new Config(Reader().read()); // never destroyed, because reports are written at exit
    return *value;
}

const std::string& home()
{
    static const auto& value = *new std::string([] {
        Dl_info info{};
        if (!dladdr(reinterpret_cast<void*>(&home), &info) || !info.dli_fname)
            return std::string(".");
        char* resolved = realpath(info.dli_fname, nullptr); // the library may be loaded through a symbolic link
        std::string path = resolved ? resolved : info.dli_fname;
        std::free(resolved);
        size_t slash = path.rfind('/');
        return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
    }());
    return value;
}

uint64_t file_size_limit()
{
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ? ~uint64_t(0) : limit.rlim_cur;
}

void say(const std::string& line)
{
    std::fprintf(stderr, "cuda.emulator: %s\n", line.c_str());
}

} // namespace emu
