# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Helpers around the core: views of arrays and tensors, operations on many buffers, and program caches."""

from cuda.core._arrays._importers import *
from cuda.core._compile.cache import *
from cuda.core._memory._copy_enums import *
from cuda.core._memory._copy_ops import *
from cuda.core._memory._managed_memory_ops import *
from cuda.core._memory.copying._options import *
from cuda.core._memoryview import *

__all__ = [name for name in dir() if not name.startswith("_")]
