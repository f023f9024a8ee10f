// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Warp collectives: lanes wait until all lanes in the mask have arrived; the last one computes everyone's results.
#include <cstring>

#include "block.hpp"
#include "checks/report.hpp"
#include "worker.hpp"

namespace emu::exec {
namespace {

// The lanes of a complete collective.
struct Party {
    emu_u32 lanes;
    EmuWarpCall* call[32];
    mutable int reader = -1; // a lane whose shuffle reads a non-participating lane
    mutable unsigned absent = 0;

    template <class Visit> void each(Visit visit) const
    {
        for (emu_u32 rest = lanes; rest; rest &= rest - 1)
            visit(unsigned(__builtin_ctz(rest)));
    }
    emu_u32 predicate(unsigned lane) const
    {
        emu_u32 value;
        std::memcpy(&value, call[lane]->in, sizeof value);
        return value;
    }
    void answer(unsigned lane, emu_u32 value) const { std::memcpy(call[lane]->out, &value, sizeof value); }
};

// Returns the lane that a shuffle reads from, or the lane itself if that is outside its segment. As documented, an
// exclusive or may reach earlier segments but not later ones.
inline unsigned source_lane(EmuWarpCall& call, unsigned lane)
{
    unsigned first = lane & ~(call.width - 1), last = first + call.width - 1;
    unsigned distance = call.argument & 31;
    unsigned source = 0;
    switch (call.op) {
    case EMU_WARP_SHUFFLE_INDEX: source = first + (distance & (call.width - 1)); break;
    case EMU_WARP_SHUFFLE_UP: source = lane - distance; break; // below 0 it wraps, far above `last`
    case EMU_WARP_SHUFFLE_DOWN: source = lane + distance; break;
    default: source = lane ^ distance; break;
    }
    bool up = call.op == EMU_WARP_SHUFFLE_UP;
    call.in_range = source <= last && !(up && source < first);
    return call.in_range ? source : lane;
}

template <class T> void shuffle(const Party& party)
{
    T values[32];
    party.each([&](unsigned lane) { std::memcpy(&values[lane], party.call[lane]->in, sizeof(T)); });
    party.each([&](unsigned lane) {
        EmuWarpCall& call = *party.call[lane];
        unsigned source = source_lane(call, lane);
        // The value of a non-participating lane is undefined. Here it is zero, because sums over the first lanes of a
        // warp, which read absent ones, are right on a GPU.
        if (!(party.lanes >> source & 1)) {
            if (party.reader < 0) {
                party.reader = int(lane);
                party.absent = source;
            }
            std::memset(call.out, 0, sizeof(T));
            return;
        }
        std::memcpy(call.out, &values[source], sizeof(T));
    });
}

struct Wide {
    emu_u64 low, high;
};

void shuffle(const Party& party, emu_u32 size)
{
    switch (size) {
    case 1: return shuffle<emu_u8>(party);
    case 2: return shuffle<uint16_t>(party);
    case 4: return shuffle<emu_u32>(party);
    case 8: return shuffle<emu_u64>(party);
    default: return shuffle<Wide>(party);
    }
}

void vote(const Party& party, emu_u32 op)
{
    emu_u32 ballot = 0;
    party.each([&](unsigned lane) { ballot |= emu_u32(party.predicate(lane) != 0) << lane; });
    emu_u32 result = ballot;
    if (op == EMU_WARP_ALL)
        result = ballot == party.lanes;
    else if (op == EMU_WARP_ANY)
        result = ballot != 0;
    else if (op == EMU_WARP_UNIFORM)
        result = ballot == 0 || ballot == party.lanes;
    party.each([&](unsigned lane) { party.answer(lane, result); });
}

void match(const Party& party, emu_u32 op, emu_u32 size)
{
    party.each([&](unsigned lane) {
        emu_u32 same = 0;
        party.each([&](unsigned other) {
            bool equal = !std::memcmp(party.call[lane]->in, party.call[other]->in, size);
            same |= emu_u32(equal) << other;
        });
        if (op == EMU_WARP_MATCH_ANY)
            return party.answer(lane, same);
        emu_u32 all = same == party.lanes;
        emu_u32 results[2] = {all ? party.lanes : 0, all};
        std::memcpy(party.call[lane]->out, results, sizeof results);
    });
}

template <class T> T combine(emu_u32 op, T a, T b)
{
    using Signed = std::make_signed_t<T>;
    switch (op) {
    case EMU_WARP_ADD_U32: return T(a + b);
    case EMU_WARP_MIN_U32: return a < b ? a : b;
    case EMU_WARP_MAX_U32: return a > b ? a : b;
    case EMU_WARP_MIN_I32: return Signed(a) < Signed(b) ? a : b;
    case EMU_WARP_MAX_I32: return Signed(a) > Signed(b) ? a : b;
    case EMU_WARP_AND: return a & b;
    case EMU_WARP_OR: return a | b;
    default: return a ^ b;
    }
}

template <class T> void reduce(const Party& party, emu_u32 op)
{
    T result{};
    bool first = true;
    party.each([&](unsigned lane) {
        T value;
        std::memcpy(&value, party.call[lane]->in, sizeof value);
        result = first ? value : combine(op, result, value);
        first = false;
    });
    party.each([&](unsigned lane) { std::memcpy(party.call[lane]->out, &result, sizeof result); });
}

void compute(const Party& party, const EmuWarpCall& call)
{
    switch (call.op) {
    case EMU_WARP_SYNC: return;
    case EMU_WARP_SHUFFLE_INDEX:
    case EMU_WARP_SHUFFLE_UP:
    case EMU_WARP_SHUFFLE_DOWN:
    case EMU_WARP_SHUFFLE_XOR: return shuffle(party, call.size);
    case EMU_WARP_ALL:
    case EMU_WARP_ANY:
    case EMU_WARP_UNIFORM:
    case EMU_WARP_BALLOT: return vote(party, call.op);
    case EMU_WARP_MATCH_ANY:
    case EMU_WARP_MATCH_ALL: return match(party, call.op, call.size);
    default: return call.size == 8 ? reduce<emu_u64>(party, call.op) : reduce<emu_u32>(party, call.op);
    }
}

bool is_known(const EmuWarpCall& call)
{
    bool sized = call.size && call.size <= 16 && !(call.size & (call.size - 1));
    if (call.op <= EMU_WARP_SHUFFLE_XOR)
        return call.op == EMU_WARP_SYNC ||
               (sized && call.width && call.width <= 32 && !(call.width & (call.width - 1)));
    if (call.op >= EMU_WARP_ALL && call.op <= EMU_WARP_BALLOT)
        return true;
    if (call.op == EMU_WARP_MATCH_ANY || call.op == EMU_WARP_MATCH_ALL)
        return sized;
    return call.op >= EMU_WARP_ADD_U32 && call.op <= EMU_WARP_XOR;
}

[[noreturn]] void fail(uintptr_t pc, std::string text)
{
    Trouble trouble;
    trouble.kind = FaultKind::warp;
    trouble.pc = pc;
    trouble.text = std::move(text);
    raise_fault(std::move(trouble));
}

} // namespace

void Block::warn_about_shuffle(const Warp& warp, unsigned reader, unsigned absent, const EmuWarpCall& call)
{
    if (launch_->warned.exchange(true))
        return;
    carrier_.on_thread_stack([&] {
        Locked locked;
        std::string text = collective_name(call) + ": lane " + std::to_string(reader) + " reads lane " +
                           std::to_string(absent) + ", which " +
                           (call.mask >> absent & 1 ? "has exited or does not exist" : "is not in the mask") +
                           "; a GPU returns an undefined value, the software device 0";
        warn_once(carrier_, *warp.lane[reader], text);
    });
}

// Completes the collective if all lanes in the mask wait in it. A lane that waits with another mask is not an error
// yet, because it may reach this collective later.
bool Block::try_collective(Warp& warp, const EmuWarpCall* call, uintptr_t pc)
{
    emu_u32 lanes = call->mask & warp.live;
    if ((warp.waiting & lanes) != lanes)
        return false;
    Party party;
    party.lanes = lanes;
    for (emu_u32 rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = unsigned(__builtin_ctz(rest));
        const EmuWarpCall* other = warp.lane[lane]->notes().call;
        if (other->mask != call->mask)
            return false;
        if (other->op != call->op || other->size != call->size)
            fail(pc, "lanes of one mask call different operations: " + collective_name(*call) + " and " +
                         collective_name(*other));
        party.call[lane] = const_cast<EmuWarpCall*>(other);
    }
    compute(party, *call);
    if (__builtin_expect(party.reader >= 0, 0))
        warn_about_shuffle(warp, unsigned(party.reader), party.absent, *call);
    if (__builtin_expect(carrier_.races != nullptr, 0))
        carrier_.races->meet(uint32_t(&warp - warps_), lanes);
    warp.waiting &= ~lanes;
    Fiber* running = carrier_.current;
    for (emu_u32 rest = lanes; rest; rest &= rest - 1) {
        Fiber* fiber = warp.lane[__builtin_ctz(rest)];
        if (fiber != running)
            ready_.push(fiber);
    }
    return true;
}

void Block::collect(Fiber* self, EmuWarpCall* call, uintptr_t pc)
{
    leave_quiet();
    if (__builtin_expect(carrier_.races != nullptr, 0))
        carrier_.settle();
    unsigned lane = EMU_LANE;
    Warp& warp = warps_[EMU_WARP];
    emu_u32 bit = 1u << lane;
    if (__builtin_expect(!(call->mask & bit), 0))
        fail(pc, collective_name(*call) + ": the mask does not include the calling lane (lane " +
                     std::to_string(lane) + ")");
    if (__builtin_expect(!is_known(*call), 0))
        fail(pc, collective_name(*call) + ": unknown operation, width or size");
    self->notes().call = call;
    self->be_at({pc, nullptr, 0});
    warp.lane[lane] = self;
    warp.waiting |= bit;
    if (try_collective(warp, call, pc))
        return;
    self->wait = Wait::warp;
    suspend(self);
}

} // namespace emu::exec

using emu::exec::this_worker;

extern "C" void emu_warp(EmuWarpCall* call)
{
    this_worker()->block.collect(this_worker()->current, call, EMU_CALLER);
}

extern "C" emu_u32 emu_active_mask()
{
    return this_worker()->block.active_lanes();
}
