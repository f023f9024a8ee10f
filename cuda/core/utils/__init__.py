# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Helpers around the core: views of arrays and tensors, and caches of compiled programs."""

from cuda.core._memoryview import StridedMemoryView, args_viewable_as_strided_memory
from cuda.core._program_cache import *
