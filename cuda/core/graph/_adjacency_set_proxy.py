# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sets of neighboring nodes, under the name that other packages import."""

from cuda.core.graph._graph import AdjacencySetProxy

__all__ = ["AdjacencySetProxy"]
