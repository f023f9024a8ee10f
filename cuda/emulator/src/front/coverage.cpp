// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA_EMULATOR_COVERAGE: how often each line of kernels runs. The compiler makes each block of code call a function,
// which counts the return address. A line has the count of the block that its code belongs to.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <unistd.h>

#include "compiler.hpp"
#include "process.hpp"

namespace emu::front {
namespace {

struct Coverage {
    std::mutex mutex;
    std::map<std::string, std::map<int, uint64_t>> files; // counts by line
    std::map<std::string, std::string> sources;           // of programs, by name
};
Coverage& coverage = *new Coverage; // never destroyed: it is written while the process exits

// The return addresses of all calls of a function, relative to the code.
std::vector<uint64_t> calls_of(const exec::Image& image, uint64_t callback)
{
    std::vector<uint64_t> found;
    auto* code = reinterpret_cast<const uint8_t*>(image.code_low);
    size_t size = image.code_high - image.code_low;
    uint64_t low = image.code_low - image.load_bias;
    for (size_t i = 0; i + 5 <= size; ++i) {
        int32_t distance;
        std::memcpy(&distance, code + i + 1, sizeof distance);
        if (code[i] == 0xe8 && low + i + 5 + uint64_t(int64_t(distance)) == callback)
            found.push_back(i + 5);
    }
    return found;
}

// A text: "F file", then "L line count" for each line; "S bytes file", then the source of a program.
void write_counts()
{
    std::string text;
    for (const auto& file : coverage.files) {
        text += "F " + file.first + "\n";
        for (const auto& line : file.second)
            text += "L " + std::to_string(line.first) + " " + std::to_string(line.second) + "\n";
    }
    for (const auto& source : coverage.sources)
        text += "S " + std::to_string(source.second.size()) + " " + source.first + "\n" + source.second + "\n";
    std::string path = config().coverage + "/" + std::to_string(getpid()) + ".counts";
    if (!write_file(path, text.data(), text.size()))
        say("the coverage of kernels cannot be written to " + path);
}

} // namespace

std::string covered_name(const std::string& name, const std::string& source)
{
    std::lock_guard lock(coverage.mutex);
    std::string unique = name;
    for (int i = 2; coverage.sources.count(unique) && coverage.sources[unique] != source; ++i)
        unique = name + "~" + std::to_string(i);
    coverage.sources[unique] = source;
    if (config().checks.debug && access(unique.c_str(), R_OK) != 0)
        write_file(config().debug + "/" + unique, source.data(), source.size());
    return unique;
}

void add_coverage(const exec::Image& image, std::atomic<uint64_t>* counts)
{
    uint64_t callback = 0, low = image.code_low - image.load_bias;
    std::vector<CodeLine> lines = lines_of(image, &callback);
    if (!callback)
        return;
    std::vector<uint64_t> calls = calls_of(image, callback);
    std::lock_guard lock(coverage.mutex);
    std::map<std::pair<std::string, int>, uint64_t> here; // of this image: a line is in several blocks
    for (const CodeLine& line : lines) {
        // The block that the code is in, or in front of the first call of its function, the first one.
        auto after = std::upper_bound(calls.begin(), calls.end(), line.address - low);
        bool first = after == calls.begin() || *(after - 1) + low < line.function;
        if (first && after == calls.end())
            continue;
        uint64_t count = counts[first ? *after : *(after - 1)];
        uint64_t& known = here[{line.file, line.line}];
        known = std::max(known, count);
    }
    for (const auto& row : here)
        coverage.files[row.first.first][row.first.second] += row.second;
    for (uint64_t call : calls)
        counts[call] = 0;
    write_counts();
}

} // namespace emu::front
