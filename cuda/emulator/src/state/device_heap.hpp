// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The heap of malloc() in kernels: taken from the device's memory by the first launch, and
// shared by the contexts of the device.
#pragma once

#include <cstddef>

namespace emu::state {

class Device;

struct DeviceHeap {
    // For one more context; false: there is no memory for it.
    static bool retain(const Device& device, size_t size);
    static void release(const Device& device);
};

} // namespace emu::state
