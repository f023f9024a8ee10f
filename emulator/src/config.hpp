// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA_EMULATOR_* variables, read once, on first use. A wrong value is reported on stderr with its name and the
// allowed range, and makes cuInit() fail.
#pragma once

#include <vector>

#include "common.hpp"

namespace emu {

// eager: work starts on worker threads as soon as its order allows; deterministic: it is done when the call that
// submits it returns; shuffle: work without an order runs in a random one, when the host waits.
enum class Mode { eager, deterministic, shuffle };

struct Checks {
    bool memory = true;       // CHECK=memory; the others include it
    bool initialized = false; // CHECK=initialized: reads of memory that nothing has written
    bool races = false;       // CHECK=races
    bool stack = false;       // CHECK=stack: red zones between the arrays of a thread
    bool rows = false;        // CHECK=rows: indices that leave a row of an array
    bool coverage = false;    // COVERAGE is set: count how often each line runs
    bool advice = false;      // ADVISE is set: count transactions, conflicts and divergent branches
    bool debug = false;       // DEBUG is set: compile for a debugger
    uint32_t bits() const; // as EMU_CHECK_*
    bool any() const { return bits() != 0; }
    // Kernels read the shadow in line, and call a function for closed memory only.
    bool reads_shadow() const;
};

struct Config {
    int devices = 2;                        // DEVICES, 0..8
    size_t memory = size_t(4) << 30;        // MEMORY per device: 4G, 512M, plain bytes
    int compute_major = 9, compute_minor = 0; // COMPUTE_CAPABILITY
    int driver_version = 13050;             // DRIVER_VERSION: 13.5 or 13050
    int threads = 0;                        // THREADS of the block pool; 0: all cores
    Mode mode = Mode::eager;                // MODE; shuffle:SEED
    Checks checks;             // CHECK=none, all, or a list of memory, sync, initialized, races, stack and rows
    Nanoseconds time_limit{0}; // TIME_LIMIT of a kernel in seconds; 0: none
    std::string fail;          // FAIL, see abi/planned_faults.hpp
    std::string coverage;      // COVERAGE: a folder for the counts of each process; empty: none
    std::string advise;        // ADVISE: a folder for the advice of each process; empty: none
    std::string debug;         // DEBUG: a folder for the sources of programs; empty: none
    std::string trace;         // TRACE: a path, "stderr", or empty
    bool leaks = false;        // LEAKS=1: report at exit
    std::string compiler;      // CXX
    std::string cache_dir;     // CACHE_DIR; "none" switches the cache off
    bool valid = true;         // no value was wrong
};

const Config& config();

const std::vector<int>& known_architectures(); // compute capabilities times 10

// The random order of Mode::shuffle, which can also be switched on later. A seed repeats the same numbers.
bool is_shuffled();
void set_shuffle(uint64_t seed);
void end_shuffle(); // back to the mode of the configuration
uint64_t next_choice();

} // namespace emu
