// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA_EMULATOR_CHECK=races: two accesses to the same byte of shared or global memory race if at least one is a store
// and neither is ordered before the other. Barriers, warp functions, and atomic functions on the same address order the
// threads of a block. Grid barriers, and fences with atomic or volatile accesses, order threads of different blocks.
// Turns order launches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "../exec.hpp"
#include "accesses.hpp"
#include "turns.hpp"

namespace emu::exec {

// What a thread knows about other threads, beyond its own block and warp: for each row, it has seen all accesses before
// a time. Rows are sorted by block, and by the thread, warp or whole block they describe.
struct Knowledge {
    using Row = std::pair<uint64_t, uint32_t>;
    std::vector<Row> rows;
    // The same for each thread of one block, because each atomic function on shared memory adds them all.
    uint32_t block = 0;
    std::vector<uint32_t> times;
    bool complete = false; // too much to remember, so everything counts as known

    bool knows(const Access& access) const;
    void add(const Knowledge& other);

private:
    void add_rows(const std::vector<Row>& more); // sorted
    std::vector<Row> rows_of_times() const;
};
// Not changed while several threads or addresses have it.
using KnowledgePtr = std::shared_ptr<Knowledge>;
void add(KnowledgePtr* to, const KnowledgePtr& more);

enum class Scope { block, device };

// The times of a running block's threads.
class Races {
public:
    Races();
    ~Races();
    // `number` is the block's number in its launch.
    void begin(std::shared_ptr<const Era> era, uint64_t number, uint32_t threads);
    void continue_in(std::shared_ptr<const Era> era); // after a grid barrier

    uint32_t block() const { return block_; }
    const Era& era() const { return *era_; }
    // Describes an access that a thread makes now.
    Access access_of(uint32_t thread, uintptr_t pc, bool store, bool atomic, bool narrow) const;
    // Records an access and returns a conflicting earlier one, if any. Conflicts of a store are left to settle(): the
    // store has not happened yet, and storing the value that is already there is not a race.
    Access check(uintptr_t address, size_t size, Access access, bool shared);
    // Whether the next access is one of a PTX module, to which the rules of is_harmless() apply.
    void set_together(bool together) { together_ = together; }
    void remember_load(const Access& access, uintptr_t address, size_t size);
    // `done`: the store has already happened.
    Access check_cells(uintptr_t address, size_t size, Access access, bool shared, bool done);
    // Called by a thread after a store. Returns a conflicting access, if any.
    Access settle();
    bool has_news() const { return last_.size || atomic_; } // a store to settle, or acquire_again() has something to do
    struct Store {
        Access access, conflict, previous[4]; // previous: the preceding store in each cell
        uintptr_t address = 0;
        size_t size = 0; // 0: none
        bool shared = false;
        unsigned char value[16] = {}; // the value before the store
    };
    const Store& last_store() const { return last_; }
    void ignore_allocation(uintptr_t address, size_t size) { allocations_[0] = {{address, address + size}, Access()}; }

    // The functions that order threads. `waits` means that the thread continues when the barrier completes; otherwise
    // it calls pass() if it waits later.
    void arrive(uint32_t thread, uint32_t barrier, bool waits);
    void complete(uint32_t barrier);
    void pass(uint32_t thread, uint32_t barrier);
    void meet(uint32_t warp, uint32_t lanes);
    KnowledgePtr released(uint32_t barrier) const; // what the threads knew that arrived at it
    Access stored_in_launch(uintptr_t address, size_t size); // since its last grid barrier
    void learn(uint32_t thread, const KnowledgePtr& more) { add(&threads_[thread].known.more, more); }
    // Called when all threads of a block of a cluster have exited. Returns another block's access to its shared memory
    // that nothing orders before, if any.
    Access end(uintptr_t address, size_t size);
    void fence(uint32_t thread, Scope scope);
    // An atomic or volatile access. Through this address a thread passes on what it knew at its last fence. With
    // `release`, and in shared memory, it passes on what it knows now.
    void order_by_atomic(uint32_t thread, uintptr_t address, bool shared, bool store, bool release, Scope scope);
    // Called by a thread after an atomic access, because other blocks may have passed something on between the call of
    // order_by_atomic() and the access itself.
    void acquire_again();

private:
    struct Known {
        uint32_t block = 0, warp = 0; // all accesses of the thread's own block, and warp, before this time
        KnowledgePtr more;
    };
    struct Fenced {
        Known known;
        uint32_t time = 0; // of the fence; 0: none
    };
    struct Thread {
        uint32_t time = 1;
        bool unfenced = false; // has stored to global memory since its last device fence
        Known known;
        Fenced fenced[2]; // indexed by Scope
        uint32_t after_fence = 0; // the time that began with the last fence
    };
    // The last loads of a thread by PTX modules.
    struct Loads {
        struct Row {
            uintptr_t address = 0;
            size_t size = 0;
            uint64_t half_pc = 0;
        };
        Row rows[64];
        unsigned next = 0;
    };
    struct Meeting {
        std::vector<uint32_t> waiting;
        KnowledgePtr arrived, released; // by threads that do not wait
        bool split = false;
    };
    KnowledgePtr snapshot(uint32_t thread, const Known& known, uint32_t time) const;
    void publish_near(KnowledgePtr* to, uint32_t thread) const;
    bool is_ordered(const Access& earlier, const Access& now, bool shared);
    bool follows(uint32_t block);
    bool look_up_order(uint32_t block);
    bool is_harmless(const Access& earlier, const Access& now, uintptr_t address) const;
    bool conflicts(const Access& earlier, const Access& now, bool shared);
    bool note(Cell& cell, uintptr_t address, const Access& access, bool shared, Access* earlier);
    const Access& allocation_at(uintptr_t address);
    Cell* cell(uintptr_t address);
    void begin_store(uintptr_t address, size_t size, const Access& access, bool shared);
    void silence(uintptr_t address, const Access& previous);
    Access look_until_settled(uintptr_t address, size_t size, const Access& access, bool shared);
    bool is_stored_elsewhere(uintptr_t address, size_t size);
    bool wait_for_stores(uintptr_t address, size_t size);
    bool is_storing(uintptr_t address, size_t size) const
    {
        return pending_.load() && pending_.load() / 16 <= (address + size - 1) / 16 && pending_.load() / 16 >= address / 16;
    }
    void gather(const std::vector<uint32_t>& threads, bool whole_block, bool whole_warp);

    std::shared_ptr<const Era> era_;
    uint64_t number_ = 0;
    uint32_t block_ = 0; // its number in the process
    uint32_t clock_ = 1;
    bool in_cluster_ = false; // other blocks access the shared memory of this one
    std::vector<Thread> threads_;
    std::vector<Meeting> barriers_;
    std::vector<Loads> loads_; // by thread, or empty
    std::unordered_map<uintptr_t, KnowledgePtr> shared_atomics_;
    Store last_;
    bool together_ = false;
    bool settled_ = true; // the state of the store that the last load conflicts with
    uintptr_t atomic_ = 0; // the address of the last atomic access to global memory, until acquire_again()
    uint32_t atomic_thread_ = 0;
    // For blocks on other OS threads: the address of a store that has not been settled, and whether it waits for theirs.
    std::atomic<uintptr_t> pending_{0};
    std::atomic<bool> waiting_{false};
    struct Answer {
        uint32_t first = 0, blocks = 0;
        bool follows = false;
    };
    Answer answers_[4]; // about the eras of other launches
    unsigned next_answer_ = 0;
    struct Allocation {
        EmuRange range{0, 0};
        Access access; // of all bytes; none: an allocation that orders nothing
    };
    Allocation allocations_[4]; // that were looked up last
    unsigned next_allocation_ = 0;
    struct Chunk {
        uintptr_t number = ~uintptr_t(0);
        Cell* cells = nullptr;
    };
    Chunk chunks_[16]; // recently used, hashed by number because arrays are often a power of two apart
};

// Returns true if kernels or copies have stored to the byte, in blocks with this number or a later one.
bool stored_since(uintptr_t address, uint32_t block);
// Returns a load of the byte by the kernel that an item of a queue has launched, if it is one of the last.
Access loaded_by(uintptr_t address, uint64_t queue, uint64_t number);
// Checks a copy, fill or free, made by the calling thread's operation, that accesses device memory.
// take_transfer_race() returns the race, or the other fault, if any.
enum class Transfer { load, store, release };
void check_transfer(uintptr_t address, size_t size, Transfer transfer);
// Called for memory that is allocated in the order of a stream: what uses it has to follow the turn.
void order_allocation(uintptr_t base, Turn turn);
void fail_transfer(FaultKind kind, const std::string& what);
std::string take_transfer_race();

} // namespace emu::exec
