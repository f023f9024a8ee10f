# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Spheres and their shading: structures by value and in memory."""

import numpy as np

import cuda.core.driver as drv

import cuda.core.driver.autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

W, H = 32, 24

mod = SourceModule(
    """
struct Vec {
    float x, y, z;
    __device__ Vec(float a = 0, float b = 0, float c = 0) : x(a), y(b), z(c) {}
    __device__ Vec operator+(const Vec &b) const { return Vec(x + b.x, y + b.y, z + b.z); }
    __device__ Vec operator-(const Vec &b) const { return Vec(x - b.x, y - b.y, z - b.z); }
    __device__ Vec operator*(float s) const { return Vec(x * s, y * s, z * s); }
    __device__ float dot(const Vec &b) const { return x * b.x + y * b.y + z * b.z; }
};

struct Sphere { Vec center; float radius; Vec color; float mirror; };
struct Camera { float x, y, z; int width, height; };

template <int samples>
__device__ bool hit(const Vec &origin, const Vec &direction, const Sphere &sphere, float &t)
{
    Vec to = origin - sphere.center;
    float b = to.dot(direction), c = to.dot(to) - sphere.radius * sphere.radius, d = b * b - c;
    if (d < 0) return false;
    t = -b - sqrtf(d);
    return t > 1e-3f;
}

extern "C" __global__ void trace(float3 *image, const Sphere *spheres, int count, Camera camera)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= camera.width || py >= camera.height) return;
    Vec origin(camera.x, camera.y, camera.z);
    Vec direction((px + .5f) / camera.width - .5f, (py + .5f) / camera.height - .5f, 1);
    direction = direction * rsqrtf(direction.dot(direction));
    float nearest = 1e30f;
    int which = -1;
    for (int i = 0; i < count; i++) {
        float t;
        if (hit<1>(origin, direction, spheres[i], t) && t < nearest) { nearest = t; which = i; }
    }
    Vec color(0.1f, 0.1f, 0.2f);
    if (which >= 0) {
        Vec normal = (origin + direction * nearest - spheres[which].center) * (1 / spheres[which].radius);
        color = spheres[which].color * fmaxf(0, normal.dot(Vec(0, 0, -1)));
    }
    image[py * camera.width + px] = make_float3(color.x, color.y, color.z);
}
""",
    no_extern_c=True,
)
trace = mod.get_function("trace")

sphere_type = np.dtype([("center", np.float32, 3), ("radius", np.float32), ("color", np.float32, 3), ("mirror", "f4")])
spheres = np.array([((0, 0, 5), 1, (1, 0, 0), 0), ((0.2, 0, 8), 3, (0, 1, 0), 0)], sphere_type)
camera_type = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("width", "i4"), ("height", "i4")])
camera = np.zeros((), camera_type)
camera["width"], camera["height"] = W, H
image = np.zeros((H, W, 3), np.float32)
trace(drv.Out(image), drv.In(spheres), np.int32(2), camera, block=(8, 8, 1), grid=(W // 8, H // 8))

assert image[H // 2, W // 2, 0] > 0.95 and image[H // 2, W // 2, 1] == 0  # the red sphere hides the green one
assert image[H // 2, W // 4, 1] > 0.5 and image[H // 2, W // 4, 0] == 0
assert np.allclose(image[0, 0], [0.1, 0.1, 0.2])
print("ray tracer OK")
