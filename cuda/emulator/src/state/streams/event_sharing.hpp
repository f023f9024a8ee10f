// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Events of several processes: a page of a file counts the records, begun and done.
#pragma once

#include <functional>
#include <memory>

#include "../../common.hpp"

namespace emu::state {

class SharedEvent {
public:
    static std::shared_ptr<SharedEvent> make(int device);      // null: no memory
    static CUresult open(const CUipcEventHandle& handle, std::shared_ptr<SharedEvent>* out);
    ~SharedEvent();

    // INVALID_HANDLE for one that was opened itself.
    CUresult describe(CUipcEventHandle* out) const;
    int device() const;
    uint64_t begin();                        // a record, which is done later
    void finish(uint64_t number);
    uint64_t latest() const;
    bool reached(uint64_t number) const;
    // Or until the process that records has ended, or the caller gives up.
    void wait(uint64_t number, const std::function<bool()>& gives_up) const;

private:
    struct Page;
    Page* page_ = nullptr;
    int file_ = -1;
    bool opened_ = false;
};

} // namespace emu::state
