// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Capture: stream operations become graph nodes instead of being executed. One lock guards all captures; a stream knows
// without it whether it participates in one.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "../graphs/graph.hpp"
#include "stream.hpp"

namespace emu::state {

struct CaptureInfo {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    uint64_t id = 0;
    CUgraph graph = nullptr;
    std::vector<CUgraphNode> dependencies;
};

// A capture into the nodes that a graph already has.
struct Recapture {
    GraphNodes nodes; // in creation order, which the capture must repeat
    // Called without a lock before a node's record is replaced. An error ends the recapture.
    std::function<CUresult(const GraphNode& node, const Work& now, const Work& next)> change;
    size_t reached = 0; // number of nodes captured so far
};

// One capture: begun in one stream, joined by others, and ended in the first.
class Capture : public std::enable_shared_from_this<Capture> {
public:
    // Captures into a new graph, or into `graph` after the given nodes, or again into its nodes.
    static CUresult begin(Stream& stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
                          std::vector<GraphNode*> after, std::shared_ptr<Recapture> recapture = nullptr);
    static CUresult end(Stream& stream, CUgraph* out);
    static CUresult info(const Stream& stream, CaptureInfo* out);
    static CUresult set_dependencies(Stream& stream, const std::vector<GraphNode*>& nodes, bool replace);

    // Adds a node in place of an operation on a capturing stream.
    static CUresult add(Stream& stream, Work work);
    // Null: the stream is not capturing.
    static std::shared_ptr<Graph> graph_of(const Stream& stream);
    static CUresult record(Stream& stream, Event& event);
    static CUresult wait(Stream& stream, const std::shared_ptr<Event>& event, bool external);
    static CUresult allocate(Stream& stream, int device, size_t size, CUmemoryPool pool, CUdeviceptr* out);
    static CUresult free(Stream& stream, CUdeviceptr base);
    // Returns the error for a call that needs the result of captured work, which has not run.
    static CUresult reject(Stream& stream);
    // Returns the error for querying, or waiting for, an event that was last recorded in a capture.
    static CUresult reject(const Event& event);
    // Returns the error for a call that is unsafe while this thread, or another one in global mode, captures.
    static CUresult reject_unsafe();
    static bool is_any(); // true if anything captures; takes no lock
    // Returns the error for a call that concerns all streams of a context, or with `legacy` only its blocking streams.
    static CUresult reject_in(const Context& context, bool legacy, bool ends_it = true);
    static void leave(Stream& stream); // the stream is destroyed
    static void spoil(Stream& stream); // a launch into the stream was rejected
    // Sets the mode that applies to calls of this thread, and returns the earlier one.
    static CUstreamCaptureMode exchange_mode(CUstreamCaptureMode mode);

    Capture() = default;

private:
    void fail();
    void finish();
    bool is_joined(const std::vector<GraphNode*>& ends) const;
    bool is_followed(const Stream& stream) const;
    bool is_complete() const;
    std::shared_ptr<GraphNode> expected(const Stream& stream, const NodeWork& work) const;
    CUresult renew(const std::shared_ptr<GraphNode>& node, Work work);
    static bool recaptures(const Stream& stream);
    static bool reallocate(const Stream& stream, int device, size_t size, CUmemoryPool pool, Work* out);

    uint64_t id_ = 0;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_GLOBAL;
    uint64_t thread_ = 0;
    std::weak_ptr<Stream> origin_;
    std::shared_ptr<Graph> graph_;
    bool own_graph_ = true, invalid_ = false, ended_ = false;
    std::shared_ptr<Recapture> recapture_; // null: the capture adds nodes
    std::vector<std::weak_ptr<Stream>> streams_;
    std::set<CUgraphNode> nodes_; // nodes added by the streams, which must be joined at the end
};

} // namespace emu::state
