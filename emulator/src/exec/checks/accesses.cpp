// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "accesses.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sys/mman.h>

namespace emu::exec {
namespace {

// A two-level tree over the 47 address bits. Untouched pages cost no memory.
constexpr size_t branches = 1 << 16, leaves = 1 << 15;
using Leaf = std::atomic<Cell*>;
std::atomic<Leaf*> tree[branches];

void* map_zeros(size_t size)
{
    void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? nullptr : base;
}

template <class T> T* find_or_make(std::atomic<T*>& place, size_t bytes)
{
    T* known = place.load(std::memory_order_acquire);
    if (known)
        return known;
    auto* made = static_cast<T*>(map_zeros(bytes));
    if (made && !place.compare_exchange_strong(known, made)) {
        munmap(made, bytes);
        made = known;
    }
    return made;
}

constexpr size_t chunk_cells = cells_span / cell_bytes;

} // namespace

unsigned char cell_locks[cell_lock_count][64];

Cell* cells_around(uintptr_t address)
{
    uintptr_t chunk = address / cells_span;
    if (chunk >= branches * leaves)
        return nullptr;
    Leaf* row = find_or_make(tree[chunk / leaves], leaves * sizeof(Leaf));
    return row ? find_or_make(row[chunk % leaves], chunk_cells * sizeof(Cell)) : nullptr;
}

Cell* known_cells_around(uintptr_t address)
{
    uintptr_t chunk = address / cells_span;
    Leaf* row = chunk < branches * leaves ? tree[chunk / leaves].load(std::memory_order_acquire) : nullptr;
    return row ? row[chunk % leaves].load(std::memory_order_acquire) : nullptr;
}

void forget_accesses(uintptr_t base, size_t size)
{
    for (uintptr_t at = base, end = base + size; at < end;) {
        uintptr_t chunk = at / cells_span, stop = std::min(end, (chunk + 1) * cells_span);
        Cell* cells = known_cells_around(at);
        size_t first = at % cells_span / cell_bytes, last = (stop - chunk * cells_span + cell_bytes - 1) / cell_bytes;
        if (cells && last - first == chunk_cells)
            madvise(cells, chunk_cells * sizeof(Cell), MADV_DONTNEED);
        else if (cells)
            std::memset(static_cast<void*>(cells + first), 0, (last - first) * sizeof(Cell));
        at = stop;
    }
}

} // namespace emu::exec
