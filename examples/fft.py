# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compute a fast Fourier transform by hand and draw the spectrum of a chord: one launch per stage.

python fft.py [OUTPUT.png]
"""

import sys

import numpy as np
from PIL import Image, ImageDraw

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program

SOURCE = r"""
// One stage of Stockham's method: half of the transforms are twice as long afterwards, and in order.
extern "C" __global__ void stage(const float2* in, float2* out, int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % length;
    float sine, cosine;
    sincospif(-(float)k / length, &sine, &cosine);
    float2 a = in[i], b = in[i + n / 2];
    float2 turned = {b.x * cosine - b.y * sine, b.x * sine + b.y * cosine};
    int at = 2 * (i - k) + k;
    out[at] = make_float2(a.x + turned.x, a.y + turned.y);
    out[at + length] = make_float2(a.x - turned.x, a.y - turned.y);
}
"""
N, RATE = 4096, 4096
NOTES = {"A": 440.0, "C#": 554.37, "E": 659.26}
time = np.arange(N) / RATE
chord = np.sum([np.sin(2 * np.pi * frequency * time) for frequency in NOTES.values()], 0).astype(np.complex64)

device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("stage")
stage = kernel.bind(LaunchConfig(grid=N // 512, block=256), stream=stream)
now, after = [LegacyPinnedMemoryResource().allocate(chord.nbytes) for _ in range(2)]
np.asarray(now).view(np.complex64)[:] = chord
length = 1
while length < N:
    stage(now, after, N, length)
    now, after = after, now
    length *= 2
stream.sync()
result = np.asarray(now).view(np.complex64)

image = Image.new("RGB", (640, 240), "white")
draw = ImageDraw.Draw(image)
spectrum = abs(result[300:900])
for place, height in enumerate(200 * spectrum / spectrum.max()):
    draw.line((20 + place, 220 - height, 20 + place, 220), "#2471a3")
for name, frequency in NOTES.items():
    draw.text((16 + frequency - 300, 4), name, "black")
path = sys.argv[1] if len(sys.argv) > 1 else "fft.png"
image.save(path)
if not np.allclose(result, np.fft.fft(chord), atol=0.5):
    raise SystemExit("the spectrum differs from NumPy's")
peaks = sorted(np.argsort(abs(result[: N // 2]))[-3:].tolist())
print(f"verified: the loudest frequencies are {peaks} Hz, and the spectrum is NumPy's; see {path}")
