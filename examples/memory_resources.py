# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Build a memory resource of parts: a cache, a limit, counts, and a report of what is not freed.

Each part takes its memory from the next one, down to a pool of the device. A ``with`` block makes the
result the place where ``device.allocate`` takes memory from.
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
    """Allocate and free a few buffers, as one step of a program does."""
    for size in (MIB, 3 * MIB, 10_000_000):
        buffer = device.allocate(size, stream=stream)
        buffer.fill(0, stream=stream)
        buffer.close()


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()

    pool = StatisticsMemoryResource(DeviceMemoryResource(device, {}))
    cache = CachingMemoryResource(LimitingMemoryResource(pool, LIMIT))
    counted = StatisticsMemoryResource(cache)
    tracked = TrackingMemoryResource(counted)

    with use_memory_resource(tracked):
        for _ in range(ROUNDS):
            work(device, stream)
        try:
            device.allocate(2 * LIMIT, stream=stream)
            refused = None
        except OutOfMemoryError as error:
            refused = error
        forgotten = device.allocate(12345, stream=stream)

    (leak,) = tracked.allocations
    file, line, function = leak.stack[0]
    print(f"{counted.statistics.total_count} allocations took {pool.statistics.total_count} from the pool")
    print(f"refused: {refused}")
    print(f"not freed: {leak.size} bytes, allocated in {function}(), line {line}")

    forgotten.close()
    tracked.close()
    cache.close()
    stream.sync()

    if counted.statistics.total_count != 3 * ROUNDS + 1 or pool.statistics.total_count != 4:
        print("the cache did not hand freed memory out again", file=sys.stderr)
        return 1
    if refused is None or refused.total != LIMIT:
        print("the limit was not kept", file=sys.stderr)
        return 1
    if (leak.size, function, file) != (12345, "main", __file__) or tracked.allocations:
        print("the report names something else than what was not freed", file=sys.stderr)
        return 1
    if pool.statistics.current_bytes or pool.upstream.attributes.used_mem_current:
        print("memory did not go back to the pool", file=sys.stderr)
        return 1
    print("verified: every byte went back to where it came from")
    return 0


if __name__ == "__main__":
    sys.exit(main())
