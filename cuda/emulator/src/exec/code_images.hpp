// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Registered modules: their code, and which of their bytes kernels may access.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec.hpp"

namespace emu::exec {

struct Judgement {
    bool allowed = false;
    EmuRange range{};     // around the address, of which the judgement is true
    std::string text;     // not allowed: what lies there
    bool read_only = false;
    std::string name;     // of the variable there
};

struct ImageRecord {
    Image image;
    uint64_t id = 0;
    std::vector<const EmuVariable*> globals; // with an address, sorted by it
    std::vector<const EmuVariable*> shared;  // located per thread

    bool has_code(uintptr_t pc) const { return pc >= image.code_low && pc < image.code_high; }
    // False when the address is none of the image's data.
    bool judge(uintptr_t address, size_t size, Judgement* out) const;
    CodePlace place(uintptr_t pc) const;     // empty when there is no symbolizer
};

std::shared_ptr<const ImageRecord> find_image(uint64_t id);
// Names the variable that holds or is nearest to an address of any image; empty: none.
std::string describe_image_address(uintptr_t address, size_t size);
// "4 bytes behind the 64 bytes of __shared__ tile"; `what` names the object.
std::string describe_offset(uintptr_t address, size_t size, uintptr_t base, size_t bytes, const std::string& what);

} // namespace emu::exec
