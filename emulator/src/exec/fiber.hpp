// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Fibers: the stacks on which a block's threads run, and the assembly switch between them. A fiber belongs to one
// worker and stays on its OS thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device_include/emulator_abi.h"

extern "C" {
// Saves the caller in *save and continues with `load`.
EMU_HIDDEN void emu_fiber_switch(void** save, void* load);
// Continues with `load` without saving the caller. Signal handlers also return to this address.
EMU_HIDDEN void emu_fiber_resume(void* load) __attribute__((noreturn));
// Starts emu_fiber_main again on an empty stack.
EMU_HIDDEN void emu_fiber_restart(void* top) __attribute__((noreturn));
EMU_HIDDEN void emu_fiber_start(void);
EMU_HIDDEN void emu_fiber_main(void); // defined in worker.cpp
}

namespace emu::exec {

enum class Wait : uint32_t { none, barrier, warp, yield };

// Barrier numbers. Kernels use 0 to 15; split barriers arrive and wait in two steps; for tiles see
// Block::tile_barrier().
enum : uint32_t {
    grid_barrier = 16,
    cluster_barrier,
    split_barrier,
    tile_barriers,
    barrier_count = tile_barriers + 31
};

// Where a kernel calls the device: the return address, and for barriers also the source line.
struct Site {
    uintptr_t pc = 0;
    const char* file = nullptr; // null: only the address is known
    uint32_t line = 0;
    bool operator==(const Site& other) const
    {
        return line == other.line && (file == other.file || (file && other.file && !std::strcmp(file, other.file)));
    }
    bool operator!=(const Site& other) const { return !(*this == other); }
};

constexpr int samples_kept = 16;

// Located at the top of its own stack, in a page that the first frames use anyway.
struct alignas(64) Fiber {
    void* sp = nullptr;
    Fiber* next = nullptr; // in the queue that holds it
    EmuDim3 index{};       // threadIdx of its thread
    emu_u32 linear = 0;
    uintptr_t stack_low = 0, stack_high = 0;
    Wait wait = Wait::none;
    emu_u32 barrier = 0; // with Wait::barrier: its number
    Site site;           // where the thread waits
    const EmuWarpCall* call = nullptr;
    uint64_t samples[samples_kept] = {}; // hashed registers at the last preemptions
    uint32_t next_sample = 0;
};

// A FIFO queue. Appending another queue takes one step.
struct FiberQueue {
    Fiber* head = nullptr;
    Fiber* tail = nullptr;

    void push(Fiber* fiber)
    {
        fiber->next = nullptr;
        if (tail)
            tail->next = fiber;
        else
            head = fiber;
        tail = fiber;
    }
    Fiber* pop()
    {
        Fiber* fiber = head;
        if (fiber) {
            head = fiber->next;
            if (!head)
                tail = nullptr;
        }
        return fiber;
    }
    void take_all(FiberQueue& other)
    {
        if (!other.head)
            return;
        if (tail)
            tail->next = other.head;
        else
            head = other.head;
        tail = other.tail;
        other = FiberQueue{};
    }
};

// The stacks of one worker, created on demand and cached for later blocks.
class StackSet {
public:
    ~StackSet();
    // Sets the minimum size of stacks created from now on. No fiber may be in use.
    void require(size_t stack_bytes);
    Fiber* take(); // ready to run emu_fiber_main; null if there is no memory
    void release(Fiber* fiber)
    {
        fiber->next = free_;
        free_ = fiber;
    }
    void release_all();                                         // after a fault, when none is in use
    bool is_guard(uintptr_t address) const;                       // the guard below a stack
    const std::vector<Fiber*>& fibers() const { return fibers_; } // including unused ones
    static void* top_of(Fiber* fiber) { return fiber; }

private:
    bool grow();
    void drop();
    struct Chunk {
        void* base;
        size_t size;
        uint32_t split_guards;
    };
    size_t stack_bytes_ = 0;
    Fiber* free_ = nullptr;
    std::vector<Chunk> chunks_;
    std::vector<Fiber*> fibers_;
};

} // namespace emu::exec
