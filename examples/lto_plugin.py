# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Link three user functions into the same kernel with link-time optimization, and plot what they compute.

python lto_plugin.py [OUTPUT.png]
"""

import sys
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw

from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    Program,
    ProgramOptions,
    launch,
)

KERNEL = r"""
extern "C" __device__ float user(float x);
extern "C" __global__ void plot(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = user(10.0f * i / n);
}
"""
FUNCTIONS: dict[str, Callable] = {
    "sinf(x)": np.sin,
    "sinf(x) / (1 + x)": lambda x: np.sin(x) / (1 + x),
    "cosf(x * x / 4) / 2": lambda x: np.cos(x * x / 4) / 2,
}
N, COLORS = 600, ("#2471a3", "#1e8449", "#ca6f1e")

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(relocatable_device_code=True, link_time_optimization=True)
main = Program(KERNEL, "c++", options).compile("ltoir")
buffer = LegacyPinnedMemoryResource().allocate(4 * N)
y = np.asarray(buffer).view(np.float32)
x = 10 * np.arange(N) / N

image = Image.new("RGB", (N + 40, 260), "white")
draw = ImageDraw.Draw(image)
draw.line((20, 130, N + 20, 130), "#bbbbbb")
for color, (text, function) in zip(COLORS, FUNCTIONS.items(), strict=True):
    plugin = Program(f'extern "C" __device__ float user(float x) {{ return {text}; }}', "c++", options).compile("ltoir")
    linked = Linker(main, plugin, options=LinkerOptions(link_time_optimization=True)).link("cubin")
    launch(stream, LaunchConfig(grid=3, block=200), linked.get_kernel("plot"), buffer, N)
    stream.sync()
    if not np.allclose(y, function(x), atol=1e-4):
        raise SystemExit(f"{text} is wrong")
    draw.line([(20 + i, 130 - 110 * float(value)) for i, value in enumerate(y)], color, 2)
    draw.text((270, 8 + 16 * COLORS.index(color)), text, color)
path = sys.argv[1] if len(sys.argv) > 1 else "lto_plugin.png"
image.save(path)
print(f"verified: {len(FUNCTIONS)} functions were linked into one kernel; see {path}")
