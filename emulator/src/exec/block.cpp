// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "block.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "checks/report.hpp"

namespace emu::exec {

// ------------------------------------------------------------------------ whole block

void Block::begin(uint64_t number)
{
    launch_ = carrier_.launch;
    const LaunchRequest& request = launch_->request;
    size_ = {request.block.x, request.block.y, request.block.z};
    threads_ = launch_->threads;
    set_started(0);
    ++serial_;
    carrier_.runs_in_step = false;
    stuck_since_ = 0;
    in_use_.store(0, std::memory_order_relaxed);
    next_place_ = {};
    step_ = 1, first_ = 0;
    ordered_ = !request.seed;
    if (request.seed) {
        uint64_t mixed = (request.seed + number) * 0x9e3779b97f4a7c15u;
        first_ = uint32_t(mixed >> 8) % threads_;
        step_ = uint32_t(mixed >> 32) % threads_ | 1;
        while (std::gcd(step_, threads_) != 1)
            ++step_;
    }
    uint32_t warps = (threads_ + 31) / 32;
    for (uint32_t i = 0; i + 1 < warps; ++i)
        warps_[i].live = ~0u;
    warps_[warps - 1].live = ~0u >> (warps * 32 - threads_);
    Dim3 index = launch_->order.index(number);
    emu_block_idx = {index.x, index.y, index.z};
    const LaunchRequest& launched = launch_->request;
    emu_thread.smid = launched.partition ? (*launched.partition)[number % launched.partition->size()]
                                         : uint32_t(number % launched.multiprocessors);
    cluster_base_ = barriers_[cluster_barrier].generation;
}

bool Block::run(uint64_t number)
{
    begin(number);
    if (Fiber* first = fresh())
        carrier_.enter(first);
    else
        carrier_.trouble = stuck();
    bool done = carrier_.trouble.kind == FaultKind::none && live() == 0;
    if (!done) {
        leave_quiet(); // saves the thread's state into its fiber, where the report reads it
        carrier_.trouble.ended = ended();
    } else {
        carrier_.current = nullptr;
    }
    return done;
}

// Discards the fibers after a fault, without resuming them.
void Block::abandon()
{
    carrier_.current = nullptr;
    ready_ = yielded_ = stepping_ = FiberQueue{};
    open_ = 0;
    plain_file_ = this;
    for (Barrier& barrier : barriers_)
        barrier = Barrier{};
    for (Warp& warp : warps_)
        warp.waiting = 0;
    for (Fiber* fiber : carrier_.stacks.fibers())
        fiber->wait = Wait::none;
    carrier_.stacks.release_all();
}

// ------------------------------------------------------------------------ one thread

inline void Block::save(Fiber* self)
{
    self->be_thread({uint16_t(emu_thread_idx.x), uint16_t(emu_thread_idx.y), uint16_t(emu_thread_idx.z),
                     uint16_t(emu_thread.linear)});
}

inline ThreadPlace Block::following(ThreadPlace place) const
{
    ++place.linear;
    if (++place.x == size_.x) {
        place.x = 0;
        if (++place.y == size_.y)
            place.y = 0, ++place.z;
    }
    return place;
}

ThreadPlace Block::place_of(uint32_t number) const
{
    uint32_t row = number / size_.x;
    return {uint16_t(number % size_.x), uint16_t(row % size_.y), uint16_t(row / size_.y), uint16_t(number)};
}

// Starts the next thread on the running fiber. In quiet mode that is the only fiber in use, so all earlier threads have
// exited, in order. The kernel can then run the rest of the block without recording each exit (see leave_quiet()).
EmuStart Block::begin_thread()
{
    Fiber* self = carrier_.current;
    uint32_t number = started();
    bool quiet = ordered_ && in_use() == 0;
    set_started(number + 1);
    set_in_use(in_use() + 1);
    if (__builtin_expect(ordered_, 1)) {
        self->be_thread(next_place_);
        next_place_ = following(next_place_);
    } else {
        self->be_thread(place_of(uint32_t((first_ + uint64_t(number) * step_) % threads_)));
    }
    restore(self);
    if (quiet) {
        settled_ = number;
        quiet_.store(true, std::memory_order_relaxed);
        emu_thread.end = threads_;
    }
    return {launch_->request.entry, launch_->parameters.data()};
}

// Leaves quiet mode. Before anything else reads them, this records the things the kernel skipped: the exited threads,
// the next index and the state of the running thread. After a signal the index may still be the previous thread's.
void Block::leave_quiet()
{
    if (!quiet_)
        return;
    EmuThread& state = *carrier_.state;
    set_started(started());
    state.end = state.row_end = started();
    ThreadPlace place = place_of(state.linear);
    *carrier_.thread_index = {place.x, place.y, place.z};
    carrier_.current->be_thread(place);
    next_place_ = following(place);
    for (uint32_t first = settled_, last = started() - 1; first < last;) {
        uint32_t end = std::min(last, (first | 31) + 1);
        warps_[first >> 5].live &= ~(emu_u32((uint64_t(1) << (end - first)) - 1) << (first & 31));
        first = end;
    }
}

ThreadPlace Block::blame(uint32_t thread)
{
    leave_quiet();
    ThreadPlace running = *carrier_.current;
    carrier_.current->be_thread(place_of(thread));
    return running;
}

// The fiber of the exited thread is already back in the set, so no new thread may start on it here.
inline void* Block::next_after_end()
{
    Fiber* next = nullptr;
    if (!launch_->stopping.load(std::memory_order_relaxed)) {
        next = ready_.pop();
        if (!next)
            next = pick_suspended();
        if (!next && live() != 0)
            carrier_.trouble = stuck();
    }
    if (!next)
        return carrier_.thread_sp;
    carrier_.current = next;
    fetch_ahead();
    restore(next);
    return next->sp;
}

// Records the exit of the running thread if it concerns no other thread, and one that was released from a barrier is
// next. Returns what to continue with, or null if it is not so.
inline void* Block::end_plainly()
{
    Fiber* next = ready_.head;
    Warp& warp = warps_[EMU_WARP];
    if (!next || quiet_.load(std::memory_order_relaxed) || open_ || warp.waiting || carrier_.races ||
        rotate.load(std::memory_order_relaxed) || launch_->stopping.load(std::memory_order_relaxed))
        return nullptr;
    set_in_use(in_use() - 1);
    warp.live &= ~(1u << EMU_LANE);
    carrier_.stacks.release(carrier_.current);
    carrier_.current = next;
    ready_.head = next->next;
    fetch_ahead();
    restore(next);
    return next->sp;
}

void Block::end_with_others()
{
    Fiber* self = carrier_.current;
    if (__builtin_expect(carrier_.state->checks > EMU_CHECK_MEMORY, 0))
        carrier_.settle();
    if (quiet_ && started() == threads_) { // nothing reads what leave_quiet() would record
        set_started(threads_);
        set_in_use(0);
        carrier_.stacks.release(self);
        return emu_fiber_resume(next_after_end());
    }
    leave_quiet();
    set_in_use(in_use() - 1);
    warps_[EMU_WARP].live &= ~(1u << EMU_LANE);
    if (in_use() != 0 && (open_ || warps_[EMU_WARP].waiting))
        settle_after_end(self);
    // Threads released from a barrier go first, which keeps few stacks in use; pick() explains the exception.
    if (started() < threads_ && (!ready_.head || rotate.load(std::memory_order_relaxed)) &&
        !launch_->stopping.load(std::memory_order_relaxed))
        return emu_fiber_restart(StackSet::top_of(self));
    carrier_.stacks.release(self);
    emu_fiber_resume(next_after_end());
}

// Records the exit of the running thread, and continues with another.
void Block::end_thread()
{
    if (void* next = end_plainly())
        emu_fiber_resume(next);
    else
        end_with_others();
}

// A thread's exit may complete a barrier or collective that others wait for.
void Block::settle_after_end(Fiber* self)
{
    self->be_at({}); // an exited thread is at no place in the source, even though it completes the barrier
    for (uint64_t rest = open_; rest; rest &= rest - 1) {
        auto id = uint32_t(__builtin_ctzll(rest));
        if (is_complete(barriers_[id]))
            complete(id);
    }
    Warp& warp = warps_[EMU_WARP];
    emu_u32 tried = 0;
    while (warp.waiting & ~tried) {
        Fiber* other = warp.lane[__builtin_ctz(warp.waiting & ~tried)];
        tried |= 1u << (other->linear & 31);
        try_collective(warp, other->notes().call, other->pc);
    }
}

void Block::exit_thread()
{
    end_thread();
    __builtin_unreachable();
}

emu_u32 Block::active_lanes()
{
    leave_quiet();
    return warps_[EMU_WARP].live;
}

// ------------------------------------------------------------------------ choosing

// Returns a fiber for a thread that has not started, or null if all have started or there is no memory for a stack.
Fiber* Block::fresh()
{
    return started() < threads_ ? carrier_.stacks.take() : nullptr;
}

// Chooses among threads that let others run first. A round of steps begins when all other threads have done so.
Fiber* Block::pick_suspended()
{
    if (__builtin_expect(!stepping_.head, 1))
        return yielded_.pop();
    bool polls = yielded_.head && !polled_;
    polled_ = polls;
    if (polls)
        ready_.take_all(yielded_);
    else
        begin_steps();
    return ready_.pop();
}

// Chooses the next fiber. Threads released by a barrier or collective go first: their stacks are in the cache, and few
// stacks are in use at a time. A thread that spins on such calls must not starve the others forever, so when the
// monitor sets `rotate`, all runnable threads take turns.
inline Fiber* Block::pick()
{
    if (__builtin_expect(rotate.load(std::memory_order_relaxed), 0)) {
        rotate.store(false, std::memory_order_relaxed);
        if (Fiber* fiber = fresh())
            return fiber;
        yielded_.take_all(ready_);
    }
    if (Fiber* fiber = ready_.pop())
        return fiber;
    if (Fiber* fiber = fresh())
        return fiber;
    return pick_suspended();
}

Trouble Block::stuck() const
{
    Trouble trouble;
    bool no_memory = started() < threads_;
    trouble.kind = no_memory ? FaultKind::out_of_resources : FaultKind::deadlock;
    if (no_memory)
        trouble.text = "no memory for its threads' stacks";
    return trouble;
}

// Chooses another fiber and switches to it. `self` must already be in a queue or barrier.
inline void Block::suspend(Fiber* self)
{
    if (__builtin_expect(launch_->stopping.load(std::memory_order_relaxed), 0)) {
        Trouble trouble;
        trouble.at(self->site());
        carrier_.leave(std::move(trouble));
    }
    leave_quiet();
    Fiber* next = pick();
    if (__builtin_expect(!next, 0))
        carrier_.leave(stuck());
    run_next(self, next);
}

inline void Block::run_next(Fiber* self, Fiber* next)
{
    carrier_.current = next;
    if (!next->sp)
        return emu_fiber_begin(&self->sp, StackSet::top_of(next));
    restore(next);
    emu_fiber_switch(&self->sp, next->sp);
}

void Block::yield(Fiber* self, const Site& site)
{
    if (launch_->stopping) {
        Trouble trouble;
        trouble.at(site);
        carrier_.leave(std::move(trouble));
    }
    leave_quiet();
    if (__builtin_expect(carrier_.races != nullptr, 0))
        carrier_.settle();
    self->be_at(site);
    self->notes().preempted = site.caller ? site.pc : 0;
    self->notes().caller = site.caller;
    if (self->notes().spins >= spins_to_wait)
        check_stuck(self);
    Fiber* next = pick();
    if (!next)
        return;
    self->wait = Wait::yield;
    yielded_.push(self);
    run_next(self, next);
}

// Before a volatile access to shared memory: the threads of the block make their next such accesses in turn. Programs
// that rely on the lanes of a warp executing the same instruction together then compute what they do on a GPU.
void Block::step(Fiber* self, const Site& site)
{
    if (launch_->stopping)
        carrier_.leave();
    leave_quiet();
    if (__builtin_expect(carrier_.races != nullptr, 0))
        carrier_.settle();
    self->be_at(site);
    if (self->notes().spins >= spins_to_wait)
        check_stuck(self);
    self->wait = Wait::yield;
    FiberNotes& notes = self->notes();
    uint64_t now = site.pc & step_place, stepper = serial_ * 1024 + self->linear;
    if (std::exchange(notes.stepper, stepper) != stepper)
        notes.step = 0; // of an earlier thread
    uint64_t rounds = notes.step & ~step_place;
    bool goes_back = now <= (notes.step & step_place) && rounds != ~step_place;
    notes.step = rounds + (goes_back ? step_place + 1 : 0) + now;
    stepping_.push(self);
    carrier_.runs_in_step = true;
    Fiber* next = pick();
    if (next == self)
        self->wait = Wait::none;
    else
        run_next(self, next);
}

// ------------------------------------------------------------------------ barriers

inline bool Block::is_complete(const Barrier& barrier) const
{
    return barrier.arrived >= (barrier.count ? barrier.count : live());
}

// Counts an arrival. The first arrival determines how many are expected.
inline void Block::arrive(Fiber* self, uint32_t id, uint32_t count, const Site& site, bool waits)
{
    Barrier& barrier = barriers_[id];
    self->be_at(site);
    if (__builtin_expect(carrier_.races != nullptr, 0)) {
        carrier_.settle();
        carrier_.races->arrive(carrier_.state->linear, id, waits);
    }
    if (!barrier.arrived++) {
        if (waits && id == 0 && count == 0 && !carrier_.races)
            plain_file_ = site.file, plain_line_ = site.line;
        barrier.site = site;
        barrier.count = count;
        barrier.mixed = false;
        open_ |= uint64_t(1) << id;
        return;
    }
    if (__builtin_expect(barrier.site != site, 0))
        barrier.mixed = true;
    if (__builtin_expect(barrier.count != count, 0))
        fail_count(id, count, site);
}

void Block::fail_count(uint32_t id, uint32_t count, const Site& site)
{
    Trouble trouble;
    trouble.kind = FaultKind::divergent_barrier;
    trouble.at(site);
    trouble.text = "barrier " + std::to_string(id) + " is reached with a count of " + std::to_string(count) +
                   " while others wait at it with " + std::to_string(barriers_[id].count);
    carrier_.leave(std::move(trouble));
}

inline void Block::enqueue(Fiber* self, uint32_t id)
{
    self->barrier = uint8_t(id);
    self->wait = Wait::barrier;
    barriers_[id].waiting.push(self);
    suspend(self);
}

void Block::wait_for_rest(uintptr_t pc, const char* file, uint32_t line)
{
    Fiber* self = carrier_.current;
    arrive(self, 0, 0, {pc, file, line});
    if (__builtin_expect(barriers_[0].arrived >= live(), 0))
        complete(0);
    else
        enqueue(self, 0);
}

// The running thread continues after a barrier.
inline void Block::pass(uint32_t id)
{
    if (__builtin_expect(carrier_.races != nullptr, 0))
        carrier_.races->pass(carrier_.state->linear, id);
}

void Block::wait_at(Fiber* self, uint32_t id, uint32_t count, bool predicate, const Site& site)
{
    arrive(self, id, count, site);
    barriers_[id].ones += predicate;
    if (is_complete(barriers_[id]))
        complete(id);
    else
        enqueue(self, id);
}

void Block::arrive_at(uint32_t id, uint32_t count, const Site& site)
{
    arrive(carrier_.current, id, count, site, false);
    if (is_complete(barriers_[id]))
        complete(id);
}

void Block::wait_for(Fiber* self, uint32_t id, uint32_t generation, const Site& site)
{
    self->be_at(site);
    if (barriers_[id].generation == generation)
        enqueue(self, id);
    pass(id);
}

// Releases all waiting threads.
void Block::complete(uint32_t id)
{
    Barrier& barrier = barriers_[id];
    if (__builtin_expect(barrier.mixed, 0) && launch_->request.checks.memory &&
        (barrier.count == 0 || id >= tile_barriers))
        check_places(id, carrier_.current);
    if (id == grid_barrier)
        wait_for_grid(carrier_.current);
    if (__builtin_expect(carrier_.races != nullptr, 0))
        carrier_.races->complete(id);
    if (id == cluster_barrier && carrier_.cluster)
        launch_->arrive_in(*carrier_.cluster, carrier_.races ? carrier_.races->released(id) : nullptr);
    if (__builtin_expect(carrier_.advice != nullptr, 0) && id == 0 && !barrier.count)
        carrier_.advice->barrier(barrier.site);
    barrier.last_ones = barrier.ones;
    barrier.last_arrived = barrier.arrived;
    barrier.arrived = barrier.ones = 0;
    ++barrier.generation;
    open_ &= ~(uint64_t(1) << id);
    if (id == 0)
        plain_file_ = this;
    ready_.take_all(barrier.waiting);
}

// Called when all threads of this block have arrived; other blocks of the cluster may still be running.
void Block::wait_for_cluster(Fiber* self, uint32_t token, const Site& site)
{
    wait_for(self, cluster_barrier, token, site);
    const Cluster* cluster = carrier_.cluster.get();
    auto learn = [&] {
        if (cluster && carrier_.races)
            carrier_.races->learn(carrier_.state->linear, launch_->seen_in(*cluster));
    };
    if (!cluster || cluster->generation > token - cluster_base_)
        return learn();
    yield(self, site); // first let the other threads of this block run, which needs no other block
    self->wait = Wait::barrier;
    self->barrier = cluster_barrier;
    carrier_.repeats = true;
    carrier_.sleeps.store(true, std::memory_order_relaxed);
    bool good = launch_->wait_in(*cluster, token - cluster_base_);
    carrier_.sleeps.store(false, std::memory_order_relaxed);
    if (!good)
        carrier_.leave();
    self->wait = Wait::none;
    learn();
}

void Block::wait_for_grid(Fiber* self)
{
    Trouble trouble;
    trouble.at(self->site());
    if (self->pc) { // no place: an exiting thread has completed the barrier of its block
        self->wait = Wait::barrier;
        self->barrier = grid_barrier;
    }
    carrier_.repeats = true; // tells the monitor that this block needs other blocks to progress
    carrier_.sleeps.store(true, std::memory_order_relaxed);
    bool good = launch_->grid_barrier(&trouble.text);
    carrier_.sleeps.store(false, std::memory_order_relaxed);
    if (!good) {
        trouble.kind = trouble.text.empty() ? FaultKind::none : FaultKind::deadlock;
        carrier_.leave(std::move(trouble));
    }
    self->wait = Wait::none;
    if (carrier_.races)
        carrier_.races->continue_in(launch_->era());
}

// Returns a tile's barrier number: there are 16 tiles of 64 threads, 8 of 128, 4 of 256, 2 of 512 and one of 1024.
uint32_t Block::tile_barrier(uint32_t size, uint32_t thread)
{
    return tile_barriers + 32 - 2048 / size + thread / size;
}

// Reports threads that met at one barrier from different places in the source. Threads of different warps may do so,
// because hardware counts arrivals and warp-specialized programs rely on it. Threads of one warp may not, because the
// instruction is defined for whole warps.
void Block::check_places(uint32_t id, const Fiber* last)
{
    const Fiber* first[32] = {};
    const Fiber* odd = nullptr;
    auto look = [&](const Fiber* fiber) {
        const Fiber*& known = first[fiber->linear / 32];
        if (!known)
            known = fiber;
        else if (known->site() != fiber->site() && (!odd || fiber->linear / 32 < odd->linear / 32))
            odd = fiber;
    };
    auto waits = [&](const Fiber* fiber) {
        return (fiber->wait == Wait::barrier && fiber->barrier == id) || (fiber == last && last->pc);
    };
    for (const Fiber* fiber : carrier_.stacks.fibers())
        if (waits(fiber))
            look(fiber);
    if (odd)
        fail_places(id, odd->linear / 32, last);
}

void Block::fail_places(uint32_t id, uint32_t warp, const Fiber* last)
{
    Trouble trouble;
    carrier_.on_thread_stack([&] {
        std::vector<Waiting> places = waiting_places(carrier_, id);
        if (last->pc)
            add_place(carrier_, &places, *last, barrier_name(id));
        keep_warp(&places, warp);
        auto fewest = std::min_element(places.begin(), places.end(),
                                       [](auto& a, auto& b) { return a.fibers.size() < b.fibers.size(); });
        trouble.kind = FaultKind::divergent_barrier;
        trouble.fiber = *std::min_element(fewest->fibers.begin(), fewest->fibers.end(),
                                          [](const Fiber* a, const Fiber* b) { return a->linear < b->linear; });
        trouble.at(trouble.fiber->site());
        trouble.text =
            "threads of one warp meet at " + barrier_name(id) + " in different places:\n" + list_places(places);
    });
    carrier_.leave(std::move(trouble));
}

} // namespace emu::exec
