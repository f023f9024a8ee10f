# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graphs made through the bindings, for tests of layers below ``cuda.core.graph``."""

from __future__ import annotations

import contextlib

from cuda.bindings import driver

from support.bindings import call_driver


class Captured:
    """A graph captured from a stream."""

    def __init__(self):
        self.raw = None
        self._executable = None

    def launch(self, stream) -> None:
        """Launch the graph and wait for it."""
        if self._executable is None:
            self._executable = call_driver("cuGraphInstantiate", self.raw, 0)
        call_driver("cuGraphLaunch", self._executable, stream.handle)
        stream.sync()

    def node_kinds(self) -> list[str]:
        """Return the types of the nodes, sorted, such as ``"MEM_ALLOC"``."""
        nodes, count = call_driver("cuGraphGetNodes", self.raw)
        if count:
            nodes, count = call_driver("cuGraphGetNodes", self.raw, count)
        kinds = [call_driver("cuGraphNodeGetType", node).name for node in nodes[:count]]
        return sorted(kind.removeprefix("CU_GRAPH_NODE_TYPE_") for kind in kinds)

    def destroy(self) -> None:
        """Destroy the graph and its executable."""
        if self._executable is not None:
            call_driver("cuGraphExecDestroy", self._executable)
        if self.raw is not None:
            call_driver("cuGraphDestroy", self.raw)


@contextlib.contextmanager
def capture(stream):
    """Capture the work of a stream inside the block; the yielded graph is complete after it."""
    graph = Captured()
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    call_driver("cuStreamBeginCapture", stream.handle, mode)
    try:
        yield graph
    finally:
        graph.raw = call_driver("cuStreamEndCapture", stream.handle)
