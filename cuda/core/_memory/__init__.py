# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory: buffers, and the resources that allocate them."""

from cuda.core._memory._buffer import *
from cuda.core._memory._device_memory_resource import *
from cuda.core._memory._graph_memory_resource import *
from cuda.core._memory._legacy import *
from cuda.core._memory._managed_buffer import *
from cuda.core._memory._managed_memory_resource import *
from cuda.core._memory._pinned_memory_resource import *
from cuda.core._memory._virtual_memory_resource import *
from cuda.core._memory.ranges._host_registration import *

__all__ = [name for name in dir() if not name.startswith("_")]
