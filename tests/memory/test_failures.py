# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every driver call behind memory fails in turn: the error is clear, nothing is lost, and later calls work."""

import numpy as np
import pytest

from cuda.core import Buffer, Device, EventOptions, Host
from cuda.core._memory import (
    DeviceMemoryResource,
    GraphMemoryResource,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    PinnedMemoryResource,
    VirtualMemoryResource,
)
from cuda.core._memory._legacy import _SynchronousMemoryResource
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core.utils import CopyOptions, copy_batch, discard_batch, discard_prefetch_batch, prefetch_batch
from support.failures import each_code, fail_each_call
from support.graphs import capture

pytestmark = [pytest.mark.requires(software=True), pytest.mark.requires(device=True)]

SIZE = 4096


def make_pools():
    """What makes each kind of pool: the driver's own, and one with options."""
    options = {"release_threshold": 1 << 20}
    limited = {**options, "max_size": 1 << 22}
    return {
        "device": lambda: DeviceMemoryResource(0),
        "device-own": lambda: DeviceMemoryResource(0, limited),
        "device-shared": lambda: DeviceMemoryResource(0, {**limited, "ipc_enabled": True}),
        "pinned": lambda: PinnedMemoryResource(),
        "pinned-own": lambda: PinnedMemoryResource(limited),
        "pinned-node": lambda: PinnedMemoryResource({"numa_id": 0}),
        "pinned-shared": lambda: PinnedMemoryResource({"ipc_enabled": True}),
        "managed": lambda: ManagedMemoryResource(),
        "managed-own": lambda: ManagedMemoryResource(options),
        "managed-device": lambda: ManagedMemoryResource({"preferred_location": 1}),
        "managed-node": lambda: ManagedMemoryResource({"preferred_location_type": "host_numa"}),
    }


POOLS = make_pools()


@each_code
@pytest.mark.parametrize("make", POOLS.values(), ids=POOLS)
def test_pools(device, stream, make, code):
    def program():
        pool = make()
        try:
            with pool.allocate(SIZE, stream=stream) as buffer:
                assert buffer.size == SIZE
            with pool.allocate(SIZE, stream=LEGACY_DEFAULT_STREAM), pool.allocate(0, stream=stream):
                pass
            stream.sync()
            assert "used_mem_high" in repr(pool.attributes)
            pool.attributes.used_mem_high = 0
            pool.trim()
        finally:
            pool.close()

    # Where the driver does not say which context is current, memory is freed in the right one all the same.
    failed = fail_each_call(program, code, overcome=["cuCtxGetCurrent"])
    assert failed >= {"cuMemAllocFromPoolAsync", "cuMemFreeAsync", "cuMemPoolTrimTo", "cuMemPoolGetAttribute"}
