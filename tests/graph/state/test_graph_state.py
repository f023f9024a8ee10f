# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The state that the wrappers of one graph share."""

import gc

from cuda.bindings import driver

from cuda.core.graph import GraphDefinition


def test_graph_ends_with_its_last_wrapper(device):
    graph = GraphDefinition()
    raw = driver.CUgraph(int(graph.handle))
    assert driver.cuGraphGetNodes(raw)[0] == driver.CUresult.CUDA_SUCCESS
    del graph
    gc.collect()
    assert driver.cuGraphGetNodes(raw)[0] != driver.CUresult.CUDA_SUCCESS
