// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// One running block of threads: which threads have started, what each waits for, and which can run. The threads of a
// block run in turn on one fiber; a thread that has to wait keeps its stack, and the next thread starts on another
// fiber.
#pragma once

#include <atomic>
#include <string>

#include "carrier.hpp"

namespace emu::exec {

struct Barrier {
    FiberQueue waiting;
    uint32_t arrived = 0; // waiting threads, and threads that arrived without waiting (bar.arrive)
    uint32_t count = 0; // how many are expected; 0: all threads that have not exited
    uint32_t ones = 0; // how many passed a true predicate
    uint32_t last_ones = 0, last_arrived = 0; // of the last released generation
    uint32_t generation = 0;
    Site site;          // where the first thread arrived
    bool mixed = false; // threads arrived from different places in the source
};

struct Warp {
    emu_u32 live = 0;    // lanes that have not exited, including those that have not started
    emu_u32 waiting = 0; // lanes that wait in a collective
    Fiber* lane[32];
};

class Block {
public:
    static uint32_t tile_barrier(uint32_t size, uint32_t thread);

    explicit Block(Carrier& carrier) : carrier_(carrier) {}

    // For the worker: runs the block to its end. Returns false if it stopped with Carrier::trouble; its fibers then
    // stay as they are, for the report, until abandon().
    bool run(uint64_t number);
    void abandon();

    // For kernels, on the running fiber `self`.
    EmuStart begin_thread();
    void end_thread();
    void exit_thread() __attribute__((noreturn));
    emu_u32 active_lanes();
    void wait_for_all(uintptr_t pc, const char* file, uint32_t line); // __syncthreads(), the most common barrier
    void wait_at(Fiber* self, uint32_t id, uint32_t count, bool predicate, const Site& site);
    void arrive_at(uint32_t id, uint32_t count, const Site& site);
    void wait_for(Fiber* self, uint32_t id, uint32_t generation, const Site& site);
    void wait_for_cluster(Fiber* self, uint32_t token, const Site& site);
    void collect(Fiber* self, EmuWarpCall* call, uintptr_t pc);
    void yield(Fiber* self, const Site& site);
    void step(Fiber* self, const Site& site);
    static constexpr uint64_t step_place = (uint64_t(1) << 48) - 1;
    static bool stepped_at(const Fiber& fiber, uintptr_t pc)
    {
        return (fiber.notes().step & step_place) == (pc & step_place);
    }
    // The report names this exited thread instead of the running one, which is returned.
    ThreadPlace blame(uint32_t thread);

    // Returns true if another thread could run if the running one yielded. The monitor reads it without a lock.
    bool others() const { return ready_.head || yielded_.head || stepping_.head || started() < threads_; }
    uint32_t started() const
    {
        return quiet_.load(std::memory_order_relaxed) ? __atomic_load_n(&carrier_.state->linear, __ATOMIC_RELAXED) + 1
                                                      : started_.load(std::memory_order_relaxed);
    }
    uint32_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
    uint32_t live() const { return threads_ - started() + in_use(); }
    uint32_t ended() const { return started() - in_use(); }
    const Barrier& barrier(uint32_t id) const { return barriers_[id]; }

    // Set by the monitor: at the next suspension all runnable threads take turns (see pick()).
    std::atomic<bool> rotate{false};

private:
    void begin(uint64_t number);
    void set_started(uint32_t number)
    {
        started_.store(number, std::memory_order_relaxed);
        quiet_.store(false, std::memory_order_relaxed);
    }
    void leave_quiet();
    ThreadPlace following(ThreadPlace place) const;
    ThreadPlace place_of(uint32_t number) const;
    void set_in_use(uint32_t number) { in_use_.store(number, std::memory_order_relaxed); }
    void settle_after_end(Fiber* self);
    void fetch_ahead() const;
    bool starts_others() const
    {
        return !quiet_.load(std::memory_order_relaxed) && started_.load(std::memory_order_relaxed) < threads_ &&
               carrier_.stacks.has_free();
    }
    Fiber* fresh();
    Fiber* pick();
    Fiber* pick_suspended();
    void begin_steps();
    Trouble stuck() const;
    void suspend(Fiber* self);
    void run_next(Fiber* self, Fiber* next);
    void* end_plainly();
    void end_with_others();
    void* next_after_end();
    void wait_for_rest(uintptr_t pc, const char* file, uint32_t line);
    void save(Fiber* self);
    void restore(Fiber* fiber);
    void arrive(Fiber* self, uint32_t id, uint32_t count, const Site& site, bool waits = true);
    void enqueue(Fiber* self, uint32_t id);
    void pass(uint32_t id);
    void fail_count(uint32_t id, uint32_t count, const Site& site) __attribute__((noreturn));
    bool is_complete(const Barrier& barrier) const;
    void complete(uint32_t id);
    void wait_for_grid(Fiber* self);
    void check_stuck(Fiber* self);
    bool all_wait(const Fiber* self, bool* on_mbarriers) const;
    void check_places(uint32_t id, const Fiber* last);
    void fail_places(uint32_t id, uint32_t warp, const Fiber* last) __attribute__((noreturn));
    void warn_about_shuffle(const Warp& warp, unsigned reader, unsigned absent, const EmuWarpCall& call);
    bool try_collective(Warp& warp, const EmuWarpCall* call, uintptr_t pc);

    Carrier& carrier_;
    Launch* launch_ = nullptr;
    uint32_t threads_ = 0;
    std::atomic<uint32_t> started_{0}; // threads that have started; in quiet mode, the kernel counts
    std::atomic<uint32_t> in_use_{0};  // fibers whose thread has not exited
    std::atomic<bool> quiet_{false};   // see begin_thread()
    int64_t stuck_since_ = 0;         // when all threads began to wait or spin; 0: they do not
    uint32_t settled_ = 0;            // in quiet mode: threads whose exit the warps have recorded
    uint32_t cluster_base_ = 0;       // the cluster barrier's generation when this block began
    uint64_t open_ = 0;               // one bit for each barrier where a thread has arrived
    uint32_t step_ = 1, first_ = 0;   // thread order: (first + i * step) modulo the number of threads
    bool ordered_ = true;
    ThreadPlace next_place_; // in order
    EmuDim3 size_{};
    FiberQueue ready_, yielded_, stepping_;
    bool polled_ = false;  // yielded threads have run since the last step
    uint64_t serial_ = 0; // of the running block
    // The place of the __syncthreads() at which threads wait, if wait_for_all() need only queue others; `this`: none.
    const void* plain_file_ = this;
    uint32_t plain_line_ = 0;
    Barrier barriers_[barrier_count];
    Warp warps_[32];
};

// While a thread runs, the state its kernel sees (threadIdx, lane) is in the worker's thread-local memory; save()
// copies it to the fiber, and restore() back. Once a thread has waited, no further thread of the kernel's loop runs on
// its fiber.
inline void Block::restore(Fiber* fiber)
{
    fiber->wait = Wait::none;
    emu_thread_idx = {fiber->x, fiber->y, fiber->z};
    emu_thread.linear = fiber->linear;
    emu_thread.end = emu_thread.row_end = fiber->linear + 1u;
    emu_thread.stack_low = fiber->stack_low;
    emu_thread.stack_high = fiber->stack_high;
}

// Fetches the saved registers of the fiber after the next one.
inline void Block::fetch_ahead() const
{
    if (ready_.head)
        __builtin_prefetch(static_cast<const char*>(ready_.head->sp) + 48);
}

// Programs spend their time here, if they have many barriers. A thread that is neither the first nor the last of its
// block to arrive switches to the next one's stack, and its return there is the only one.
inline void Block::wait_for_all(uintptr_t pc, const char* file, uint32_t line)
{
    Carrier& carrier = carrier_;
    Fiber* next = ready_.head;
    uint32_t arrived = barriers_[0].arrived + 1;
    bool plain = file == plain_file_ && line == plain_line_ && (next ? arrived < in_use() : starts_others());
    if (__builtin_expect(!plain, 0))
        return wait_for_rest(pc, file, line);
    Fiber* self = carrier.current;
    barriers_[0].arrived = arrived;
    barriers_[0].waiting.tail->next = self;
    barriers_[0].waiting.tail = self;
    self->next = nullptr;
    self->pc = pc, self->file = file, self->line = line;
    self->wait = Wait::barrier;
    self->barrier = 0;
    if (__builtin_expect(!next, 0)) {
        carrier.current = carrier.stacks.take();
        return emu_fiber_begin(&self->sp, StackSet::top_of(carrier.current));
    }
    carrier.current = next;
    ready_.head = next->next;
    fetch_ahead();
    restore(next);
    emu_fiber_switch(&self->sp, next->sp);
}

} // namespace emu::exec
