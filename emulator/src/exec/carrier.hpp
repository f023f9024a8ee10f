// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The part of a worker that runs a block's fibers: everything the scheduler, reports and signal handlers need to know
// about an OS thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "async_copies.hpp"
#include "checks/advice.hpp"
#include "checks/races.hpp"
#include "fiber.hpp"
#include "late_copies.hpp"
#include "launch.hpp"

// Called where a kernel fails. Does nothing; gdb stops there and reads the title, see _gdb.py.
extern "C" EMU_EXPORT void emulator_fault(const char* title);

namespace emu::exec {

struct Carrier {
    Carrier();
    void enter(Fiber* first); // runs fibers until the block has ended or was left
    // Called on a fiber: leaves the block with a cause, or without one if the block has ended or the launch is
    // stopping.
    void leave(Trouble trouble) __attribute__((noreturn));
    void leave() __attribute__((noreturn));
    // Called on a fiber: runs a function that needs a deep stack on the OS thread's own stack.
    void on_thread_stack(const std::function<void()>& service);
    // Called by the preemption handler on the running fiber: lets other threads of the block run. `repeats` means that
    // an earlier sample had the same registers, so the thread is probably spinning.
    virtual void give_way(const Site& site, bool repeats) = 0;
    // Called before another fiber runs and, if races are checked, on the block's next access. Ends the launch if the
    // last store was one side of a race.
    virtual void settle() = 0;
    // For a block whose threads all wait or spin: returns true if nothing else can end that.
    virtual bool waits_forever() = 0;
    // Returns true if the kernel has run its last thread and is returning.
    bool has_ended() const { return state->linear >= state->end; }
    bool is_on_fiber(uintptr_t stack_pointer) const
    {
        return current && stack_pointer >= current->stack_low && stack_pointer < current->stack_high;
    }

    StackSet stacks;
    Fiber* current = nullptr; // the running fiber; null while no kernel runs
    bool on_fiber = false; // false while the OS thread's own stack is in use, for example for a report
    void* thread_sp = nullptr; // stack pointer of the OS thread, while fibers run
    Launch* launch = nullptr;
    std::shared_ptr<Cluster> cluster; // the running block's cluster; null if it has none
    const ImageRecord* image = nullptr;
    EmuThread* state; // the emu_thread variable of this OS thread
    EmuDim3* thread_index;
    Trouble trouble;
    Races* races = nullptr; // for the running block, if races are checked
    Advice* advice = nullptr; // likewise
    AsyncCopies copies;
    BulkCopies bulk_copies;
    bool is_stuck = false; // counted in Launch::stuck
    // A preemption signal arrived. The thread gives way before the next check: between a check and its access, others
    // would find an access that has not happened.
    volatile bool is_signaled = false;
    bool runs_in_step = false; // lanes of the running block meet before they access volatile memory
    uintptr_t watched_pc = 0; // of the access that this check is for
    int locked = 0; // if positive, this library holds a lock, so a fault here is not the kernel's

    // The monitor reads these.
    std::atomic<bool> repeats{false}; // a sample found a thread at the same place with the same registers as before
    std::atomic<bool> sleeps{false}; // in a grid barrier, where a signal would only wake the thread

protected:
    ~Carrier() = default;

private:
    const std::function<void()>* service_ = nullptr;
};

// Hidden, with the initial-exec model, so signal handlers can read it without a call.
extern __thread Carrier* this_carrier __attribute__((tls_model("initial-exec"), visibility("hidden")));

// Keeps faults from leaving the kernel, because the thread may hold one of our locks.
class Locked {
public:
    Locked() : carrier_(this_carrier)
    {
        if (carrier_)
            ++carrier_->locked;
    }
    ~Locked()
    {
        if (carrier_)
            --carrier_->locked;
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

private:
    Carrier* carrier_;
};

// The place from which a kernel calls an emu_* function, for reports.
#define EMU_CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

// Completes all bulk copies of the block. Returns false if there were none.
bool finish_bulk_copies(Carrier& carrier); // bulk_copies.cpp

// Ends the launch; called on a kernel thread.
void raise_fault(Trouble trouble) __attribute__((noreturn));

} // namespace emu::exec
