// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA_EMULATOR_* variables, read once on first use. If a value is invalid, activate() raises its error, and
// cuInit() prints the error and fails.
#pragma once

#include <vector>

#include "common.hpp"

namespace emu {

// eager: worker threads start work as soon as its order allows. deterministic: work completes in the call that submits
// it. shuffle: unordered work runs in random order, when the host waits.
enum class Mode { eager, deterministic, shuffle };

struct Checks {
    bool memory = true;       // CHECK=memory; implied by the others
    bool initialized = false; // CHECK=initialized: reads of memory that was never written
    bool races = false;       // CHECK=races
    bool stack = false;       // CHECK=stack: red zones between a thread's arrays
    bool rows = false;        // CHECK=rows: indices outside a row of an array
    bool coverage = false;    // COVERAGE is set: count how often each line runs
    bool advice = false;      // ADVISE is set: count transactions, conflicts and divergent branches
    bool debug = false;       // DEBUG is set: compile for a debugger
    uint32_t bits() const; // as EMU_CHECK_*
    bool any() const { return bits() != 0; }
    // Returns true if kernels read the shadow inline, and call a function only for inaccessible memory.
    bool reads_shadow() const;
};

// A known finding, from a line of the file SUPPRESS: "data-race kernels.cu:12 # both threads store 1".
struct Suppression {
    std::string kind; // as in the report: see errors#KIND
    std::string file;
    int line = 0; // 0: any
    std::string reason;
};

struct Config {
    int devices = 2;                        // DEVICES, 0..8
    size_t memory = size_t(4) << 30;        // MEMORY per device: 4G, 512M, plain bytes
    int compute_major = 9, compute_minor = 0; // COMPUTE_CAPABILITY
    int driver_version = 13050;             // DRIVER_VERSION: 13.5 or 13050
    int threads = 0;                        // THREADS of the block pool; 0: all cores
    Mode mode = Mode::eager;                // MODE; shuffle:SEED
    Checks checks;             // CHECK=none, all, or a list of memory, sync, initialized, races, stack and rows
    int fill = 0xfd;           // FILL: the value of each byte of fresh memory
    Nanoseconds time_limit{0}; // TIME_LIMIT of a kernel in seconds; 0: none
    std::string fail;          // FAIL, see abi/planned_faults.hpp
    std::string coverage;      // COVERAGE: a directory for the counts of each process; empty: none
    std::string advise;        // ADVISE: a directory for the advice of each process; empty: none
    std::string debug;         // DEBUG: a directory for program sources; empty: none
    std::string report;        // REPORT: a directory for the findings of each process; empty: none
    int keep_going = 1;        // KEEP_GOING: a launch ends at this number of different findings
    std::vector<Suppression> suppressions; // SUPPRESS: a file
    std::string trace;         // TRACE: a path, "stderr", or empty
    bool leaks = false;        // LEAKS=1: report at exit
    std::string compiler;      // CXX
    std::string cache_dir;     // CACHE_DIR; "none" disables the cache
    std::string error;         // names the first invalid value and the allowed ones; empty: none
};

const Config& config();

const std::vector<int>& known_architectures(); // compute capabilities times 10

// The random order of Mode::shuffle, which can also be enabled later. A seed reproduces the same numbers.
bool is_shuffled();
void set_shuffle(uint64_t seed);
void end_shuffle(); // back to the configured mode
uint64_t next_choice();

} // namespace emu
