# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs: work that is defined once and launched many times."""

from cuda.core.graph._graph import *
from cuda.core.graph._options import *

__all__ = [name for name in dir() if not name.startswith("_")]
