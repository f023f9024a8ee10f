// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA_EMULATOR_CHECK=races: accesses of two threads of a block to the same byte of shared memory, of which one is a
// store and neither is ordered before the other. Order comes from barriers, warp functions, and atomic functions on the
// same address. Each thread has a vector clock: what it knows of the other threads' times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace emu::exec {

// An access that a byte remembers.
struct Access {
    uint32_t thread = ~0u; // the number in the block; none: no access
    uint32_t time = 0;     // of that thread
    uintptr_t pc = 0;
    bool atomic = false, store = false;
};

class Races {
public:
    void begin(uint32_t threads, size_t shared_bytes);
    // Records an access; returns an earlier one that conflicts with it, or an access without a thread.
    Access look(size_t index, size_t size, const Access& access);
    uint32_t time_of(uint32_t thread) const { return clock(thread)[thread]; }

    // What orders threads. pass(): the thread goes on after the barrier.
    void arrive(uint32_t thread, uint32_t barrier);
    void complete(uint32_t barrier);
    void pass(uint32_t thread, uint32_t barrier);
    void meet(uint32_t warp, uint32_t lanes);
    void order_by_atomic(uint32_t thread, uintptr_t address);

private:
    using Clock = std::vector<uint32_t>;
    struct Byte {
        Access store, loads[2]; // loads of two different threads
    };
    struct Meeting {
        Clock arriving, released;
    };
    uint32_t* clock(uint32_t thread) { return clocks_.data() + size_t(thread) * threads_; }
    const uint32_t* clock(uint32_t thread) const { return clocks_.data() + size_t(thread) * threads_; }
    bool is_ordered(const Access& earlier, uint32_t thread) const
    {
        return earlier.thread == ~0u || earlier.thread == thread || clock(thread)[earlier.thread] > earlier.time;
    }
    void join(uint32_t* into, const uint32_t* from) const;

    uint32_t threads_ = 0;
    std::vector<uint32_t> clocks_; // threads_ rows of threads_ times
    std::vector<Byte> bytes_;
    std::vector<Meeting> barriers_;
    std::unordered_map<uintptr_t, Clock> atomics_;
};

} // namespace emu::exec
