// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The capture functions called by streams, events and pools. Captures are a unit above them; capture.cpp implements
// these functions.
#pragma once

#include <memory>

#include "../../common.hpp"

namespace emu::state {

class Context;
class Event;
class Stream;

class CaptureCalls {
public:
    static CaptureCalls& get() { return *instance_; }

    // For a capturing stream: the call adds a node, or changes the dependencies of the next node.
    virtual CUresult record(Stream& stream, Event& event) = 0;
    virtual CUresult record_external(Stream& stream, const std::shared_ptr<Event>& event) = 0;
    virtual CUresult wait(Stream& stream, const std::shared_ptr<Event>& event, bool external) = 0;
    virtual CUresult allocate(Stream& stream, int device, size_t size, CUmemoryPool pool, CUdeviceptr* out) = 0;
    virtual CUresult free(Stream& stream, CUdeviceptr base) = 0;

    // Return the errors for calls that need the result of captured work; each invalidates the capture.
    virtual CUresult reject(Stream& stream) = 0;
    virtual CUresult reject(const Event& event) = 0;
    // Returns the error for legacy stream work while blocking streams of the context capture.
    virtual CUresult reject_legacy(const Context& context) = 0;
    virtual void leave(Stream& stream) = 0; // the stream is destroyed

protected:
    CaptureCalls() { instance_ = this; }
    ~CaptureCalls() = default;

private:
    inline static CaptureCalls* instance_ = nullptr;
};

} // namespace emu::state
