# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time the software device through ``cuda.core``, and compare the figures with limits for two cores.

Every part runs in its own processes, with its own cache of compiled kernels. Each figure is the best of several runs:
the wall time, and the CPU time divided by two, which depends less on machine load. The limit applies to the smaller of
the two. Memory checks are off unless the row name mentions them.

    python software_device.py [--json FILE] [--runs N] [PART ...]
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CORES = 2
LOOPS = Path(__file__).with_name("loops.cpp")

SAXPY = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void none() {}
"""
PRODUCT = """
extern "C" __global__ void product(const float* a, const float* b, float* c, int n)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;
    for (int first = 0; first < n; first += 16) {
        tile_a[ty][tx] = a[y * n + first + tx];
        tile_b[ty][tx] = b[(first + ty) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
"""
BARRIERS = 'extern "C" __global__ void barriers(int n) { for (int i = 0; i < n; ++i) __syncthreads(); }'
HISTOGRAM = """
extern "C" __global__ void histogram(const unsigned char* x, unsigned* bins, int n)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[x[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
"""
# The number of blocks, and of threads per block.
GRIDS = ((1, 32), (4, 64), (16, 256))
# The rows of each part: title, unit, limit and name in the results.
ROWS = {
    "kernels": [
        ("saxpy, 4 M floats", "ms", 15, "saxpy"),
        ("tiled matrix product, 256^3", "ms", 40, "product"),
        ("saxpy, with memory checks / without", "times", 3, "saxpy checked"),
        ("matrix product, with checks / without", "times", 3, "product checked"),
    ],
    "checks": [
        (f"{kernel}, with {check} / without", "times", limit, f"{name} {check}")
        # The aim for races is 12. A thread with three accesses in 4 ns does not reach it: see docs/design/emulator.md.
        for check, limits in (
            ("memory", (2.5, 2.5)),
            ("initialized", (6, 6)),
            ("races", (25, 15)),
            ("memory,stack,rows", (None, None)),
        )
        for kernel, name, limit in (("saxpy", "saxpy", limits[0]), ("matrix product", "product", limits[1]))
    ],
    "launches": [
        ("launch and run of one block", "us", 10, "launch"),
        ("launch and wait for it", "us", None, "launch and sync"),
        # In C. The second column is the CPU time of all threads, not divided.
        *(
            (f"{blocks} x {threads} threads in C, launch and wait", "us", limit, f"{blocks} x {threads}")
            for (blocks, threads), limit in zip(GRIDS, (3, 3, None), strict=True)
        ),
    ],
    "start": [
        ("import and activation, first call", "ms", 50, "start"),
        ("import of cuda.core and its first device", "ms", None, "first device"),
    ],
    "compilation": [
        ("compilation of a small kernel", "ms", 100, "compile"),
        ("the same from the cache, in another process", "ms", 3, "cached"),
    ],
    "memory": [("200 loaded modules", "MB", 100, "modules")],
    # CPU time of one thread at a barrier; only the second column is meaningful.
    "barriers": [
        (f"a thread's {title} barrier, blocks of {block}", "ns", limit, f"{name} {block}")
        for name, title, limit in (("first", "first", 30), ("further", "every further", 8))
        for block in (32, 256, 1024)
    ],
    # With races checks. The second column is the CPU time of all threads.
    "atomics": [
        ("an atomic function on shared memory", "us", 1, "shared atomic"),
        ("histogram of 4 MB", "s", 2, "histogram"),
    ],
    # Kernel time divided by the time of equivalent C++ loops (loops.cpp, g++ -O2, CORES threads). The second column
    # compares CPU time with the loops on one thread.
    "loops": [
        (f"{name}, {check} checks / loops in C++", "times", limit, f"{name} {check}")
        for names, without, with_memory in (
            (("gemm", "2DConvolution", "3mm", "syr2k", "covariance"), 1.5, 3),
            (("lu", "fdtd2d", "jacobi2D"), 2, 4),
            (("saxpy",), 2, None),
            (("Mandelbrot",), 1.2, None),
            (("n-body",), 1.5, None),
            (("tiled matrix product",), None, 10),
            (("scan",), None, 300),
            (("transpose",), None, 6),
        )
        for name in names
        for check, limit in (("no", without), ("memory", with_memory))
    ],
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the software device.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of: {', '.join(ROWS)}; default: all")
    parser.add_argument("--json", type=Path, help="where to store the figures")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(CHILDREN[arguments.child](arguments.runs)))
        return 0
    parts = arguments.parts or list(ROWS)
    if unknown := set(parts) - set(ROWS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}")

    print(f"load of the machine {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores; the device has {CORES} threads")
    print(f"{'':45}{'best':>10}{'CPU/' + str(CORES):>10}{'limit':>10}")
    figures, slow = {}, 0
    for part in parts:
        with tempfile.TemporaryDirectory() as cache:
            results = PARTS[part](functools.partial(run, cache, arguments.runs))
        for title, unit, allowed, name in ROWS[part]:
            best, processors = results[name]
            missed = allowed is not None and min(best, processors or best) > allowed
            slow += missed
            cells = [f"{best:.2f}", f"{processors:.2f}" if processors else "", str(allowed or "")]
            print(f"{title:45}{''.join(f'{cell:>10}' for cell in cells)} {unit}{'  MISSED' if missed else ''}")
            figures[title] = {"best": best, "processors": processors, "allowed": allowed, "unit": unit}
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")
    print("all within their limits" if not slow else f"{slow} OVER THEIR LIMITS")
    return 1 if slow else 0


def run(cache: str, runs: int, child: str, **variables: object) -> dict:
    """Run a ``CHILDREN`` function in a new process on the software device."""
    settings = {"THREADS": CORES, "CACHE_DIR": cache, "CHECK": "none"} | variables
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CUDA_EMULATOR_")}
    environment["CUDA_CORE_DEVICE"] = "software"
    environment |= {f"CUDA_EMULATOR_{name}": str(value) for name, value in settings.items()}
    command = [sys.executable, __file__, "--child", child, "--runs", str(runs)]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout)


# ------------------------------------------------------------------ the parts, in this process


def time_kernels(run) -> dict:
    plain, checked = run("kernels"), run("kernels", CHECK="memory")
    ratios = {f"{name} checked": [b / a for a, b in zip(plain[name], checked[name], strict=True)] for name in plain}
    return plain | ratios


def time_checks(run) -> dict:
    plain, ratios = run("kernels"), {}
    for check in ("memory", "initialized", "races", "memory,stack,rows"):
        times = run("kernels", CHECK=check)
        ratios |= {f"{name} {check}": [b / a for a, b in zip(plain[name], times[name], strict=True)] for name in plain}
    return ratios


def time_compilation(run) -> dict:
    return run("compile") | run("cached")


@contextlib.contextmanager
def compiled_loops():
    with tempfile.TemporaryDirectory() as directory:
        library = Path(directory) / "loops.so"
        command = ["g++", "-O2", "-fopenmp", "-shared", "-fPIC", "-o", str(library), str(LOOPS)]
        subprocess.run(command, check=True)
        os.environ["CUDA_LOOPS"] = str(library)
        yield


def time_launches(run) -> dict:
    with compiled_loops():
        return run("launches")


def time_loops(run) -> dict:
    with compiled_loops():
        plain, checked = run("loops"), run("loops", CHECK="memory")
    results = {f"{name} no": ratios for name, ratios in plain.items()}
    return results | {f"{name} memory": ratios for name, ratios in checked.items()}


PARTS: dict[str, Callable] = {
    "kernels": time_kernels,
    "checks": time_checks,
    "launches": time_launches,
    "start": lambda run: min((run("start") for _ in range(7)), key=lambda result: result["start"]),
    "compilation": time_compilation,
    "memory": lambda run: run("memory"),
    "barriers": lambda run: run("barriers", THREADS=1),
    "atomics": lambda run: run("atomics", CHECK="races"),
    "loops": time_loops,
}

# --------------------------------------------------- the timed functions, in separate processes


def best_of(runs: int, scale: float, work: Callable[[], object]) -> list[float]:
    """Return the minimum wall time of ``work``, and its minimum CPU time divided by the number of cores."""
    best = processors = float("inf")
    for _ in range(runs):
        start, start_processors = time.perf_counter(), time.process_time()
        work()
        best = min(best, time.perf_counter() - start)
        processors = min(processors, time.process_time() - start_processors)
    return [best * scale, processors / CORES * scale]


def open_device():
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    return device, device.create_stream()


def driver_call(name: bytes) -> ctypes.c_void_p:
    from cuda.bindings import driver

    return ctypes.c_void_p(driver.cuGetProcAddress(name, 12000, 0)[1])


def compiled(source: str, name: str):
    from cuda.core import Program

    return Program(source, "c++").compile("cubin").get_kernel(name)


def child_kernels(runs: int) -> dict:
    import numpy as np

    from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, launch

    device, stream = open_device()
    count, side = 4 << 20, 256
    buffers = [device.allocate(4 * count, stream=stream) for _ in range(3)]
    for buffer in buffers:
        buffer.fill(np.float32(1), stream=stream)
    saxpy, product = compiled(SAXPY, "saxpy"), compiled(PRODUCT, "product")
    flat, square = LaunchConfig(grid=count // 256, block=256), LaunchConfig(grid=(16, 16), block=(16, 16))

    def run_saxpy():
        launch(stream, flat, saxpy, np.float32(2), *buffers[:2], count)
        stream.sync()

    def run_product():
        launch(stream, square, product, *buffers, side)
        stream.sync()

    results = {"saxpy": best_of(runs, 1e3, run_saxpy)}
    for buffer in buffers:
        buffer.fill(np.float32(1), stream=stream)
    results["product"] = best_of(runs, 1e3, run_product)
    host = LegacyPinnedMemoryResource().allocate(4 * count)
    buffers[2].copy_to(host, stream=stream)
    stream.sync()
    numbers = np.from_dlpack(host).view(np.float32)[: side * side]
    assert (numbers == side).all(), numbers
    return results


def child_launches(runs: int) -> dict:
    from cuda.core import LaunchConfig, launch

    _, stream = open_device()
    none = compiled(SAXPY, "none")
    config = LaunchConfig(grid=1, block=32)
    many = 500
    host = ctypes.CDLL(os.environ["CUDA_LOOPS"])
    calls = [driver_call(b"cuLaunchKernel"), driver_call(b"cuStreamSynchronize")]

    def run_in_c(grid: tuple[int, int]) -> None:
        handles = [ctypes.c_void_p(int(handle)) for handle in (none.handle, stream.handle)]
        assert not host.launch_each(handles[0], *grid, many, *calls, handles[1])

    in_c = {}
    for grid in GRIDS:
        wall, processors = best_of(runs, 1e6 / many, functools.partial(run_in_c, grid))
        in_c[f"{grid[0]} x {grid[1]}"] = [wall, processors * CORES]

    def run_many():
        for _ in range(many):
            launch(stream, config, none)
        stream.sync()

    def run_each():
        for _ in range(many):
            launch(stream, config, none)
            stream.sync()

    return {
        "launch": best_of(runs, 1e6 / many, run_many),
        "launch and sync": [best_of(runs, 1e6 / many, run_each)[0], None],
    } | in_c


def child_start(runs: int) -> dict:
    start = time.perf_counter()
    import cuda.emulator

    cuda.emulator.activate()
    assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    active = time.perf_counter()
    open_device()
    return {"start": [(active - start) * 1e3, None], "first device": [(time.perf_counter() - start) * 1e3, None]}


def small_kernels(count: int) -> list[str]:
    return [SAXPY.replace("saxpy", f"saxpy{number}") for number in range(count)]


def child_compile(runs: int) -> dict:
    open_device()
    compiled(SAXPY, "saxpy")  # the first compilation also prepares the headers for all later ones
    sources = iter(small_kernels(runs))
    best = best_of(runs, 1e3, lambda: compiled(next(sources), "none"))
    return {"compile": [best[0], None]}  # the compiler is another process


def child_cached(runs: int) -> dict:
    open_device()
    sources = iter(small_kernels(runs))
    return {"cached": [best_of(runs, 1e3, lambda: compiled(next(sources), "none"))[0], None]}


def child_memory(runs: int) -> dict:
    """Load 20 programs ten times each, and run one kernel from each."""
    from cuda.core import LaunchConfig, ObjectCode, Program, launch

    _, stream = open_device()
    images = [bytes(Program(source, "c++").compile("cubin").code) for source in small_kernels(20)]
    before, loaded = resident(), []
    for number in range(200):
        code = ObjectCode.from_cubin(images[number % 20])
        launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("none"))
        loaded.append(code)
    stream.sync()
    return {"modules": [(resident() - before) / 1e6, None]}


def child_barriers(runs: int) -> dict:
    from cuda.core import LaunchConfig, launch

    _, stream = open_device()
    kernel = compiled(BARRIERS, "barriers")

    def times(block: int, count: int, grid: int) -> list[float]:
        def work():
            launch(stream, LaunchConfig(grid=grid, block=block), kernel, count)
            stream.sync()

        wall, processors = best_of(runs, 1e9 / (grid * block * count), work)
        return [wall, processors * CORES]

    results = {}
    for block in (32, 256, 1024):
        results[f"first {block}"] = times(block, 1, 2 << 20 >> block.bit_length())
        results[f"further {block}"] = times(block, 100, 1 << 16 >> block.bit_length())
    return results


def child_atomics(runs: int) -> dict:
    """Count 64 K and 4 M bytes, each in a table in shared memory."""
    import numpy as np

    from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, launch

    _, stream = open_device()
    kernel, memory = compiled(HISTOGRAM, "histogram"), LegacyPinnedMemoryResource()
    values, bins = memory.allocate(1 << 22), memory.allocate(1024)
    np.from_dlpack(values).view(np.uint8)[:] = np.random.default_rng(0).integers(0, 256, 1 << 22)

    def times(count: int, scale: float) -> list[float]:
        def work():
            np.from_dlpack(bins).view(np.uint32)[:] = 0
            launch(stream, LaunchConfig(grid=16, block=256), kernel, values, bins, count)
            stream.sync()

        wall, processors = best_of(min(runs, 3), scale, work)
        assert np.from_dlpack(bins).view(np.uint32).sum() == count
        return [wall, processors * CORES]

    return {"shared atomic": times(1 << 16, 1e6 / (1 << 16)), "histogram": times(1 << 22, 1)}


class Step(ctypes.Structure):
    """One step of a program, as in loops.cpp."""

    _fields_ = [("function", ctypes.c_void_p)] + [
        (name, ctypes.c_int) for name in ("rows", "columns", "n", "t", "block_x", "block_y", "row_step")
    ]


def programs() -> dict[str, list[tuple]]:
    """Return the steps of each program: function, rows, columns, n, t."""

    def each(n: int, *names: str, count: int = 1) -> list[tuple]:
        return [(name, n, n, n, t) for t in range(count) for name in names]

    lu = [step for t in range(255) for step in (("lu_row", 1, 255 - t, 256, t), ("lu_rest", 255 - t, 255 - t, 256, t))]
    n = 192
    return {
        "gemm": each(n, "gemm"),
        "2DConvolution": each(1024, "conv2d"),
        "3mm": each(n, "product", count=3),
        "syr2k": each(n, "syr2k"),
        "covariance": [("mean", 1, n, n, 0), ("center", n, n, n, 0), ("covariance", 1, n, n, 0)],
        "lu": lu,
        "fdtd2d": each(128, "fdtd_y", "fdtd_x", "fdtd_z", count=100),
        "jacobi2D": each(128, "jacobi", "jacobi_copy", count=100),
        "saxpy": each(2048, "saxpy"),
        "Mandelbrot": each(512, "mandelbrot"),
        "n-body": [("nbody", 1, 2048, 2048, 0)],
        "tiled matrix product": each(512, "tiles"),
        "transpose": each(2048, "transpose"),
        "scan": [("scan", 1, 1 << 20, 1024, 0)],
    }


def steps_of(rows: list[tuple], find: Callable[[str], int]) -> ctypes.Array:
    """Return the steps with the functions or kernels that ``find`` returns."""

    blocks = {"tiles": (16, 16, 16), "transpose": (32, 8, 32), "scan": (1024, 1, 1)}

    def block(name: str, lines: int) -> tuple[int, int, int]:
        return blocks.get(name) or ((256, 1, 1) if lines == 1 else (32, 8, 8))

    return (Step * len(rows))(*(Step(find(row[0]), *row[1:], *block(row[0], row[1])) for row in rows))


def child_loops(runs: int) -> dict:
    """Compare kernels with loops: return the ratios of wall time and CPU time."""
    import numpy as np

    from cuda.core import LegacyPinnedMemoryResource, Program

    _, stream = open_device()
    host = ctypes.CDLL(os.environ["CUDA_LOOPS"])
    code = Program(LOOPS.read_text(), "c++").compile("cubin")
    launch = driver_call(b"cuLaunchKernel")
    count = 1 << 22
    buffers = [LegacyPinnedMemoryResource().allocate(4 * count) for _ in range(3)]
    arrays = [np.from_dlpack(buffer).view(np.float32) for buffer in buffers]
    copies = [np.empty(count, np.float32) for _ in range(3)]
    start = np.random.default_rng(1).random(count, np.float32) + 1
    start[: 256 * 256 : 257] += 256  # a dominant diagonal, for lu

    def loops(steps: ctypes.Array, threads: int) -> None:
        host.run_loops(steps, len(steps), *(ctypes.c_void_p(copy.ctypes.data) for copy in copies), threads)

    def kernels(steps: ctypes.Array) -> None:
        pointers = (ctypes.c_void_p(int(buffer.handle)) for buffer in buffers)
        assert not host.run_kernels(steps, len(steps), *pointers, launch, ctypes.c_void_p(int(stream.handle)))
        stream.sync()

    def fill(targets) -> None:
        for target in targets:
            target[:] = start

    def ratios(rows: list[tuple]) -> list[float]:
        in_loops = steps_of(rows, lambda name: ctypes.cast(host[f"{name}_step"], ctypes.c_void_p).value)
        in_kernels = steps_of(rows, lambda name: int(code.get_kernel(f"{name}_step").handle))
        best = [float("inf")] * 4
        for _ in range(runs):
            fill(copies), loops(in_loops, 1)
            fill(arrays), kernels(in_kernels)
            assert all((a == b).all() for a, b in zip(arrays, copies, strict=True))
            for index, work in enumerate((lambda: loops(in_loops, CORES), lambda: kernels(in_kernels))):
                fill(copies if index == 0 else arrays)
                wall = best_of(1, 1, work)[0]
                best[index] = min(best[index], wall)
            for index, work in enumerate((lambda: loops(in_loops, 1), lambda: kernels(in_kernels)), 2):
                fill(copies if index == 2 else arrays)
                best[index] = min(best[index], best_of(1, 1, work)[1])
        return [best[1] / best[0], best[3] / best[2]]

    return {name: ratios(rows) for name, rows in programs().items()}


def resident() -> int:
    """Return this process's resident memory in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


CHILDREN: dict[str, Callable[[int], dict]] = {
    "kernels": child_kernels,
    "launches": child_launches,
    "start": child_start,
    "compile": child_compile,
    "cached": child_cached,
    "memory": child_memory,
    "barriers": child_barriers,
    "atomics": child_atomics,
    "loops": child_loops,
}

if __name__ == "__main__":
    sys.exit(main())
