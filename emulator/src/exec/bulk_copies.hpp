// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What bulk copies of bytes and of tensor tiles share.
#pragma once

#include <string>

#include "device_include/emulator_bulk_copies.h"
#include "worker.hpp"

namespace emu::exec {

// The place of a call with file and line, for its reports.
#define EMU_SITE {EMU_CALLER, file, line}

[[noreturn]] void fail(const Site& site, const std::string& text, FaultKind kind = FaultKind::trap);
// `kind`: EMU_ACCESS_ATOMIC for mbarriers, which order threads; EMU_ACCESS_LATER for the target of a copy.
void check(uintptr_t address, size_t size, bool store, const Site& site, emu_u32 kind = 0);
// Returns the whole address of shared memory that may be given by its low 32 bits.
uintptr_t aligned_shared(emu_u64 given, uint32_t alignment, const char* what, const Site& site);
// Completes a copy at once, or when a thread waits for it.
void finish(const BulkCopy& copy);
void start(BulkCopy copy);

} // namespace emu::exec
