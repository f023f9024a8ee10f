# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A function for a child process that forks."""

import os

from cuda.core import LEGACY_DEFAULT_STREAM, CachingMemoryResource, StatisticsMemoryResource
from support.memory import HostMemoryResource


def allocate_after_fork():
    """Use a caching resource on both sides of a fork; return the exit status there, and two states of this side."""
    mr = CachingMemoryResource(StatisticsMemoryResource(HostMemoryResource()))
    cached, held = (mr.allocate(size, stream=LEGACY_DEFAULT_STREAM) for size in (64, 5000))
    cached.close()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert mr.cached_bytes == 0
            held.close()
            mr.allocate(64, stream=LEGACY_DEFAULT_STREAM).close()
            assert mr.cached_bytes == 512
            mr.trim()
            mr.close()
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, held.is_closed, mr.cached_bytes
