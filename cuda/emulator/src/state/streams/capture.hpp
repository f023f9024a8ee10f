// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Capture: operations of streams become nodes of a graph instead of work. One lock guards
// all captures; streams that take part in one know it, and are recognised without it.
#pragma once

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

// A sequence of capture: from its begin in one stream, through streams that join, to its end.
class Capture : public std::enable_shared_from_this<Capture> {
public:
    // Into a new graph, or behind some nodes of `graph`.
    static CUresult begin(Stream& stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
                          std::vector<GraphNode*> after);
    static CUresult end(Stream& stream, CUgraph* out);
    static CUresult info(const Stream& stream, CaptureInfo* out);
    static CUresult set_dependencies(Stream& stream, const std::vector<GraphNode*>& nodes, bool replace);

    // For a capturing stream: what the call does becomes a node.
    static CUresult add(Stream& stream, Work work);
    // Null: the stream is not capturing.
    static std::shared_ptr<Graph> graph_of(const Stream& stream);
    static CUresult record(Stream& stream, Event& event);
    static CUresult wait(Stream& stream, const std::shared_ptr<Event>& event, bool external);
    static CUresult allocate(Stream& stream, int device, size_t size, CUmemoryPool pool, CUdeviceptr* out);
    static CUresult free(Stream& stream, CUdeviceptr base);
    // Asks for the result of what has not run.
    static CUresult refuse(Stream& stream);
    // An event that a capture recorded last is queried or waited for.
    static CUresult refuse(const Event& event);
    // A call that may not happen while this thread, or any, captures in certain modes.
    static CUresult refuse_unsafe();
    static bool is_any();                    // without a lock: whether anything captures
    // A call that concerns all streams of a context; `legacy`: only the blocking ones.
    static CUresult refuse_in(const Context& context, bool legacy, bool ends_it = true);
    static void leave(Stream& stream);       // it is destroyed
    static void spoil(Stream& stream);       // a launch into it was refused
    // The mode in which the calling thread judges its calls.
    static CUstreamCaptureMode exchange_mode(CUstreamCaptureMode mode);

    Capture() = default;

private:
    void fail();
    void finish();
    bool is_joined(const std::vector<GraphNode*>& ends) const;

    uint64_t id_ = 0;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_GLOBAL;
    uint64_t thread_ = 0;
    std::weak_ptr<Stream> origin_;
    std::shared_ptr<Graph> graph_;
    bool own_graph_ = true, invalid_ = false, ended_ = false;
    std::vector<std::weak_ptr<Stream>> streams_;
    std::set<CUgraphNode> nodes_;    // what the streams added, and has to be joined
};

} // namespace emu::state
