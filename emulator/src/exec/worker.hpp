// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// An OS thread that runs blocks: a pool helper, or the caller of run().
#pragma once

#include <atomic>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "block.hpp"
#include "carrier.hpp"
#include "checks/initialized.hpp"

namespace emu::exec {

struct Worker;

// A static shared variable and its location, with its red zone, in an OS thread's memory.
using SharedVariable = std::pair<EmuRange, const EmuVariable*>;

// The static shared variable at or nearest to an address. If the address is in a red zone between two variables,
// `adjacent` is the other one.
struct SharedAround {
    SharedVariable nearest, adjacent;
};

// What the running thread has said of its next access, see emu_next_scope().
struct NextAccess {
    Scope scope = Scope::device;
    bool together = false, swap = false;
    bool release = false; // of a store: has release or stronger order
};

// A store by a kernel that marks its unwritten variables. Its value is checked when it has happened.
struct MarkedStore {
    uintptr_t address = 0, pc = 0;
    uint32_t size = 0, thread = 0; // size 0: none
};

// The part of its pool that a worker calls.
class WorkerPool {
public:
    virtual void remove(Worker& worker) = 0; // called when its thread exits
    virtual bool crowded() const = 0;        // more threads run than there are cores
    virtual void forget_all_ranges() = 0;    // a range was closed
    virtual bool is_alone() = 0;             // no other launch runs

protected:
    ~WorkerPool() = default;
};

struct Worker final : Carrier {
    Worker();
    ~Worker();

    void work_on(Launch& launch); // until it has no blocks left
    void give_way(const Site& site, bool repeats) override;
    void settle() override;
    void check_stored(); // whether the last marked store was of an unwritten variable
    bool gives_way_at(uintptr_t pc); // returns true if a preemption signal has arrived, before an access at this place
    void watch(uintptr_t address, size_t size, uint32_t access, uintptr_t pc); // the opt-in checks of an access
    bool waits_forever() override;

    SharedAround shared_around(uintptr_t address);
    // Numbers the bytes of the block's shared memory for the opt-in checks. Returns not_shared for other memory.
    static constexpr size_t not_shared = ~size_t(0);
    size_t shared_index(uintptr_t address, size_t size)
    {
        size_t index = state->dynamic_shared_size;
        uintptr_t offset = address - reinterpret_cast<uintptr_t>(state->dynamic_shared);
        if (offset < index && size <= index - offset)
            return offset;
        locate_shared();
        for (const SharedVariable& entry : shared_) {
            size_t bytes = entry.second->size;
            offset = address - entry.first.low;
            if (offset < bytes && size <= bytes - offset)
                return index + offset;
            index += bytes;
        }
        return not_shared;
    }
    // Returns the address in the running block's shared memory that has these low 32 bits (PTX uses such addresses), or
    // `low` itself if there is none. `mask`: the bits that are known.
    uintptr_t widen_shared(uint32_t low, uint32_t mask = ~0u);
    // Returns the address of the same shared variable in another block of the cluster, or 0 if there is none.
    uintptr_t map_shared(uintptr_t address, uint32_t rank);
    // For checks: returns true, with the range and rank, if an address is shared memory of any block of the cluster.
    bool in_cluster(uintptr_t address, EmuRange* range, uint32_t* rank = nullptr, bool* ended = nullptr) const;
    // Bytes from emu_thread.dynamic_shared up to the guard.
    size_t shared_room() const { return shared_bytes_; }
    void forget_ranges(); // called on any thread

    Block block{*this};
    SharedContents shared_contents;
    NextAccess next;
    MarkedStore stored;
    uint32_t cluster_rank = 0;
    void* tile_slots[1024];        // one per thread of the block, see emu_tile_slots()
    uint32_t cluster_tokens[1024]; // of each thread's last arrival at the cluster barrier
    pid_t tid = 0;
    WorkerPool* pool = nullptr;

    // Written by the monitor: its observations at its last check.
    std::atomic<Launch*> working_on{nullptr};
    std::atomic<uint64_t> blocks_run{0};
    uint64_t seen_progress = 0;
    uint32_t seen_times = 0;

private:
    void attach(Launch& launch);
    void detach();
    void open_shared(bool open); // while a launch runs, for kernels that read the fixed shadow
    bool run_block(uint64_t number);
    void begin_checks(uint64_t number);
    void poison_shared();
    void join_cluster(uint64_t number);
    bool end_in_cluster(uint64_t number);
    void locate_shared()
    {
        if (!shared_located_)
            find_shared();
    }
    void find_shared();
    void report();
    bool reserve_shared(size_t bytes);

    void* shared_base_ = nullptr;
    size_t shared_bytes_ = 0;
    bool shared_located_ = false;
    std::vector<SharedVariable> shared_;
    void* signal_stack_ = nullptr;
    Races all_races_;
    Advice all_advice_;
};

// Returns the calling thread's worker, or null if the thread runs no kernels.
inline Worker* this_worker()
{
    return static_cast<Worker*>(this_carrier);
}

} // namespace emu::exec
