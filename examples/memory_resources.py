# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Combine memory resources: a cache, a limit, statistics, and a leak report.

Each adaptor allocates from its upstream resource, down to a device pool. A ``with`` block makes the
outermost adaptor the default resource, which ``device.allocate`` uses.
"""

import sys

from cuda.core import (
    CachingMemoryResource,
    Device,
    DeviceMemoryResource,
    LimitingMemoryResource,
    OutOfMemoryError,
    StatisticsMemoryResource,
    TrackingMemoryResource,
    use_memory_resource,
)

MIB = 2**20
LIMIT = 64 * MIB
ROUNDS = 100


def work(device, stream) -> None:
    """Allocate and free a few buffers, as one step of a program would."""
    for size in (MIB, 3 * MIB, 10_000_000):
        buffer = device.allocate(size, stream=stream)
        buffer.fill(0, stream=stream)
        buffer.close()


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()

    device_pool = DeviceMemoryResource(device, {})
    pool = StatisticsMemoryResource(device_pool)
    cache = CachingMemoryResource(LimitingMemoryResource(pool, LIMIT))
    counted = StatisticsMemoryResource(cache)
    tracked = TrackingMemoryResource(counted)

    with use_memory_resource(tracked):
        for _ in range(ROUNDS):
            work(device, stream)
        try:
            device.allocate(2 * LIMIT, stream=stream)
            rejected = None
        except OutOfMemoryError as error:
            rejected = error
        forgotten = device.allocate(12345, stream=stream)

    (leak,) = tracked.allocations
    file, line, function = leak.stack[0]
    print(f"{counted.statistics.total_count} allocations took {pool.statistics.total_count} from the pool")
    print(f"rejected: {rejected}")
    print(f"not freed: {leak.size} bytes, allocated in {function}(), line {line}")

    forgotten.close()
    tracked.close()
    cache.close()
    stream.sync()

    if counted.statistics.total_count != 3 * ROUNDS + 1 or pool.statistics.total_count != 4:
        print("the cache did not reuse freed memory", file=sys.stderr)
        return 1
    if rejected is None or rejected.total != LIMIT:
        print("the limit was not enforced", file=sys.stderr)
        return 1
    if (leak.size, function, file) != (12345, "main", __file__) or tracked.allocations:
        print("the report does not describe the leak", file=sys.stderr)
        return 1
    if pool.statistics.current_bytes or device_pool.attributes.used_mem_current:
        print("the memory was not returned to the pool", file=sys.stderr)
        return 1
    print("verified: all memory was returned to the pool")
    return 0


if __name__ == "__main__":
    sys.exit(main())
