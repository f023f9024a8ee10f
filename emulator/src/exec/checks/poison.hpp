// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Fresh memory is filled with a pattern (CUDA_EMULATOR_FILL), because a GPU's is not zero. Large device memory is filled
// piece by piece when a kernel or a copy touches it first, so memory that nobody touches costs nothing: until then its
// pages are closed where kernels access them, and the signal handler fills and opens them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu::exec {

// Describes the memory of a device, a file: where kernels access it, and where the library does.
void poison_arena(uintptr_t window, size_t size, std::byte* host, int file);
// Fills memory that was allocated just now. Called for device memory while no kernel can access it, or with `is_open`.
void poison_device(uintptr_t base, size_t size, bool is_open);
void poison_pinned(void* base, size_t size);
// Closes what is not filled yet, after the arena at `window` was opened.
void close_poisoned(uintptr_t window);
// Called before the library or another process accesses device memory. `overwrites`: all bytes get other values anyway.
void fill_poisoned(uintptr_t base, size_t size, bool overwrites);
// Called when device memory is freed: nothing of it is filled any more.
void forget_poisoned(uintptr_t base, size_t size, bool is_open);
// Called by the signal handler on a kernel's thread. Returns false if the page was not closed for this reason.
bool fill_on_fault(uintptr_t address);
bool is_device_memory(uintptr_t address); // where kernels access it

} // namespace emu::exec
