// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The shadow of the check of races: the last accesses to each 4 bytes of any memory that kernels use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu::exec {

struct Access {
    uint32_t block = 0; // the number of the running block, unique in the process; 0: no access
    uint32_t time = 0;  // of its thread
    uint64_t pc : 46, thread : 10, bytes : 4; // pc: half of the return address
    uint64_t atomic : 1, narrow : 1; // narrow: with the scope of a block
    uint64_t stored : 1, silent : 1; // silent: a store that left the value as it was
    Access() : pc(0), thread(0), bytes(0), atomic(0), narrow(0), stored(0), silent(0) {}
    bool is_of(const Access& other) const { return block == other.block && thread == other.thread; }
};
static_assert(sizeof(Access) == 16, "two to a vector register");

constexpr size_t cell_bytes = 4;
struct Cell {
    Access store, loads[2]; // loads of two different threads
};

// The cells of the 64 KiB around an address, made on first use; null if there is no memory for them.
constexpr size_t cells_span = 64 << 10;
Cell* cells_around(uintptr_t address);
// The memory is allocated again: earlier accesses are those of other objects.
void forget_accesses(uintptr_t base, size_t size);

// Holds the lock of the 64 bytes around an address, because workers access the same memory at the same time. Shared
// memory belongs to one worker and needs none.
extern unsigned char cell_locks[4096];
class CellLock {
public:
    CellLock(uintptr_t address, bool shared) : lock_(shared ? nullptr : cell_locks + address / 64 % sizeof cell_locks)
    {
        while (lock_ && __atomic_test_and_set(lock_, __ATOMIC_ACQUIRE))
            __builtin_ia32_pause();
    }
    ~CellLock()
    {
        if (lock_)
            __atomic_clear(lock_, __ATOMIC_RELEASE);
    }
    CellLock(const CellLock&) = delete;
    CellLock& operator=(const CellLock&) = delete;

private:
    volatile unsigned char* lock_;
};

} // namespace emu::exec
