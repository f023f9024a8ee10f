// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Gravity, ray marching and orbits.

struct Body {
    double x, y, z, mass;
};

// The force of all bodies on each; the bodies are read into shared memory tile by tile.
extern "C" __global__ void gravity(const Body* bodies, double3* pull, int n, double softening)
{
    extern __shared__ Body tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Body own = i < n ? bodies[i] : Body{};
    double3 sum = {};
    for (int first = 0; first < n; first += blockDim.x) {
        const int size = min(n - first, int(blockDim.x));
        if (threadIdx.x < size)
            tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < size; ++k) {
            const double x = tile[k].x - own.x, y = tile[k].y - own.y, z = tile[k].z - own.z;
            const double inverse = rsqrt(x * x + y * y + z * z + softening);
            const double strength = tile[k].mass * inverse * inverse * inverse;
            sum.x += strength * x, sum.y += strength * y, sum.z += strength * z;
        }
        __syncthreads();
    }
    if (i < n)
        pull[i] = sum;
}

struct Vector {
    double x, y, z;
    __device__ friend Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    __device__ friend Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    __device__ friend Vector operator*(double s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
    __device__ double length() const { return norm3d(x, y, z); }
};

struct Shape {
    __device__ virtual double distance(Vector point) const = 0;
};
struct Ball : Shape {
    Vector center;
    double radius;
    __device__ Ball(Vector center, double radius) : center(center), radius(radius) {}
    __device__ double distance(Vector point) const override { return (point - center).length() - radius; }
};
struct Floor : Shape {
    double height;
    __device__ explicit Floor(double height) : height(height) {}
    __device__ double distance(Vector point) const override { return point.y - height; }
};

// The distance at which a ray meets a ball or the floor: each step is as long as the distance to the nearest shape.
extern "C" __global__ void march(double* depth, int width, int height, double far)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    const Ball ball({0, 0, 4}, 1);
    const Floor floor(-1);
    const Shape* const shapes[] = {&ball, &floor};
    Vector direction = {(column + 0.5) / width - 0.5, 0.5 - (row + 0.5) / height, 1};
    direction = (1 / direction.length()) * direction;
    double travelled = 0;
    for (int step = 0; step < 2000 && travelled < far; ++step) {
        double nearest = far;
        for (const Shape* shape : shapes)
            nearest = fmin(nearest, shape->distance(travelled * direction));
        if (nearest < 1e-9)
            break;
        travelled += nearest;
    }
    depth[row * width + column] = fmin(travelled, far);
}

struct Planet {
    double x, y, dx, dy;
};

// Planets around a sun by leapfrog integration, which conserves energy.
extern "C" __global__ void orbit(Planet* planets, int steps, double dt)
{
    Planet s = planets[threadIdx.x];
    auto kick = [&s](double time) {
        const double squared = s.x * s.x + s.y * s.y;
        const double cubed = squared * sqrt(squared);
        s.dx -= time * s.x / cubed;
        s.dy -= time * s.y / cubed;
    };
    for (int k = 0; k < steps; ++k) {
        kick(dt / 2);
        s.x += dt * s.dx;
        s.y += dt * s.dy;
        kick(dt / 2);
    }
    planets[threadIdx.x] = s;
}
