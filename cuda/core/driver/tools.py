# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tools for programs in the classic style."""

from __future__ import annotations

from cuda.core.driver._context import get_default_device, make_default_context
from cuda.core.driver._contexts._memoize import (
    clear_context_caches,
    context_dependent_memoize,
    init_cuda_context_fixture,
    mark_cuda_test,
)
from cuda.core.driver._modules._occupancy import DeviceData, OccupancyRecord
from cuda.core.driver._pools import (
    DeviceMemoryPool,
    PageLockedAllocator,
    PageLockedMemoryPool,
    PooledDeviceAllocation,
    PooledHostAllocation,
    bitlog2,
)
from cuda.core.driver._types import (
    ScalarArg,
    TypeNameNotKnown,
    VectorArg,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)

__all__ = [
    "DebugMemoryPool",
    "DeviceData",
    "DeviceMemoryPool",
    "OccupancyRecord",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "PooledDeviceAllocation",
    "PooledHostAllocation",
    "ScalarArg",
    "TypeNameNotKnown",
    "VectorArg",
    "bitlog2",
    "clear_context_caches",
    "context_dependent_memoize",
    "dtype_to_ctype",
    "get_arg_type",
    "get_default_device",
    "get_or_register_dtype",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
    "parse_c_arg",
    "register_dtype",
]


class DebugMemoryPool(DeviceMemoryPool):
    """A pool of device memory that logs each allocation.

    Parameters
    ----------
    interactive : bool, optional
        Whether to print a line for each allocation. Default is True.
    logfile : file, optional
        A file to which the lines are written, too.
    """

    def __init__(self, interactive: bool = True, logfile=None):
        super().__init__()
        self.interactive = interactive
        self.logfile = logfile

    def allocate(self, size: int) -> PooledDeviceAllocation:
        """Allocate memory of at least ``size`` bytes, and log it; see :meth:`DeviceMemoryPool.allocate`."""
        held = self.held_blocks
        memory = super().allocate(size)
        how = "reused" if self.held_blocks < held else "new"
        line = f"allocated {size} bytes ({how}); {self.active_bytes} bytes in {self.active_blocks} blocks are in use"
        if self.interactive:
            print(line)
        if self.logfile is not None:
            print(line, file=self.logfile)
        return memory


def __dir__():
    return list(__all__)
