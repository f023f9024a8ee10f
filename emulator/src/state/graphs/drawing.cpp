// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "drawing.hpp"

#include <fstream>
#include <sstream>

#include "graph.hpp"

namespace emu::state {
namespace {

const char* kind_of(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return "KERNEL";
    case CU_GRAPH_NODE_TYPE_MEMCPY: return "MEMCPY";
    case CU_GRAPH_NODE_TYPE_MEMCPY_BATCH: return "MEMCPY_BATCH";
    case CU_GRAPH_NODE_TYPE_MEMSET: return "MEMSET";
    case CU_GRAPH_NODE_TYPE_HOST: return "HOST";
    case CU_GRAPH_NODE_TYPE_GRAPH: return "GRAPH";
    case CU_GRAPH_NODE_TYPE_EMPTY: return "EMPTY";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return "WAIT_EVENT";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return "EVENT_RECORD";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return "MEM_ALLOC";
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return "MEM_FREE";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return "BATCH_MEM_OP";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return "CONDITIONAL";
    default: return "OTHER";
    }
}

void show_size(std::ostream& out, const char* name, const Dim3& size)
{
    out << "\\n" << name << " " << size.x << " x " << size.y << " x " << size.z;
}

void show_details(std::ostream& out, const GraphNode& node, unsigned flags)
{
    bool all = flags & CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE;
    auto wants = [&](unsigned flag) { return all || flags & flag; };
    if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        out << "\\nhandle " << node.handle;
    auto kernel = work_as<KernelWork>(node.work);
    if (kernel && wants(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) {
        show_size(out, "grid", kernel->parameters.grid);
        show_size(out, "block", kernel->parameters.block);
        out << "\\nshared " << kernel->parameters.dynamic_shared;
    }
    auto copy = work_as<CopyWork>(node.work);
    if (copy && wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
        out << "\\n" << copy->box.width << " x " << copy->box.height << " x " << copy->box.depth;
    auto fill = work_as<FillWork>(node.work);
    if (fill && wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
        out << "\\nvalue " << fill->parameters.value << ", " << fill->parameters.width << " x "
            << fill->parameters.height << " of " << fill->parameters.elementSize << " bytes";
    auto allocation = work_as<AllocationWork>(node.work);
    if (allocation && wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS))
        out << "\\n" << allocation->parameters.bytesize << " bytes";
}

void draw_graph(std::ostream& out, const Graph& graph, unsigned flags)
{
    std::string prefix = "graph_" + std::to_string(graph.id()) + "_node_";
    out << "subgraph cluster_" << graph.id() << " {\nlabel=\"graph_" << graph.id() << "\"\n";
    for (const auto& node : graph.nodes()) {
        auto kernel = work_as<KernelWork>(node->work);
        out << "\"" << prefix << node->id << "\" [shape=\"" << (kernel ? "octagon" : "rectangle") << "\" label=\""
            << node->id << "\\n"
            << (kernel ? kernel->launch.request->name.c_str() : kind_of(node->work->type));
        show_details(out, *node, flags);
        out << "\"];\n";
        for (const GraphNode* before : node->from)
            out << "\"" << prefix << before->id << "\" -> \"" << prefix << node->id << "\";\n";
        for (const auto& inner : graphs_in(node->work))
            draw_graph(out, *inner, flags);
    }
    out << "}\n";
}

} // namespace

bool draw(const Graph& graph, unsigned flags, const char* path)
{
    std::ofstream out(path);
    out << "digraph dot {\n";
    draw_graph(out, graph, flags);
    out << "}\n";
    out.flush();
    return bool(out);
}

} // namespace emu::state
