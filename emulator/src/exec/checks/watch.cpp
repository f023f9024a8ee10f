// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The opt-in checks, which see every access that the address check has allowed.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "../worker.hpp"
#include "findings.hpp"
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

std::string describe_memory(Worker& worker, uintptr_t address, size_t size)
{
    if (worker.shared_index(address, size) != Worker::not_shared)
        return describe_shared(worker, address, size);
    Judgement judgement;
    if (worker.image && worker.image->judge(address, size, &judgement) && !judgement.name.empty())
        return describe_offset(address, size, judgement.range.low, judgement.range.high - judgement.range.low,
                               judgement.name);
    return describe_address(address, size, true);
}

// Formats the bytes of a value as one hexadecimal number.
std::string describe_value(const void* address, size_t size)
{
    auto* bytes = static_cast<const unsigned char*>(address);
    std::string text = "0x";
    for (size_t i = size; i-- > 0;) {
        text += "0123456789abcdef"[bytes[i] >> 4];
        text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

// Describes the earlier access of a race.
std::string describe_other(const Races& races, const Access& access)
{
    const char* what = access.is_allocation() ? "allocation"
                       : access.atomic()      ? "atomic access"
                       : access.stored()      ? "store"
                                              : "load";
    auto era = find_era(access.block);
    if (!era)
        return {};
    if (!era->is_kernel)
        return std::string("\n  nothing orders it after the ") + what + " by " + era->name;
    Dim3 thread = era->thread(access.thread());
    bool same_launch = era->launch == races.era().launch;
    bool same_block = access.block == races.block();
    std::string text = std::string(same_block ? "\n  no barrier" : "\n  nothing") + " orders it after the " + what +
                       " by thread " + triple_text(thread);
    if (!same_block)
        text += " of block " + triple_text(era->order.index(access.block - era->first));
    if (!same_launch)
        text += " of kernel " + era->name + ", with no event or wait in between";
    return text + "\n  at " + describe_place(era->image.lock().get(), uintptr_t(access.half_pc()) << 1);
}

// Returns true if the kernel has polled memory of the host, from which it may know of work that was enqueued later.
bool may_follow(const Worker& worker, const Access& earlier)
{
    const auto& polls = worker.launch->request.polls_host;
    auto era = polls && *polls ? find_era(earlier.block) : nullptr;
    return era && era->launch != worker.races->era().launch;
}

std::string describe_storing(const Worker& worker, const Access& store)
{
    auto era = find_era(store.block);
    if (!era)
        return {};
    return "\n  by thread " + triple_text(era->thread(store.thread())) + " of block " +
           triple_text(era->order.index(store.block - era->first)) + "\n  at " +
           describe_place(worker.image, uintptr_t(store.half_pc()) << 1);
}

class Watch {
public:
    Watch(Worker& worker, uintptr_t address, size_t size, emu_u32 access, uintptr_t pc)
        : worker_(worker), address_(address), size_(size), access_(access), pc_(pc)
    {
    }

    void check_contents_alone()
    {
        locate();
        check_contents();
    }

    void check()
    {
        const EmuThread& state = *worker_.state;
        locate();
        if (is_shared() && worker_.copies.any())
            check_copies();
        if (is_shared() && worker_.bulk_copies.any() && !(access_ & (EMU_ACCESS_ATOMIC | EMU_ACCESS_VOLATILE)))
            check_bulk_copies();
        if (state.checks & EMU_CHECK_INITIALIZED)
            check_contents();
        if (worker_.races)
            check_races();
        if (worker_.advice && (is_shared() || in_window(address_, size_)))
            worker_.advice->access(state.linear, pc_, address_, size_, is_store(), is_shared(),
                                   access_ & EMU_ACCESS_ATOMIC);
    }

private:
    void locate()
    {
        if (!in_window(address_, size_))
            shared_ = worker_.shared_index(address_, size_);
    }
    bool is_store() const { return access_ & EMU_ACCESS_STORE; }
    bool is_shared() const { return shared_ != Worker::not_shared; }

    void check_contents()
    {
        if (is_store())
            return is_shared() ? worker_.shared_contents.note_written(shared_, size_) : note_written(address_, size_);
        if (is_shared()) {
            // Other blocks of a cluster write without leaving a trace.
            if (!worker_.cluster && !worker_.shared_contents.has_contents(shared_, size_))
                fail_uninitialized();
        } else if (!has_contents(address_, size_)) {
            fail_uninitialized();
        }
    }

    __attribute__((noinline, cold)) void fail_uninitialized()
    {
        fail(FaultKind::uninitialized,
             is_shared() ? describe_shared(worker_, address_, size_) : describe_address(address_, size_, true));
    }

    void check_races()
    {
        Races& races = *worker_.races;
        uint32_t thread = worker_.state->linear;
        // Programs wait for volatile flags, so volatile accesses count as atomic.
        bool atomic = access_ & (EMU_ACCESS_ATOMIC | EMU_ACCESS_VOLATILE);
        Scope scope = std::exchange(worker_.next.scope, Scope::device);
        Access access = races.access_of(thread, pc_, is_store(), atomic, atomic && scope == Scope::block);
        if (atomic && is_store() && std::exchange(worker_.next.swap, false))
            access.set_swap();
        // Other blocks of a cluster access shared memory as well, and mbarriers there order them.
        bool shared = is_shared() && !worker_.cluster;
        if (atomic) {
            note_polling();
            EmuRange range;
            bool release = is_store() && std::exchange(worker_.next.release, false); // not the load before an update
            release = release || access_ & EMU_ACCESS_RELEASE ||
                      (worker_.cluster && !in_window(address_, size_) && worker_.in_cluster(address_, &range));
            races.order_by_atomic(thread, address_, shared, is_store(), release, scope);
        }
        bool together = std::exchange(worker_.next.together, false);
        races.set_together(together);
        if (together && !is_store())
            races.remember_load(access, address_, size_);
        Access earlier = access_ & EMU_ACCESS_LATER ? races.check_cells(address_, size_, access, shared, true)
                                                    : races.check(address_, size_, access, shared);
        if (earlier.block && !may_follow(worker_, earlier))
            fail_race(earlier);
    }

    // A volatile or atomic load of memory that the host may change can order the kernel after the host.
    void note_polling() const
    {
        const auto& polls = worker_.launch->request.polls_host;
        if (!polls || is_store() || is_shared() || polls->load(std::memory_order_relaxed))
            return;
        Locked locked;
        Region region;
        bool is_device = find_region(address_, size_, &region) && region.kind == RegionKind::device;
        polls->store(!is_device, std::memory_order_relaxed);
    }

    __attribute__((noinline)) void check_copies()
    {
        uint32_t thread = 0;
        const AsyncCopy* copy = worker_.copies.find(address_, size_, &thread);
        if (!copy)
            return;
        std::string text = describe_shared(worker_, address_, size_) + "\n  thread " + std::to_string(thread) +
                           " of the block has not waited for its asynchronous copy to it";
        fail(FaultKind::race, text + "\n  at " + describe_site(worker_.image, copy->site));
    }

    __attribute__((noinline)) void check_bulk_copies()
    {
        const BulkCopy* copy = worker_.bulk_copies.find(address_, size_, is_store());
        if (!copy)
            return;
        std::string text = describe_shared(worker_, address_, size_) + "\n  the bulk copy by thread " +
                           std::to_string(copy->thread) + " of the block has not " +
                           (copy->barrier ? "written it: no thread has waited at its mbarrier since"
                                          : "read it: the thread has not waited for its group");
        fail(FaultKind::race, text + "\n  at " + describe_site(worker_.image, copy->site));
    }

    __attribute__((noinline, cold)) void fail_race(const Access& earlier)
    {
        std::string text = describe_memory(worker_, address_, size_);
        if (!is_store() && size_ <= 8)
            text += ", which loads " + describe_value(reinterpret_cast<const void*>(address_), size_);
        fail(FaultKind::race, text + describe_other(*worker_.races, earlier));
    }

    __attribute__((noinline, cold)) void fail(FaultKind kind, std::string text)
    {
        Trouble trouble;
        trouble.kind = kind;
        trouble.pc = pc_;
        trouble.address = address_;
        trouble.size = emu_u32(size_);
        trouble.store = is_store();
        trouble.text = std::move(text);
        if (!goes_on(worker_, trouble))
            raise_fault(std::move(trouble));
    }

    Worker& worker_;
    uintptr_t address_;
    size_t size_;
    emu_u32 access_;
    uintptr_t pc_;
    size_t shared_ = Worker::not_shared;
};

// Returns true for the value of a marked local variable that the kernel has not written, or for a sum that begins with
// it.
bool is_unwritten(uintptr_t address, size_t size)
{
    emu_u32 half = 0;
    emu_u64 whole = 0;
    if (size == 4) {
        std::memcpy(&half, reinterpret_cast<const void*>(address), 4);
        return (half & 0x7fffffff) == EMU_UNWRITTEN_FLOAT;
    }
    std::memcpy(&whole, reinterpret_cast<const void*>(address), 8);
    constexpr emu_u64 distance = 1u << 30;
    return whole - EMU_UNWRITTEN_LONG + distance < 2 * distance || whole << 1 == EMU_UNWRITTEN_DOUBLE << 1;
}

// Kernels may keep unwritten values in memory that the host does not read, such as that of malloc(), which may also have
// been freed since the store.
bool is_private(uintptr_t address, size_t size)
{
    Locked locked;
    Region region;
    return !find_region(address, size, &region) || region.kind == RegionKind::heap;
}

// g++ fills local variables with this pattern (see build_unit.cpp). Smaller values can be equal to it by chance. Larger
// ones are struct copies, which may have unused members.
inline bool is_pattern(uintptr_t address, size_t size)
{
    constexpr uint32_t pattern[] = {0xfefefefe, 0xfefefefe, 0xfefefefe, 0xfefefefe};
    return (size == 4 || size == 8 || size == 16) && !std::memcmp(reinterpret_cast<const void*>(address), pattern, size);
}

// Functions of CUB combine all items of a partial tile, although only those that were loaded count.
bool is_in_cccl(const Worker& worker, uintptr_t pc)
{
    std::string file = worker.image ? worker.image->place(pc - 1).file : "";
    for (const char* folder : {"/cub/", "/thrust/", "/cuda/std/"})
        if (file.find(folder) != file.npos)
            return true;
    return false;
}

__attribute__((noinline, cold)) void fail_local(uintptr_t address, size_t size, uintptr_t pc)
{
    if (is_in_cccl(*this_worker(), pc))
        return;
    Trouble trouble;
    trouble.kind = FaultKind::uninitialized;
    trouble.pc = pc;
    trouble.address = address;
    trouble.size = emu_u32(size);
    trouble.text = "in a local variable of the thread";
    if (!goes_on(*this_worker(), trouble))
        raise_fault(std::move(trouble));
}

} // namespace

void Worker::check_stored()
{
    MarkedStore store = std::exchange(stored, MarkedStore());
    if (!store.size || !is_unwritten(store.address, store.size) || is_private(store.address, store.size))
        return;
    ThreadPlace running = block.blame(store.thread);
    Trouble trouble;
    trouble.kind = FaultKind::uninitialized;
    trouble.pc = store.pc;
    trouble.address = store.address;
    trouble.size = store.size;
    trouble.store = true;
    trouble.text = describe_memory(*this, store.address, store.size) +
                   "\n  which stores the value of a local variable that was never written, or a result of it";
    if (!goes_on(*this, trouble))
        raise_fault(std::move(trouble));
    current->be_thread(running);
}

void Worker::settle()
{
    check_stored();
    if (!races)
        return;
    races->acquire_again();
    size_t size = races->last_store().size;
    if (!size)
        return;
    Access earlier = races->settle();
    if (!earlier.block || may_follow(*this, earlier))
        return;
    const Races::Store& store = races->last_store();
    ThreadPlace running = block.blame(store.access.thread());
    Trouble trouble;
    trouble.kind = FaultKind::race;
    trouble.pc = uintptr_t(store.access.half_pc()) << 1;
    trouble.address = store.address;
    trouble.size = uint32_t(size);
    trouble.store = true;
    trouble.text = describe_memory(*this, store.address, trouble.size);
    if (size <= 8)
        trouble.text += ", which stores " + describe_value(reinterpret_cast<const void*>(store.address), size) + " over " +
                        describe_value(store.value, size);
    trouble.text += describe_other(*races, earlier);
    if (!goes_on(*this, trouble))
        raise_fault(std::move(trouble));
    current->be_thread(running);
}

namespace {

thread_local std::string transfer_race;

// An era of one block, which the device itself runs.
std::shared_ptr<const Era> begin_own_era(std::shared_ptr<const Turn> turn)
{
    static std::atomic<uint64_t> serials{uint64_t(1) << 63}; // launches count from 1
    Era era;
    era.blocks = 1;
    era.launch = serials++;
    era.name = turn->name;
    era.is_kernel = false;
    era.turn = std::move(turn);
    return begin_era(std::move(era));
}

} // namespace

void order_allocation(uintptr_t base, Turn turn)
{
    order_region(base, begin_own_era(std::make_shared<const Turn>(std::move(turn)))->first);
}

void check_transfer(uintptr_t address, size_t size, Transfer transfer)
{
    static constexpr const char* names[] = {"load", "store", "release"};
    auto turn = current_turn();
    if (!turn || !in_window(address, size))
        return;
    Races races;
    races.begin(begin_own_era(turn), 0, 1);
    if (transfer == Transfer::release) // harmless without an order, if nothing has used the memory
        races.ignore_allocation(address, size);
    Access access = races.access_of(0, 0, transfer != Transfer::load, false, false), earlier;
    for (uintptr_t at = address, end = address + size; at < end && !earlier.block;) {
        size_t part = std::min(end, (at / cells_span + 1) * cells_span) - at;
        if (transfer != Transfer::release || known_cells_around(at)) // a free does not access the memory
            earlier = races.check_cells(at, part, access, false, true);
        at += part;
    }
    if (earlier.block && transfer_race.empty())
        transfer_race = std::string(turn->name) + ": data race: " + names[int(transfer)] + " of " +
                        std::to_string(size) + " bytes: " + describe_address(address, size, true) +
                        describe_other(races, earlier) + see(FaultKind::race);
}

void fail_transfer(FaultKind kind, const std::string& what)
{
    auto turn = current_turn();
    if (transfer_race.empty())
        transfer_race = (turn ? std::string(turn->name) + ": " : std::string()) + title_of(kind) + ": " + what + see(kind);
}

std::string take_transfer_race()
{
    return std::exchange(transfer_race, {});
}

bool Worker::gives_way_at(uintptr_t pc)
{
    if (__builtin_expect(!is_signaled, 1) || state->no_preempt)
        return false;
    watched_pc = pc;
    return true;
}

void Worker::watch(uintptr_t address, size_t size, uint32_t access, uintptr_t pc)
{
    if (stored.size)
        check_stored();
    const Fiber& fiber = *current;
    if (address >= fiber.stack_low && address < fiber.stack_high) {
        bool load = !(access & EMU_ACCESS_STORE);
        if (state->checks & EMU_CHECK_INITIALIZED && load && is_pattern(address, size))
            fail_local(address, size, pc);
        return;
    }
    if (address - reinterpret_cast<uintptr_t>(state) < sizeof *state) // of our headers
        return;
    if (races && races->has_news())
        settle();
    Watch(*this, address, size, access, pc).check();
    if (access & EMU_ACCESS_MARKED)
        stored = {address, pc, uint32_t(size), state->linear};
}

} // namespace emu::exec

using namespace emu::exec;

extern "C" bool emu_watch(emu_uptr address, emu_size size, emu_u32 access, void* pc)
{
    Worker* worker = this_worker();
    if (!worker || !worker->current || !size)
        return false;
    // Lanes that access shared memory in step give way before the step.
    bool in_step = access & EMU_ACCESS_VOLATILE && !in_window(address, size);
    if (!in_step && worker->gives_way_at(reinterpret_cast<uintptr_t>(pc)))
        return true;
    worker->watch(address, size, access, reinterpret_cast<uintptr_t>(pc));
    return false;
}

extern "C" void emu_update(emu_uptr address, emu_size size)
{
    Worker* worker = this_worker();
    bool is_checked = worker && worker->current && (worker->state->checks & EMU_CHECK_INITIALIZED);
    if (is_checked && (in_window(address, size) || worker->shared_index(address, size) != Worker::not_shared))
        Watch(*worker, address, size, EMU_ACCESS_LOAD, EMU_CALLER).check_contents_alone();
}

extern "C" void emu_read_only(emu_uptr address, emu_size size, const char* file, emu_u32 line)
{
    Worker* worker = this_worker();
    if (!worker || !worker->current || !worker->races)
        return;
    Access store = worker->races->stored_in_launch(address, size);
    if (!store.block)
        return;
    Trouble trouble;
    trouble.kind = FaultKind::race;
    trouble.at({EMU_CALLER, file, line});
    trouble.address = address;
    trouble.size = emu_u32(size);
    trouble.text = describe_memory(*worker, address, size) +
                   "\n  a read-only load, such as __ldg(), of memory that this kernel stores to" +
                   describe_storing(*worker, store);
    if (!goes_on(*worker, trouble))
        raise_fault(std::move(trouble));
}

extern "C" void emu_fence(emu_u32 scope)
{
    Worker* worker = this_worker();
    if (worker && worker->current && worker->races)
        worker->races->fence(worker->state->linear, scope == EMU_SCOPE_BLOCK ? Scope::block : Scope::device);
}

extern "C" void emu_next_scope(emu_u32 scope)
{
    Worker* worker = this_worker();
    if (!worker || !worker->current)
        return;
    NextAccess& next = worker->next;
    next.together = scope == EMU_SCOPE_TOGETHER;
    next.swap = scope == EMU_SCOPE_SWAP;
    if (next.together || next.swap)
        return;
    next.scope = scope & EMU_SCOPE_DEVICE ? Scope::device : Scope::block;
    next.release = scope & EMU_SCOPE_RELEASE;
}
