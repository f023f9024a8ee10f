# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graphs launched by kernels: errors where GPU behavior is undefined, and the deterministic mode."""

from ctypes import c_int, c_ulonglong

import pytest

from support.kernel_graphs import KernelGraphs

INVALID_VALUE = 1  # cudaErrorInvalidValue


@pytest.fixture
def graphs(driver, context):
    graphs = KernelGraphs(driver)
    yield graphs
    graphs.close()


def test_graph_is_queued_as_tail_launch_once(driver, graphs, memory):
    inner = [graphs.create(("append", memory, c_int(0)), for_kernels=True, upload=True) for _ in range(2)]
    outer = graphs.create(*[("follow", int(graph), memory + 4) for graph in inner * 2])
    graphs.run(outer)
    assert graphs.read(memory + 4) == INVALID_VALUE  # both are already tails
    driver.cuMemsetD8(memory, 0, 8)
    graphs.run(graphs.create(("launch_as", int(inner[0]), c_ulonglong(7), memory + 4)))
    assert graphs.read(memory + 4) == INVALID_VALUE  # 7 is not a launch mode


def test_kernels_cannot_launch_graphs_not_uploaded_for_them(driver, graphs, memory):
    """On a GPU the behavior is undefined."""
    row = ("append", memory, c_int(1))
    plain, not_uploaded = graphs.create(row), graphs.create(row, for_kernels=True)
    for handle in (int(plain), int(not_uploaded), 12345):
        for way in ("start", "follow"):
            driver.cuMemsetD8(memory, 0, 8)
            graphs.run(graphs.create((way, handle, memory + 4)))
            assert graphs.read(memory + 4) == INVALID_VALUE
    assert graphs.read(memory) == 0


SELF_LAUNCH = """
from ctypes import c_int
from support.driver import Driver
from support.kernel_graphs import KernelGraphs

driver = Driver()
driver.cuInit(0)
driver.cuCtxCreate(None, 0, 0)
graphs = KernelGraphs(driver)
memory = int(driver.zeros(64))
graph = graphs.create(("again_until", memory, c_int(500), memory + 8), for_kernels=True)
driver.cuGraphUpload(graph, driver.CUstream(0))
driver.cuMemcpyHtoD(memory + 8, int(graph).to_bytes(8, "little"), 8)
graphs.run(graph)
print(graphs.read(memory))
"""


def test_deterministic_mode_runs_self_launching_graphs(child):
    assert child(SELF_LAUNCH, MODE="deterministic") == "500\n"
