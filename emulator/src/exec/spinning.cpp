// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Threads that let others run: which of them take the next step together, and whether all of them wait forever.
#include <algorithm>
#include <utility>

#include "block.hpp"

namespace emu::exec {

// In each warp, the lanes that went back in the code least often, and of these the ones at the first place, are behind
// the others, and take the next step. Lanes that skip a branch in a loop wait in this way for those that take it.
void Block::begin_steps()
{
    uint64_t first[32];
    std::fill(std::begin(first), std::end(first), ~uint64_t(0));
    for (const Fiber* fiber = stepping_.head; fiber; fiber = fiber->next)
        first[fiber->linear / 32] = std::min(first[fiber->linear / 32], fiber->notes().step);
    FiberQueue all = std::exchange(stepping_, FiberQueue());
    while (Fiber* fiber = all.pop())
        (fiber->notes().step == first[fiber->linear / 32] ? ready_ : stepping_).push(fiber);
}

bool Block::all_wait(const Fiber* self, bool* on_mbarriers) const
{
    uint32_t count = 0;
    *on_mbarriers = true;
    for (const Fiber* fiber : carrier_.stacks.fibers()) {
        bool spins = fiber == self || fiber->wait == Wait::yield;
        if (spins && fiber->notes().spins < spins_to_wait)
            return false;
        *on_mbarriers = *on_mbarriers && (!spins || fiber->notes().mbarrier);
        count += spins || fiber->wait != Wait::none;
    }
    for (const Fiber* fiber = ready_.head; fiber; fiber = fiber->next)
        if (fiber->wait != Wait::yield) // it was released
            return false;
    return started() == threads_ && count == in_use();
}

// A thread spins. If all threads of the block wait or spin, they do so forever, unless someone else changes memory. For
// mbarriers that is nobody, or another block of the cluster.
void Block::check_stuck(Fiber* self)
{
    constexpr uint32_t seldom = 64;
    if (self->notes().polled && self->notes().spins % seldom != spins_to_wait) // otherwise it was preempted, which is seldom
        return;
    bool on_mbarriers = false;
    if (!all_wait(self, &on_mbarriers)) {
        stuck_since_ = 0;
        return launch_->leave_stuck(&carrier_.is_stuck);
    }
    constexpr int64_t patience = 50'000'000;
    int64_t now = Clock::now().time_since_epoch().count();
    if (!stuck_since_)
        stuck_since_ = now;
    if (now - stuck_since_ < patience)
        return;
    launch_->enter_stuck(&carrier_.is_stuck);
    if (finish_bulk_copies(carrier_)) // a thread may look at their bytes only
        return;
    if (!(on_mbarriers && !carrier_.cluster) && !carrier_.waits_forever())
        return;
    self->wait = Wait::yield;
    Trouble trouble = stuck();
    trouble.kind = FaultKind::deadlock;
    carrier_.leave(std::move(trouble));
}

} // namespace emu::exec
