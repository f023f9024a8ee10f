// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Streams: queues of operations, executed by worker threads in order, across streams at
// once. Capture diverts operations into a graph instead (graph.hpp, later).
#pragma once

#include <functional>
#include <memory>

#include "../common.hpp"
#include "context.hpp"

namespace emu::state {

class Event;

// One unit of work. `work` runs on a worker; what it returns other than success is sticky
// for the context. It holds by shared_ptr everything that it uses.
struct Operation {
    enum class Kind { kernel, copy, fill, host_function, record, wait, allocate, release, other };
    Kind kind = Kind::other;
    const char* name = "";                               // driver call, for reports
    std::function<CUresult()> work;
};

class Stream : public std::enable_shared_from_this<Stream> {
public:
    static CUresult create(Context& context, unsigned flags, int priority, CUstream* out);
    // Destroying does not wait: the queue is finished by its worker.
    static CUresult destroy(CUstream handle);
    static std::shared_ptr<Stream> find(CUstream handle);

    CUstream handle() const;
    std::shared_ptr<Context> context() const;            // null: destroyed
    uint64_t id() const;
    unsigned flags() const;
    int priority() const;
    bool is_legacy() const;
    bool is_blocking() const;                            // ordered with the legacy stream

    // Legacy ordering is applied here: an operation of the legacy stream follows all
    // earlier ones of blocking streams, and those follow it.
    CUresult enqueue(Operation operation);
    CUresult record(const std::shared_ptr<Event>& event, unsigned flags);
    CUresult wait(const std::shared_ptr<Event>& event, unsigned flags);
    CUresult query();                                    // NOT_READY, or the sticky error
    CUresult synchronize();                              // may run the queue on the caller
    // For synchronous calls: enqueue and wait for that operation only.
    CUresult run(Operation operation);

    // Position in the queue: events and legacy ordering compare these.
    uint64_t submitted() const;
    uint64_t completed() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

// True in a host function or other callback of a worker: driver calls give NOT_PERMITTED.
bool in_callback();

} // namespace emu::state
