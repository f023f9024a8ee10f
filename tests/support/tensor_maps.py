# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that load and store tiles with tensor maps, and functions that run them."""

from __future__ import annotations

import functools

import numpy as np

from cuda.core import CUDAError, Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = r"""
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };

struct Place { int at[5]; };

static __device__ unsigned int address(const void* shared) { return (unsigned int)__cvta_generic_to_shared(shared); }

static __device__ void begin(unsigned int barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(1u) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ void expect(unsigned int barrier, unsigned int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;"
                 :: "r"(barrier), "r"(bytes) : "memory");
}

static __device__ void wait(unsigned int barrier, unsigned int parity)
{
    unsigned int done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
}

#define LOAD "cp.async.bulk.tensor."
#define TO_SHARED ".shared::cluster.global"
#define COMPLETE ".mbarrier::complete_tx::bytes "

static __device__ void load(int axes, unsigned int to, const CUtensorMap* map, const Place& p, unsigned int barrier)
{
    const int* i = p.at;
    if (axes == 1)
        asm volatile(LOAD "1d" TO_SHARED COMPLETE "[%0], [%1, {%2}], [%3];"
                     :: "r"(to), "l"(map), "r"(i[0]), "r"(barrier) : "memory");
    if (axes == 2)
        asm volatile(LOAD "2d" TO_SHARED ".tile" COMPLETE "[%0], [%1, {%2, %3}], [%4];"
                     :: "r"(to), "l"(map), "r"(i[0]), "r"(i[1]), "r"(barrier) : "memory");
    if (axes == 3)
        asm volatile(LOAD "3d" TO_SHARED COMPLETE "[%0], [%1, {%2, %3, %4}], [%5];"
                     :: "r"(to), "l"(map), "r"(i[0]), "r"(i[1]), "r"(i[2]), "r"(barrier) : "memory");
    if (axes == 4)
        asm volatile(LOAD "4d" TO_SHARED COMPLETE "[%0], [%1, {%2, %3, %4, %5}], [%6];"
                     :: "r"(to), "l"(map), "r"(i[0]), "r"(i[1]), "r"(i[2]), "r"(i[3]), "r"(barrier) : "memory");
    if (axes == 5)
        asm volatile(LOAD "5d" TO_SHARED COMPLETE "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
                     :: "r"(to), "l"(map), "r"(i[0]), "r"(i[1]), "r"(i[2]), "r"(i[3]), "r"(i[4]), "r"(barrier)
                     : "memory");
}

static __device__ void store(int axes, const CUtensorMap* map, const Place& p, unsigned int from)
{
    const int* i = p.at;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (axes == 1)
        asm volatile(LOAD "1d.global.shared::cta.bulk_group [%0, {%1}], [%2];"
                     :: "l"(map), "r"(i[0]), "r"(from) : "memory");
    if (axes == 2)
        asm volatile(LOAD "2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                     :: "l"(map), "r"(i[0]), "r"(i[1]), "r"(from) : "memory");
    if (axes == 3)
        asm volatile(LOAD "3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];"
                     :: "l"(map), "r"(i[0]), "r"(i[1]), "r"(i[2]), "r"(from) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// One thread loads a tile to shared memory, and copies it to `out` byte by byte.
extern "C" __global__ void load_tile(const __grid_constant__ CUtensorMap map, int axes, Place place, unsigned char* out,
                                     unsigned int bytes)
{
    extern __shared__ unsigned char room[];
    unsigned char* tile = room + (-address(room) & 1023); // swizzle patterns start at a multiple of 1024
    __shared__ alignas(8) unsigned long long barrier;
    begin(address(&barrier));
    for (unsigned int i = 0; i < bytes; ++i)
        tile[i] = 0xAB;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    expect(address(&barrier), bytes);
    load(axes, address(tile), &map, place, address(&barrier));
    wait(address(&barrier), 0);
    for (unsigned int i = 0; i < bytes; ++i)
        out[i] = tile[i];
}

extern "C" __global__ void store_tile(const __grid_constant__ CUtensorMap map, int axes, Place place,
                                      const unsigned char* in, unsigned int bytes)
{
    extern __shared__ unsigned char room[];
    unsigned char* tile = room + (-address(room) & 1023); // swizzle patterns start at a multiple of 1024
    for (unsigned int i = 0; i < bytes; ++i)
        tile[i] = in[i];
    store(axes, &map, place, address(tile));
}

// Loads pixels of an NHWC image in im2col mode.
extern "C" __global__ void load_columns(const __grid_constant__ CUtensorMap map, Place place, int x, int y,
                                        unsigned char* out, unsigned int bytes)
{
    extern __shared__ unsigned char room[];
    unsigned char* tile = room + (-address(room) & 1023); // swizzle patterns start at a multiple of 1024
    __shared__ alignas(8) unsigned long long barrier;
    unsigned short dx = (unsigned short)x, dy = (unsigned short)y;
    const int* i = place.at;
    begin(address(&barrier));
    expect(address(&barrier), bytes);
    asm volatile(LOAD "4d" TO_SHARED ".im2col" COMPLETE "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                 :: "r"(address(tile)), "l"(&map), "r"(i[0]), "r"(i[1]), "r"(i[2]), "r"(i[3]),
                    "r"(address(&barrier)), "h"(dx), "h"(dy) : "memory");
    wait(address(&barrier), 0);
    for (unsigned int k = 0; k < bytes; ++k)
        out[k] = tile[k];
}

// Doubles a matrix tile by tile with two buffers: the next tile is loaded while this one is computed.
extern "C" __global__ void double_tiles(const __grid_constant__ CUtensorMap from,
                                        const __grid_constant__ CUtensorMap to, int count)
{
    __shared__ alignas(128) float tiles[2][32][32];
    __shared__ alignas(8) unsigned long long barriers[2];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; ++i)
            begin(address(&barriers[i]));
    __syncthreads();
    auto fetch = [&](int i) {
        Place place = {{32 * i, 32 * (int)blockIdx.x}};
        expect(address(&barriers[i % 2]), sizeof tiles[0]);
        load(2, address(tiles[i % 2]), &from, place, address(&barriers[i % 2]));
    };
    if (threadIdx.x == 0)
        fetch(0);
    for (int i = 0; i < count; ++i) {
        if (threadIdx.x == 0 && i + 1 < count)
            fetch(i + 1);
        wait(address(&barriers[i % 2]), i / 2 % 2);
        for (int row = 0; row < 32; ++row)
            tiles[i % 2][row][threadIdx.x] *= 2;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            Place place = {{32 * i, 32 * (int)blockIdx.x}};
            store(2, &to, place, address(tiles[i % 2]));
        }
        __syncthreads();
    }
}
"""


@functools.cache
def kernels():
    """Return the code of the kernels, for the current device."""
    return Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{Device().arch}")).compile("cubin")


def on_device(array, stream):
    """Copy an array to the device, and return a view of the copy."""
    buffer = Device().allocate(max(array.nbytes, 1), stream=stream)
    if array.nbytes:
        buffer.copy_from(np.ascontiguousarray(array), stream=stream)
    return buffer.view(array.shape, array.dtype)


def host_copy(view, stream):
    """Return the contents of a view of a whole buffer as a NumPy array."""
    array = np.empty(view.shape, view.dtype)
    view.exporting_obj.copy_to(array, stream=stream)
    stream.sync()
    return array


def place(*coordinates) -> bytes:
    """Return the kernels' ``Place`` argument for coordinates in the order of the view's axes."""
    reverse = coordinates[::-1]
    return np.array([*reverse, *[0] * (5 - len(reverse))], np.int32).tobytes()


def _run(name, stream, shared, *arguments):
    launch(stream, LaunchConfig(grid=1, block=1, shmem_size=shared), kernels().get_kernel(name), *arguments)


def load_tile(tensor_map, coordinates, shape, dtype, stream):
    """Return the tile at the coordinates as it lies in shared memory."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    out = Device().allocate(size, stream=stream)
    _run("load_tile", stream, size + 1024, tensor_map, len(coordinates), place(*coordinates), out, size)
    tile = np.empty(shape, dtype)
    out.copy_to(tile, stream=stream)
    stream.sync()
    return tile


def load_columns(tensor_map, coordinates, offsets, shape, dtype, stream):
    """Return the pixels of an im2col load that starts at (N, H, W, C); the offsets are along H and W."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    out = Device().allocate(size, stream=stream)
    y, x = offsets
    _run("load_columns", stream, size + 1024, tensor_map, place(*coordinates), x, y, out, size)
    columns = np.empty(shape, dtype)
    out.copy_to(columns, stream=stream)
    stream.sync()
    return columns


def store_tile(tensor_map, coordinates, tile, stream):
    """Store a tile at the coordinates."""
    given = on_device(tile, stream)
    _run(
        "store_tile", stream, tile.nbytes + 1024,
        tensor_map, len(coordinates), place(*coordinates), given.exporting_obj, tile.nbytes,
    )  # fmt: skip
    stream.sync()


def error_of(kind, corner) -> str:
    """Return the name of the error of a load or store of an 8 x 16 tile of 64 x 96 floats; it may break the context."""
    stream = Device().create_stream()
    view = on_device(np.zeros((64, 96), np.float32), stream)
    descriptor = view.as_tensor_map((8, 16))
    try:
        if kind == "load":
            load_tile(descriptor, corner, (8, 16), np.float32, stream)
        else:
            store_tile(descriptor, corner, np.ones((8, 16), np.float32), stream)
    except CUDAError as error:
        return error.name
    return "CUDA_SUCCESS"
