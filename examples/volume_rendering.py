# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Render a volume by marching rays through a 3-D texture that interpolates eight elements for each sample.

    python volume_rendering.py [PICTURE.png]

Each ray accumulates light from front to back, attenuated by the volume it has passed. NumPy computes the same picture
from the same volume with exact weights, whereas the hardware's weights have 8 fractional bits.

Shows: a 3-D array, a texture with a border and normalized coordinates, several pictures from one texture.
Needs: Pillow, to write the picture.
"""

import sys

import numpy as np

try:
    from PIL import Image
except ImportError as error:
    sys.exit(f"volume_rendering.py needs {error.name}: pip install pillow")

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.texture import ResourceDescriptor

VOLUME, PICTURE, STEPS = 32, 128, 64
ANGLES = (0.0, 0.7, 1.4)
DENSITY = 8.0
# For each axis, the filter is off by at most 1/256 of the difference between adjacent elements, which is 0.2 here.
ALLOWED = 0.005

CODE = r"""
// One pixel's ray, in a volume that fills [0, 1] along each axis and is rotated about the vertical one.
extern "C" __global__ void march(cudaTextureObject_t volume, float* picture, int size, int steps, float density,
                                 float cosine, float sine)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= size || row >= size)
        return;
    float x = 1.5f * ((column + 0.5f) / size - 0.5f), y = 1.5f * ((row + 0.5f) / size - 0.5f);
    float light = 0, passed = 1, length = 1.5f / steps;
    for (int step = 0; step < steps; ++step) {
        float z = (step + 0.5f) * length - 0.75f;
        float found = tex3D<float>(volume, cosine * x - sine * z + 0.5f, y + 0.5f, sine * x + cosine * z + 0.5f);
        float absorbed = 1 - expf(-density * found * length);
        light += passed * absorbed * found;
        passed *= 1 - absorbed;
    }
    picture[row * size + column] = light;
}
"""


def balls() -> np.ndarray:
    """Return a volume with three soft balls, in the order z, y, x."""
    z, y, x = (np.mgrid[:VOLUME, :VOLUME, :VOLUME] + 0.5) / VOLUME
    volume = np.zeros((VOLUME,) * 3)
    for center, radius in (((0.3, 0.3, 0.35), 0.15), ((0.65, 0.6, 0.3), 0.2), ((0.5, 0.35, 0.7), 0.12)):
        squared = sum((one - place) ** 2 for one, place in zip((x, y, z), center, strict=True))
        volume += np.exp(-squared / radius**2)
    return np.minimum(volume, 1).astype(np.float32)


def sample(volume: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the interpolated volume at normalized coordinates, with zeros outside."""
    padded = np.pad(volume.astype(np.float64), 1)
    result = np.zeros(())
    places = [np.clip(axis * VOLUME - 0.5, -1, VOLUME) for axis in (z, y, x)]
    first = [np.minimum(np.floor(place).astype(int), VOLUME - 1) for place in places]
    weights = [place - index for place, index in zip(places, first, strict=True)]
    for corner in np.ndindex(2, 2, 2):
        share = np.prod([w if c else 1 - w for w, c in zip(weights, corner, strict=True)], axis=0)
        result = result + share * padded[tuple(index + 1 + c for index, c in zip(first, corner, strict=True))]
    return result


def expected(volume: np.ndarray, angle: float) -> np.ndarray:
    """Return the picture as NumPy computes it."""
    y, x = 1.5 * ((np.mgrid[:PICTURE, :PICTURE] + 0.5) / PICTURE - 0.5)
    light, passed, length = np.zeros_like(x), np.ones_like(x), 1.5 / STEPS
    for step in range(STEPS):
        z = (step + 0.5) * length - 0.75
        rotated = np.cos(angle) * x - np.sin(angle) * z, np.sin(angle) * x + np.cos(angle) * z
        found = sample(volume, rotated[0] + 0.5, y + 0.5, rotated[1] + 0.5)
        absorbed = 1 - np.exp(-DENSITY * found * length)
        light += passed * absorbed * found
        passed *= 1 - absorbed
    return light


def main() -> int:
    """Render the volume from several sides, compare with NumPy, and write the pictures side by side."""
    path = sys.argv[1] if len(sys.argv) > 1 else "volume_rendering.png"
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(CODE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    volume = balls()
    array = device.create_opaque_array({"shape": (VOLUME,) * 3, "format": "float32", "num_channels": 1})
    array.copy_from(volume, stream=stream)
    resource = ResourceDescriptor.from_opaque_array(array)
    options = {"address_mode": "border", "filter_mode": "linear", "normalized_coords": True}
    config = LaunchConfig(grid=(PICTURE // 16, PICTURE // 16), block=(16, 16))
    pictures, buffer = [], device.allocate(4 * PICTURE * PICTURE, stream=stream)
    with device.create_texture_object(resource=resource, options=options) as texture:
        for angle in ANGLES:
            numbers = (PICTURE, STEPS, *map(np.float32, (DENSITY, np.cos(angle), np.sin(angle))))
            launch(stream, config, code.get_kernel("march"), texture, buffer, *numbers)
            pictures.append(np.empty((PICTURE, PICTURE), np.float32))
            buffer.copy_to(pictures[-1], stream=stream)
    stream.sync()
    rendered = zip(pictures, ANGLES, strict=True)
    largest = max(np.abs(picture - expected(volume, angle)).max() for picture, angle in rendered)
    if largest > ALLOWED:
        print(f"the pictures differ from NumPy's by up to {largest:.1e}")
        return 1
    Image.fromarray((255 * np.clip(np.hstack(pictures), 0, 1)).astype(np.uint8)).save(path)
    print(f"verified: {len(ANGLES)} pictures of {VOLUME}^3 elements agree with NumPy to {largest:.1e}; wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
