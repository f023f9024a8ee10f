// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Streams: queues of operations, which workers execute in order, several streams at a time. A capturing stream adds
// nodes to a graph instead (capture.hpp).
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "../../common.hpp"
#include "../context.hpp"
#include "queue.hpp"

namespace emu::state {

class Capture;
class Event;
class GreenContext;
struct GraphNode;

// The green context of a stream.
struct GreenHome {
    std::weak_ptr<GreenContext> context;
    uint64_t id = 0;                                  // 0: none
    std::shared_ptr<const exec::Partition> partition; // null: the whole device
    std::shared_ptr<Queue> legacy_queue;
};

class Stream : public std::enable_shared_from_this<Stream> {
public:
    // Creates a stream without a handle: the legacy stream, or a thread's default stream.
    static std::shared_ptr<Stream> make(Context& context, unsigned flags, int priority, bool legacy,
                                        const GreenHome& home = {});
    static CUresult create(Context& context, unsigned flags, int priority, CUstream* out, const GreenHome& home = {});
    // Does not wait: workers finish the queue.
    static CUresult destroy(CUstream handle);
    static std::shared_ptr<Stream> find(CUstream handle);
    static std::shared_ptr<Stream> legacy_of(Context& context);
    static std::shared_ptr<Stream> of_this_thread(Context& context);
    static void forget_context(const Context& context);
    static std::vector<std::pair<std::shared_ptr<Stream>, Origin>> all();

    CUstream handle() const { return handle_; }
    std::shared_ptr<Context> context() const { return context_.lock(); } // null: destroyed
    uint64_t id() const { return id_; }
    unsigned flags() const { return flags_; }
    int priority() const { return priority_.load(); }
    // Attributes, which later work has. The device follows the priority only; the others are kept.
    CUresult attribute(CUlaunchAttributeID id, CUlaunchAttributeValue* value) const;
    CUresult set_attribute(CUlaunchAttributeID id, const CUlaunchAttributeValue& value);
    void copy_attributes(const Stream& from);
    bool is_legacy() const { return legacy_; }
    bool is_blocking() const { return !legacy_ && !(flags_ & CU_STREAM_NON_BLOCKING); }
    const std::shared_ptr<Queue>& queue() const { return queue_; }
    // The stream's green context, or 0 and null without one.
    uint64_t green_id() const { return home_.id; }
    std::shared_ptr<GreenContext> green() const { return home_.context.lock(); }
    bool is_detached() const { return home_.id && home_.context.expired(); } // its green context has ended
    const std::shared_ptr<const exec::Partition>& partition() const { return home_.partition; }
    StreamRow row(); // for Context::add_stream()
    bool is_capturing() const { return capturing_.load(std::memory_order_acquire); }

    // Appends an operation. Implements the legacy stream's rules: its operations follow all earlier ones of blocking
    // streams, and later ones of blocking streams follow them.
    CUresult enqueue(Operation operation);
    // Records an event, also after places in other queues.
    CUresult record(const std::shared_ptr<Event>& event, std::vector<Place> before = {});
    // `external` means that in a capture, each run of the graph waits for the event itself, not for its place in the
    // graph.
    CUresult wait(const std::shared_ptr<Event>& event, bool external = false);
    CUresult record_external(const std::shared_ptr<Event>& event);
    CUresult follow(const Place& place);
    // For the races check: gives a call that waits for nothing its turn.
    exec::Turn take_turn(const char* call);
    CUresult query();       // NOT_READY, or the sticky error
    CUresult synchronize(); // may run the queue on the calling thread
    // For synchronous calls: appends an operation and waits for it alone.
    CUresult run(Operation operation);

private:
    friend class Capture;
    CUresult submit(Operation operation, std::vector<Place> places, bool wait);
    std::vector<Place> legacy_places() const;
    CUresult check_legacy() const;

    std::weak_ptr<Context> context_;
    std::shared_ptr<Queue> queue_;
    std::weak_ptr<Queue> legacy_queue_; // of the context, which blocking streams follow
    CUstream handle_ = nullptr;
    uint64_t id_ = 0;
    unsigned flags_ = 0;
    std::atomic<int> priority_{0};
    mutable std::mutex attributes_mutex_;
    std::map<int, CUlaunchAttributeValue> attributes_; // those that were set
    bool legacy_ = false;
    GreenHome home_;
    std::atomic<bool> capturing_{false};
    std::shared_ptr<Capture> capture_; // this and the next field are protected by the lock of captures
    std::vector<GraphNode*> frontier_; // the nodes that the next node depends on
};

enum : int { stream_priority_least = 0, stream_priority_greatest = -5 };

} // namespace emu::state
