# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Let two galaxies collide and write an animation: tiles of bodies in shared memory, and a bound kernel.

python n_body.py [OUTPUT.gif]
"""

import sys

import numpy as np
from PIL import Image
from tqdm import tqdm

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program

SOURCE = r"""
constexpr float soft = 0.05f;
extern "C" __global__ void accelerate(const float4* body, float4* speed, int n, float dt) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float ax = 0, ay = 0, az = 0;
    for (int first = 0; first < n; first += blockDim.x) {
        tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; ++j) {
            float x = tile[j].x - body[i].x, y = tile[j].y - body[i].y, z = tile[j].z - body[i].z;
            float inverse = rsqrtf(x * x + y * y + z * z + soft * soft);
            float pull = tile[j].w * inverse * inverse * inverse;
            ax += x * pull, ay += y * pull, az += z * pull;
        }
        __syncthreads();
    }
    speed[i].x += dt * ax, speed[i].y += dt * ay, speed[i].z += dt * az;
}
extern "C" __global__ void move(float4* body, const float4* speed, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    body[i].x += dt * speed[i].x, body[i].y += dt * speed[i].y, body[i].z += dt * speed[i].z;
}
"""
N, FRAMES, DT, SIZE = 512, 60, 0.02, 256


def galaxies() -> tuple[np.ndarray, np.ndarray]:
    """Return positions with masses, and velocities, of two rotating discs."""
    random = np.random.default_rng(7)
    angle, radius = random.uniform(0, 2 * np.pi, N), np.sqrt(random.uniform(0.01, 0.25, N))
    side = np.where(np.arange(N) % 2, 1, -1)
    body = np.stack([radius * np.cos(angle) + 0.8 * side, radius * np.sin(angle) + 0.25 * side, 0 * angle], 1)
    turn = 0.9 * np.sqrt(radius)[:, None] * np.stack([-np.sin(angle), np.cos(angle), 0 * angle], 1)
    drift = np.stack([-0.45 * side, 0 * angle, 0 * angle], 1)
    masses = np.full((N, 1), 1 / N)
    return np.hstack([body, masses]).astype(np.float32), np.pad(turn + drift, ((0, 0), (0, 1))).astype(np.float32)


device = Device()
device.set_current()
stream = device.create_stream()
code = Program(SOURCE, "c++").compile("cubin")
config = LaunchConfig(grid=N // 128, block=128)
accelerate, move = [code.get_kernel(name).bind(config, stream=stream) for name in ("accelerate", "move")]
buffers = [LegacyPinnedMemoryResource().allocate(16 * N) for _ in range(2)]
body, speed = [np.asarray(buffer).view(np.float32).reshape(N, 4) for buffer in buffers]
start = galaxies()
body[:], speed[:] = start

frames = []
first = speed
for frame in tqdm(range(FRAMES)):
    for _ in range(2):
        accelerate(*buffers, N, DT)
        move(*buffers, DT)
    stream.sync()
    if frame == 0:
        first = speed.copy()
    points = np.histogram2d(body[:, 1], body[:, 0], SIZE, [(-1.3, 1.3), (-1.6, 1.6)])[0]
    light = points + np.sum([np.roll(points, shift, axis) for axis in (0, 1) for shift in (-1, 1)], 0) / 2
    frames.append(Image.fromarray(np.minimum(255, 110 * light).astype(np.uint8)))
path = sys.argv[1] if len(sys.argv) > 1 else "n_body.gif"
frames[0].save(path, save_all=True, append_images=frames[1:], duration=60, loop=0)

place, velocity = [array.astype(np.float64) for array in start]
for _ in range(2):
    away = place[None, :, :3] - place[:, None, :3]
    pull = place[:, 3] * (np.sum(away**2, -1) + 0.05**2) ** -1.5
    velocity[:, :3] += DT * np.einsum("ij,ijk->ik", pull, away)
    place[:, :3] += DT * velocity[:, :3]
if not np.allclose(first, velocity, atol=1e-4):
    raise SystemExit("the velocities differ from NumPy's")
print(f"verified: the velocities of the first frame are NumPy's; see {path}")
