// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Compiled once and linked into every module: functions that the compiler calls implicitly. A module has its own new
// and delete; those of the host process are not affected.
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

// Which lanes of a warp execute a place in the source together (__activemask). The compiler may merge two calls into
// one, hence the line, or split one into two: then the lanes count as apart, as they may on a GPU. Lanes run one after
// another, so that each waits here until the others have arrived, have ended, or wait elsewhere. The first to continue
// closes the meeting; a warp can have a few meetings at different places at a time.
namespace emu {
struct Meeting {
    void* place;
    emu_u32 line, mask, turn, result[4];
};
static __thread Meeting meetings[32][4];
} // namespace emu

extern "C" EMU_NO_CHECK __attribute__((weak, visibility("hidden"), noinline)) emu_u32 emu_meet(const char*, emu_u32 line)
{
    void* place = __builtin_return_address(0);
    emu_u32 own = 1u << emu_thread.lane;
    emu::Meeting* meeting = nullptr;
    ++emu_thread.no_preempt;
    for (emu::Meeting& row : emu::meetings[emu_thread.warp & 31]) {
        if (row.mask && row.place == place && row.line == line) {
            meeting = &row;
            break;
        }
        if (!row.mask && !meeting)
            meeting = &row;
    }
    emu_u32 turn = meeting ? meeting->turn : 0;
    if (meeting) {
        meeting->place = place;
        meeting->line = line;
        meeting->mask |= own;
    }
    --emu_thread.no_preempt;
    if (!meeting)
        return own;
    emu_yield();
    if (meeting->turn == turn) {
        meeting->result[turn & 3] = meeting->mask;
        meeting->mask = 0;
        ++meeting->turn;
    }
    return meeting->result[turn & 3];
}
