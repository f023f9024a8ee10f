# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copy and compute at the same time in four streams, and draw when each step ran, from events.

python overlap.py [OUTPUT.png]
"""

import sys

import numpy as np
from PIL import Image, ImageDraw

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

SOURCE = r"""
extern "C" __global__ void work(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < 50; ++k) x[i] = 0.5f * x[i] + 1;
}
"""
N, STREAMS = 1 << 16, 4
STEPS = (("in", "#7fb3d5"), ("work", "#7dcea0"), ("out", "#f0b27a"))
TIMED = {"timing_enabled": True}

device = Device()
device.set_current()
streams = [device.create_stream() for _ in range(STREAMS)]
work = Program(SOURCE, "c++").compile("cubin").get_kernel("work")
config = LaunchConfig(grid=N // 256, block=256)
host = [LegacyPinnedMemoryResource().allocate(4 * N) for _ in streams]
numbers = [np.asarray(buffer).view(np.float32) for buffer in host]
for array in numbers:
    array[:] = np.arange(N)
on_device = [device.allocate(4 * N, stream=stream) for stream in streams]
for stream in streams:
    launch(stream, config, work, on_device[0], 0)  # loads the code
device.sync()

begin = streams[0].record(options=TIMED)
times = []
for stream, pinned, buffer in zip(streams, host, on_device, strict=True):
    stream.wait(begin)
    events = [stream.record(options=TIMED)]
    buffer.copy_from(pinned, stream=stream)
    events.append(stream.record(options=TIMED))
    launch(stream, config, work, buffer, N)
    events.append(stream.record(options=TIMED))
    buffer.copy_to(pinned, stream=stream)
    events.append(stream.record(options=TIMED))
    times.append(events)
device.sync()

lanes = [[event - begin for event in events] for events in times]
end = max(max(lane) for lane in lanes)
image = Image.new("RGB", (640, 44 * STREAMS + 24), "white")
draw = ImageDraw.Draw(image)
for lane, marks in enumerate(lanes):
    places = [20 + 600 * mark / end for mark in marks]
    for (name, color), left, right in zip(STEPS, places[:-1], places[1:], strict=True):
        draw.rectangle((left, 12 + 44 * lane, max(left, right), 44 + 44 * lane), color, "white")
        if right - left > 30:
            draw.text((left + 5, 22 + 44 * lane), name, "black")
draw.text((20, 44 * STREAMS + 8), f"{STREAMS} streams, {end:.2f} ms", "black")
path = sys.argv[1] if len(sys.argv) > 1 else "overlap.png"
image.save(path)

expected = 2 + (np.arange(N, dtype=np.float32) - 2) * np.float32(0.5) ** 50
if not all(np.allclose(array, expected, rtol=1e-5) for array in numbers):
    raise SystemExit("the numbers are wrong")
print(f"verified: {STREAMS} streams took {end:.2f} ms; see {path}")
