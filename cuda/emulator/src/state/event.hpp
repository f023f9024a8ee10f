// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Events: a point in a stream's queue, and the time at which it was reached.
#pragma once

#include <memory>

#include "../common.hpp"
#include "context.hpp"

namespace emu::state {

class Event : public std::enable_shared_from_this<Event> {
public:
    static CUresult create(Context& context, unsigned flags, CUevent* out);
    static CUresult destroy(CUevent handle);
    static std::shared_ptr<Event> find(CUevent handle);

    CUevent handle() const;
    std::shared_ptr<Context> context() const;
    unsigned flags() const;

    // A record makes a new point; waits made before keep the old one.
    struct Point;
    std::shared_ptr<Point> begin_record();               // at submission
    static void reach(const std::shared_ptr<Point>& point); // by the worker
    static void wait(const std::shared_ptr<Point>& point);  // blocks
    static bool reached(const std::shared_ptr<Point>& point);
    std::shared_ptr<Point> last() const;                 // null: never recorded

    CUresult query() const;
    CUresult synchronize() const;
    static CUresult elapsed(const Event& start, const Event& end, float* milliseconds);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace emu::state
