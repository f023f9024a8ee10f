// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA_EMULATOR_COVERAGE: how often each line and branch of kernels runs. The compiler makes each basic block call a
// function, which counts the return address. A line has the count of the block containing its code; branch counts
// follow from block counts.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <unistd.h>

#include "compiler.hpp"
#include "process.hpp"

namespace emu::front {
namespace {

struct BranchCount {
    uint64_t falls = 0, jumps = 0;
};
struct Coverage {
    std::mutex mutex;
    std::map<std::string, std::map<int, uint64_t>> files; // counts by line
    std::map<std::string, std::map<std::pair<int, int>, BranchCount>> branches; // by line, and number in the line
    std::map<std::string, std::string> sources;           // program sources, by name
};
Coverage& coverage = *new Coverage; // never destroyed, because it is written while the process exits

#if !defined(__x86_64__)
uint32_t word_at(const uint8_t* code)
{
    uint32_t word;
    std::memcpy(&word, code, sizeof word);
    return word;
}
// Returns the signed distance in an instruction, of `width` bits starting at bit `low`, in bytes.
int64_t distance_in(uint32_t word, int low, int width)
{
    return int64_t(int32_t(word << (32 - low - width)) >> (32 - width)) * 4;
}
#endif

// Returns the return addresses of all calls of a function, relative to the code.
std::vector<uint64_t> calls_of(const exec::Image& image, uint64_t callback)
{
    std::vector<uint64_t> found;
    auto* code = reinterpret_cast<const uint8_t*>(image.code_low);
    size_t size = image.code_high - image.code_low;
    uint64_t low = image.code_low - image.load_bias;
#if defined(__x86_64__)
    for (size_t i = 0; i + 5 <= size; ++i) {
        int32_t distance;
        std::memcpy(&distance, code + i + 1, sizeof distance);
        if (code[i] == 0xe8 && low + i + 5 + uint64_t(int64_t(distance)) == callback)
            found.push_back(i + 5);
    }
#else
    for (size_t i = 0; i + 4 <= size; i += 4) {
        uint32_t word = word_at(code + i);
        if (word >> 26 == 0x25 && low + i + uint64_t(distance_in(word, 0, 26)) == callback)
            found.push_back(i + 4);
    }
#endif
    return found;
}

// A jump instruction: the offsets of its successor and its target.
struct JumpCode {
    size_t next = 0, target = 0;
    bool conditional = false;
};

#if defined(__x86_64__)
std::optional<JumpCode> jump_at(const uint8_t* code, size_t size, size_t at)
{
    if (at + 6 > size)
        return std::nullopt;
    uint8_t first = code[at], second = code[at + 1];
    bool near = first == 0xeb || (first & 0xf0) == 0x70, conditional = first != 0xeb && first != 0xe9;
    if (!near && first != 0xe9 && (first != 0x0f || (second & 0xf0) != 0x80))
        return std::nullopt;
    size_t next = at + (near ? 2 : conditional ? 6 : 5);
    int32_t distance = int8_t(second);
    if (!near)
        std::memcpy(&distance, code + next - 4, sizeof distance);
    size_t target = next + size_t(ptrdiff_t(distance));
    if (target + 2 <= size && code[target] == 0xeb) // an empty block
        target += 2 + size_t(ptrdiff_t(int8_t(code[target + 1])));
    return JumpCode{next, target, conditional};
}
bool begins_function(const uint8_t* code)
{
    return *code == 0x55; // push %rbp
}
#else
std::optional<JumpCode> jump_at(const uint8_t* code, size_t size, size_t at)
{
    if (at % 4 || at + 4 > size)
        return std::nullopt;
    uint32_t word = word_at(code + at);
    bool always = word >> 26 == 5, by_flags = (word & 0xff000010) == 0x54000000; // b, b.cond
    bool by_zero = (word & 0x7e000000) == 0x34000000, by_bit = (word & 0x7e000000) == 0x36000000; // cbz, tbz
    if (!always && !by_flags && !by_zero && !by_bit)
        return std::nullopt;
    size_t target = at + size_t(always ? distance_in(word, 0, 26) : distance_in(word, 5, by_bit ? 14 : 19));
    if (target + 4 <= size && word_at(code + target) >> 26 == 5) // an empty block
        target += size_t(distance_in(word_at(code + target), 0, 26));
    return JumpCode{at + 4, target, !always};
}
bool begins_function(const uint8_t* code)
{
    return (word_at(code) & 0xffc07fff) == 0xa9807bfd; // stp x29, x30, [sp, ...]!
}
#endif

// The branches of unoptimized code. All basic blocks begin with a call, so a conditional jump from one block to another
// is a jump whose target and next instruction are such calls.
class Branches {
public:
    Branches(const exec::Image& image, const std::vector<uint64_t>& calls, const std::atomic<uint64_t>* counts)
        : code_(reinterpret_cast<const uint8_t*>(image.code_low)),
          size_(image.code_high - image.code_low),
          calls_(calls),
          counts_(counts)
    {
        for (size_t i = 0; i < size_; ++i)
            find_jump(i);
    }

    struct Jump {
        size_t at = 0, target = 0, block = 0; // block: the return address of the call that begins it
        bool conditional = false, busy = false;
        std::optional<uint64_t> falls; // how often the next block follows
    };
    std::map<size_t, Jump>& jumps() { return jumps_; } // by the address after them
    uint64_t count(size_t block) const { return counts_[block]; }

    // A block falls through as often as it runs, minus the jumps to it. Empty if that depends on itself.
    std::optional<uint64_t> falls(Jump& jump, size_t next)
    {
        if (jump.falls || jump.busy)
            return jump.falls;
        jump.busy = true;
        uint64_t all = count(next + call_bytes), others = 0;
        for (auto& row : jumps_) {
            if (row.second.target != next)
                continue;
            uint64_t runs = count(row.second.block);
            std::optional<uint64_t> fallen = row.second.conditional ? falls(row.second, row.first) : uint64_t(0);
            if (runs && !fallen)
                return std::nullopt;
            others += runs ? runs - *fallen : 0;
        }
        jump.busy = false;
        jump.falls = all > others ? all - others : 0; // threads may have ended in the middle of a block
        return jump.falls;
    }

private:
    bool is_block(size_t at) const { return std::binary_search(calls_.begin(), calls_.end(), at + call_bytes); }

    void find_jump(size_t at)
    {
        std::optional<JumpCode> jump = jump_at(code_, size_, at);
        if (!jump)
            return;
        auto block = std::upper_bound(calls_.begin(), calls_.end(), at);
        bool ends = !jump->conditional && jump->next + 4 <= size_ && begins_function(code_ + jump->next);
        if (block != calls_.begin() && is_block(jump->target) && (is_block(jump->next) || ends))
            jumps_[jump->next] = {at, jump->target, *(block - 1), jump->conditional, false, {}};
    }

    const uint8_t* code_;
    size_t size_;
    const std::vector<uint64_t>& calls_;
    const std::atomic<uint64_t>* counts_;
    std::map<size_t, Jump> jumps_;
};

void add_branches(const exec::Image& image, const std::vector<uint64_t>& calls, const std::atomic<uint64_t>* counts)
{
    Branches branches(image, calls, counts);
    std::map<std::pair<std::string, std::pair<std::string, int>>, int> numbers; // of the branches in a function's line
    for (auto& row : branches.jumps()) {
        Branches::Jump& jump = row.second;
        exec::CodePlace place = jump.conditional ? symbolize(image, image.code_low + jump.at) : exec::CodePlace();
        if (place.line <= 0 || place.inlined)
            continue;
        int number = numbers[{place.function, {place.file, place.line}}]++;
        std::optional<uint64_t> falls = branches.falls(jump, row.first);
        uint64_t runs = branches.count(jump.block);
        if (!falls || *falls > runs)
            continue;
        BranchCount& known = coverage.branches[place.file][{place.line, number}];
        known.falls += *falls;
        known.jumps += runs - *falls;
    }
}

// Writes text: "F file", then "L line count" for each line, and "B line number falls jumps" for each branch; "S bytes
// file", followed by a program's source.
void write_counts()
{
    std::string text;
    for (const auto& file : coverage.files) {
        text += "F " + file.first + "\n";
        for (const auto& line : file.second)
            text += "L " + std::to_string(line.first) + " " + std::to_string(line.second) + "\n";
        for (const auto& branch : coverage.branches[file.first])
            text += "B " + std::to_string(branch.first.first) + " " + std::to_string(branch.first.second) + " " +
                    std::to_string(branch.second.falls) + " " + std::to_string(branch.second.jumps) + "\n";
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
    std::map<std::pair<std::string, int>, uint64_t> here; // for this image: a line is in several blocks
    for (const CodeLine& line : lines) {
        if (line.file == name_map) // not a program's
            continue;
        // Finds the block that contains the code. Code before its function's first call is in the first block; a call
        // belongs to the block it begins.
        auto after = std::upper_bound(calls.begin(), calls.end(), line.address - low + call_bytes);
        bool first = after == calls.begin() || *(after - 1) + low < line.function;
        if (first && after == calls.end())
            continue;
        uint64_t count = counts[first ? *after : *(after - 1)];
        uint64_t& known = here[{line.file, line.line}];
        known = std::max(known, count);
    }
    for (const auto& row : here)
        coverage.files[row.first.first][row.first.second] += row.second;
    add_branches(image, calls, counts);
    for (uint64_t call : calls)
        counts[call] = 0;
    write_counts();
}

} // namespace emu::front
