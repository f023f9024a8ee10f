// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Whether a thread that calls the device in a loop changes anything but memory: its registers and its stack.
#pragma once

#include <algorithm>

#include "fiber.hpp"
#include "machine.hpp"

namespace emu::exec {

struct SpinState {
    uint64_t registers[saved_count];
    uintptr_t frame; // of the called function; above it are the frames of the kernel

    uint64_t hash(const Fiber& fiber) const
    {
        uint64_t result = frame;
        for (uint64_t word : registers)
            result = mixed(result, word);
        constexpr uintptr_t most = 1024; // the innermost frames have what changes
        for (uintptr_t at = frame; at < std::min(frame + most, fiber.stack_high); at += 8)
            result = mixed(result, *reinterpret_cast<const uint64_t*>(at));
        return result;
    }

    void note(Fiber& fiber, uintptr_t mbarrier) const
    {
        FiberNotes& notes = fiber.notes();
        uint64_t hash = mixed(this->hash(fiber), mbarrier);
        notes.spins = hash == notes.state ? notes.spins + 1 : 0;
        notes.state = hash;
        notes.polled = true;
        notes.mbarrier = mbarrier;
    }
};

// The first statement of a function that a kernel calls.
#define EMU_SPIN_STATE \
    ({ \
        SpinState emu_state; \
        EMU_SAVED_REGISTERS(emu_state.registers); \
        emu_state.frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); \
        emu_state; \
    })

} // namespace emu::exec
