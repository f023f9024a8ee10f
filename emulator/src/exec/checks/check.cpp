// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The slow path of access checks: decides about accesses that the fast check in the module did not accept.
#include <algorithm>
#include <cstdio>

#include "../worker.hpp"
#include "regions.hpp"
#include "shadow.hpp"

namespace emu::exec {
namespace {

// Decides, by what is at the address, whether the running kernel may access it.
class Judge {
public:
    Judge(Worker& worker, uintptr_t address, size_t size, emu_u32 access)
        : worker_(worker), address_(address), size_(size), store_(access & EMU_ACCESS_STORE),
          returned_(access & EMU_ACCESS_RETURNED)
    {
    }

    bool allowed()
    {
        Fiber& fiber = *worker_.current;
        int device = worker_.launch->request.device;
        if (in_window(address_, size_))
            return shadow_allows(device, address_, size_) ||
                   (!shadow_space(device).shadow && regions_allow(device, address_, size_, &range));
        if (address_ >= fiber.stack_low && address_ + size_ <= fiber.stack_high)
            return in_frame(fiber);
        if (in_dynamic_shared() || in_static_shared() || in_cluster() || in_image())
            return text.empty();
        if (in_thread_state() || in_parameters() || regions_allow(device, address_, size_, &range))
            return true;
        describe_near_dynamic_shared();
        describe_stacks();
        return false;
    }

    EmuRange range{}; // a range for which the answer holds, if not empty; the module remembers it
    bool read_only = false;
    std::string text; // why the access is not allowed

private:
    // Handles threadIdx and other variables of the device headers, because clang instruments them.
    bool in_thread_state()
    {
        uintptr_t low = UINTPTR_MAX, high = 0;
        auto cover = [&](const auto& variable) {
            auto begin = reinterpret_cast<uintptr_t>(&variable);
            low = std::min(low, begin);
            high = std::max(high, begin + sizeof(variable));
        };
        cover(emu_thread);
        if (!store_)
            for (const EmuDim3* triple : {&emu_thread_idx, &emu_block_idx, &emu_block_dim, &emu_grid_dim})
                cover(*triple);
        if (address_ < low || address_ + size_ > high)
            return false;
        range = {low, high};
        read_only = !store_;
        return true;
    }

    // clang copies large parameters with memcpy when it calls the kernel.
    bool in_parameters() const
    {
        const Bytes& bytes = worker_.launch->request.parameters;
        auto low = reinterpret_cast<uintptr_t>(bytes.data());
        return !store_ && address_ >= low && address_ + size_ <= low + bytes.size();
    }

    // With red zones on the stack, the fast check comes here only for them. Each frame with arrays begins with a mark
    // and a description by the compiler: the number of variables, and each one's offset, size and name.
    bool in_frame(const Fiber& fiber)
    {
        if (returned_) {
            text = "a local variable of a function that has returned";
            return false;
        }
        if (!worker_.launch->request.checks.stack)
            return true;
        text = "beside the local variables of the thread";
        for (uintptr_t at = address_ & ~uintptr_t(7); at >= fiber.stack_low && at + 4096 > address_; at -= 8) {
            auto* words = reinterpret_cast<const uintptr_t*>(at);
            if (words[0] != 0x41b58ab3)
                continue;
            describe_frame(at, reinterpret_cast<const char*>(words[1]));
            break;
        }
        return false;
    }

    void describe_frame(uintptr_t frame, const char* description)
    {
        unsigned long count = 0, offset = 0, size = 0, length = 0;
        int used = 0;
        uintptr_t nearest = UINTPTR_MAX;
        if (std::sscanf(description, "%lu%n", &count, &used) != 1)
            return;
        for (description += used; count-- && std::sscanf(description, "%lu %lu %lu%n", &offset, &size, &length, &used) == 3;
             description += length) {
            description += used + 1;
            uintptr_t low = frame + offset, distance = address_ < low ? low - address_ : address_ - low - size;
            if (distance >= nearest)
                continue;
            nearest = distance;
            std::string name(description, std::find(description, description + length, ':'));
            text = describe_offset(address_, size_, low, size, "the local variable " + name);
        }
    }

    bool in_dynamic_shared()
    {
        const EmuThread& state = *worker_.state;
        auto base = reinterpret_cast<uintptr_t>(state.dynamic_shared);
        size_t bytes = state.dynamic_shared_size;
        if (address_ < base || address_ >= base + worker_.shared_room())
            return false;
        range = {base, base + bytes};
        if (address_ + size_ > base + bytes)
            text = bytes ? describe_offset(address_, size_, base, bytes, "dynamic shared memory")
                         : "dynamic shared memory, but the launch requested none";
        return true;
    }

    void describe_near_dynamic_shared()
    {
        constexpr uintptr_t near = 256; // below it; in_dynamic_shared() describes addresses past the end
        auto base = reinterpret_cast<uintptr_t>(worker_.state->dynamic_shared);
        size_t bytes = worker_.state->dynamic_shared_size;
        if (bytes && address_ < base && base - address_ <= near)
            text = describe_offset(address_, size_, base, bytes, "dynamic shared memory");
    }

    bool in_static_shared()
    {
        SharedAround around = worker_.shared_around(address_);
        if (!around.nearest.second)
            return false;
        const EmuVariable& variable = *around.nearest.second;
        uintptr_t low = around.nearest.first.low;
        range = {low, low + variable.size};
        if (address_ >= low && address_ + size_ <= range.high)
            return true;
        text = describe_offset(address_, size_, low, variable.size, shared_name(variable));
        if (const EmuVariable* other = around.adjacent.second)
            text += describe_red_zone(address_ < low ? "after" : "before", other->size, shared_name(*other));
        return true;
    }

    bool in_cluster()
    {
        EmuRange found;
        bool ended = false;
        if (!worker_.in_cluster(address_, &found, nullptr, &ended))
            return false;
        if (ended) {
            text = describe_offset(address_, size_, found.low, found.high - found.low,
                                   "shared memory of a block of the cluster that has exited");
            return true;
        }
        range = found;
        if (address_ + size_ > range.high)
            text = describe_offset(address_, size_, range.low, range.high - range.low,
                                   "shared memory of another block of the cluster");
        return true;
    }

    bool in_image()
    {
        Judgement judgement;
        if (!worker_.image || !worker_.image->judge(address_, size_, &judgement))
            return false;
        range = judgement.range;
        text = judgement.text;
        read_only = judgement.read_only;
        if (text.empty() && store_ && read_only)
            text = judgement.name + ", which kernels can only read";
        return true;
    }

    static std::string shared_name(const EmuVariable& variable)
    {
        return std::string("__shared__ ") + variable.name;
    }

    void describe_stacks()
    {
        if (worker_.stacks.is_guard(address_))
            text = "outside the local variables of the thread";
        for (const Fiber* fiber : worker_.stacks.fibers())
            if (address_ >= fiber->stack_low && address_ < fiber->stack_high)
                text = "a local variable of another thread (number " + std::to_string(fiber->linear) + " of the block)";
    }

    Worker& worker_;
    uintptr_t address_;
    size_t size_;
    bool store_, returned_;
};

void remember(EmuThread& state, const Judge& judge)
{
    constexpr emu_u32 last = EMU_RECENT_RANGES - 1;
    if (judge.range.low < judge.range.high)
        state.recent[judge.read_only ? last : state.recent_next++ % last] = judge.range;
}

} // namespace
} // namespace emu::exec

using namespace emu::exec;

// Reports a misaligned access by its source location; an access inlined from our headers has none.
extern "C" void emu_misaligned(emu_uptr address, emu_size size, emu_u32 access, const char* file, emu_u32 line)
{
    Trouble trouble;
    trouble.kind = FaultKind::misaligned_address;
    trouble.pc = EMU_CALLER;
    trouble.address = address;
    trouble.size = emu_u32(size);
    trouble.store = access & EMU_ACCESS_STORE;
    trouble.file = file;
    trouble.line = line;
    raise_fault(std::move(trouble));
}

extern "C" void emu_bad_index(emu_uptr index, const char* type, const char* file, emu_u32 line)
{
    Trouble trouble;
    trouble.kind = FaultKind::bad_index;
    trouble.pc = EMU_CALLER;
    trouble.file = file;
    trouble.line = int(line);
    trouble.text = "index " + std::to_string(intptr_t(index)) + " in an array of type " + type;
    size_t bracket = trouble.text.find('['); // "int[8]" by clang, "int [8]" by g++
    if (bracket != std::string::npos && trouble.text[bracket - 1] != ' ')
        trouble.text.insert(bracket, " ");
    raise_fault(std::move(trouble));
}

extern "C" void emu_bad_division(const char* file, emu_u32 line)
{
    Trouble trouble;
    trouble.kind = FaultKind::arithmetic;
    trouble.pc = EMU_CALLER;
    trouble.file = file;
    trouble.line = int(line);
    raise_fault(std::move(trouble));
}

extern "C" void emu_unreachable(const char* what, const char* file, emu_u32 line)
{
    Trouble trouble;
    trouble.kind = FaultKind::trap;
    trouble.pc = EMU_CALLER;
    trouble.file = file;
    trouble.line = int(line);
    trouble.text = std::string("unreachable code: ") + what;
    raise_fault(std::move(trouble));
}

extern "C" void emu_check_slow(emu_uptr address, emu_size size, emu_u32 access, void* pc)
{
    Worker* worker = this_worker();
    if (!worker || !worker->current || !size)
        return;
    Trouble trouble;
    trouble.kind = FaultKind::misaligned_address;
    if (!(access & EMU_ACCESS_MISALIGNED)) {
        Judge judge(*worker, address, size, access);
        bool allowed;
        {
            // The judge takes locks. It may fault on a part of the shadow that is not filled yet; the handler then
            // fills it.
            Locked locked;
            allowed = judge.allowed();
        }
        if (allowed)
            return remember(*worker->state, judge);
        trouble.kind = FaultKind::illegal_address;
        trouble.text = std::move(judge.text);
    }
    trouble.pc = reinterpret_cast<uintptr_t>(pc);
    trouble.address = address;
    trouble.size = emu_u32(size);
    trouble.store = access & EMU_ACCESS_STORE;
    raise_fault(std::move(trouble));
}
