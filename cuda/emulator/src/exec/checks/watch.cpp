// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The opt-in checks, which see every access that the check of addresses has allowed.
#include <algorithm>
#include <cstring>

#include "../worker.hpp"
#include "initialized.hpp"
#include "regions.hpp"
#include "report.hpp"
#include "shadow.hpp"

namespace emu::exec {
namespace {

std::string describe_shared(Worker& worker, uintptr_t address, size_t size)
{
    const EmuThread& state = *worker.state;
    auto dynamic = reinterpret_cast<uintptr_t>(state.dynamic_shared);
    if (address - dynamic < state.dynamic_shared_size)
        return describe_offset(address, size, dynamic, state.dynamic_shared_size, "dynamic shared memory");
    const SharedVariable& found = worker.shared_around(address).nearest;
    return describe_offset(address, size, found.first.low, found.second->size,
                           std::string("__shared__ ") + found.second->name);
}

// The earlier access of a race.
std::string describe_other(const Worker& worker, const Access& access)
{
    const Dim3& size = worker.launch->request.block;
    uint32_t row = access.thread / size.x;
    Dim3 thread{access.thread % size.x, row % size.y, row / size.y};
    const char* what = access.atomic ? "atomic access" : access.store ? "store" : "load";
    return std::string("\n  no barrier orders it after the ") + what + " by thread " + triple_text(thread) +
           "\n  at " + describe_place(worker, access.pc);
}

class Watch {
public:
    Watch(Worker& worker, uintptr_t address, size_t size, emu_u32 access, uintptr_t pc)
        : worker_(worker), address_(address), size_(size), access_(access), pc_(pc)
    {
    }

    void look()
    {
        const EmuThread& state = *worker_.state;
        shared_ = worker_.shared_index(address_, size_);
        if (state.checks & EMU_CHECK_INITIALIZED)
            check_contents();
        if (worker_.races)
            check_races();
    }

private:
    bool is_store() const { return access_ & EMU_ACCESS_STORE; }
    bool is_shared() const { return shared_ != Worker::not_shared; }

    void check_contents()
    {
        if (is_store())
            return is_shared() ? worker_.shared_contents.note_written(shared_, size_) : note_written(address_, size_);
        if (is_shared()) {
            // Other blocks of a cluster write without a trace.
            if (!worker_.cluster && !worker_.shared_contents.has_contents(shared_, size_))
                refuse(FaultKind::uninitialized, describe_shared(worker_, address_, size_));
        } else if (!has_contents(address_, size_)) {
            refuse(FaultKind::uninitialized, describe_address(address_, size_, true));
        }
    }

    void check_races()
    {
        uint32_t thread = worker_.state->linear;
        // Programs wait for volatile flags, so volatile accesses count as atomic.
        bool atomic = access_ & (EMU_ACCESS_ATOMIC | EMU_ACCESS_VOLATILE);
        uint32_t time = worker_.races->time_of(thread); // the atomic access itself belongs to what it orders
        if (atomic)
            worker_.races->order_by_atomic(thread, address_);
        if (!is_shared() || worker_.cluster)
            return;
        Access access{thread, time, pc_, atomic, is_store()};
        Access earlier = worker_.races->look(shared_, size_, access);
        if (earlier.thread == ~0u)
            return;
        PendingRace& pending = worker_.pending_race;
        if (!earlier.store || !access.store || size_ > sizeof pending.value)
            refuse_race(earlier);
        pending = {earlier, access, address_, uint32_t(size_), {}};
        std::memcpy(pending.value, reinterpret_cast<const void*>(address_), size_);
    }

    void refuse_race(const Access& earlier)
    {
        refuse(FaultKind::race, describe_shared(worker_, address_, size_) + describe_other(worker_, earlier));
    }

    void refuse(FaultKind kind, std::string text)
    {
        Trouble trouble;
        trouble.kind = kind;
        trouble.pc = pc_;
        trouble.address = address_;
        trouble.size = emu_u32(size_);
        trouble.store = is_store();
        trouble.text = std::move(text);
        raise_fault(std::move(trouble));
    }

    Worker& worker_;
    uintptr_t address_;
    size_t size_;
    emu_u32 access_;
    uintptr_t pc_;
    size_t shared_ = Worker::not_shared;
};

} // namespace

void Worker::settle()
{
    PendingRace& pending = pending_race;
    if (pending.first.thread == ~0u || pending.second.thread != state->linear)
        return;
    Access first = pending.first;
    pending.first.thread = ~0u;
    if (std::memcmp(pending.value, reinterpret_cast<const void*>(pending.address), pending.size) == 0)
        return;
    Trouble trouble;
    trouble.kind = FaultKind::race;
    trouble.pc = pending.second.pc;
    trouble.address = pending.address;
    trouble.size = pending.size;
    trouble.store = true;
    trouble.text = describe_shared(*this, pending.address, pending.size) + describe_other(*this, first);
    raise_fault(std::move(trouble));
}

} // namespace emu::exec

using namespace emu::exec;

extern "C" void emu_watch(emu_uptr address, emu_size size, emu_u32 access, void* pc)
{
    Worker* worker = this_worker();
    if (!worker || !worker->current || !size)
        return;
    const Fiber& fiber = *worker->current;
    if (address >= fiber.stack_low && address < fiber.stack_high)
        return;
    if (worker->races)
        worker->settle();
    Watch(*worker, address, size, access, reinterpret_cast<uintptr_t>(pc)).look();
}
