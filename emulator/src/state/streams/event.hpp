// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Events: a point in a stream's queue, and the time at which it was reached.
#pragma once

#include <chrono>
#include <memory>

#include "../../common.hpp"
#include "../context.hpp"
#include "queue.hpp"

namespace emu::state {

class Capture;
class SharedEvent;
struct GraphNode;

class Event : public std::enable_shared_from_this<Event> {
public:
    static CUresult create(Context& context, unsigned flags, CUevent* out);
    static CUresult open(Context& context, const CUipcEventHandle& handle, CUevent* out);
    static CUresult destroy(CUevent handle);
    static std::shared_ptr<Event> find(CUevent handle);
    static void forget_context(const Context& context);
    static std::vector<std::pair<std::shared_ptr<Event>, Origin>> all();

    CUevent handle() const { return handle_; }
    std::shared_ptr<Context> context() const { return context_.lock(); }
    unsigned flags() const { return flags_; }

    // Each record creates a new point; a wait submitted earlier keeps the old one.
    struct Point {
        std::vector<Place> places() const; // in all queues
        Place place;
        std::weak_ptr<Context> context; // where it was recorded
        std::chrono::steady_clock::time_point time; // written before the place counts as reached
        bool captured = false; // recorded by a capture, so it is never reached, and represents nodes
        std::weak_ptr<Capture> capture;
        std::vector<GraphNode*> nodes; // in the capture's graph
        uint64_t shared = 0;           // the number of the record, for events shared between processes
        std::vector<Place> before;     // places in other queues that the record waits for: they reveal dropped work
    };
    std::shared_ptr<Point> new_point() const { return std::make_shared<Point>(); }
    void publish(std::shared_ptr<Point> point) { std::atomic_store(&last_, std::move(point)); }
    std::shared_ptr<Point> last() const { return std::atomic_load(&last_); } // null: never recorded

    // For events shared between processes; null for others.
    const std::shared_ptr<SharedEvent>& shared() const { return shared_; }
    // Returns true if another process made the last record.
    bool is_recorded_elsewhere() const;

    CUresult query() const;
    CUresult synchronize() const;
    static CUresult elapsed(const Event& start, const Event& end, float* milliseconds);

private:
    CUresult error() const;

    std::weak_ptr<Context> context_;
    std::shared_ptr<Point> last_;
    std::shared_ptr<SharedEvent> shared_;
    CUevent handle_ = nullptr;
    unsigned flags_ = 0;
};

} // namespace emu::state
