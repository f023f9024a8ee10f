// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "carrier.hpp"

#include <utility>

// A definition needs the model again: without it, each use is compiled as a call.
EMU_TLS EmuThread emu_thread;
EMU_TLS EmuDim3 emu_thread_idx;
EMU_TLS EmuDim3 emu_block_idx;
EMU_TLS EmuDim3 emu_block_dim;
EMU_TLS EmuDim3 emu_grid_dim;

extern "C" __attribute__((noinline)) void emulator_fault(const char* title)
{
    asm volatile("" : : "r"(title));
}

namespace emu::exec {

EMU_TLS Carrier* this_carrier = nullptr;

// Including a few bytes in other units: a library loaded late gets little static thread-local storage.
static_assert(sizeof(EmuThread) + 4 * sizeof(EmuDim3) <= 400, "thread state is too large");

Carrier::Carrier() : state(&emu_thread), thread_index(&emu_thread_idx) {}

void Carrier::enter(Fiber* first)
{
    current = first;
    on_fiber = true;
    emu_fiber_begin(&thread_sp, StackSet::top_of(first));
    while (service_) {
        on_fiber = false;
        (*service_)();
        service_ = nullptr;
        on_fiber = true;
        emu_fiber_switch(&thread_sp, current->sp);
    }
    on_fiber = false;
}

void Carrier::leave(Trouble what)
{
    emulator_fault(title_of(what.kind));
    trouble = std::move(what);
    leave();
}

void Carrier::leave()
{
    emu_fiber_resume(thread_sp);
    __builtin_unreachable();
}

void Carrier::on_thread_stack(const std::function<void()>& service)
{
    service_ = &service;
    emu_fiber_switch(&current->sp, thread_sp);
}

void raise_fault(Trouble trouble)
{
    this_carrier->leave(std::move(trouble));
}

} // namespace emu::exec
