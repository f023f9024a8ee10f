// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "races.hpp"

#include <algorithm>

#include "../fiber.hpp"

namespace emu::exec {

void Races::begin(uint32_t threads, size_t shared_bytes)
{
    threads_ = threads;
    clocks_.assign(size_t(threads) * threads, 0);
    for (uint32_t i = 0; i < threads; ++i)
        clock(i)[i] = 1;
    bytes_.assign(shared_bytes, {});
    barriers_.assign(barrier_count, {});
    atomics_.clear();
}

void Races::join(uint32_t* into, const uint32_t* from) const
{
    for (uint32_t i = 0; i < threads_; ++i)
        into[i] = std::max(into[i], from[i]);
}

Access Races::look(size_t index, size_t size, const Access& access)
{
    auto conflicts = [&](const Access& earlier) {
        return !is_ordered(earlier, access.thread) && !(earlier.atomic && access.atomic);
    };
    for (size_t i = index; i < index + size; ++i) {
        Byte& byte = bytes_[i];
        if (conflicts(byte.store))
            return byte.store;
        if (access.store)
            for (const Access& load : byte.loads)
                if (conflicts(load))
                    return load;
    }
    for (size_t i = index; i < index + size; ++i) {
        Byte& byte = bytes_[i];
        if (access.store) {
            byte = {access, {}};
            continue;
        }
        bool second = byte.loads[0].thread != access.thread && byte.loads[0].thread != ~0u;
        byte.loads[second] = access;
    }
    return {};
}

void Races::arrive(uint32_t thread, uint32_t barrier)
{
    Clock& arriving = barriers_[barrier].arriving;
    arriving.resize(threads_);
    join(arriving.data(), clock(thread));
    ++arriving[thread]; // all that the thread has done until now
    ++clock(thread)[thread];
}

void Races::complete(uint32_t barrier)
{
    Meeting& meeting = barriers_[barrier];
    meeting.released.swap(meeting.arriving);
    meeting.arriving.clear();
}

void Races::pass(uint32_t thread, uint32_t barrier)
{
    const Clock& released = barriers_[barrier].released;
    if (!released.empty())
        join(clock(thread), released.data());
}

void Races::meet(uint32_t warp, uint32_t lanes)
{
    Clock all(threads_);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t thread = warp * 32 + uint32_t(__builtin_ctz(rest));
        ++clock(thread)[thread];
        join(all.data(), clock(thread));
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        std::copy(all.begin(), all.end(), clock(warp * 32 + uint32_t(__builtin_ctz(rest))));
}

void Races::order_by_atomic(uint32_t thread, uintptr_t address)
{
    Clock& known = atomics_[address];
    known.resize(threads_);
    join(clock(thread), known.data());
    join(known.data(), clock(thread));
    ++known[thread];
    ++clock(thread)[thread];
}

} // namespace emu::exec
