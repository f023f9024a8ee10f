# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Zoom into a photograph with the GPU's texture unit, and compare the picture with NumPy's.

    python texture_zoom.py [OUTPUT.png]

The output picture shows a rotated section of the photograph twice: with the nearest pixels, and with pixels that the
texture unit interpolates (bilinear filter). Needs ``pip install scikit-image``, which also installs Pillow and the
photograph.
"""

import sys

import numpy as np

try:
    import skimage.data
    from PIL import Image
except ImportError as error:
    sys.exit(f"texture_zoom.py needs {error.name}: pip install scikit-image")

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions

SOURCE = """
// The texture unit returns filtered colors from 0 to 1 and mirrors coordinates outside the photograph.
extern "C" __global__ void zoom(cudaTextureObject_t photograph, float4* picture, int size,
                                float center_x, float center_y, float step_x, float step_y)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= size || row >= size)
        return;
    const float right = column - 0.5f * size, down = row - 0.5f * size;
    const float x = center_x + right * step_x - down * step_y;
    const float y = center_y + right * step_y + down * step_x;
    picture[row * size + column] = tex2D<float4>(photograph, x, y);
}
"""
BLOCK = (16, 16)
SIZE = 384
# The section, in fractions of the photograph: its center from the left and from the top, its width, and its rotation.
CENTER = (0.44, 0.23)
WIDTH = 0.16
ANGLE = np.radians(15)
# The filter has weights of 8 fractional bits, on two axes. Coordinates are rounded to single precision.
TOLERANCE = 2 / 256 + 1e-3


class Zoom:
    """A photograph in a GPU array, and the kernel that reads a section of it."""

    def __init__(self, device, photograph):
        device.set_current()
        self.device = device
        self.stream = device.create_stream()
        program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}", std="c++17"))
        self.kernel = program.compile("cubin").get_kernel("zoom")
        height, width = photograph.shape[:2]
        # Textures have elements of 1, 2 or 4 channels.
        self.array = device.create_opaque_array(OpaqueArrayOptions((width, height), "uint8", num_channels=4))
        self.array.copy_from(np.dstack([photograph, np.full((height, width), 255, np.uint8)]), stream=self.stream)

    def picture(self, filter_mode):
        """Return the section as floats from 0 to 1, of shape (rows, columns, colors)."""
        options = TextureObjectOptions(
            address_mode="mirror", filter_mode=filter_mode, read_mode="normalized_float", normalized_coords=True
        )
        resource = ResourceDescriptor.from_opaque_array(self.array)
        result = LegacyPinnedMemoryResource().allocate(SIZE * SIZE * 16)
        grid = (-(-SIZE // BLOCK[0]), -(-SIZE // BLOCK[1]))
        with self.device.create_texture_object(resource=resource, options=options) as texture:
            numbers = [np.float32(number) for number in (*CENTER, *steps())]
            config = LaunchConfig(grid=grid, block=BLOCK)
            launch(self.stream, config, self.kernel, texture, result, np.int32(SIZE), *numbers)
        # The texture is closed here and destroyed after the kernel.
        self.stream.sync()
        return np.asarray(result).view(np.float32).reshape(SIZE, SIZE, 4)[..., :3]


def steps():
    """Return the step from one pixel of a row to the next, right and down, in fractions of the photograph."""
    return WIDTH / SIZE * np.cos(ANGLE), WIDTH / SIZE * np.sin(ANGLE)


def picture_by_numpy(photograph):
    """Return the filtered picture, computed in double precision."""
    height, width = photograph.shape[:2]
    rows, columns = np.indices((SIZE, SIZE)) - 0.5 * SIZE
    step_x, step_y = steps()
    x = (CENTER[0] + columns * step_x - rows * step_y) * width - 0.5
    y = (CENTER[1] + columns * step_y + rows * step_x) * height - 0.5
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    pixels = np.pad(photograph / 255, ((height, height), (width, width), (0, 0)), mode="symmetric")
    corners = [pixels[top + height + j, left + width + i] for j in (0, 1) for i in (0, 1)]
    across, down = (x - left)[..., None], (y - top)[..., None]
    upper, lower = (corners[2 * j] * (1 - across) + corners[2 * j + 1] * across for j in (0, 1))
    return upper * (1 - down) + lower * down


def main() -> int:
    path = sys.argv[1] if len(sys.argv) > 1 else "texture_zoom.png"
    photograph = skimage.data.astronaut()
    device = Device()
    zoom = Zoom(device, photograph)
    nearest, filtered = zoom.picture("point"), zoom.picture("linear")
    Image.fromarray(np.rint(np.hstack([nearest, filtered]) * 255).astype(np.uint8)).save(path)

    error = float(np.abs(filtered - picture_by_numpy(photograph)).max())
    if error > TOLERANCE:
        print(f"the filtered picture differs from NumPy's by up to {error:.3g}", file=sys.stderr)
        return 1
    print(f"zoom into {photograph.shape[1]} x {photograph.shape[0]} pixels on {device.name}: verified against NumPy,")
    print(f"largest difference {error:.1e} (allowed: {TOLERANCE:.1e}); wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
