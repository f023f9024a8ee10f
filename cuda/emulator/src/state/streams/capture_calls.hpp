// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What streams, events and pools ask of captures, which stand above them: capture.cpp answers.
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

    // On a capturing stream: the call becomes a node of the graph, or part of its order.
    virtual CUresult record(Stream& stream, Event& event) = 0;
    virtual CUresult record_external(Stream& stream, const std::shared_ptr<Event>& event) = 0;
    virtual CUresult wait(Stream& stream, const std::shared_ptr<Event>& event, bool external) = 0;
    virtual CUresult allocate(Stream& stream, int device, size_t size, CUmemoryPool pool, CUdeviceptr* out) = 0;
    virtual CUresult free(Stream& stream, CUdeviceptr base) = 0;

    // A call that asks for the result of what has not run; each ends the capture.
    virtual CUresult refuse(Stream& stream) = 0;
    virtual CUresult refuse(const Event& event) = 0;
    // The legacy stream would wait for blocking streams of the context that capture.
    virtual CUresult refuse_legacy(const Context& context) = 0;
    virtual void leave(Stream& stream) = 0; // it is destroyed

protected:
    CaptureCalls() { instance_ = this; }
    ~CaptureCalls() = default;

private:
    inline static CaptureCalls* instance_ = nullptr;
};

} // namespace emu::state
