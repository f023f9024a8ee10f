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
// submits it returns; shuffle: eager, and work without an order runs in a random one.
enum class Mode { eager, deterministic, shuffle };

struct Checks {
    bool memory = true;    // CHECK=memory
    uint32_t bits() const; // as EMU_CHECK_*
    bool any() const { return bits() != 0; }
};

struct Config {
    int devices = 2;                        // DEVICES, 0..8
    size_t memory = size_t(4) << 30;        // MEMORY per device: 4G, 512M, plain bytes
    int compute_major = 9, compute_minor = 0; // COMPUTE_CAPABILITY
    int driver_version = 13050;             // DRIVER_VERSION: 13.5 or 13050
    int threads = 0;                        // THREADS of the block pool; 0: all cores
    Mode mode = Mode::eager;                // MODE; shuffle:SEED
    uint64_t seed = 0;
    Checks checks;             // CHECK=memory|none
    Nanoseconds time_limit{0}; // TIME_LIMIT of a kernel in seconds; 0: none
    std::string fail;          // FAIL, see abi/planned_faults.hpp
    std::string trace;         // TRACE: a path, "stderr", or empty
    bool leaks = false;        // LEAKS=1: report at exit
    std::string compiler;      // CXX
    std::string cache_dir;     // CACHE_DIR; "none" switches the cache off
    bool valid = true;         // no value was wrong
};

const Config& config();

const std::vector<int>& known_architectures(); // compute capabilities times 10

} // namespace emu
