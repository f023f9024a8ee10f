# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Draw three spheres by tracing rays: structures passed by value, and one in constant memory.

python ray_tracer.py [OUTPUT.png]
"""

import sys

import numpy as np
from PIL import Image

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cuda.core.utils import cdiv

SOURCE = r"""
struct Sphere { float x, y, z, radius, red, green, blue; };
struct Camera { float x, y, z, zoom; };
__constant__ Sphere spheres[3];

__device__ int nearest(float3 from, float3 to, float* t) {
    int found = -1;
    for (int i = 0; i < 3; ++i) {
        float x = from.x - spheres[i].x, y = from.y - spheres[i].y, z = from.z - spheres[i].z;
        float b = x * to.x + y * to.y + z * to.z;
        float d = b * b - (x * x + y * y + z * z - spheres[i].radius * spheres[i].radius);
        float near = -b - sqrtf(fmaxf(d, 0));
        if (d > 0 && near > 1e-3f && near < *t) found = i, *t = near;
    }
    return found;
}

extern "C" __global__ void trace(uchar4* image, int width, int height, Camera camera, float3 light) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float x = (column - width / 2.0f) / height, y = (height / 2.0f - row) / height;
    float scale = rsqrtf(x * x + y * y + camera.zoom * camera.zoom), t = 1e9f;
    float3 from = {camera.x, camera.y, camera.z}, to = {x * scale, y * scale, camera.zoom * scale};
    int hit = nearest(from, to, &t);
    float red = 0.65f + 0.3f * y, green = 0.75f + 0.3f * y, blue = 0.95f;
    if (hit >= 0) {
        Sphere s = spheres[hit];
        float3 at = {from.x + t * to.x, from.y + t * to.y, from.z + t * to.z};
        float nx = (at.x - s.x) / s.radius, ny = (at.y - s.y) / s.radius, nz = (at.z - s.z) / s.radius;
        float far = 1e9f, bright = fmaxf(0, nx * light.x + ny * light.y + nz * light.z);
        if (nearest(at, light, &far) >= 0) bright = 0;
        bright = 0.2f + 0.8f * bright;
        red = s.red * bright, green = s.green * bright, blue = s.blue * bright;
    }
    image[row * width + column] = make_uchar4(255 * __saturatef(red), 255 * __saturatef(green),
                                              255 * __saturatef(blue), hit < 0 ? 0 : 1);
}
"""
WIDTH, HEIGHT = 320, 240
SPHERES = np.array(
    [[-0.9, 0, 5, 1, 0.9, 0.3, 0.2], [0.9, 0.1, 4, 0.8, 0.3, 0.8, 0.3], [0, -101, 5, 100, 0.8, 0.8, 0.8]], np.float32
)
camera_type = np.dtype([("x", np.float32), ("y", np.float32), ("z", np.float32), ("zoom", np.float32)], align=True)
camera = np.array((0, 0.3, 0, 1.2), camera_type)[()]
light = np.array([0.48, 0.8, -0.36], np.float32)

device = Device()
device.set_current()
stream = device.create_stream()
code = Program(SOURCE, "c++").compile("cubin")
code.get_global("spheres").copy_from(SPHERES, stream=stream)
image = LegacyPinnedMemoryResource().allocate(4 * WIDTH * HEIGHT)
config = LaunchConfig(grid=(cdiv(WIDTH, 16), cdiv(HEIGHT, 16)), block=(16, 16))
launch(stream, config, code.get_kernel("trace"), image, WIDTH, HEIGHT, camera, light.tobytes())
stream.sync()
pixels = np.asarray(image).reshape(HEIGHT, WIDTH, 4)
path = sys.argv[1] if len(sys.argv) > 1 else "ray_tracer.png"
Image.fromarray(pixels[:, :, :3]).save(path)

row, column = np.mgrid[:HEIGHT, :WIDTH]
rays = np.stack([(column - WIDTH / 2) / HEIGHT, (HEIGHT / 2 - row) / HEIGHT, np.full(row.shape, 1.2)], -1)
rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
from_center = np.array([0, 0.3, 0]) - SPHERES[:, :3]
along = rays @ from_center.T
under_root = along**2 - (np.sum(from_center**2, 1) - SPHERES[:, 3] ** 2)
hits = np.any((under_root > 0) & (along < 0), -1)
if np.mean(hits != pixels[:, :, 3]) > 0.002:  # pixels at an edge may differ
    raise SystemExit("other pixels show a sphere than with NumPy")
print(f"verified: {hits.sum()} rays hit a sphere, as with NumPy; see {path}")
