// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "initialized.hpp"

#include <algorithm>
#include <sys/mman.h>

namespace emu::exec {
namespace {

// Untouched pages of bits are zero and cost no memory.
struct Contents {
    uintptr_t base = 0;
    size_t size = 0;
    uint8_t* bits = nullptr;
    bool holds(uintptr_t address, size_t bytes) const
    {
        return address - base < size && bytes <= size - (address - base);
    }
};
Contents contents;

// Calls f(byte, mask) for each byte of bits that belongs to the range, until it returns true.
template <class F> bool for_bits(uintptr_t base, size_t size, F f)
{
    for (size_t at = base - contents.base, end = at + size; at < end;) {
        size_t stop = std::min(end, (at | 7) + 1);
        auto mask = uint8_t(((1u << (stop - at)) - 1) << (at & 7));
        if (f(contents.bits + at / 8, mask))
            return true;
        at = stop;
    }
    return false;
}

} // namespace

void reserve_contents(uintptr_t base, size_t size)
{
    void* bits = mmap(nullptr, size / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bits != MAP_FAILED)
        contents = {base, size, static_cast<uint8_t*>(bits)};
}

void describe_contents(EmuSpace* space)
{
    space->contents = contents.bits;
    space->contents_size = contents.size;
}

void forget_contents(uintptr_t base, size_t size)
{
    if (contents.holds(base, size))
        for_bits(base, size, [](uint8_t* byte, uint8_t mask) {
            if (*byte & mask) // writes to no page that is still zero
                __atomic_fetch_and(byte, uint8_t(~mask), __ATOMIC_RELAXED);
            return false;
        });
}

void note_written(uintptr_t base, size_t size)
{
    if (contents.holds(base, size))
        for_bits(base, size, [](uint8_t* byte, uint8_t mask) {
            if ((*byte & mask) != mask)
                __atomic_fetch_or(byte, mask, __ATOMIC_RELAXED);
            return false;
        });
}

void note_copied(uintptr_t to, uintptr_t from, size_t size)
{
    if (!contents.holds(to, size))
        return;
    if (!contents.holds(from, size))
        return note_written(to, size);
    std::vector<bool> written(size);
    for (size_t i = 0; i < size; ++i)
        written[i] = has_contents(from + i, 1);
    for (size_t i = 0; i < size; ++i)
        written[i] ? note_written(to + i, 1) : forget_contents(to + i, 1);
}

size_t find_unwritten(uintptr_t base, size_t size, uintptr_t* begin)
{
    constexpr size_t least = 16;
    size_t run = 0;
    for (size_t at = 0; contents.holds(base, size) && at < size; ++at) {
        size_t bit = base + at - contents.base;
        bool is_written = contents.bits[bit / 8] >> bit % 8 & 1;
        run = is_written ? 0 : run + 1;
        if (run < least)
            continue;
        *begin = base + at + 1 - run;
        while (at + 1 < size && !has_contents(base + at + 1, 1))
            ++at, ++run;
        return run;
    }
    return 0;
}

bool has_contents(uintptr_t base, size_t size)
{
    return !contents.holds(base, size) ||
           for_bits(base, size, [](const uint8_t* byte, uint8_t mask) { return (*byte & mask) != 0; });
}

} // namespace emu::exec
