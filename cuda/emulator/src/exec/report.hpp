// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The words of reports.
#pragma once

#include <string>
#include <vector>

#include "launch.hpp"

namespace emu::exec {

struct Worker;
struct Fiber;

// Threads that wait for the same at the same line.
struct Waiting {
    std::string what;
    CodePlace place;
    uintptr_t pc = 0;
    std::vector<const Fiber*> fibers; // one for each thread
};

// Who of the block waits at a barrier; of everything that waits: any_barrier.
constexpr uint32_t any_wait = ~0u;
std::vector<Waiting> waiting_places(const Worker& worker, uint32_t barrier);
void add_place(const Worker& worker, std::vector<Waiting>* places, const Fiber& fiber, uintptr_t pc);
bool are_different_lines(const std::vector<Waiting>& places);
std::string list_places(const std::vector<Waiting>& places);

std::string collective_name(const EmuWarpCall& call);

Fault make_fault(const Worker& worker, const Trouble& trouble);
// Of no thread in particular; the details are for a lack of resources or a trap.
Fault make_fault(const Launch& launch, FaultKind reason, const std::string& details);

} // namespace emu::exec
