// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Events shared between processes: one page of a file counts the records begun and completed.
#pragma once

#include <functional>
#include <memory>

#include "../../common.hpp"

namespace emu::state {

class SharedEvent {
public:
    static std::shared_ptr<SharedEvent> make(int device); // null if there is no memory
    static CUresult open(const CUipcEventHandle& handle, std::shared_ptr<SharedEvent>* out);
    ~SharedEvent();

    // Returns INVALID_HANDLE for an event opened from another process.
    CUresult describe(CUipcEventHandle* out) const;
    int device() const;
    uint64_t begin(); // returns the number of a record that completes later
    void finish(uint64_t number);
    uint64_t latest() const;
    bool reached(uint64_t number) const; // also true if the recording process has ended
    // Waits until record `number` is reached, or `gives_up` returns true.
    void wait(uint64_t number, const std::function<bool()>& gives_up) const;

private:
    struct Page;
    Page* page_ = nullptr;
    int file_ = -1;
    bool opened_ = false;
};

} // namespace emu::state
