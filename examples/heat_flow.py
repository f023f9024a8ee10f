# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Simulate how heat spreads in a plate, write an animation, and compare the final temperatures with NumPy's.

    python heat_flow.py [OUTPUT.gif]

Two GPU arrays hold the temperatures. Each step reads one through a texture, which clamps coordinates outside the plate,
and writes the other through a surface. Needs ``pip install pillow tqdm``.
"""

import sys

import numpy as np

try:
    from PIL import Image
    from tqdm import tqdm
except ImportError as error:
    sys.exit(f"heat_flow.py needs {error.name}: pip install pillow tqdm")

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor

SOURCE = """
// One step of the heat equation (explicit Euler). `rate` is the diffusivity times the time step.
extern "C" __global__ void step(cudaTextureObject_t before, cudaSurfaceObject_t after,
                                int width, int height, float rate)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    const float x = column + 0.5f, y = row + 0.5f;
    const float here = tex2D<float>(before, x, y);
    const float around = tex2D<float>(before, x - 1, y) + tex2D<float>(before, x + 1, y)
                       + tex2D<float>(before, x, y - 1) + tex2D<float>(before, x, y + 1);
    surf2Dwrite(here + rate * (around - 4 * here), after, column * int(sizeof(float)), row);
}
"""
WIDTH, HEIGHT = 192, 128
BLOCK = (16, 8)
FRAMES, STEPS = 40, 20  # frames, and steps per frame
RATE = 0.2
TOLERANCE = 1e-4  # after hundreds of steps in single precision


class Plate:
    """The temperatures, in two arrays that swap roles on every step."""

    def __init__(self, device, temperatures):
        device.set_current()
        self.stream = device.create_stream()
        program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}", std="c++17"))
        self.kernel = program.compile("cubin").get_kernel("step")
        options = OpaqueArrayOptions((WIDTH, HEIGHT), np.float32, num_channels=1, is_surface_load_store=True)
        self.arrays = [device.create_opaque_array(options) for _ in range(2)]
        resources = [ResourceDescriptor.from_opaque_array(array) for array in self.arrays]
        self.textures = [device.create_texture_object(resource=resource) for resource in resources]
        self.surfaces = [device.create_surface_object(resource=resource) for resource in resources]
        self.arrays[0].copy_from(temperatures, stream=self.stream)
        self.host = LegacyPinnedMemoryResource().allocate(self.arrays[0].size_bytes)

    def advance(self, steps):
        """Advance by an even number of steps, which leaves the result in the first array, and return it."""
        grid = (-(-WIDTH // BLOCK[0]), -(-HEIGHT // BLOCK[1]))
        config = LaunchConfig(grid=grid, block=BLOCK)
        size = np.int32(WIDTH), np.int32(HEIGHT)
        for number in range(steps):
            before, after = number % 2, 1 - number % 2
            textures, surfaces = self.textures[before], self.surfaces[after]
            launch(self.stream, config, self.kernel, textures, surfaces, *size, np.float32(RATE))
        self.arrays[0].copy_to(self.host, stream=self.stream)
        self.stream.sync()
        return np.asarray(self.host).view(np.float32).reshape(HEIGHT, WIDTH).copy()


def hot_spots():
    """Return temperatures from 0 to 1: a hot frame and two hot discs on a cold plate."""
    rows, columns = np.indices((HEIGHT, WIDTH))
    temperatures = np.zeros((HEIGHT, WIDTH), np.float32)
    for row, column, radius in ((40, 60, 18), (84, 130, 24)):
        temperatures[np.hypot(rows - row, columns - column) < radius] = 1
    temperatures[:3] = temperatures[-3:] = 0.8
    return temperatures


def advance_by_numpy(temperatures, steps):
    """Return the temperatures after the steps, computed in double precision."""
    now = temperatures.astype(np.float64)
    for _ in range(steps):
        wide = np.pad(now, 1, mode="edge")
        around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
        now = now + RATE * (around - 4 * now)
    return now


def picture(temperatures):
    """Return an image whose colors run from black through red and yellow to white."""
    colors = np.clip(3 * temperatures[..., None] - [0, 1, 2], 0, 1)
    return Image.fromarray(np.rint(255 * colors).astype(np.uint8)).quantize(64)


def main() -> int:
    path = sys.argv[1] if len(sys.argv) > 1 else "heat_flow.gif"
    device = Device()
    start = hot_spots()
    plate = Plate(device, start)
    frames = [picture(start)]
    for _ in tqdm(range(FRAMES), unit="frame"):
        temperatures = plate.advance(STEPS)
        frames.append(picture(temperatures))
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=60, loop=0)

    error = float(np.abs(temperatures - advance_by_numpy(start, FRAMES * STEPS)).max())
    if error > TOLERANCE:
        print(f"the temperatures differ from NumPy's by up to {error:.3g}", file=sys.stderr)
        return 1
    print(f"{FRAMES * STEPS} steps of {WIDTH} x {HEIGHT} temperatures on {device.name}: verified against NumPy,")
    print(f"largest difference {error:.1e} (allowed: {TOLERANCE:.0e}); wrote {path} with {len(frames)} frames")
    return 0


if __name__ == "__main__":
    sys.exit(main())
