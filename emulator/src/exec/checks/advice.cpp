// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>
#include <unistd.h>

#include "../../config.hpp"

namespace emu::exec {
namespace {

constexpr uint32_t most_times = 1024; // times that a thread is counted at one place in a block
constexpr size_t most_bytes = 4096;   // of an access

using Line = std::pair<std::string, int>;
struct BarrierRow {
    uint64_t executions = 0, needed = 0;
    uint64_t image = 0;
    uintptr_t pc = 0;
};
struct Totals {
    std::mutex mutex;
    std::map<std::pair<uint64_t, uintptr_t>, AdviceRow> places; // by image and address
    std::map<Line, AdviceRow> lines;
    std::map<Line, std::string> texts;
    std::map<Line, BarrierRow> barriers;
    std::set<std::string> launches;
};
Totals& totals = *new Totals; // never destroyed, because it is written while the process exits

size_t count_distinct(std::vector<uintptr_t>& values)
{
    std::sort(values.begin(), values.end());
    return size_t(std::unique(values.begin(), values.end()) - values.begin());
}

// Returns the number of passes needed by the lanes of a partial warp. In each pass, a bank returns one 4-byte word.
size_t count_passes(std::vector<uintptr_t>& words)
{
    size_t banks[32] = {}, distinct = count_distinct(words);
    for (size_t i = 0; i < distinct; ++i)
        ++banks[words[i] % 32];
    return *std::max_element(banks, banks + 32);
}

bool differ(uint32_t a, uint32_t b, uint32_t nobody, uint32_t several)
{
    return a != nobody && b != nobody && (a != b || a == several);
}

std::string one_line(std::string text)
{
    std::replace(text.begin(), text.end(), '\t', ' ');
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

// Writes tab-separated fields: "L" for lines, "B" for barriers, "K" for kernel configurations.
void write_advice()
{
    std::string text;
    auto add_line = [&](const char* kind, const Line& line, std::initializer_list<uint64_t> numbers) {
        text += std::string(kind) + "\t" + one_line(line.first) + "\t" + std::to_string(line.second);
        for (uint64_t number : numbers)
            text += "\t" + std::to_string(number);
        text += "\t" + one_line(totals.texts[line]) + "\n";
    };
    for (const auto& [line, row] : totals.lines)
        add_line("L", line,
                 {row.loads.requests, row.loads.sectors, row.loads.least, row.stores.requests, row.stores.sectors,
                  row.stores.least, row.shared_requests, row.conflicts, row.branches, row.divergent});
    for (const auto& [line, row] : totals.barriers)
        add_line("B", line, {row.executions, row.needed});
    for (const std::string& launch : totals.launches)
        text += "K\t" + launch + "\n";
    std::string path = config().advise + "/" + std::to_string(getpid()) + ".advice";
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (!file || std::fwrite(text.data(), 1, text.size(), file) != text.size())
        say("the advice about kernels cannot be written to " + path);
    if (file)
        std::fclose(file);
}

} // namespace

void AdviceRow::add(const AdviceRow& other)
{
    for (auto [mine, more] : {std::pair(&loads, &other.loads), std::pair(&stores, &other.stores)}) {
        mine->requests += more->requests;
        mine->sectors += more->sectors;
        mine->least += more->least;
    }
    shared_requests += other.shared_requests;
    conflicts += other.conflicts;
    branches += other.branches;
    divergent += other.divergent;
    branch_pc = std::max(branch_pc, other.branch_pc);
}

// ------------------------------------------------------------------------- a block

void Advice::begin(uint64_t image, uint32_t threads)
{
    image_ = image;
    threads_ = threads;
    places_.clear();
    rows_.clear();
    frames_.assign(threads, {});
    before_.clear();
    now_.clear();
    barrier_ = {};
}

void Advice::access(uint32_t thread, uintptr_t pc, uintptr_t address, size_t size, bool store, bool shared, bool atomic)
{
    if (!image_ || size > most_bytes)
        return;
    if (!atomic) // their code is inlined, so its line is uncertain
        add(shared ? shared_access : store ? global_store : global_load, thread, pc, address, size);
    for (uintptr_t cell = address / 4; cell <= (address + size - 1) / 4; ++cell) {
        Users& users = now_[cell];
        uint32_t& user = store ? users.store : users.load;
        user = user == nobody || user == thread ? thread : several;
    }
}

void Advice::enter(uint32_t thread, uintptr_t frame, uintptr_t pc)
{
    if (!image_)
        return;
    auto& frames = frames_[thread];
    while (!frames.empty() && frames.back().frame < frame) // functions that have returned
        frames.pop_back();
    if (frames.empty() || frames.back().frame != frame)
        frames.push_back({frame, 0});
    uintptr_t last = frames.back().pc;
    frames.back().pc = pc;
    if (last)
        add(branch, thread, last, pc, 0);
}

void Advice::add(Kind kind, uint32_t thread, uintptr_t pc, uintptr_t value, size_t size)
{
    uint32_t warp = thread / 32, lane = thread % 32;
    Place& place = places_[uint64_t(kind) << 60 | uint64_t(warp) << 48 | pc];
    uint32_t number = place.times[lane];
    if (number == most_times)
        return;
    ++place.times[lane];
    while (place.first + place.pending.size() <= number)
        place.pending.emplace_back();
    Request& request = place.pending[number - place.first];
    request.lanes |= 1u << lane;
    request.values[lane] = value;
    request.size = uint32_t(std::max<size_t>(request.size, size));
    uint32_t lanes = std::min(32u, threads_ - warp * 32), all = lanes == 32 ? ~0u : (1u << lanes) - 1;
    while (!place.pending.empty() && place.pending.front().lanes == all) {
        finish(kind, pc, place.pending.front());
        place.pending.pop_front();
        ++place.first;
    }
}

void Advice::finish(Kind kind, uintptr_t pc, const Request& request)
{
    AdviceRow& row = rows_[pc];
    std::vector<uintptr_t> units, starts, others;
    size_t lanes_at_once = std::max<size_t>(1, 128 / std::max<size_t>(request.size, 4)), passes = 0, parts = 0;
    bool global = kind == global_load || kind == global_store;
    uintptr_t unit = global ? 32 : 4;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (request.lanes >> lane & 1) {
            uintptr_t value = request.values[lane];
            starts.push_back(value);
            for (uintptr_t at = value / unit; kind != branch && at <= (value + request.size - 1) / unit; ++at)
                units.push_back(at);
        }
        if (kind == shared_access && !units.empty() && (lane + 1) % lanes_at_once == 0) {
            passes += count_passes(units);
            ++parts;
            units.clear();
        }
    }
    size_t distinct = count_distinct(starts);
    if (global) {
        AdviceRow::Global& totals = kind == global_load ? row.loads : row.stores;
        ++totals.requests;
        totals.sectors += count_distinct(units);
        totals.least += (distinct * request.size + 31) / 32;
    } else if (kind == shared_access) {
        ++row.shared_requests;
        row.conflicts += passes - parts;
    } else {
        ++row.branches;
        row.divergent += distinct > 1;
        // A block's code ends where the next block begins, which is one of the two ways.
        auto next = std::upper_bound(starts.begin(), starts.begin() + std::ptrdiff_t(distinct), pc);
        if (distinct > 1 && next != starts.begin() + std::ptrdiff_t(distinct))
            row.branch_pc = *next - call_bytes - 1;
    }
}

// A barrier is useful if threads access the same memory before and after it and one of them writes.
void Advice::judge_barrier()
{
    if (!barrier_.file)
        return;
    bool needed = false;
    for (const auto& [cell, now] : now_) {
        auto found = before_.find(cell);
        if (found == before_.end())
            continue;
        const Users& before = found->second;
        needed = needed || differ(before.store, now.store, nobody, several) ||
                 differ(before.store, now.load, nobody, several) || differ(before.load, now.store, nobody, several);
    }
    std::lock_guard lock(totals.mutex);
    BarrierRow& row = totals.barriers[{barrier_.file, int(barrier_.line)}];
    ++row.executions;
    row.image = image_;
    row.pc = barrier_.pc;
    row.needed += needed;
}

void Advice::barrier(const Site& site)
{
    judge_barrier();
    before_ = std::move(now_);
    now_.clear();
    barrier_ = site;
}

void Advice::end()
{
    if (!image_)
        return;
    judge_barrier();
    for (auto& [key, place] : places_)
        for (const Request& request : place.pending)
            if (request.lanes)
                finish(Kind(key >> 60), key & ((uintptr_t(1) << 48) - 1), request);
    std::lock_guard lock(totals.mutex);
    for (const auto& [pc, row] : rows_)
        totals.places[{image_, pc}].add(row);
}

// ----------------------------------------------------------------------- the report

void advise_launch(const std::string& kernel, uint64_t threads, uint64_t shared, int resident, int by_threads,
                   int warps)
{
    std::string text = one_line(kernel);
    for (uint64_t number : {threads, shared, uint64_t(resident), uint64_t(by_threads), uint64_t(warps)})
        text += "\t" + std::to_string(number);
    std::lock_guard lock(totals.mutex);
    totals.launches.insert(std::move(text));
}

void finish_advice(uint64_t image, const std::function<CodePlace(uintptr_t pc)>& place_of)
{
    std::lock_guard lock(totals.mutex);
    auto first = totals.places.lower_bound({image, 0}), last = totals.places.upper_bound({image, UINTPTR_MAX});
    for (auto at = first; at != last; ++at) {
        AdviceRow accesses = at->second, branches;
        if (accesses.divergent && accesses.branch_pc) {
            branches.branches = accesses.branches;
            branches.divergent = accesses.divergent;
        }
        accesses.branches = accesses.divergent = 0;
        for (auto [pc, row] : {std::pair(at->first.second, accesses), std::pair(at->second.branch_pc, branches)}) {
            if (!row.loads.requests && !row.stores.requests && !row.shared_requests && !row.divergent)
                continue;
            CodePlace place = place_of(pc);
            // On a GPU, a branch in a function like min() is not a branch.
            if (row.divergent && (place.line <= 0 || place.inlined))
                continue;
            if (place.line <= 0)
                place.file = "CUDA functions";
            totals.lines[{place.file, place.line}].add(row);
            totals.texts[{place.file, place.line}] = place.text;
        }
    }
    totals.places.erase(first, last);
    for (const auto& [line, row] : totals.barriers)
        if (row.image == image)
            totals.texts[line] = place_of(row.pc).text;
    write_advice();
}

} // namespace emu::exec
