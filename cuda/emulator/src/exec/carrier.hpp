// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// An OS thread that carries the fibers of a block: what scheduling, reports and the handlers of
// faults need to know of a worker.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "fiber.hpp"
#include "launch.hpp"

namespace emu::exec {

struct Carrier {
    Carrier();
    void enter(Fiber* first); // runs fibers until the block ends or is left
    // On a fiber: ends the block, with what went wrong (or nothing, when stopping).
    void leave(Trouble trouble) __attribute__((noreturn));
    // On a fiber: runs something that needs a deep stack on the thread's own.
    void on_thread_stack(const std::function<void()>& service);
    // In the handler of preemption, on the running fiber: lets other threads of the block run. `repeats`: the
    // fiber was seen with the same registers before.
    virtual void give_way(uintptr_t pc, bool repeats) = 0;
    bool is_on_fiber(uintptr_t stack_pointer) const
    {
        return current && stack_pointer >= current->stack_low && stack_pointer < current->stack_high;
    }

    StackSet stacks;
    Fiber* current = nullptr;       // not null: a kernel runs here
    bool on_fiber = false;          // and not on the thread's own stack, as for a report
    void* thread_sp = nullptr;      // of the thread's own stack, while fibers run
    Launch* launch = nullptr;
    std::shared_ptr<Cluster> cluster; // of the running block; null: it is alone
    const ImageRecord* image = nullptr;
    EmuThread* state;               // emu_thread of this thread
    EmuDim3* thread_index;
    Trouble trouble;
    int locked = 0;                 // above 0: a fault here is ours, not the kernel's

    // Read by the monitor.
    std::atomic<bool> repeats{false}; // a sample found a thread where and as it was before
    std::atomic<bool> sleeps{false};  // in a grid barrier: a signal would only wake it

protected:
    ~Carrier() = default;

private:
    const std::function<void()>* service_ = nullptr;
};

// Hidden and in the initial-exec model, so that signal handlers may read it.
extern __thread Carrier* this_carrier __attribute__((tls_model("initial-exec"), visibility("hidden")));

// Keeps the fault handlers from abandoning a lock of ours; kernels are left only outside.
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

// The place of the call of an emu_* function, for reports.
#define EMU_CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

// Ends the launch from a kernel's thread.
void raise_fault(Trouble trouble) __attribute__((noreturn));

} // namespace emu::exec
