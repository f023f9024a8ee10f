// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// NVRTC options, and their meaning here.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace emu::front {

struct Options {
    int architecture = 75;          // from compute_XX or sm_XX
    std::string suffix;             // "a" or "f"
    bool real_architecture = false; // sm_XX: also produce machine code
    bool relocatable = false;
    bool separate = false, whole = false, never_relocatable = false; // -dc, -dw, -rdc=false
    bool extensible = false;                                         // -ewp
    bool float128 = false, numba_debug = false;
    bool link_time = false;         // -dlto
    bool optix = false;
    bool debug = false;             // -G
    bool line_info = false;
    bool no_warnings = false;
    bool default_device = false;
    bool int128 = false;
    bool no_source_include = false;
    bool has_move = true; // declare std::move and std::forward
    bool fast_math = false;
    bool flush_denormals = false;
    bool fast_divide = false, fast_root = false;
    bool brief = false;
    bool error_numbers = true;
    bool warnings_are_errors = false;
    std::string create_pch, use_pch; // precompiled header files, which nobody reads
    int registers = 0;
    int standard = 17;
    std::vector<std::string> macros;   // "-DX=1", "-UX" in order
    std::vector<std::string> includes; // folders
    std::vector<std::string> pre_includes;
    std::set<int> suppressed, diagnosed_as_error, diagnosed_as_warning;

    std::string log; // errors and warnings about the options themselves
    bool valid = true;
};

Options read_options(const std::vector<std::string>& words);

} // namespace emu::front
