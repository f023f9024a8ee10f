# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Multiply two matrices with the tensor memory accelerator (TMA), which copies their tiles to shared memory.

    python tma_matmul.py [ROWS INNER COLUMNS]

Each block computes a 64 by 64 tile. While the block computes with the current tiles of both factors, one of its threads
issues the copies of the next ones; two mbarriers in shared memory signal when the bytes have arrived. Tiles that extend
past the edges are filled with zeros when loaded and clipped when stored, so the kernel needs no bounds checks.

Needs compute capability 9.0 (Hopper), or the software device: CUDA_CORE_DEVICE=auto.
"""

import sys

import numpy as np

from cuda.core import Buffer, Device, EventOptions, LaunchConfig, Program, ProgramOptions, launch

TILE, DEPTH, THREADS = 64, 32, 256
SOURCE = r"""
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
constexpr int TILE = 64, DEPTH = 32, THREADS = 256, EACH = 4;     // a thread computes 4 by 4 elements

struct Stage { float a[TILE][DEPTH]; float b[DEPTH][TILE]; };

__device__ unsigned int address(const void* shared) { return (unsigned int)__cvta_generic_to_shared(shared); }

__device__ void wait(unsigned int barrier, unsigned int parity)
{
    unsigned int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
}

__device__ void load(void* tile, const CUtensorMap& map, int row, int column, unsigned int barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :: "r"(address(tile)), "l"(&map), "r"(column), "r"(row), "r"(barrier) : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS)
matmul(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
       const __grid_constant__ CUtensorMap c, int inner)
{
    __shared__ alignas(128) Stage stages[2];
    __shared__ alignas(8) unsigned long long barriers[2];
    const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    const int y = threadIdx.x / (TILE / EACH) * EACH, x = threadIdx.x % (TILE / EACH) * EACH;

    auto fetch = [&](int step) {
        Stage& stage = stages[step % 2];
        const unsigned int barrier = address(&barriers[step % 2]);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(barrier), "r"((unsigned int)sizeof(Stage)) : "memory");
        load(stage.a, a, row, step * DEPTH, barrier);
        load(stage.b, b, step * DEPTH, column, barrier);
    };

    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(address(&barriers[i])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        fetch(0);
    }
    __syncthreads();

    float sum[EACH][EACH] = {};
    const int steps = (inner + DEPTH - 1) / DEPTH;
    for (int step = 0; step < steps; ++step) {
        if (threadIdx.x == 0 && step + 1 < steps)
            fetch(step + 1);
        wait(address(&barriers[step % 2]), step / 2 % 2);
        const Stage& stage = stages[step % 2];
        for (int k = 0; k < DEPTH; ++k)
            for (int i = 0; i < EACH; ++i)
                for (int j = 0; j < EACH; ++j)
                    sum[i][j] += stage.a[y + i][k] * stage.b[k][x + j];
        __syncthreads();        // the stage is free for the next tiles
    }

    float (*tile)[TILE] = reinterpret_cast<float (*)[TILE]>(stages);
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j)
            tile[y + i][x + j] = sum[i][j];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                     :: "l"(&c), "r"(column), "r"(row), "r"(address(tile)) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
"""


def on_device(device, stream, array):
    """Copy a matrix to the device and return a view whose rows begin at multiples of 16 bytes, as TMA requires."""
    rows, columns = array.shape
    pitch = -(-columns // 4) * 4
    padded = np.zeros((rows, pitch), np.float32)
    padded[:, :columns] = array
    buffer = device.allocate(padded.nbytes, stream=stream)
    buffer.copy_from(padded, stream=stream)
    whole = buffer.view((rows, pitch), np.float32)
    return whole.view(whole._layout[:, :columns])


def main() -> int:
    """Multiply, compare the product with NumPy's, and print the speed."""
    rows, inner, columns = (int(size) for size in sys.argv[1:4]) if len(sys.argv) == 4 else (150, 100, 210)
    device = Device()
    device.set_current()
    if device.compute_capability < (9, 0):
        print(f"{device.name} has no tensor memory accelerator, which needs compute capability 9.0 or higher")
        return 1
    stream = device.create_stream()
    kernel = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("matmul")

    rng = np.random.default_rng(1)
    a, b = rng.random((rows, inner), np.float32), rng.random((inner, columns), np.float32)
    factors = [on_device(device, stream, matrix) for matrix in (a, b)]
    product = on_device(device, stream, np.zeros((rows, columns), np.float32))
    maps = [
        factors[0].as_tensor_map((TILE, DEPTH)),
        factors[1].as_tensor_map((DEPTH, TILE)),
        product.as_tensor_map((TILE, TILE)),
    ]

    config = LaunchConfig(grid=(-(-columns // TILE), -(-rows // TILE)), block=THREADS)
    begin = stream.record(options=EventOptions(timing_enabled=True))
    launch(stream, config, kernel, *maps, inner)
    end = stream.record(options=EventOptions(timing_enabled=True))

    buffer = product.exporting_obj
    assert isinstance(buffer, Buffer)
    result = np.empty((rows, buffer.size // rows // 4), np.float32)
    buffer.copy_to(result, stream=stream)
    stream.sync()
    # The numbers are positive but added in another order than NumPy's, and each addition can round.
    error = np.abs(result[:, :columns] / (a.astype(np.float64) @ b) - 1).max()
    if error > inner * np.finfo(np.float32).eps:
        print(f"the relative error is {error:.2e}")
        return 1
    milliseconds = end - begin
    speed = 2e-9 * rows * inner * columns / milliseconds
    print(f"verified: {rows} x {inner} x {columns} in {milliseconds:.3f} ms, {speed:.3f} TFLOP/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
