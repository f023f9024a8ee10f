// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Compiled once and linked into every module: what the compiler calls behind the program's
// back. A module's new and delete are its own; those of the host process stay untouched.
#pragma once
#pragma GCC system_header

#include "emulator_abi.h"
#include "emulator_checks.h"

typedef __SIZE_TYPE__ size_t;

#define EMU_OWN __attribute__((weak))
EMU_OWN void* operator new(size_t bytes) { return emu_malloc(bytes); }
EMU_OWN void* operator new[](size_t bytes) { return emu_malloc(bytes); }
EMU_OWN void operator delete(void* pointer) noexcept { emu_free(pointer); }
EMU_OWN void operator delete[](void* pointer) noexcept { emu_free(pointer); }
EMU_OWN void operator delete(void* pointer, size_t) noexcept { emu_free(pointer); }
EMU_OWN void operator delete[](void* pointer, size_t) noexcept { emu_free(pointer); }
extern "C" EMU_OWN void __cxa_pure_virtual() { emu_trap("a pure virtual function was called"); }
