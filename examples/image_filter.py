# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Find the edges of a photograph on the GPU, and compare them with SciPy's.

    python image_filter.py [OUTPUT.png]

The output picture shows the photograph, the edges from the GPU and the edges from ``scipy.ndimage``
side by side. Needs ``pip install scikit-image``, which also installs SciPy, Pillow and the photograph.
"""

import sys

import numpy as np

try:
    import scipy.ndimage
    import skimage.data
    from PIL import Image
except ImportError as error:
    sys.exit(f"image_filter.py needs {error.name}: pip install scikit-image")

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
// Sobel filter: the magnitude of the brightness gradient. Coordinates outside the image are clamped.
extern "C" __global__ void edges(const unsigned char* image, float* strength, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    auto pixel = [&](int dx, int dy) {
        const int column = min(max(x + dx, 0), width - 1);
        const int row = min(max(y + dy, 0), height - 1);
        return float(image[row * width + column]);
    };
    const float across = pixel(1, -1) + 2 * pixel(1, 0) + pixel(1, 1)
                       - pixel(-1, -1) - 2 * pixel(-1, 0) - pixel(-1, 1);
    const float down = pixel(-1, 1) + 2 * pixel(0, 1) + pixel(1, 1)
                     - pixel(-1, -1) - 2 * pixel(0, -1) - pixel(1, -1);
    strength[y * width + x] = sqrtf(across * across + down * down);
}
"""
BLOCK = (32, 8)
# The gradients are whole numbers, so only the square root rounds, once and to 24 bits.
TOLERANCE = 1e-6


def edges_on_gpu(device, photograph):
    """Return the gradient magnitude of every pixel."""
    device.set_current()
    stream = device.create_stream()
    program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}", std="c++17"))
    kernel = program.compile("cubin").get_kernel("edges")

    height, width = photograph.shape
    pinned = LegacyPinnedMemoryResource()
    host_image = pinned.allocate(width * height)
    host_strength = pinned.allocate(width * height * 4)
    np.from_dlpack(host_image).view(np.uint8).reshape(height, width)[:] = photograph

    image = device.allocate(host_image.size, stream=stream)
    strength = device.allocate(host_strength.size, stream=stream)
    image.copy_from(host_image, stream=stream)
    grid = (-(-width // BLOCK[0]), -(-height // BLOCK[1]))
    launch(stream, LaunchConfig(grid=grid, block=BLOCK), kernel, image, strength, np.int32(width), np.int32(height))
    strength.copy_to(host_strength, stream=stream)
    stream.sync()
    return np.from_dlpack(host_strength).view(np.float32).reshape(height, width)


def edges_by_scipy(photograph):
    """Return the gradient magnitude of every pixel, computed by SciPy in double precision."""
    pixels = photograph.astype(np.float64)
    across, down = (scipy.ndimage.sobel(pixels, axis=axis, mode="nearest") for axis in (1, 0))
    return np.hypot(across, down)


def save(path, photograph, *strengths) -> None:
    """Write the photograph and the edge pictures side by side, with the strongest edge in white."""
    brightest = max(strength.max() for strength in strengths)
    pictures = [np.rint(strength * (255 / brightest)).astype(np.uint8) for strength in strengths]
    Image.fromarray(np.hstack([photograph, *pictures])).save(path)


def main() -> int:
    path = sys.argv[1] if len(sys.argv) > 1 else "image_filter.png"
    photograph = skimage.data.camera()
    device = Device()
    computed = edges_on_gpu(device, photograph)
    expected = edges_by_scipy(photograph)
    save(path, photograph, computed, expected)

    error = float(np.max(np.abs(computed - expected)) / expected.max())
    if error > TOLERANCE:
        print(f"the edges differ from SciPy's by up to {error:.3g} of the strongest", file=sys.stderr)
        return 1
    print(f"edges of {photograph.shape[1]} x {photograph.shape[0]} pixels on {device.name}: verified against SciPy,")
    print(f"largest difference {error:.1e} of the strongest edge (allowed: {TOLERANCE:.0e}); wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
