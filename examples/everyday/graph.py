# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Capture ten launches in a graph, and launch it twice."""

import numpy as np

from cuda.core import Device, utils

add = utils.kernel("__global__ void add(int* x, int y) { x[threadIdx.x] += y; }", "add")
with Device() as device:
    stream = device.create_stream()
    x = device.zeros(32, np.int32, stream=stream)
    builder = device.create_graph_builder().begin_building()
    for i in range(10):
        add(x, i, grid=1, block=32, stream=builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    graph.launch(stream)
    assert set(x.to_host(stream=stream)) == {90}
print("graph: verified")
