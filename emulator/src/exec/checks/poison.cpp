// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "poison.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "../../config.hpp"
#include "../machine.hpp"
#include "shadow.hpp"

namespace emu::exec {
namespace {

constexpr size_t granule = 64 << 10, group = 8; // filled together after a fault
constexpr size_t least_lazy = 4 * granule;

enum GrainState : uint8_t { ordinary = 0, waiting, filling, filled };
using Grain = std::atomic<uint8_t>;

struct Fillable {
    uintptr_t window = 0;
    size_t size = 0;
    std::byte* host = nullptr;
    Grain* grains = nullptr; // one for each granule
    int file = -1;
    size_t used = 0; // no later granule has ever waited
    size_t written = 0; // no later byte was ever part of a small allocation
};
Fillable fillables[most_devices];
std::atomic<size_t> waiting_grains{0};
std::atomic<int> fillable_count{0};

Fillable* find_fillable(uintptr_t address)
{
    for (int i = 0; i < fillable_count; ++i)
        if (address - fillables[i].window < fillables[i].size)
            return &fillables[i];
    return nullptr;
}

void protect_grains(const Fillable& arena, size_t first, size_t end, int access)
{
    mprotect(reinterpret_cast<void*>(arena.window + first * granule), (end - first) * granule, access);
}

unsigned char pattern[granule];

// Writing to the file needs no page faults of the mapping.
void write_pattern(const Fillable& arena, size_t at, size_t size)
{
    while (size >= 4096) {
        ssize_t done = pwrite(arena.file, pattern, std::min(size, granule), off_t(at));
        if (done <= 0)
            break;
        at += size_t(done), size -= size_t(done);
    }
    std::memset(arena.host + at, config().fill, size);
}

// Fills a small allocation. Pages that had one before are resident, and faster to write than the file.
void fill_small(Fillable& arena, size_t at, size_t size)
{
    size_t end = at + size, reused = std::min(end, std::max(at, arena.written));
    std::memset(arena.host + at, config().fill, reused - at);
    write_pattern(arena, reused, end - reused);
    arena.written = std::max(arena.written, end);
}

// Fills a granule, or waits until another thread has done it.
void fill_grain(Fillable& arena, size_t index, bool overwrites)
{
    uint8_t state = waiting;
    if (arena.grains[index].compare_exchange_strong(state, filling)) {
        if (!overwrites)
            write_pattern(arena, index * granule, granule);
        arena.grains[index] = filled;
        --waiting_grains;
    }
    while (arena.grains[index] == filling)
        relax();
}

// A file whose private mappings are filled memory that costs nothing until it is written.
constexpr size_t pattern_bytes = 1 << 20;
int pattern_file()
{
    static const int file = [] {
        int made = memfd_create("emulator-fill", MFD_CLOEXEC);
        void* at = made < 0 || ftruncate(made, pattern_bytes)
                       ? MAP_FAILED
                       : mmap(nullptr, pattern_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
        if (at == MAP_FAILED)
            return -1;
        std::memset(at, config().fill, pattern_bytes);
        munmap(at, pattern_bytes);
        return made;
    }();
    return file;
}

} // namespace

void poison_arena(uintptr_t window, size_t size, std::byte* host, int file)
{
    void* grains = mmap(nullptr, size / granule, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);
    if (grains == MAP_FAILED || fillable_count == most_devices)
        return;
    std::memset(pattern, config().fill, sizeof pattern);
    fillables[fillable_count] = {window, size, host, static_cast<Grain*>(grains), file, 0};
    ++fillable_count;
}

void poison_device(uintptr_t base, size_t size, bool is_open)
{
    Fillable* arena = find_fillable(base);
    if (!arena)
        return;
    size_t at = base - arena->window, end = at + size;
    size_t first = (at + granule - 1) / granule, last = end / granule;
    if (size < least_lazy || first >= last) {
        fill_small(*arena, at, size);
        return;
    }
    write_pattern(*arena, at, first * granule - at);
    write_pattern(*arena, last * granule, end - last * granule);
    for (size_t i = first; i < last; ++i)
        arena->grains[i].store(waiting, std::memory_order_relaxed);
    waiting_grains += last - first;
    arena->used = std::max(arena->used, last);
    if (is_open)
        protect_grains(*arena, first, last, PROT_NONE);
}

void poison_pinned(void* base, size_t size)
{
    auto* at = static_cast<std::byte*>(base);
    constexpr int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
    for (size_t whole = pattern_bytes; size >= least_lazy && size >= whole; at += whole, size -= whole)
        if (mmap(at, whole, PROT_READ | PROT_WRITE, flags, pattern_file(), 0) == MAP_FAILED)
            break;
    std::memset(at, config().fill, size);
}

void close_poisoned(uintptr_t window)
{
    Fillable* arena = waiting_grains ? find_fillable(window) : nullptr;
    for (size_t i = 0, end = arena ? arena->used : 0; i < end; ++i) {
        size_t first = i;
        while (i < end && arena->grains[i] == waiting)
            ++i;
        if (first < i)
            protect_grains(*arena, first, i, PROT_NONE);
    }
}

void fill_poisoned(uintptr_t base, size_t size, bool overwrites)
{
    Fillable* arena = size ? find_fillable(base) : nullptr;
    if (!arena)
        return;
    size_t at = base - arena->window, end = at + size;
    for (size_t i = at / granule; i * granule < end; ++i)
        if (arena->grains[i] == waiting || arena->grains[i] == filling)
            fill_grain(*arena, i, overwrites && i * granule >= at && (i + 1) * granule <= end);
}

void forget_poisoned(uintptr_t base, size_t size, bool is_open)
{
    Fillable* arena = size < least_lazy ? nullptr : find_fillable(base);
    if (!arena)
        return;
    size_t first = (base - arena->window + granule - 1) / granule, last = (base - arena->window + size) / granule;
    bool any = false;
    for (size_t i = first; i < last; ++i) {
        uint8_t state = arena->grains[i].exchange(ordinary);
        any |= state != ordinary;
        waiting_grains -= state == waiting;
    }
    if (any && is_open)
        protect_grains(*arena, first, last, PROT_READ | PROT_WRITE);
}

bool is_device_memory(uintptr_t address)
{
    return find_fillable(address) != nullptr;
}

bool fill_on_fault(uintptr_t address)
{
    static thread_local uintptr_t tried = 0; // filled memory is opened once
    Fillable* arena = find_fillable(address);
    if (!arena)
        return false;
    size_t index = (address - arena->window) / granule;
    uint8_t state = arena->grains[index];
    if (state == ordinary || (state == filled && std::exchange(tried, address) == address))
        return false;
    tried = state == filled ? address : 0;
    size_t first = index / group * group, last = std::min(first + group, arena->size / granule);
    for (size_t i = first; i < last; ++i)
        if (arena->grains[i] != ordinary) {
            fill_grain(*arena, i, false);
            protect_grains(*arena, i, i + 1, PROT_READ | PROT_WRITE);
        }
    return true;
}

} // namespace emu::exec
