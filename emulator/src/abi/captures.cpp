// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture into graphs.
#include "../state/streams/capture.hpp"
#include "graph_calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

bool is_mode(CUstreamCaptureMode mode)
{
    return mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

CUresult need_nodes(const CUgraphNode* handles, size_t count, std::vector<GraphNode*>* out)
{
    REQUIRE(handles || !count, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; ++i) {
        auto node = Graph::find_node(handles[i]);
        REQUIRE(node, CUDA_ERROR_INVALID_VALUE);
        out->push_back(node.get());
    }
    return CUDA_SUCCESS;
}

} // namespace

ENTRY(cuStreamBeginCapture, 10010)(CUstream hStream, CUstreamCaptureMode mode)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(is_mode(mode), CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    return Capture::begin(*stream, mode, nullptr, {});
}

ENTRY(cuStreamBeginCaptureToGraph, 12030)(CUstream hStream, CUgraph hGraph, const CUgraphNode* dependencies,
                                          const CUgraphEdgeData*, size_t numDependencies, CUstreamCaptureMode mode)
{
    std::shared_ptr<Stream> stream;
    std::vector<GraphNode*> nodes;
    auto graph = Graph::find(hGraph);
    REQUIRE(graph && is_mode(mode), CUDA_ERROR_INVALID_VALUE);
    TRY(need_nodes(dependencies, numDependencies, &nodes));
    for (GraphNode* node : nodes)
        REQUIRE(node->graph.lock() == graph, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    return Capture::begin(*stream, mode, std::move(graph), std::move(nodes));
}

ENTRY(cuStreamBeginRecaptureToGraph, 13030)(CUstream hStream, CUstreamCaptureMode mode, CUgraph hGraph,
                                            CUgraphRecaptureCallback callbackFunc, void* userData)
{
    std::shared_ptr<Stream> stream;
    auto graph = Graph::find(hGraph);
    REQUIRE(graph && !graph->is_owned() && is_mode(mode), CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    auto change = [callbackFunc, userData](const GraphNode& node, const Work& now, const Work& next) {
        if (!callbackFunc || are_equal(*now, *next))
            return CUDA_SUCCESS;
        auto original = parameters_of(*now), recaptured = parameters_of(*next);
        // Executables take over all parameters of the types that captures can change.
        return callbackFunc(userData, node.handle, &original, &recaptured, CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE);
    };
    TRY(Capture::begin(*stream, mode, graph, {}, std::make_shared<Recapture>(Recapture{graph->nodes(), change})));
    graph->drop_objects();
    return CUDA_SUCCESS;
}

ENTRY(cuStreamEndCapture, 10000)(CUstream hStream, CUgraph* phGraph)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(phGraph, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    return Capture::end(*stream, phGraph);
}

ENTRY(cuStreamIsCapturing, 10000)(CUstream hStream, CUstreamCaptureStatus* captureStatus)
{
    std::shared_ptr<Stream> stream;
    CaptureInfo info;
    REQUIRE(captureStatus, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    if (stream->is_capturing() || stream->is_legacy())
        TRY(Capture::info(*stream, &info));
    *captureStatus = info.status;
    return CUDA_SUCCESS;
}

ENTRY(cuStreamGetCaptureInfo, 12030)(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out,
                                     CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                     const CUgraphEdgeData** edgeData_out, size_t* numDependencies_out)
{
    // Valid until the thread's next call, as documented.
    thread_local std::vector<CUgraphNode> dependencies;
    thread_local std::vector<CUgraphEdgeData> edges;
    std::shared_ptr<Stream> stream;
    CaptureInfo info;
    REQUIRE(captureStatus_out, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    TRY(Capture::info(*stream, &info));
    *captureStatus_out = info.status;
    if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    dependencies = std::move(info.dependencies);
    edges.assign(dependencies.size(), CUgraphEdgeData{});
    if (id_out)
        *id_out = info.id;
    if (graph_out)
        *graph_out = info.graph;
    if (dependencies_out)
        *dependencies_out = dependencies.data();
    if (edgeData_out)
        *edgeData_out = edges.data();
    if (numDependencies_out)
        *numDependencies_out = dependencies.size();
    return CUDA_SUCCESS;
}

ENTRY(cuStreamGetCaptureInfo, 11030)(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out,
                                     CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                     size_t* numDependencies_out)
{
    return entry_cuStreamGetCaptureInfo_12030(hStream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr,
                                              numDependencies_out);
}

ENTRY(cuStreamUpdateCaptureDependencies, 12030)(CUstream hStream, CUgraphNode* dependencies, const CUgraphEdgeData*,
                                                size_t numDependencies, unsigned int flags)
{
    std::shared_ptr<Stream> stream;
    std::vector<GraphNode*> nodes;
    REQUIRE(flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES, CUDA_ERROR_INVALID_VALUE);
    TRY(need_nodes(dependencies, numDependencies, &nodes));
    TRY(need_stream(hStream, &stream));
    return Capture::set_dependencies(*stream, nodes, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

ENTRY(cuThreadExchangeStreamCaptureMode, 10010)(CUstreamCaptureMode* mode)
{
    REQUIRE(mode && is_mode(*mode), CUDA_ERROR_INVALID_VALUE);
    *mode = Capture::exchange_mode(*mode);
    return CUDA_SUCCESS;
}
