# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs: work that is defined once and launched many times."""

from cuda.core.graph._captured_function import *
from cuda.core.graph._executable import *
from cuda.core.graph._graph_builder import *
from cuda.core.graph._graph_condition import *
from cuda.core.graph._graph_definition import *
from cuda.core.graph._graph_node import *
from cuda.core.graph._nodes import *
from cuda.core.graph._options import *

__all__ = [name for name in dir() if not name.startswith("_")]
