# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Operands of nodes: kept as long as they are used, released on the main thread."""

from cuda.core._native._cuda_core import deferred_count
from cuda.core.graph import GraphDefinition


def test_a_graph_without_operands_leaves_nothing_to_release(device):
    GraphDefinition().instantiate().close()
    assert deferred_count() == 0
