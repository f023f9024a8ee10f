# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tests of memory: a resource over host memory, and resources with pools that processes share."""

import pytest

from cuda.core import DeviceMemoryResource, PinnedMemoryResource
from support import shared_memory
from support.memory import HostMemoryResource

SHAREABLE = [
    pytest.param(DeviceMemoryResource, id="device"),
    pytest.param(
        PinnedMemoryResource, id="pinned", marks=pytest.mark.requires(property="host_numa_memory_pools_supported")
    ),
]


@pytest.fixture
def mr():
    """A resource over host memory, which needs no driver."""
    return HostMemoryResource()


@pytest.fixture(params=SHAREABLE)
def shareable(request, device):
    """A class of resources with pools that other processes may open."""
    return request.param


@pytest.fixture
def pool(shareable):
    """A pool that other processes may open."""
    return shared_memory.make_pool(shareable)
