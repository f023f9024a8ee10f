# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Solve Poisson's equation with Jacobi's method, in a graph that decides itself when to stop.

The temperature of a plate is held at its rim, and heated inside. Each sweep replaces every inner point by the mean of
its neighbours and the heat; two sweeps and a check are the body of a conditional node, which the GPU repeats until no
point moves any more. Launched one by one, the same kernels need the host after every check, which waits for the GPU
and then lets it wait. Both ways give the solution that SciPy's direct solver gives.

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

// One sweep from `old` to `now`, which have a rim of one point. Whoever moves further than the tolerance says so.
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

// Goes on while something moved.
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
    """The state on the device, and how a round of two sweeps changes it."""

    def __init__(self, device, stream, start, heat):
        side = len(start) - 2
        code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
        self.sweep, self.decide = code.get_kernel("sweep"), code.get_kernel("decide")
        self.side, self.stream, self.start = side, stream, start
        self.one, self.two, self.heat = [device.allocate(start.nbytes, stream=stream) for _ in range(3)]
        self.flags = device.allocate(8, stream=stream)  # is_moving, rounds
        self.seen = LegacyPinnedMemoryResource().allocate(8)  # what the host knows of them
        self.counts = np.from_dlpack(self.seen).view(np.int32)
        blocks = (side + BLOCK - 1) // BLOCK
        self.config = LaunchConfig(grid=(blocks, blocks), block=(BLOCK, BLOCK))
        self.heat.copy_from(heat, stream=stream)
        self.reset()

    def reset(self):
        """Begin anew; both buffers have the rim."""
        self.one.copy_from(self.start, stream=self.stream)
        self.two.copy_from(self.start, stream=self.stream)
        self.flags.fill(0, stream=self.stream)
        self.stream.sync()

    def schedule_round(self, stream):
        """Two sweeps, there and back; the second one checks."""
        launch(stream, self.config, self.sweep, self.one, self.two, self.heat, self.side, TOLERANCE, None)
        launch(stream, self.config, self.sweep, self.two, self.one, self.heat, self.side, TOLERANCE, self.flags)

    def capture(self, builder):
        """Return an executable that makes rounds until nothing moves."""
        builder.begin_building()
        condition = builder.create_condition(default_value=1)
        body = builder.while_loop(condition).begin_building()
        self.schedule_round(body)
        rounds = int(self.flags.handle) + 4
        launch(body, LaunchConfig(grid=1, block=1), self.decide, condition, self.flags, rounds)
        body.end_building()
        return builder.end_building().complete()

    def solve_one_by_one(self):
        """Make rounds from the host, which looks after each whether something moved; return how many."""
        rounds, is_moving = 0, True
        while is_moving:
            self.flags.fill(0, stream=self.stream)
            self.schedule_round(self.stream)
            is_moving = self.look()[0]
            rounds += 1
        return rounds

    def solve_as_a_graph(self, graph):
        """Launch the graph, which makes the rounds and counts them."""
        graph.launch(self.stream)
        return int(self.look()[1])

    def look(self):
        """Wait for the device, and return whether something moved, and the rounds that the graph counted."""
        self.flags.copy_to(self.seen, stream=self.stream)
        self.stream.sync()
        return self.counts

    def solution(self):
        """Return the temperatures."""
        result = np.empty_like(self.start)
        self.one.copy_to(result, stream=self.stream)
        self.stream.sync()
        return result


def direct_solution(start, heat):
    """Return what SciPy's direct solver says."""
    side = len(start) - 2
    line = diags_array([2.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(side, side))
    rim = np.zeros((side, side))
    rim[0] += start[0, 1:-1]
    rim[-1] += start[-1, 1:-1]
    rim[:, 0] += start[1:-1, 0]
    rim[:, -1] += start[1:-1, -1]
    matrix = kron(line, eye_array(side)) + kron(eye_array(side), line)
    result = start.copy()
    result[1:-1, 1:-1] = spsolve(matrix.tocsc(), (heat[1:-1, 1:-1] + rim).ravel()).reshape(side, side)
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
