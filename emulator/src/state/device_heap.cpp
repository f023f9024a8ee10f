// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "device_heap.hpp"

#include <memory>
#include <mutex>

#include "../exec/checks/heap.hpp"
#include "device.hpp"

namespace emu::state {
namespace {

struct Heap {
    std::shared_ptr<Allocation> memory;
    int users = 0;
};
std::mutex heap_mutex;
Heap heaps[8];

} // namespace

bool DeviceHeap::retain(const Device& device, size_t size)
{
    std::lock_guard lock(heap_mutex);
    Heap& heap = heaps[device.ordinal()];
    if (!heap.users) {
        if (device.memory().allocate(size, 4096, MemoryKind::heap, true, &heap.memory))
            return false;
        exec::set_heap(device.ordinal(), heap.memory->base, heap.memory->size);
    }
    ++heap.users;
    return true;
}

void DeviceHeap::release(const Device& device)
{
    std::lock_guard lock(heap_mutex);
    Heap& heap = heaps[device.ordinal()];
    if (--heap.users)
        return;
    exec::set_heap(device.ordinal(), 0, 0);
    device.memory().release(heap.memory->base);
    heap.memory.reset();
}

} // namespace emu::state
