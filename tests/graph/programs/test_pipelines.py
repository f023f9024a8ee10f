# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Larger programs with graphs: simulated environments in threads, an iterative solver, and a pipeline with a queue."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cuda.core import CUDAError, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cuda.core.graph import GraphBuilder, GraphDefinition, capture

POLES = r"""
extern "C" __global__ void act(const float4 *s, int *a, const float *w, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = s[i].x * w[0] + s[i].y * w[1] + s[i].z * w[2] + s[i].w * w[3] > 0;
}
extern "C" __global__ void step(float4 *s, const int *a, int *falls, float tau, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = s[i];
    float f = a[i] ? 10.f : -10.f, c = cosf(v.z), z = sinf(v.z), t = (f + 0.05f * v.w * v.w * z) / 1.1f;
    float turn = (9.8f * z - c * t) / (0.5f * (4.f / 3.f - 0.1f * c * c / 1.1f));
    v.x += tau * v.y; v.y += tau * (t - 0.05f * turn * c / 1.1f);
    v.z += tau * v.w; v.w += tau * turn;
    if (fabsf(v.x) > 2.4f || fabsf(v.z) > 0.2095f) { ++falls[i]; v = make_float4(0, 0, 0.001f * (i % 7) - 0.003f, 0); }
    s[i] = v;
}
"""


def test_threads_step_simulations_by_a_captured_function(device):
    count, steps = 300, 8
    code = Program(POLES, "c++").compile("cubin")
    act, step = code.get_kernel("act"), code.get_kernel("step")
    config = LaunchConfig(grid=(count + 63) // 64, block=64)

    def roll(stream, state, action, falls, weights, tau):
        for _ in range(steps):
            launch(stream, config, act, state, action, weights, count)
            launch(stream, config, step, state, action, falls, np.float32(tau), count)

    def work(seed):
        device.set_current()
        stream = device.create_stream()
        weights = device.allocate(16, stream=stream)
        weights.copy_from(np.array([0.1, 0.3, -4, 1], np.float32) * (seed + 1), stream=stream)
        sets = []
        for _ in range(2):
            sets.append([device.allocate(size * count, stream=stream) for size in (16, 4, 4)])
            for buffer in sets[-1]:
                buffer.fill(0, stream=stream)
        fast = capture(roll)
        for turn in range(25):
            fast(stream, *sets[0], weights, 0.02 + 0.001 * (turn % 3))
            roll(stream, *sets[1], weights, 0.02 + 0.001 * (turn % 3))
        found = np.empty((2, 6 * count), np.int32)
        for row, buffers in zip(found, sets, strict=True):
            for buffer, part in zip(buffers, np.split(row, [4 * count, 5 * count]), strict=True):
                buffer.copy_to(part, stream=stream)
        stream.sync()
        assert (found[0] == found[1]).all() and found[0, 5 * count :].any()
        statistics = fast.statistics
        assert statistics.captures <= 3
        assert statistics.captures + statistics.updates + statistics.replays + statistics.patches == 25
        return True

    with ThreadPoolExecutor(3) as threads:
        assert all(threads.map(work, range(3)))


POWER = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
extern "C" __global__ void multiply(const double *a, const double *x, double *y, int n)
{
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += a[threadIdx.x * n + j] * x[j];
    y[threadIdx.x] = sum;
}
extern "C" __global__ void measure(const double *y, double *norm, int *uses, int n, int kind)
{
    double s = 0;
    for (int i = 0; i < n; ++i) s = kind == 0 ? s + y[i] * y[i] : kind == 1 ? s + fabs(y[i]) : fmax(s, fabs(y[i]));
    *norm = kind == 0 ? sqrt(s) : s;
    ++uses[kind];
}
extern "C" __global__ void divide(double *x, const double *y, const double *norm, int *uses, int n, int most,
                                  cudaGraphConditionalHandle again, cudaGraphConditionalHandle which)
{
    x[threadIdx.x] = y[threadIdx.x] / *norm;
    if (threadIdx.x) return;
    int count = uses[0] + uses[1] + uses[2];
    cudaGraphSetConditional(which, count % 3);
    cudaGraphSetConditional(again, count < most);
}
"""


@pytest.mark.requires(cuda=(12, 3))
def test_solver_loops_and_switches_on_the_device(device, stream):
    n, most = 24, 61
    code = Program(POWER, "c++").compile("cubin")
    multiply, measure, divide = (code.get_kernel(name) for name in ("multiply", "measure", "divide"))
    dice = np.random.RandomState(0)
    matrix = dice.rand(n, n)
    matrix += matrix.T
    a, x, y, norm, uses = (device.allocate(size, stream=stream) for size in (8 * n * n, 8 * n, 8 * n, 8, 12))
    a.copy_from(matrix, stream=stream)
    definition = GraphDefinition()
    again, which = definition.create_condition(default_value=1), definition.create_condition(default_value=0)
    loop = definition.memset(uses, 0, 12).while_loop(again)
    one, wide = LaunchConfig(grid=1, block=1), LaunchConfig(grid=1, block=n)
    product = loop.body.launch(wide, multiply, a, x, y, n)
    switch = product.switch(which, 3)
    for kind, branch in enumerate(switch.branches):
        branch.launch(one, measure, y, norm, uses, n, kind)
    switch.launch(wide, divide, x, y, norm, uses, n, most, again, which)
    graph = definition.instantiate()
    best = np.linalg.eigh(matrix)[1][:, -1]
    for _ in range(3):
        x.copy_from(dice.rand(n) + 0.1, stream=stream)
        graph.launch(stream)
        found, counts = np.empty(n), np.empty(3, np.int32)
        x.copy_to(found, stream=stream)
        uses.copy_to(counts, stream=stream)
        stream.sync()
        assert abs(abs(found @ best) / np.linalg.norm(found) - 1) < 1e-9
        assert counts.tolist() == [21, 20, 20]
    # Rejected calls leave the graph unchanged.
    with pytest.raises(TypeError, match="takes 5 arguments, 1 given"):
        switch.branches[0].launch(one, measure, y)
    with pytest.raises(CUDAError):
        product.switch(which, 0)
    with pytest.raises(CUDAError):
        GraphDefinition().while_loop(again)
    with pytest.raises(CUDAError, match="one executable at a time; close the existing one first"):
        definition.instantiate()
    graph.launch(stream)
    graph.close()
    definition.instantiate().launch(stream)
    stream.sync()


SCALE = """
extern "C" __global__ void scale(double *x, double f, int n)
{
    if (threadIdx.x < n) x[threadIdx.x] = x[threadIdx.x] * f + 1;
}
"""


def test_lanes_of_a_pipeline_report_to_a_queue(device, stream, unraisable):
    scale = Program(SCALE, "c++").compile("cubin").get_kernel("scale")
    lanes, rounds, n = 3, 20, 50
    pinned = [LegacyPinnedMemoryResource().allocate(8 * n) for _ in range(lanes)]
    views = [np.from_dlpack(memory).view(np.float64) for memory in pinned]
    buffers = [device.allocate(8 * n, stream=stream) for _ in range(lanes)]
    for buffer in buffers:
        buffer.fill(0, stream=stream)
    results = queue.Queue()
    with device.create_graph_builder().begin_building() as builder:
        forks = builder.split(lanes)
        for lane, fork in enumerate(forks):
            for _ in range(3):
                launch(fork, LaunchConfig(grid=1, block=64), scale, buffers[lane], float(lane + 1), n)
            buffers[lane].copy_to(pinned[lane], stream=fork)
            fork.callback(lambda lane=lane: results.put((lane, views[lane][n - 1])))
        GraphBuilder.join(*forks).callback(lambda: results.put(None))
        graph = builder.end_building().complete()

    def consume():
        expected = [0.0] * lanes
        for _ in range(rounds):
            found = dict(iter(results.get, None))
            for lane in range(lanes):
                for _ in range(3):
                    expected[lane] = expected[lane] * (lane + 1) + 1
            np.testing.assert_allclose([found[lane] for lane in range(lanes)], expected, rtol=1e-12)

    with ThreadPoolExecutor(1) as consumer:
        done = consumer.submit(consume)
        for _ in range(rounds):
            graph.launch(stream)
        stream.sync()
        done.result(timeout=20)
    # Failing callbacks are named, and the nodes after them run.
    with device.create_graph_builder().begin_building() as builder:

        def lose():
            raise KeyError("lost")

        builder.callback(lose)
        builder.callback(threading.Event().set)
        builder.callback(lambda: results.put("end"))
        builder.end_building().complete().launch(stream)
    stream.sync()
    assert results.get(timeout=20) == "end"
    assert [report.kind for report in unraisable] == [KeyError] and "host callback lose of the graph" in unraisable[
        0
    ].object
