# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Spread heat over a plate that is divided among processes, one for each GPU.

Each process (rank) has a strip of the plate, and sends its first and last row to its neighbors after every step. NCCL
moves the rows from buffer to buffer on a stream, while another stream computes the inner rows. Without NCCL, or with
fewer GPUs than processes, the rows go through page-locked host memory and a socket. The first rank compares the whole
plate with NumPy.

    python stencil_ranks.py [RANKS]              start RANKS processes here, by default one for each device
    torchrun --nproc-per-node 4 stencil_ranks.py
    mpirun -n 4 python stencil_ranks.py
"""

import os
import subprocess
import sys
import time
from multiprocessing.connection import Client, Listener

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

SOURCE = """
// One step of rows `first` to `last` of a strip.
extern "C" __global__ void step(const double* old, double* now, int width, int first, int last)
{
    const int x = 1 + blockIdx.x * blockDim.x + threadIdx.x, y = first + blockIdx.y * blockDim.y + threadIdx.y;
    if (x > width - 2 || y > last)
        return;
    const int i = y * width + x;
    now[i] = old[i] + 0.2 * (old[i - 1] + old[i + 1] + old[i - width] + old[i + width] - 4 * old[i]);
}
"""
ROWS, WIDTH, STEPS = 60, 64, 40  # rows of each rank
BLOCK = (32, 4)
KEY = b"stencil"


class Line:
    """The ranks in a line: connections to the neighbors on the left and on the right."""

    def __init__(self, rank, size, address, port):
        self.rank, self.size = rank, size
        listener = Listener((address, port + rank), authkey=KEY) if rank + 1 < size else None
        self.left = self._connect((address, port + rank - 1)) if rank else None
        self.right = listener.accept() if listener else None

    @staticmethod
    def _connect(place):
        for _ in range(600):  # the neighbor might not be ready
            try:
                return Client(place, authkey=KEY)
            except ConnectionError:
                time.sleep(0.1)
        raise TimeoutError(f"no rank answers at {place}")

    def neighbors(self):
        """Return the rank and the connection of each neighbor."""
        both = ((self.rank - 1, self.left), (self.rank + 1, self.right))
        return [(rank, connection) for rank, connection in both if connection]

    def from_first(self, value):
        """Return the value of the first rank on all ranks."""
        if self.left:
            value = self.left.recv()
        if self.right:
            self.right.send(value)
        return value

    def gather(self, value):
        """Return the values of all ranks in a list, on the first rank."""
        values = [value, *(self.right.recv() if self.right else [])]
        if self.left:
            self.left.send(values)
        return values


class NcclExchange:
    """Exchanges rows by NCCL, between buffers on the GPUs."""

    name = "NCCL"

    def __init__(self, line, nccl):
        self.line, self.nccl = line, nccl
        token = line.from_first(nccl.get_unique_id().as_bytes if line.rank == 0 else None)
        self.communicator = nccl.Communicator.init(line.size, line.rank, nccl.UniqueId.from_bytes(token))

    def exchange(self, own, others, stream):
        """Send each row in ``own`` to a neighbor, and receive its row in ``others``, in stream order."""
        with self.nccl.group():
            for (rank, _), mine, theirs in zip(self.line.neighbors(), own, others, strict=True):
                self.communicator.send(row_view(mine), rank, stream=stream)
                self.communicator.recv(row_view(theirs), rank, stream=stream)

    def close(self):
        self.communicator.destroy()


class HostExchange:
    """Exchanges rows by way of page-locked host memory and the connections of the line."""

    name = "the host"

    def __init__(self, line):
        self.line = line
        self.pinned = [LegacyPinnedMemoryResource().allocate(WIDTH * 8) for _ in line.neighbors()]

    def exchange(self, own, others, stream):
        for mine, pinned in zip(own, self.pinned, strict=True):
            mine.copy_to(pinned, stream=stream)
        stream.sync()
        for (_, connection), pinned in zip(self.line.neighbors(), self.pinned, strict=True):
            connection.send_bytes(memoryview(pinned))
        for (_, connection), pinned, theirs in zip(self.line.neighbors(), self.pinned, others, strict=True):
            connection.recv_bytes_into(memoryview(pinned))
            theirs.copy_from(pinned, stream=stream)

    def close(self):
        pass


class Strip:
    """The rows of one rank, twice, each with one more row of the neighbor before and after them."""

    def __init__(self, device, line, rows):
        code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
        self.kernel = code.get_kernel("step")
        self.stream, self.traffic = device.create_stream(), device.create_stream()
        self.old, self.now = [device.allocate(rows.nbytes, stream=self.stream) for _ in range(2)]
        for buffer in (self.old, self.now):
            buffer.copy_from(rows, stream=self.stream)
        has_left, has_right = line.rank > 0, line.rank + 1 < line.size
        self.sides = [*([1] if has_left else []), *([ROWS] if has_right else [])]  # rows that neighbors need
        self.halos = [*([0] if has_left else []), *([ROWS + 1] if has_right else [])]  # rows of the neighbors

    def run(self, steps, exchange):
        for _ in range(steps):
            self.traffic.wait(self.stream)
            for row in self.sides:
                self.compute(self.traffic, row, row)
            self.compute(self.stream, 1 + (1 in self.sides), ROWS - (ROWS in self.sides))
            if self.sides:
                own, others = ([row_of(self.now, row) for row in rows] for rows in (self.sides, self.halos))
                exchange.exchange(own, others, self.traffic)
            self.stream.wait(self.traffic)
            self.old, self.now = self.now, self.old

    def compute(self, stream, first, last):
        blocks = (-(-(WIDTH - 2) // BLOCK[0]), -(-(last - first + 1) // BLOCK[1]))
        launch(stream, LaunchConfig(grid=blocks, block=BLOCK), self.kernel, self.old, self.now, WIDTH, first, last)

    def rows(self):
        result = np.empty((ROWS + 2, WIDTH))
        self.old.copy_to(result, stream=self.stream)
        self.stream.sync()
        return result[1:-1]


def row_of(buffer, row):
    """Return a row of a strip as a sub-buffer, without a copy."""
    return buffer[row * WIDTH * 8 : (row + 1) * WIDTH * 8]


def row_view(row):
    return StridedMemoryView.from_buffer(row, (WIDTH,), dtype=np.dtype(np.float64))


def numpy_solution(plate, steps):
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[1:-1, :-2] + plate[1:-1, 2:] + plate[:-2, 1:-1] + plate[2:, 1:-1]
        plate = plate.copy()
        plate[1:-1, 1:-1] = inner + 0.2 * (around - 4 * inner)
    return plate


def choose_exchange(line, device_count):
    """Return NCCL's exchange if NCCL is installed and each rank has a GPU of its own, and otherwise the host's."""
    try:
        from nccl import core as nccl

        is_installed = nccl.get_version().libnccl is not None
    except ImportError:
        nccl, is_installed = None, False
    local_size = int(os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") or line.size)
    is_possible = is_installed and local_size <= device_count and "software" not in Device().name
    if all(line.from_first(line.gather(is_possible))):
        return NcclExchange(line, nccl)
    return HostExchange(line)


def run_rank(rank, size) -> int:
    local_rank = int(os.environ.get("LOCAL_RANK") or os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK") or rank)
    devices = Device.get_all_devices()
    device = devices[local_rank % len(devices)]
    device.set_current()
    line = Line(rank, size, os.environ.get("MASTER_ADDR", "localhost"), int(os.environ.get("MASTER_PORT", 29600)) + 1)
    plate = np.random.default_rng(seed=4).random((size * ROWS + 2, WIDTH))
    strip = Strip(device, line, np.ascontiguousarray(plate[rank * ROWS : (rank + 1) * ROWS + 2]))
    exchange = choose_exchange(line, len(devices))
    begin = time.perf_counter()
    strip.run(STEPS, exchange)
    parts = line.gather(strip.rows())
    seconds = time.perf_counter() - begin
    exchange.close()
    if rank:
        return 0
    error = np.abs(np.concatenate(parts) - numpy_solution(plate, STEPS)[1:-1]).max()
    if error > 1e-12:
        print(f"wrong: off by up to {error:.1e}", file=sys.stderr)
        return 1
    where = f"{size} rank(s) on {len(devices)} device(s) of a machine"
    print(f"{STEPS} steps by {where} through {exchange.name}, {seconds * 1e3:.0f} ms: verified")
    return 0


def start_ranks(size) -> int:
    port = str(29600 + os.getpid() % 1000 * 16)
    variables = [os.environ | {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_PORT": port} for rank in range(size)]
    ranks = [subprocess.Popen([sys.executable, *sys.argv], env=environment) for environment in variables]
    return max(abs(rank.wait()) for rank in ranks)


def main() -> int:
    size = os.environ.get("WORLD_SIZE") or os.environ.get("OMPI_COMM_WORLD_SIZE")
    if size:
        return run_rank(int(os.environ.get("RANK") or os.environ["OMPI_COMM_WORLD_RANK"]), int(size))
    return start_ranks(int(sys.argv[1]) if len(sys.argv) > 1 else len(Device.get_all_devices()))


if __name__ == "__main__":
    sys.exit(main())
