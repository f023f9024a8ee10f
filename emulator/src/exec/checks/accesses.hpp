// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The shadow of the races check: the last accesses to each 4 bytes of any memory that kernels use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../machine.hpp"

namespace emu::exec {

struct Access {
    uint32_t block = 0; // number of the running block, unique in the process; 0: no access
    uint32_t time = 0;  // the thread's time; 0: an allocation
    uint64_t what = 0;  // the fields below; the compiler does not keep bit-fields in registers
    enum : uint64_t {
        thread_shift = 46,
        bytes_shift = 56,
        is_atomic = uint64_t(1) << 60,
        is_narrow = uint64_t(1) << 61, // has block scope; without is_atomic: a compare and swap, which is atomic
        is_stored = uint64_t(1) << 62,
        is_silent = uint64_t(1) << 63, // a store that did not change the value
    };
    uint64_t half_pc() const { return what & ((uint64_t(1) << thread_shift) - 1); } // return address
    uint32_t thread() const { return uint32_t(what >> thread_shift & 1023); }
    uint32_t bytes() const { return uint32_t(what >> bytes_shift & 15); } // one bit for each byte of the cell
    bool atomic() const { return what & (is_atomic | is_narrow); }
    bool narrow() const { return (what & (is_atomic | is_narrow)) == (is_atomic | is_narrow); }
    bool swap() const { return (what & (is_atomic | is_narrow)) == is_narrow; }
    void set_swap() // counts as narrow if it is
    {
        if (!narrow())
            what ^= is_atomic | is_narrow;
    }
    bool stored() const { return what & is_stored; }
    bool silent() const { return what & is_silent; }
    bool is_allocation() const { return block && !time; }
    void set_bytes(size_t first, size_t size)
    {
        what = (what & ~(uint64_t(15) << bytes_shift)) | uint64_t(((1u << size) - 1) << first & 15) << bytes_shift;
    }
    bool is_of(const Access& other) const { return block == other.block && thread() == other.thread(); }
};
static_assert(sizeof(Access) == 16, "cells are 48 bytes");

constexpr size_t cell_bytes = 4;
struct Cell {
    Access store, loads[2]; // loads of two different threads
};

// Returns the cells of the 64 KiB around an address, created on first use, or null if there is no memory for them.
constexpr size_t cells_span = 64 << 10;
Cell* cells_around(uintptr_t address);
// Like cells_around(), but returns null if nothing there was accessed yet.
Cell* known_cells_around(uintptr_t address);
// Called when memory is allocated again, because earlier accesses were to other objects.
void forget_accesses(uintptr_t base, size_t size);

// Holds the lock of the 256 bytes around an address, because workers access the same memory at the same time. Shared
// memory belongs to one worker and needs no lock. Each lock has its own cache line, because workers run adjacent
// blocks.
constexpr size_t cell_lock_count = 1024;
extern unsigned char cell_locks[cell_lock_count][64];
class CellLock {
public:
    CellLock(uintptr_t address, bool shared) : lock_(shared ? nullptr : cell_locks[address / 256 % cell_lock_count])
    {
        while (lock_ && __atomic_test_and_set(lock_, __ATOMIC_ACQUIRE))
            relax();
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
