// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// An OS thread that runs blocks: a helper of the pool, or the caller of run().
#pragma once

#include <atomic>
#include <functional>
#include <sys/types.h>

#include "block.hpp"

namespace emu::exec {

class BlockPool;

struct Worker {
    Worker();
    ~Worker();
    // The calling thread's; made when it has none. Registered with the current pool.
    static Worker& mine();

    void work_on(Launch& launch); // until no block of it is left

    // On a fiber: ends the block, with what went wrong (or nothing, when stopping).
    void leave(Trouble trouble) __attribute__((noreturn));
    // On a fiber: runs something that needs a deep stack on the thread's own.
    void on_thread_stack(const std::function<void()>& service);

    // Static shared variables of the running launch, as this thread sees them.
    const EmuVariable* shared_variable(uintptr_t address, EmuRange* range);
    // The address in shared memory of the running block with these low 32 bits; the bits themselves where none has.
    uintptr_t widen_shared(uint32_t low);
    // Where the block of a rank of this cluster has what this one has at an address; 0: none.
    uintptr_t map_shared(uintptr_t address, uint32_t rank);
    // The same for any block of the cluster, for checks: the range that holds the address.
    bool in_cluster(uintptr_t address, EmuRange* range, uint32_t* rank = nullptr) const;
    // Bytes at emu_thread.dynamic_shared up to the guard.
    size_t shared_room() const { return shared_bytes_; }
    bool is_on_fiber(uintptr_t stack_pointer) const
    {
        return current && stack_pointer >= current->stack_low &&
               stack_pointer < current->stack_high;
    }
    void forget_ranges(); // from any thread

    Block block{*this};
    StackSet stacks;
    Fiber* current = nullptr;       // not null: a kernel runs here
    bool on_fiber = false;          // and not on the thread's own stack, as for a report
    void* thread_sp = nullptr;      // of the thread's own stack, while fibers run
    Launch* launch = nullptr;
    std::shared_ptr<Cluster> cluster; // of the running block; null: it is alone
    uint32_t cluster_rank = 0;
    const ImageRecord* image = nullptr;
    EmuThread* state;               // emu_thread of this thread
    EmuDim3* thread_index;
    void* tile_slots[1024];         // of the threads of the block, see emu_tile_slots()
    Trouble trouble;
    int locked = 0;                 // above 0: a fault here is ours, not the kernel's
    pid_t tid = 0;
    BlockPool* pool = nullptr;

    // Of the monitor: what it saw at its last look.
    std::atomic<Launch*> working_on{nullptr};
    std::atomic<uint64_t> blocks_run{0};
    std::atomic<bool> repeats{false}; // a sample found a thread where and as it was before
    std::atomic<bool> sleeps{false};  // in a grid barrier: a signal would only wake it
    uint64_t seen_progress = 0;
    uint32_t seen_times = 0;

private:
    friend class Block;
    void enter(Fiber* first); // runs fibers until the block ends or is left
    void attach(Launch& launch);
    void detach();
    bool run_block(uint64_t number);
    void join_cluster(uint64_t number);
    void locate_shared();
    void report();
    bool reserve_shared(size_t bytes);

    const std::function<void()>* service_ = nullptr;
    void* shared_base_ = nullptr;
    size_t shared_bytes_ = 0;
    bool shared_located_ = false;
    std::vector<std::pair<EmuRange, const EmuVariable*>> shared_;
    void* signal_stack_ = nullptr;
};

// Hidden and in the initial-exec model, so that signal handlers may read it.
extern __thread Worker* this_worker __attribute__((tls_model("initial-exec"), visibility("hidden")));

// Keeps the fault handlers from abandoning a lock of ours; kernels are left only outside.
class Locked {
public:
    Locked() : worker_(this_worker)
    {
        if (worker_)
            ++worker_->locked;
    }
    ~Locked()
    {
        if (worker_)
            --worker_->locked;
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

private:
    Worker* worker_;
};

// The place of the call of an emu_* function, for reports.
#define EMU_CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

// Ends the launch from a kernel's thread.
void raise_fault(Trouble trouble) __attribute__((noreturn));

} // namespace emu::exec
