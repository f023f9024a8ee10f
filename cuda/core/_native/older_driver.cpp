// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// CUDA 12.3 added data to the edges of graphs, and with it a new version of each function that lists or adds edges. The
// functions here have the new signatures and call the old versions, for which every edge is without data.
#include "older_driver.hpp"

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace cuda_core {

namespace {

// The driver's function, found on the first call.
template <const char* symbol, class Function>
Function older() noexcept {
    static const Function found = (Function)find_in_driver(symbol);
    return found;
}

constexpr char add_node_symbol[] = "cuGraphAddNode";
constexpr char add_edges_symbol[] = "cuGraphAddDependencies";
constexpr char remove_edges_symbol[] = "cuGraphRemoveDependencies";
constexpr char edges_symbol[] = "cuGraphGetEdges";
constexpr char predecessors_symbol[] = "cuGraphNodeGetDependencies";
constexpr char successors_symbol[] = "cuGraphNodeGetDependentNodes";
constexpr char capture_info_symbol[] = "cuStreamGetCaptureInfo_v2";
constexpr char update_capture_symbol[] = "cuStreamUpdateCaptureDependencies";
constexpr char elapsed_time_symbol[] = "cuEventElapsedTime";

bool has_data(const CUgraphEdgeData* edges, std::size_t count) noexcept {
    return edges && std::any_of(edges, edges + count, [](const CUgraphEdgeData& edge) {
        return edge.from_port || edge.to_port || edge.type;
    });
}

void clear(CUgraphEdgeData* edges, std::size_t count) noexcept {
    if (edges) std::fill_n(edges, count, CUgraphEdgeData{});
}

CUresult add_node(
    CUgraphNode* node, CUgraph graph, const CUgraphNode* from, const CUgraphEdgeData* edges, std::size_t count,
    CUgraphNodeParams* parameters
) {
    using Older = CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUgraphNodeParams*);
    if (has_data(edges, count)) return CUDA_ERROR_NOT_SUPPORTED;
    return older<add_node_symbol, Older>()(node, graph, from, count, parameters);
}

template <const char* symbol>
CUresult change_edges(
    CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* edges, std::size_t count
) {
    using Older = CUresult (*)(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t);
    if (has_data(edges, count)) return CUDA_ERROR_NOT_SUPPORTED;
    return older<symbol, Older>()(graph, from, to, count);
}

CUresult edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges, std::size_t* count) {
    using Older = CUresult (*)(CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*);
    const CUresult result = older<edges_symbol, Older>()(graph, from, to, count);
    if (result == CUDA_SUCCESS) clear(edges, *count);
    return result;
}

template <const char* symbol>
CUresult neighbors(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges, std::size_t* count) {
    using Older = CUresult (*)(CUgraphNode, CUgraphNode*, std::size_t*);
    const CUresult result = older<symbol, Older>()(node, nodes, count);
    if (result == CUDA_SUCCESS) clear(edges, *count);
    return result;
}

CUresult capture_info(
    CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
    const CUgraphEdgeData** edges, std::size_t* count
) {
    using Older =
        CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**, std::size_t*);
    if (edges) *edges = nullptr;  // no edge has data
    return older<capture_info_symbol, Older>()(stream, status, id, graph, nodes, count);
}

CUresult update_capture(
    CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData* edges, std::size_t count, unsigned int flags
) {
    using Older = CUresult (*)(CUstream, CUgraphNode*, std::size_t, unsigned int);
    if (has_data(edges, count)) return CUDA_ERROR_NOT_SUPPORTED;
    return older<update_capture_symbol, Older>()(stream, nodes, count, flags);
}

CUresult elapsed_time(float* milliseconds, CUevent start, CUevent end) {
    using Older = CUresult (*)(float*, CUevent, CUevent);
    return older<elapsed_time_symbol, Older>()(milliseconds, start, end);
}

struct Replacement {
    const char* name;
    const char* symbol;
    void* function;
};

const Replacement replacements[] = {
    {"cuEventElapsedTime", elapsed_time_symbol, (void*)&elapsed_time},
    {"cuGraphAddDependencies", add_edges_symbol, (void*)&change_edges<add_edges_symbol>},
    {"cuGraphAddNode", add_node_symbol, (void*)&add_node},
    {"cuGraphGetEdges", edges_symbol, (void*)&edges},
    {"cuGraphNodeGetDependencies", predecessors_symbol, (void*)&neighbors<predecessors_symbol>},
    {"cuGraphNodeGetDependentNodes", successors_symbol, (void*)&neighbors<successors_symbol>},
    {"cuGraphRemoveDependencies", remove_edges_symbol, (void*)&change_edges<remove_edges_symbol>},
    {"cuStreamGetCaptureInfo", capture_info_symbol, (void*)&capture_info},
    {"cuStreamUpdateCaptureDependencies", update_capture_symbol, (void*)&update_capture},
};

}  // namespace

void* replacement_in_older_driver(const char* name) noexcept {
    for (const Replacement& row : replacements) {
        if (std::strcmp(row.name, name) == 0) return find_in_driver(row.symbol) ? row.function : nullptr;
    }
    return nullptr;
}

}  // namespace cuda_core
