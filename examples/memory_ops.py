# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Allocate, fill, copy, time and free memory in stream order.

Nothing here waits before ``sync()``: allocations, fills, copies and frees are enqueued on the stream,
which runs them in order.
"""

import sys

import numpy as np

from cuda.core import Device, DeviceMemoryResource, EventOptions, LegacyPinnedMemoryResource

SIZE = 64 * 2**20


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    pool = DeviceMemoryResource(device)
    in_use_before = pool.attributes.used_mem_current

    # Fill with a byte, then with a four-byte pattern.
    first = pool.allocate(SIZE, stream=stream)
    first.fill(0xFF, stream=stream)
    first.fill(np.uint32(0x01020304), stream=stream)

    # Without a destination, copy_to() allocates one from the same pool. Two events time the copy.
    timed = EventOptions(timing_enabled=True)
    start = stream.record(options=timed)
    second = first.copy_to(stream=stream)
    end = stream.record(options=timed)

    host = LegacyPinnedMemoryResource().allocate(SIZE)
    second.copy_to(host, stream=stream)
    in_use = pool.attributes.used_mem_current - in_use_before

    # The frees are ordered after the copies that still read the memory.
    first.close()
    second.close()
    stream.sync()

    values = np.from_dlpack(host).view(np.uint32)
    if not np.all(values == 0x01020304):
        print("the copy does not have the fill pattern", file=sys.stderr)
        return 1
    if in_use < 2 * SIZE or pool.attributes.used_mem_current != in_use_before:
        print("the memory was not returned to the pool", file=sys.stderr)
        return 1
    milliseconds = end - start
    print(
        f"copied {SIZE // 2**20} MiB on the device in {milliseconds:.3f} ms, {2 * SIZE / milliseconds / 1e6:.0f} GB/s"
    )
    print(f"{values.size:,} values on {device.name}: verified, and all memory was returned to the pool")
    return 0


if __name__ == "__main__":
    sys.exit(main())
