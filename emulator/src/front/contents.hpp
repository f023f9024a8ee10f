// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The contents of a host module, as read from its file: kernels, variables, and their offsets.
#pragma once

#include "elf.hpp"
#include "front.hpp"

namespace emu::front {

struct Contents {
    std::vector<KernelInfo> kernels;        // without entry points
    std::vector<uint64_t> entries;          // their offsets, parallel to `kernels`
    std::vector<GlobalInfo> globals;        // without addresses
    std::vector<uint64_t> addresses;        // their offsets
    std::vector<uint64_t> variable_records; // offset of every EmuVariable
    std::vector<ElfFile::Segment> segments;
    uint64_t module = 0; // offset of the EmuModule
    uint32_t architecture = 0;
    Error error;
};

// Precedes the names of PTX kernels in C++, where they could be keywords or names of our headers.
inline const std::string ptx_entry_prefix = "emu_ptx_entry_";
std::string demangled(const std::string& name); // a function name in readable form
Contents read_contents(const Bytes& file);
// The limit for the parameters of a kernel since compute capability 7.0 and CUDA 12.1, and before.
size_t parameter_limit();
Error check_parameters(const Contents& contents); // with the message of ptxas
// Returns false for a file that was not compiled for this version of the interface.
bool read_checks(const ElfFile& file, uint32_t* checks);
void forget_lines(const std::string& path); // called when the image is unloaded

} // namespace emu::front
