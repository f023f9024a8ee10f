// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The text of fault reports.
#pragma once

#include <string>
#include <vector>

#include "../carrier.hpp"

namespace emu::exec {

// Threads that wait for the same barrier at the same line.
struct Waiting {
    std::string what;
    CodePlace place;
    Site site;
    std::vector<const Fiber*> fibers; // one for each thread
};

// Lists the block's threads waiting at a barrier, or at any barrier with any_wait.
constexpr uint32_t any_wait = ~0u;
std::vector<Waiting> waiting_places(const Carrier& carrier, uint32_t barrier);
void add_place(const Carrier& carrier, std::vector<Waiting>* places, const Fiber& fiber, const std::string& what);
void keep_warp(std::vector<Waiting>* places, uint32_t warp);
std::string list_places(const std::vector<Waiting>& places);

std::string collective_name(const EmuWarpCall& call);
std::string barrier_name(uint32_t id);

// Prints a fault that does not end the kernel, once per kernel and process.
void warn_once(const Carrier& carrier, const Fiber& fiber, const std::string& details);

const char* finding_name(FaultKind kind); // such as "data-race"; empty for what is no finding
std::string see(FaultKind kind); // the last line of a report, which refers to the documentation

std::string triple_text(const Dim3& triple);
// In shared memory.
std::string describe_mbarrier(uintptr_t address);
// Describes a return address: "file.cu:12 in kernel", with the source text on a second line.
std::string describe_place(const ImageRecord* image, uintptr_t pc);
// The same for a call of the device, which knows its file and line.
std::string describe_site(const ImageRecord* image, const Site& site);

Fault make_fault(const Carrier& carrier, const Trouble& trouble);
// Creates a fault that concerns no single thread. `details` is used for lack of resources and for traps.
Fault make_fault(const Launch& launch, FaultKind reason, const std::string& details);

} // namespace emu::exec
