// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The heap for malloc() in kernels. The first launch allocates it from device memory; the device's contexts share it.
#pragma once

#include <cstddef>

namespace emu::state {

class Device;

struct DeviceHeap {
    // Adds a user, for one more context. Returns false if there is no memory for the heap.
    static bool retain(const Device& device, size_t size);
    static void release(const Device& device);
};

} // namespace emu::state
