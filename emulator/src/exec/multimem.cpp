// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Multimem instructions: stores to, and reductions of, each device's memory backing a multicast address.
#include <atomic>
#include <cstring>
#include <type_traits>

#include "device_include/emulator_bulk_copies.h"
#include "worker.hpp"

namespace emu::exec {
namespace {

constexpr unsigned max_team = 8; // the maximum that CUDA_EMULATOR_DEVICES allows
std::atomic<MulticastFinder> finder{nullptr};

template <class T> T combine(T a, T b, int how)
{
    if constexpr (std::is_integral_v<T>) {
        switch (how) {
        case '&': return a & b;
        case '|': return a | b;
        case '^': return a ^ b;
        }
    }
    switch (how) {
    case '=': return b;
    case '<': return a < b ? a : b;
    case '>': return a > b ? a : b;
    default: return T(a + b);
    }
}

template <class T, class Word> uint64_t apply(void** places, unsigned count, int how, bool loads, uint64_t bits)
{
    auto from = [](Word word) {
        T value;
        std::memcpy(&value, &word, sizeof value);
        return value;
    };
    auto to = [](T value) {
        Word word;
        std::memcpy(&word, &value, sizeof word);
        return word;
    };
    T result{};
    for (unsigned i = 0; i < count; ++i) {
        auto* place = static_cast<Word*>(places[i]);
        Word before = __atomic_load_n(place, __ATOMIC_ACQUIRE), after;
        if (loads) {
            result = i ? combine(result, from(before), how) : from(before);
            continue;
        }
        do
            after = to(combine(from(before), from(Word(bits)), how));
        while (!__atomic_compare_exchange_n(place, &before, after, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    }
    return to(result);
}

} // namespace

void set_multicast_finder(MulticastFinder found)
{
    finder.store(found);
}

} // namespace emu::exec

using namespace emu::exec;

extern "C" emu_u64 emu_multicast(emu_u64 address, emu_u32 bytes, int type, int how, int loads, emu_u64 bits,
                                 const char* file, emu_u32 line)
{
    void* places[max_team];
    MulticastFinder find = finder.load();
    emu_u32 count = 0;
    if (address % bytes == 0 && find) {
        Locked locked;
        count = find(address, bytes, places);
    }
    if (!count) {
        Trouble trouble;
        trouble.kind = address % bytes ? FaultKind::misaligned_address : FaultKind::illegal_address;
        trouble.address = address;
        trouble.text = "a multimem instruction needs a multicast address with memory on each device";
        trouble.at({EMU_CALLER, file, line});
        raise_fault(std::move(trouble));
    }
    bool is_wide = bytes == 8;
    switch (type) {
    case 'f': return (is_wide ? apply<double, uint64_t> : apply<float, uint32_t>)(places, count, how, loads, bits);
    case 's': return (is_wide ? apply<int64_t, uint64_t> : apply<int32_t, uint32_t>)(places, count, how, loads, bits);
    default: return (is_wide ? apply<uint64_t, uint64_t> : apply<uint32_t, uint32_t>)(places, count, how, loads, bits);
    }
}
