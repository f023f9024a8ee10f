// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "carrier.hpp"

#include <utility>

__thread EmuThread emu_thread;
__thread EmuDim3 emu_thread_idx;
__thread EmuDim3 emu_block_idx;
__thread EmuDim3 emu_block_dim;
__thread EmuDim3 emu_grid_dim;

namespace emu::exec {

__thread Carrier* this_carrier = nullptr;

// Including a few bytes in other units: a library loaded late gets little static thread-local storage.
static_assert(sizeof(EmuThread) + 4 * sizeof(EmuDim3) <= 400, "thread state is too large");

Carrier::Carrier() : state(&emu_thread), thread_index(&emu_thread_idx) {}

void Carrier::enter(Fiber* first)
{
    void* target = first->sp;
    current = first;
    for (;;) {
        on_fiber = true;
        emu_fiber_switch(&thread_sp, target);
        on_fiber = false;
        if (!service_)
            break;
        (*service_)();
        service_ = nullptr;
        target = current->sp;
    }
}

void Carrier::leave(Trouble what)
{
    trouble = std::move(what);
    emu_fiber_resume(thread_sp);
}

void Carrier::leave()
{
    emu_fiber_resume(thread_sp);
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
