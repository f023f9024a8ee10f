// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA_EMULATOR_ADVISE: what slows a kernel down on a GPU, by source line. Because the threads of a block run in turn,
// the n-th visit of each lane of a warp to a place in the code counts as one warp request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "../exec.hpp"
#include "../fiber.hpp"

namespace emu::exec {

// The totals for one place in the code.
struct AdviceRow {
    struct Global {
        uint64_t requests = 0, sectors = 0, least = 0; // sectors of 32 bytes; least: sectors that the values fill
    };
    Global loads, stores;
    uint64_t shared_requests = 0, conflicts = 0;           // conflicts: passes beyond the number that the size requires
    uint64_t branches = 0, divergent = 0;                  // visits by warps, and those where lanes diverged
    uintptr_t branch_pc = 0;                               // the end of the code before the branch
    void add(const AdviceRow& other);
};

// The activity of the running block.
class Advice {
public:
    void begin(uint64_t image, uint32_t threads); // 0: none
    void access(uint32_t thread, uintptr_t pc, uintptr_t address, size_t size, bool store, bool shared, bool atomic);
    // A thread begins a basic block. `frame` distinguishes the functions it has called.
    void enter(uint32_t thread, uintptr_t frame, uintptr_t pc);
    void barrier(const Site& site); // of all threads
    void end();

private:
    enum Kind : uint64_t { global_load, global_store, shared_access, branch };
    struct Request {
        uint32_t lanes = 0, size = 0;
        uintptr_t values[32]; // addresses, or for branches the next basic blocks
    };
    struct Place {
        uint32_t times[32] = {}, first = 0; // first: the number of pending[0]
        std::deque<Request> pending;
    };
    struct Frame {
        uintptr_t frame, pc;
    };
    // The threads that have accessed a 4-byte cell between two barriers.
    static constexpr uint32_t nobody = ~0u, several = ~1u;
    struct Users {
        uint32_t store = nobody, load = nobody;
    };
    using Interval = std::unordered_map<uintptr_t, Users>;

    void add(Kind kind, uint32_t thread, uintptr_t pc, uintptr_t value, size_t size);
    void finish(Kind kind, uintptr_t pc, const Request& request);
    void judge_barrier();

    uint64_t image_ = 0;
    uint32_t threads_ = 0;
    std::unordered_map<uint64_t, Place> places_; // by kind, warp and address of the code
    std::unordered_map<uintptr_t, AdviceRow> rows_;
    std::vector<std::vector<Frame>> frames_; // of each thread
    Interval before_, now_;                  // around the barrier
    Site barrier_;
};

// Finds the source lines for an image's totals, and writes the process's totals to the CUDA_EMULATOR_ADVISE directory.
void finish_advice(uint64_t image, const std::function<CodePlace(uintptr_t pc)>& place_of);

} // namespace emu::exec
