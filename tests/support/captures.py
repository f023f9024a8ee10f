# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Ends captures that a failed test left open: in a strict mode, they would make calls of all later tests fail."""

from __future__ import annotations

import gc
import sys


def end_captures() -> None:
    """Close all graph builders, if a builder still captures."""
    module = sys.modules.get("cuda.core._native._cuda_core")
    if module is None or module.capture_count() == 0:
        return
    from cuda.core.graph import GraphBuilder

    for candidate in gc.get_objects():
        if type(candidate) is GraphBuilder:
            candidate.close()


def end_capture(stream) -> None:
    """End the capture of a stream that was begun through the bindings, if there is one."""
    from cuda.bindings import driver

    error, status = driver.cuStreamIsCapturing(stream.handle)
    if error or not status:
        return
    error, graph = driver.cuStreamEndCapture(stream.handle)
    if not error:
        driver.cuGraphDestroy(graph)
