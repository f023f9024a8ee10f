# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Executable graphs, under the name that other packages import."""

from cuda.core.graph._graph import Graph

__all__ = ["Graph"]
