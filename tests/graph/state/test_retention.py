# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Operands of nodes: kept as long as they are used, released on the main thread."""

from cuda.core.graph import GraphDefinition
from support.internals import has_pending_destructions


def test_graph_without_operands_leaves_nothing_to_release(device):
    GraphDefinition().instantiate().close()
    assert not has_pending_destructions()
