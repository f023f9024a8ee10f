# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Train a small network by capturing a step of twelve small kernels once and replaying it.

Each kernel runs for a few microseconds, about as long as its launch takes on the host. ``capture`` turns the function
that enqueues a step into one that launches a graph. The two data batches alternate, and after the third step each has
its own executable. The weights agree with NumPy's, and are identical with and without the graph.

    python captured_steps.py [STEPS]    200 by default
"""

import sys
import time

import numpy as np

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.graph import capture

SOURCE = """
#define EACH(count) const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= count) return;

// out[rows][columns] = act(x[rows][inner] * w[inner][columns] + b[columns])
extern "C" __global__ void layer(const float* x, const float* w, const float* b, float* out, int rows, int inner,
                                 int columns, int is_tanh)
{
    EACH(rows * columns)
    float sum = b[i % columns];
    for (int k = 0; k < inner; ++k)
        sum += x[i / columns * inner + k] * w[k * columns + i % columns];
    out[i] = is_tanh ? tanhf(sum) : sum;
}
extern "C" __global__ void loss_slope(const float* out, const float* wanted, float* slope, int count)
{ EACH(count) slope[i] = 2 * (out[i] - wanted[i]) / count; }
// The slope with respect to a layer's input, through the tanh before it.
extern "C" __global__ void slope_before(const float* slope, const float* w, const float* h, float* out, int rows,
                                        int columns, int inner)
{
    EACH(rows * columns)
    float sum = 0;
    for (int k = 0; k < inner; ++k)
        sum += slope[i / columns * inner + k] * w[i % columns * inner + k];
    out[i] = sum * (1 - h[i] * h[i]);
}
// gradient[inner][columns] = x[rows][inner]^T * slope[rows][columns]
extern "C" __global__ void weight_gradient(const float* x, const float* slope, float* gradient, int rows, int inner,
                                           int columns)
{
    EACH(inner * columns)
    float sum = 0;
    for (int row = 0; row < rows; ++row)
        sum += x[row * inner + i / columns] * slope[row * columns + i % columns];
    gradient[i] = sum;
}
extern "C" __global__ void bias_gradient(const float* slope, float* gradient, int rows, int columns)
{
    EACH(columns)
    float sum = 0;
    for (int row = 0; row < rows; ++row)
        sum += slope[row * columns + i];
    gradient[i] = sum;
}
extern "C" __global__ void descend(float* values, const float* gradient, float rate, int count)
{ EACH(count) values[i] -= rate * gradient[i]; }
"""
NAMES = ("layer", "loss_slope", "slope_before", "weight_gradient", "bias_gradient", "descend")
ROWS, HIDDEN, RATE = 64, 32, 0.1
SHAPES = {"w1": (1, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, 1), "b2": (1,)}


class Network:
    """A network with one hidden layer, whose weights, gradients and intermediate values are on the device."""

    def __init__(self, device, stream, weights):
        code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
        self.kernels = {name: code.get_kernel(name) for name in NAMES}
        self.stream = stream
        self.weights = {name: on_device(device, stream, values) for name, values in weights.items()}
        self.gradients = {name: device.allocate(values.nbytes, stream=stream) for name, values in weights.items()}
        self.hidden, self.hidden_slope = (device.allocate(4 * ROWS * HIDDEN, stream=stream) for _ in range(2))
        self.out, self.slope = (device.allocate(4 * ROWS, stream=stream) for _ in range(2))

    def run(self, stream, name, count, *arguments):
        """Launch a kernel with one thread per value."""
        launch(stream, LaunchConfig(grid=(count + 63) // 64, block=64), self.kernels[name], *arguments)

    def step(self, stream, x, wanted):
        """Enqueue one step on a stream or a graph builder."""
        w, g = self.weights, self.gradients
        self.run(stream, "layer", ROWS * HIDDEN, x, w["w1"], w["b1"], self.hidden, ROWS, 1, HIDDEN, True)
        self.run(stream, "layer", ROWS, self.hidden, w["w2"], w["b2"], self.out, ROWS, HIDDEN, 1, False)
        self.run(stream, "loss_slope", ROWS, self.out, wanted, self.slope, ROWS)
        self.run(
            stream, "slope_before", ROWS * HIDDEN, self.slope, w["w2"], self.hidden, self.hidden_slope, ROWS, HIDDEN, 1
        )
        self.run(stream, "weight_gradient", HIDDEN, self.hidden, self.slope, g["w2"], ROWS, HIDDEN, 1)
        self.run(stream, "bias_gradient", 1, self.slope, g["b2"], ROWS, 1)
        self.run(stream, "weight_gradient", HIDDEN, x, self.hidden_slope, g["w1"], ROWS, 1, HIDDEN)
        self.run(stream, "bias_gradient", HIDDEN, self.hidden_slope, g["b1"], ROWS, HIDDEN)
        for name, shape in SHAPES.items():
            count = int(np.prod(shape))
            self.run(stream, "descend", count, w[name], g[name], np.float32(RATE), count)

    def read(self):
        """Return the weights."""
        result = {name: np.empty(shape, np.float32) for name, shape in SHAPES.items()}
        for name, values in result.items():
            self.weights[name].copy_to(values, stream=self.stream)
        self.stream.sync()
        return result


def on_device(device, stream, values):
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from(values, stream=stream)
    return buffer


def numpy_step(w, x, wanted):
    """Return the weights after one step, computed in double precision."""
    hidden = np.tanh(x @ w["w1"] + w["b1"])
    slope = 2 * (hidden @ w["w2"] + w["b2"] - wanted) / ROWS
    hidden_slope = slope @ w["w2"].T * (1 - hidden**2)
    gradients = {"w1": x.T @ hidden_slope, "b1": hidden_slope.sum(0), "w2": hidden.T @ slope, "b2": slope.sum(0)}
    return {name: values - RATE * gradients[name] for name, values in w.items()}


def main() -> int:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    device = Device()
    device.set_current()
    stream = device.create_stream()
    random = np.random.default_rng(1)
    weights = {name: random.normal(0, 0.5, shape).astype(np.float32) for name, shape in SHAPES.items()}
    x = random.uniform(-3, 3, (2, ROWS, 1)).astype(np.float32)
    wanted = np.sin(x)
    batches = [[on_device(device, stream, values[index]) for values in (x, wanted)] for index in range(2)]

    trained = []
    for is_captured in (False, True):
        network = Network(device, stream, weights)
        captured = capture(network.step)
        step = captured if is_captured else network.step
        for index in range(steps):
            if index == steps // 10:  # exclude loading and capturing from the time per step
                stream.sync()
                begin = time.perf_counter()
            step(stream, *batches[index % 2])
        stream.sync()
        each = (time.perf_counter() - begin) / (steps - steps // 10)
        print(f"{'captured' if is_captured else 'launched one by one'}: {1e6 * each:.1f} microseconds a step")
        trained.append(network.read())
    print(captured.statistics)

    expected = {name: values.astype(np.float64) for name, values in weights.items()}
    for index in range(steps):
        expected = numpy_step(expected, x[index % 2].astype(np.float64), wanted[index % 2])
    error = max(np.abs(values - expected[name]).max() for result in trained for name, values in result.items())
    same = all((trained[0][name] == trained[1][name]).all() for name in SHAPES)
    if error > 1e-3 or not same:
        print(f"wrong: off by up to {error:.1e}", file=sys.stderr)
        return 1
    print(f"verified: {steps} steps give NumPy's weights to {error:.1e}, and the same bits both ways")
    return 0


if __name__ == "__main__":
    sys.exit(main())
