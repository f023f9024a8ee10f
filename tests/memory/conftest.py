# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The resources whose pools processes share: what holds for one holds for the other."""

import pytest

from cuda.core._memory import DeviceMemoryResource, PinnedMemoryResource
from support import shared_memory

SHAREABLE = [
    pytest.param(DeviceMemoryResource, id="device"),
    pytest.param(
        PinnedMemoryResource, id="pinned", marks=pytest.mark.requires(property="host_numa_memory_pools_supported")
    ),
]


@pytest.fixture(params=SHAREABLE)
def shareable(request, device):
    """A class of resources."""
    return request.param


@pytest.fixture
def pool(shareable):
    """A pool that other processes may open."""
    return shared_memory.make_pool(shareable)
