// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The opt-in checks, which see every access that the check of addresses has allowed.
#include <algorithm>

#include "../worker.hpp"
#include "contents.hpp"
#include "regions.hpp"
#include "shadow.hpp"

namespace emu::exec {
namespace {

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
                refuse(FaultKind::uninitialized, describe_shared());
        } else if (!has_contents(address_, size_)) {
            refuse(FaultKind::uninitialized, describe_address(address_, size_, true));
        }
    }

    std::string describe_shared()
    {
        const EmuThread& state = *worker_.state;
        auto dynamic = reinterpret_cast<uintptr_t>(state.dynamic_shared);
        if (address_ - dynamic < state.dynamic_shared_size)
            return describe_offset(address_, size_, dynamic, state.dynamic_shared_size, "dynamic shared memory");
        const SharedVariable& found = worker_.shared_around(address_).nearest;
        return describe_offset(address_, size_, found.first.low, found.second->size,
                               std::string("__shared__ ") + found.second->name);
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
    Watch(*worker, address, size, access, reinterpret_cast<uintptr_t>(pc)).look();
}
