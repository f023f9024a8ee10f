# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Solve Poisson's equation with Jacobi's method, in a graph that decides on the GPU when to stop.

The temperature of a plate is fixed at its boundary, and the plate is heated inside. Each sweep replaces every inner
point by the mean of its neighbors plus the heat. Two sweeps and a check form the body of a conditional node, which the
GPU repeats until no point changes by more than a tolerance. If the same kernels are launched one by one, the host must
decide after every check, so it waits for the GPU and then the GPU waits for the host. Both ways agree with SciPy's
direct solver.

    python jacobi_graph.py [POINTS]     inner points along a side; 48 by default
"""

import sys
import time

import numpy as np

try:
    from scipy.sparse import diags_array, eye_array, kron
    from scipy.sparse.linalg import spsolve
except ImportError as error:
    sys.exit(f"jacobi_graph.py needs {error.name}: pip install scipy")

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

// One sweep from `old` to `now`, which both have a boundary of one point. Sets `is_moving` if a point changes by more
// than the tolerance.
extern "C" __global__ void sweep(const double* old, double* now, const double* heat, int side, double tolerance,
                                 int* is_moving)
{
    const int x = 1 + blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (x > side || y > side)
        return;
    const int width = side + 2, i = y * width + x;
    const double value = 0.25 * (old[i - 1] + old[i + 1] + old[i - width] + old[i + width] + heat[i]);
    now[i] = value;
    if (is_moving && fabs(value - old[i]) > tolerance)
        *is_moving = 1;
}

// Repeats the body as long as any point changes.
extern "C" __global__ void decide(cudaGraphConditionalHandle condition, int* is_moving, int* rounds)
{
    cudaGraphSetConditional(condition, *is_moving);
    *is_moving = 0;
    ++*rounds;
}
"""
TOLERANCE = 1e-8
BLOCK = 16


class Plate:
    """The temperatures on the device, and the kernels that change them, in rounds of two sweeps."""

    def __init__(self, device, stream, start, heat):
        side = len(start) - 2
        code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
        self.sweep, self.decide = code.get_kernel("sweep"), code.get_kernel("decide")
        self.side, self.stream, self.start = side, stream, start
        self.one, self.two, self.heat = [device.allocate(start.nbytes, stream=stream) for _ in range(3)]
        self.flags = device.allocate(8, stream=stream)  # is_moving, rounds
        self.host_flags = LegacyPinnedMemoryResource().allocate(8)
        self.counts = np.from_dlpack(self.host_flags).view(np.int32)
        blocks = (side + BLOCK - 1) // BLOCK
        self.config = LaunchConfig(grid=(blocks, blocks), block=(BLOCK, BLOCK))
        self.heat.copy_from(heat, stream=stream)
        self.reset()

    def reset(self):
        """Restore the start values in both buffers, because sweeps do not write the boundary."""
        self.one.copy_from(self.start, stream=self.stream)
        self.two.copy_from(self.start, stream=self.stream)
        self.flags.fill(0, stream=self.stream)
        self.stream.sync()

    def enqueue_round(self, stream):
        """Enqueue two sweeps, there and back, the second of them with the check."""
        launch(stream, self.config, self.sweep, self.one, self.two, self.heat, self.side, TOLERANCE, None)
        launch(stream, self.config, self.sweep, self.two, self.one, self.heat, self.side, TOLERANCE, self.flags)

    def capture(self, builder):
        """Return an executable graph that runs rounds until no point changes."""
        builder.begin_building()
        condition = builder.create_condition(default_value=1)
        body = builder.while_loop(condition).begin_building()
        self.enqueue_round(body)
        rounds = int(self.flags.handle) + 4
        launch(body, LaunchConfig(grid=1, block=1), self.decide, condition, self.flags, rounds)
        body.end_building()
        return builder.end_building().complete()

    def solve_one_by_one(self):
        """Run rounds from the host, which reads the flag after each of them, and return the number of rounds."""
        rounds, is_moving = 0, True
        while is_moving:
            self.flags.fill(0, stream=self.stream)
            self.enqueue_round(self.stream)
            is_moving = self.read_flags()[0]
            rounds += 1
        return rounds

    def solve_as_a_graph(self, graph):
        """Launch the graph and return the number of rounds that it counted."""
        graph.launch(self.stream)
        return int(self.read_flags()[1])

    def read_flags(self):
        """Synchronize the stream, and return whether a point changed and how many rounds the graph counted."""
        self.flags.copy_to(self.host_flags, stream=self.stream)
        self.stream.sync()
        return self.counts

    def solution(self):
        """Return the temperatures."""
        result = np.empty_like(self.start)
        self.one.copy_to(result, stream=self.stream)
        self.stream.sync()
        return result


def direct_solution(start, heat):
    """Return the solution from SciPy's direct solver."""
    side = len(start) - 2
    line = diags_array([2.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(side, side))
    boundary = np.zeros((side, side))
    boundary[0] += start[0, 1:-1]
    boundary[-1] += start[-1, 1:-1]
    boundary[:, 0] += start[1:-1, 0]
    boundary[:, -1] += start[1:-1, -1]
    matrix = kron(line, eye_array(side)) + kron(eye_array(side), line)
    result = start.copy()
    result[1:-1, 1:-1] = spsolve(matrix.tocsc(), (heat[1:-1, 1:-1] + boundary).ravel()).reshape(side, side)
    return result


def main() -> int:
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 48
    device = Device()
    device.set_current()
    stream = device.create_stream()

    place = np.linspace(0, 1, side + 2)
    start = np.zeros((side + 2, side + 2))
    start[0], start[-1], start[:, 0] = np.sin(np.pi * place), 0.5, place / 2
    heat = np.zeros_like(start)
    heat[side // 4 : side // 2, side // 3 : side // 2] = 8 / side**2

    plate = Plate(device, stream, start, heat)
    graph = plate.capture(device.create_graph_builder())
    graph.upload(stream)
    seconds, rounds, solutions = {}, {}, []
    for way, solve in (("one by one", plate.solve_one_by_one), ("as a graph", lambda: plate.solve_as_a_graph(graph))):
        plate.reset()
        begin = time.perf_counter()
        rounds[way] = solve()
        seconds[way] = time.perf_counter() - begin
        solutions.append(plate.solution())
        print(f"{way}: {2 * rounds[way]} sweeps of {side} x {side} points, {1e3 * seconds[way]:.1f} ms")
    print(f"the graph is {seconds['one by one'] / seconds['as a graph']:.1f} times as fast")

    expected = direct_solution(start, heat)
    error = max(np.abs(solution - expected).max() for solution in solutions)
    if error > 1e-4 or len(set(rounds.values())) != 1:
        print(f"wrong: off by up to {error:.1e} after {rounds} rounds", file=sys.stderr)
        return 1
    print(f"verified: both agree with SciPy's direct solver to {error:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
