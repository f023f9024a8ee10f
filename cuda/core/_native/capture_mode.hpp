// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// A scope in which a thread has a different stream capture mode. The driver calls are in _capture_mode.pxd.
#pragma once

#include <utility>

namespace cuda_core {

class CaptureModeScope {
public:
    using Restore = void (*)(int mode);

    CaptureModeScope() noexcept = default;
    ~CaptureModeScope() { end(); }
    CaptureModeScope(const CaptureModeScope&) = delete;
    CaptureModeScope& operator=(const CaptureModeScope&) = delete;

    bool has_begun() const noexcept { return restore_ != nullptr; }

    // `mode` is the one that the thread had before.
    void begin(int mode, Restore restore) noexcept {
        mode_ = mode;
        restore_ = restore;
    }

    void end() noexcept {
        if (Restore restore = std::exchange(restore_, nullptr)) restore(mode_);
    }

private:
    int mode_ = 0;
    Restore restore_ = nullptr;
};

}  // namespace cuda_core
