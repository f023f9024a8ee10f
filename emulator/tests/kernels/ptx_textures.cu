// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Reads of textures by PTX, each beside the function that reads the same.

#define READ(text, place, ...)                                                                                         \
    asm volatile(text " {%0, %1, %2, %3}, " place ";" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : __VA_ARGS__);     \
    out[0] = v

extern "C" __global__ void read_lines(cudaTextureObject_t line, cudaTextureObject_t linear, cudaTextureObject_t layers,
                                      const float* at, float4* out)
{
    unsigned i = threadIdx.x, layer = i % 3;
    float4 v;
    float x = at[4 * i], step = at[4 * i + 3];
    out += 8 * i;
    READ("tex.1d.v4.f32.f32", "[%4, %5]", "l"(line), "f"(x));
    out[1] = tex1D<float4>(line, x);
    out += 2;
    READ("tex.1d.v4.f32.s32", "[%4, {%5}]", "l"(linear), "r"(i));
    out[1] = tex1Dfetch<float4>(linear, i);
    out += 2;
    READ("tex.a1d.v4.f32.f32", "[%4, {%5, %6}]", "l"(layers), "r"(layer), "f"(x));
    out[1] = tex1DLayered<float4>(layers, x, layer);
    out += 2;
    READ("tex.grad.1d.v4.f32.f32", "[%4, {%5}], {%6}, {%7}", "l"(line), "f"(x), "f"(step), "f"(step));
    out[1] = tex1DGrad<float4>(line, x, step, step);
}

extern "C" __global__ void read_planes(cudaTextureObject_t plane, cudaTextureObject_t layers, cudaTextureObject_t levels,
                                       const float* at, float4* out)
{
    unsigned i = threadIdx.x, layer = i % 3;
    float4 v;
    float x = at[4 * i], y = at[4 * i + 1], level = at[4 * i + 2], step = at[4 * i + 3];
    out += 12 * i;
    READ("tex.2d.v4.f32.f32", "[%4, {%5, %6}]", "l"(plane), "f"(x), "f"(y));
    out[1] = tex2D<float4>(plane, x, y);
    out += 2;
    READ("tex.a2d.v4.f32.f32", "[%4, {%5, %6, %7, %7}]", "l"(layers), "r"(layer), "f"(x), "f"(y));
    out[1] = tex2DLayered<float4>(layers, x, y, layer);
    out += 2;
    READ("tex.level.2d.v4.f32.f32", "[%4, {%5, %6}], %7", "l"(levels), "f"(x), "f"(y), "f"(level));
    out[1] = tex2DLod<float4>(levels, x, y, level);
    out += 2;
    READ("tex.grad.2d.v4.f32.f32", "[%4, {%5, %6}], {%7, %8}, {%8, %7}", "l"(levels), "f"(x), "f"(y), "f"(step), "f"(0.0f));
    out[1] = tex2DGrad<float4>(levels, x, y, make_float2(step, 0), make_float2(0, step));
    out += 2;
    READ("tex.base.2d.v4.f32.f32", "[%4, {%5, %6}]", "l"(levels), "f"(x), "f"(y));
    out[1] = tex2D<float4>(levels, x, y);
    out += 2;
    READ("tld4.b.2d.v4.f32.f32", "[%4, {%5, %6}]", "l"(plane), "f"(x), "f"(y));
    out[1] = tex2Dgather<float4>(plane, x, y, 2);
}

extern "C" __global__ void read_volumes(cudaTextureObject_t volume, cudaTextureObject_t cube, cudaTextureObject_t cubes,
                                        const float* at, float4* out)
{
    unsigned i = threadIdx.x, layer = i % 2;
    float4 v;
    float x = at[4 * i], y = at[4 * i + 1], z = at[4 * i + 2];
    out += 8 * i;
    READ("tex.3d.v4.f32.f32", "[%4, {%5, %6, %7, %7}]", "l"(volume), "f"(x), "f"(y), "f"(z));
    out[1] = tex3D<float4>(volume, x, y, z);
    out += 2;
    READ("tex.cube.v4.f32.f32", "[%4, {%5, %6, %7, %7}]", "l"(cube), "f"(x - 0.4f), "f"(y - 0.3f), "f"(z));
    out[1] = texCubemap<float4>(cube, x - 0.4f, y - 0.3f, z);
    out += 2;
    READ("tex.acube.v4.f32.f32", "[%4, {%5, %6, %7, %8}]", "l"(cubes), "r"(layer), "f"(x - 0.4f), "f"(y - 0.3f), "f"(z));
    out[1] = texCubemapLayered<float4>(cubes, x - 0.4f, y - 0.3f, z, layer);
    out += 2;
    READ("tex.level.3d.v4.f32.f32", "[%4, {%5, %6, %7, %7}], %8", "l"(volume), "f"(x), "f"(y), "f"(z), "f"(0.0f));
    out[1] = tex3DLod<float4>(volume, x, y, z, 0);
}

extern "C" __global__ void count_elements(cudaTextureObject_t levels, cudaSurfaceObject_t s, unsigned* out)
{
    asm("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(levels));
    asm("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(levels));
    asm("txq.level.width.b32 %0, [%1], %2;" : "=r"(out[2]) : "l"(levels), "r"(1));
    asm("suq.width.b32 %0, [%1];" : "=r"(out[3]) : "l"(s));
    asm("suq.height.b32 %0, [%1];" : "=r"(out[4]) : "l"(s));
}

extern "C" __global__ void count_parts(cudaTextureObject_t levels, cudaTextureObject_t layers, unsigned* out)
{
    asm("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(out[0]) : "l"(levels));
    asm("txq.array_size.b32 %0, [%1];" : "=r"(out[1]) : "l"(layers));
}

// Adds to 4 bytes of each surface, and moves 8 bytes within the plane.
extern "C" __global__ void change_surfaces(cudaSurfaceObject_t line, cudaSurfaceObject_t plane, cudaSurfaceObject_t volume,
                                           cudaSurfaceObject_t layers)
{
    int x = threadIdx.x, y = blockIdx.x, a, b, layer = blockIdx.x % 3;
    if (y == 0) {
        asm volatile("suld.b.1d.b32.trap {%0}, [%1, {%2}];" : "=r"(a) : "l"(line), "r"(4 * x));
        asm volatile("sust.b.1d.b32.trap [%0, {%1}], {%2};" :: "l"(line), "r"(4 * x), "r"(a + 1) : "memory");
    }
    if (layer == y) {
        asm volatile("suld.b.3d.b32.clamp %0, [%1, {%2, %3, %4, %4}];" : "=r"(a) : "l"(volume), "r"(4 * x), "r"(y), "r"(layer));
        asm volatile("sust.b.3d.b32.zero [%0, {%1, %2, %3, %3}], %4;"
                     :: "l"(volume), "r"(4 * x), "r"(y), "r"(layer), "r"(a + 2) : "memory");
        asm volatile("suld.b.a2d.b32.zero %0, [%1, {%2, %3, %4, %4}];" : "=r"(a) : "l"(layers), "r"(layer), "r"(4 * x), "r"(y));
        asm volatile("sust.b.a2d.b32.zero [%0, {%1, %2, %3, %3}], %4;"
                     :: "l"(layers), "r"(layer), "r"(4 * x), "r"(y), "r"(a + 3) : "memory");
    }
    if (x % 2 == 0) { // clamped from the last column
        asm volatile("suld.b.2d.v2.b32.clamp {%0, %1}, [%2, {%3, %4}];" : "=r"(a), "=r"(b) : "l"(plane), "r"(4 * x), "r"(y));
        asm volatile("sust.b.2d.v2.b32.trap [%0, {%1, %2}], {%3, %4};"
                     :: "l"(plane), "r"(4 * x), "r"(y), "r"(b), "r"(a) : "memory");
    }
    unsigned short half;
    asm volatile("suld.b.2d.b16.zero %0, [%1, {%2, %3}];" : "=h"(half) : "l"(plane), "r"(4 * x + 1000), "r"(y));
    if (half)
        asm volatile("trap;");
}
