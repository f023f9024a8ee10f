// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The heap of each device that malloc() in kernels uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emu::exec {

// In kernel addresses. Given once per context; size 0 takes it away.
void set_heap(int device, uintptr_t base, size_t size);
uintptr_t heap_allocate(int device, size_t bytes); // 0: no room
// False: not the start of a live piece; `why` says what it is.
bool heap_release(int device, uintptr_t base, std::string* why);
std::string describe_heap_address(uintptr_t address, size_t size); // empty: not in a heap

} // namespace emu::exec
