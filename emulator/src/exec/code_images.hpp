// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Registered modules: their code, and which of their bytes kernels may access.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "exec.hpp"

namespace emu::exec {

struct Judgement {
    bool allowed = false;
    EmuRange range{}; // the surrounding addresses for which the answer holds
    std::string text; // what is there, if access is not allowed
    bool read_only = false;
    std::string name; // the variable's name
};

struct ImageRecord {
    Image image;
    uint64_t id = 0;
    std::unique_ptr<std::atomic<uint64_t>[]> counts; // for coverage: how often each code address was reported
    std::vector<const EmuVariable*> globals; // with a fixed address, sorted by it
    std::vector<const EmuTable*> tables; // constants and variables named by the compiler, sorted by address
    std::vector<const EmuVariable*> shared;  // at a different address in each OS thread

    bool has_code(uintptr_t pc) const { return pc >= image.code_low && pc < image.code_high; }
    // Returns false if the address is not in the image's data.
    bool judge(uintptr_t address, size_t size, Judgement* out) const;
    CodePlace place(uintptr_t pc) const; // empty without a symbolizer
};

std::shared_ptr<const ImageRecord> find_image(uint64_t id);
// Names the variable at or nearest to an address, in any image. Returns an empty string if there is none.
std::string describe_image_address(uintptr_t address, size_t size);
// Returns true if the address belongs to a __constant__ variable in any image.
bool is_constant(uintptr_t address);
// Formats an offset: "4 bytes past the end of the 64 bytes of __shared__ tile". `what` names the object.
std::string describe_offset(uintptr_t address, size_t size, uintptr_t base, size_t bytes, const std::string& what);
// Names the object next to a red zone: ", in the red zone before the 64 bytes of __shared__ tile".
std::string describe_red_zone(const char* side, size_t bytes, const std::string& what);

} // namespace emu::exec
