# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Serve 1,000 requests from an asyncio program, 64 at once, and verify every answer.

Each request copies an array to the device, runs a kernel and copies the result back. ``await stream`` lets the event
loop serve other requests in the meantime. The program prints the latency of a request beside the latency of the same
work with ``stream.sync()``, one request after the other.
"""

import asyncio
import statistics
import sys
import time

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

SOURCE = """
extern "C" __global__ void scale(float* x, float factor, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        x[i] *= factor;
}
"""
REQUESTS, WORKERS, COUNT = 1_000, 64, 256
CONFIG = LaunchConfig.for_elements(COUNT)


class Worker:
    """A stream with its memory, which serves one request at a time."""

    def __init__(self, device, kernel):
        self.kernel, self.stream = kernel, device.create_stream()
        self.pinned = LegacyPinnedMemoryResource().allocate(4 * COUNT)
        self.host = np.from_dlpack(self.pinned).view(np.float32)
        self.memory = device.allocate(4 * COUNT, stream=self.stream)

    def enqueue(self, request: int) -> None:
        """Enqueue the work of a request without waiting for it."""
        self.host[:] = np.arange(COUNT)
        self.memory.copy_from(self.pinned, stream=self.stream)
        launch(self.stream, CONFIG, self.kernel, self.memory, request, COUNT)
        self.memory.copy_to(self.pinned, stream=self.stream)

    def is_right(self, request: int) -> bool:
        """Return whether the result is that of the request."""
        return np.array_equal(self.host, np.arange(COUNT, dtype=np.float32) * request)


async def serve(workers: list[Worker]) -> tuple[int, list[float]]:
    """Serve all requests with all workers; return the number of right answers and the latencies in seconds."""
    idle: asyncio.Queue[Worker] = asyncio.Queue()
    for worker in workers:
        idle.put_nowait(worker)

    async def answer(request: int) -> tuple[bool, float]:
        worker = await idle.get()
        start = time.perf_counter()
        worker.enqueue(request)
        await worker.stream
        latency = time.perf_counter() - start
        right = worker.is_right(request)
        idle.put_nowait(worker)
        return right, latency

    answers = await asyncio.gather(*map(answer, range(REQUESTS)))
    return sum(right for right, _ in answers), [latency for _, latency in answers]


def serve_in_turn(worker: Worker) -> list[float]:
    """Serve all requests one after the other; return the latencies in seconds."""
    latencies = []
    for request in range(REQUESTS):
        start = time.perf_counter()
        worker.enqueue(request)
        worker.stream.sync()
        latencies.append(time.perf_counter() - start)
    return latencies


def report(title: str, latencies: list[float], seconds: float) -> None:
    """Print a row of the table."""
    ordered = sorted(1e6 * latency for latency in latencies)
    late = ordered[len(ordered) * 99 // 100]
    print(f"{title:24}{REQUESTS / seconds:10.0f}{statistics.median(ordered):12.0f}{late:10.0f}")


def main() -> int:
    device = Device()
    device.set_current()
    kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("scale")
    workers = [Worker(device, kernel) for _ in range(WORKERS)]
    serve_in_turn(workers[0])  # the first launches load the kernel

    print(f"{'':24}{'requests/s':>10}{'median, us':>12}{'99 %, us':>10}")
    for title, some in (("await stream, 1 at once", workers[:1]), (f"await stream, {WORKERS} at once", workers)):
        start = time.perf_counter()
        right, latencies = asyncio.run(serve(some))
        report(title, latencies, time.perf_counter() - start)
        if right != REQUESTS:
            print(f"{REQUESTS - right} answers are wrong", file=sys.stderr)
            return 1
    start = time.perf_counter()
    report("stream.sync()", serve_in_turn(workers[0]), time.perf_counter() - start)
    print(f"{REQUESTS:,} requests on {device.name}: verified, every answer arrived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
