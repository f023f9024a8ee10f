// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "fiber.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

#include "../config.hpp"

namespace emu::exec {
namespace {

constexpr size_t page = 4096;
// Kernels are compiled with -fstack-clash-protection, which probes each page, so no frame can step over the guard.
// Larger guards would slow down the creation of stacks.
constexpr size_t guard_bytes = 8 << 10;
// Without MADV_GUARD_INSTALL each guard splits a mapping in two, and Linux allows 65530 mappings by default. Past this
// number of guards, only every chunk of stacks has one.
constexpr int split_guards_limit = 20000;
std::atomic<int> split_guards{0};

size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

// Stacks start at different offsets in their pages, so equal frames of many fibers do not compete for the same cache
// sets.
uintptr_t color(size_t number)
{
    return (number % 16) * 256;
}

bool is_accessible(void* at)
{
    int ends[2];
    if (pipe(ends) != 0)
        return true;
    bool read = write(ends[1], at, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return read;
}

// Makes the guard below a stack inaccessible. Returns true if that split the mapping.
bool guard(uintptr_t low, bool always)
{
    constexpr int guard_install = 102; // MADV_GUARD_INSTALL, Linux 6.13
    static std::atomic<bool> light{true};
    auto* at = reinterpret_cast<void*>(low);
    if (light) {
        static std::atomic<bool> tried{false}; // QEMU accepts all advice and ignores it
        if (madvise(at, guard_bytes, guard_install) == 0 && (tried || !is_accessible(at))) {
            tried = true;
            return false;
        }
        light = false;
    }
    if (split_guards >= split_guards_limit && !always)
        return false;
    if (mprotect(at, guard_bytes, PROT_NONE) != 0)
        return false;
    ++split_guards;
    return true;
}

// The shadow of stacks, which code compiled with red zones on the stack reads and writes. It covers the last addresses
// of a process, where Linux places mappings.
constexpr uintptr_t shadowed = 0x780000000000, shadow_end = 0x800000000000;

bool has_shadow(void* stacks)
{
    constexpr int fixed_noreplace = 0x100000; // MAP_FIXED_NOREPLACE
    static const bool made = [] {
        auto* base = reinterpret_cast<void*>(shadowed / 8 + EMU_FIXED_SHADOW);
        return mmap(base, (shadow_end - shadowed) / 8, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed_noreplace, -1, 0) == base;
    }();
    return made && reinterpret_cast<uintptr_t>(stacks) >= shadowed;
}

// After a fault, frames were left without running their epilogues.
void open_shadow(void* stacks, size_t size)
{
    uintptr_t first = reinterpret_cast<uintptr_t>(stacks) / 8 + EMU_FIXED_SHADOW, last = first + size / 8;
    uintptr_t whole = round_up(first, page), end = last / page * page;
    if (whole >= end) {
        std::memset(reinterpret_cast<void*>(first), 0, last - first);
        return;
    }
    std::memset(reinterpret_cast<void*>(first), 0, whole - first);
    madvise(reinterpret_cast<void*>(whole), end - whole, MADV_DONTNEED);
    std::memset(reinterpret_cast<void*>(end), 0, last - end);
}

} // namespace

StackSet::~StackSet()
{
    drop();
}

void StackSet::drop()
{
    for (const Chunk& chunk : chunks_) {
        if (config().checks.stack)
            open_shadow(chunk.base, chunk.size);
        munmap(chunk.base, chunk.size);
        split_guards -= int(chunk.split_guards);
    }
    chunks_.clear();
    fibers_.clear();
    free_ = nullptr;
}

void StackSet::require(size_t stack_bytes)
{
    stack_bytes = round_up(stack_bytes + sizeof(FiberNotes) + 16 * 256, page);
    // An odd number of pages spreads the stacks over all TLB sets.
    if ((stack_bytes + guard_bytes) / page % 2 == 0)
        stack_bytes += page;
    if (stack_bytes <= stack_bytes_)
        return;
    drop();
    stack_bytes_ = stack_bytes;
}

bool StackSet::grow()
{
    uint32_t stacks = uint32_t(std::clamp<size_t>(fibers_.size(), 4, 128));
    size_t slot = guard_bytes + stack_bytes_;
    size_t size = slot * stacks;
    void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    if (config().checks.stack && !has_shadow(base)) {
        munmap(base, size);
        return false;
    }
    auto low = reinterpret_cast<uintptr_t>(base);
    uint32_t split = 0;
    for (uint32_t i = 0; i < stacks; ++i)
        split += guard(low + i * slot, i == 0);
    chunks_.push_back({base, size, split, std::make_unique<Fiber[]>(stacks)});
    for (uint32_t i = stacks; i-- > 0;) {
        uintptr_t bottom = low + i * slot + guard_bytes;
        uintptr_t top = bottom + stack_bytes_ - color(fibers_.size()) - sizeof(FiberNotes);
        Fiber* fiber = &chunks_.back().fibers[i];
        fiber->stack_low = bottom;
        fiber->stack_high = reinterpret_cast<uintptr_t>(new (reinterpret_cast<void*>(top / 64 * 64)) FiberNotes);
        fibers_.push_back(fiber);
        release(fiber);
    }
    return true;
}

void StackSet::release_all()
{
    if (config().checks.stack)
        for (const Chunk& chunk : chunks_)
            open_shadow(chunk.base, chunk.size);
    free_ = nullptr;
    for (Fiber* fiber : fibers_)
        release(fiber);
}

bool StackSet::is_guard(uintptr_t address) const
{
    for (const Fiber* fiber : fibers_)
        if (address < fiber->stack_low && address + guard_bytes >= fiber->stack_low)
            return true;
    return false;
}

} // namespace emu::exec
