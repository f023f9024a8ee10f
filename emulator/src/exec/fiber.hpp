// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Fibers: the stacks on which a block's threads run, and the assembly switch between them. A fiber belongs to one
// worker and stays on its OS thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "device_include/emulator_abi.h"

extern "C" {
// Saves the caller in *save and continues with `load`.
EMU_HIDDEN void emu_fiber_switch(void** save, void* load);
// Continues with `load` without saving the caller. Signal handlers also return to this address. This and
// emu_fiber_restart() do not return, but are not declared so: the compiler would then call instead of jump.
EMU_HIDDEN void emu_fiber_resume(void* load);
// Saves the caller in *save and runs threads on an empty stack.
EMU_HIDDEN void emu_fiber_begin(void** save, void* top);
// Runs further threads on a stack whose thread has exited.
EMU_HIDDEN void emu_fiber_restart(void* top);
// The functions that these call before and after each thread; defined in worker.cpp.
struct EmuStart {
    EmuEntry entry;
    void* const* parameters;
};
EMU_HIDDEN EmuStart emu_thread_begin(void);
EMU_HIDDEN void emu_thread_end(void); // continues with another thread
}

namespace emu::exec {

enum class Wait : uint8_t { none, barrier, warp, yield };

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
    uintptr_t caller = 0; // in the kernel, if the thread was preempted in a check
    bool operator==(const Site& other) const
    {
        return line == other.line && (file == other.file || (file && other.file && !std::strcmp(file, other.file)));
    }
    bool operator!=(const Site& other) const { return !(*this == other); }
};

constexpr uint32_t spins_to_wait = 16; // a thread that spins longer counts as waiting

// Adds a word to a hash.
inline uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

// What is used only now and then, located at the top of the fiber's stack.
struct alignas(64) FiberNotes {
    const EmuWarpCall* call = nullptr; // with Wait::warp
    uint64_t step = 0;                 // of Block::step: how often the thread went back in the code, and where it is now
    uint64_t stepper = 0;              // the thread that it belongs to
    uintptr_t preempted = 0, caller = 0; // where the thread was preempted, and what called the check there
    uint64_t samples[128] = {};        // hashed registers at the last preemptions
    uint32_t next_sample = 0;
    uint64_t state = 0; // of its registers and stack, when it last let other threads run
    uint32_t spins = 0; // how often it has done so since without any change
    bool polled = false; // has called the device since it was last preempted
    uintptr_t mbarrier = 0; // that it last tested in vain, if it spins there

    // Returns true if a preemption found the thread in the same state before, which means it waits for a change in memory.
    bool note_sample(uint64_t hash)
    {
        if (std::find(std::begin(samples), std::end(samples), hash) != std::end(samples))
            return true;
        samples[next_sample++ % std::size(samples)] = hash;
        return false;
    }
};

// Which thread of its block: threadIdx, and its number.
struct ThreadPlace {
    uint16_t x = 0, y = 0, z = 0, linear = 0;
};

// One cache line. A barrier of many threads uses adjacent ones, which the processor fetches ahead.
struct alignas(64) Fiber : ThreadPlace {
    void* sp = nullptr;    // null: its first thread has not started
    Fiber* next = nullptr; // in the queue that holds it
    uintptr_t stack_low = 0, stack_high = 0;
    // Where the thread waits.
    uintptr_t pc = 0;
    const char* file = nullptr;
    uint32_t line = 0;
    Wait wait = Wait::none;
    uint8_t barrier = 0; // with Wait::barrier: its number

    Site site() const { return {pc, file, line, notes().preempted == pc ? notes().caller : 0}; }
    void be_at(const Site& site) { pc = site.pc, file = site.file, line = site.line; }
    void be_thread(const ThreadPlace& place) { static_cast<ThreadPlace&>(*this) = place; }
    FiberNotes& notes() const { return *reinterpret_cast<FiberNotes*>(stack_high); }
};
static_assert(sizeof(Fiber) == 64);

// A FIFO queue. Appending another queue takes one step. Without a head, the tail has no meaning.
struct FiberQueue {
    Fiber* head = nullptr;
    Fiber* tail = nullptr;

    void push(Fiber* fiber)
    {
        fiber->next = nullptr;
        (head ? tail->next : head) = fiber;
        tail = fiber;
    }
    Fiber* pop()
    {
        Fiber* fiber = head;
        if (fiber)
            head = fiber->next;
        return fiber;
    }
    void take_all(FiberQueue& other)
    {
        if (!other.head)
            return;
        (head ? tail->next : head) = other.head;
        tail = other.tail;
        other.head = nullptr;
    }
};

// The stacks of one worker, created on demand and cached for later blocks.
class StackSet {
public:
    ~StackSet();
    // Sets the minimum size of stacks created from now on. No fiber may be in use.
    void require(size_t stack_bytes);
    bool has_free() const { return free_; }
    Fiber* take() // null if there is no memory
    {
        if (!free_ && !grow())
            return nullptr;
        Fiber* fiber = free_;
        free_ = fiber->next;
        if (free_)
            for (int line = 1; line <= 3; ++line) // of the next thread's first frames
                __builtin_prefetch(reinterpret_cast<const char*>(free_->stack_high - 64 * line), 1);
        return fiber;
    }
    void release(Fiber* fiber)
    {
        fiber->sp = nullptr;
        fiber->next = free_;
        free_ = fiber;
    }
    void release_all();                                         // after a fault, when none is in use
    bool is_guard(uintptr_t address) const;                       // the guard below a stack
    const std::vector<Fiber*>& fibers() const { return fibers_; } // including unused ones
    static void* top_of(Fiber* fiber) { return reinterpret_cast<void*>(fiber->stack_high); }

private:
    bool grow();
    void drop();
    struct Chunk {
        void* base;
        size_t size;
        uint32_t split_guards;
        std::unique_ptr<Fiber[]> fibers;
    };
    size_t stack_bytes_ = 0;
    Fiber* free_ = nullptr;
    std::vector<Chunk> chunks_;
    std::vector<Fiber*> fibers_;
};

} // namespace emu::exec
