// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What streams, events and pools call of captures, which are a unit above them; capture.cpp implements it.
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

    // For a capturing stream: the call adds a node, or changes what the next node depends on.
    virtual CUresult record(Stream& stream, Event& event) = 0;
    virtual CUresult record_external(Stream& stream, const std::shared_ptr<Event>& event) = 0;
    virtual CUresult wait(Stream& stream, const std::shared_ptr<Event>& event, bool external) = 0;
    virtual CUresult allocate(Stream& stream, int device, size_t size, CUmemoryPool pool, CUdeviceptr* out) = 0;
    virtual CUresult free(Stream& stream, CUdeviceptr base) = 0;

    // The errors for calls that need the result of captured work; each invalidates the capture.
    virtual CUresult refuse(Stream& stream) = 0;
    virtual CUresult refuse(const Event& event) = 0;
    // The error for work of the legacy stream while blocking streams of the context capture.
    virtual CUresult refuse_legacy(const Context& context) = 0;
    virtual void leave(Stream& stream) = 0; // the stream is destroyed

protected:
    CaptureCalls() { instance_ = this; }
    ~CaptureCalls() = default;

private:
    inline static CaptureCalls* instance_ = nullptr;
};

} // namespace emu::state
