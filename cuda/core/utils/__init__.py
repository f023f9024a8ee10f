# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Helpers around the core: views of arrays and tensors, operations on many buffers, and program caches."""

from cuda.core._compile.cache import *
from cuda.core._memory._copy_enums import MemcpyOverlapMode, MemcpySrcAccessOrder
from cuda.core._memory._copy_ops import copy_batch
from cuda.core._memory._managed_memory_ops import discard_batch, discard_prefetch_batch, prefetch_batch
from cuda.core._memory.copying._options import CopyOptions
from cuda.core._memoryview import StridedMemoryView, args_viewable_as_strided_memory
