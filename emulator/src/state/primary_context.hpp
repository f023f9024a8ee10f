// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The primary context of a device: the first retain creates it, the last release ends it. Its handle stays the same for
// the lifetime of the process.
#pragma once

#include <mutex>

#include "device.hpp"

namespace emu::state {

class PrimaryContext {
public:
    explicit PrimaryContext(int ordinal) : ordinal_(ordinal) {}
    static PrimaryContext& of(const Device& device);
    CUresult retain(CUcontext* out);
    CUresult release();
    CUresult reset();
    CUresult set_flags(unsigned flags);
    void state(unsigned* flags, int* active) const;

private:
    const int ordinal_;
    mutable std::mutex mutex_;
    CUcontext handle_ = nullptr; // kept after the context has ended
    unsigned references_ = 0, flags_ = 0;
    bool active_ = false;
};

} // namespace emu::state
