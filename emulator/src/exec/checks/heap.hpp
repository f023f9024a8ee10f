// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The heap of each device, for malloc() in kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emu::exec {

// Takes kernel addresses. Set once per context; size 0 removes the heap.
void set_heap(int device, uintptr_t base, size_t size);
uintptr_t heap_allocate(int device, size_t bytes, const std::string& kernel); // 0: no room
// Lists what was not freed, one line for each kernel.
std::string heap_leaks();
// Returns false, and the reason in `why`, if `base` is not the start of an allocation.
bool heap_release(int device, uintptr_t base, std::string* why);
std::string describe_heap_address(uintptr_t address, size_t size); // empty: not in a heap

} // namespace emu::exec
