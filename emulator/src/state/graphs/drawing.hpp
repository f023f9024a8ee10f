// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Graphs as text for GraphViz.
#pragma once

namespace emu::state {

class Graph;

// `flags` are CUgraphDebugDot_flags. Returns false if the file cannot be written.
bool draw(const Graph& graph, unsigned flags, const char* path);

} // namespace emu::state
