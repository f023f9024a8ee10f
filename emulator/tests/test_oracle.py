# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""check() compares a kernel with a NumPy function, and finds the usual bugs of generated kernels."""

import numpy as np
import pytest

import cuda.emulator

pytestmark = pytest.mark.requires(software=True, device=True)

SOURCE = r"""
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x
extern "C" {
__global__ void add(const float* x, const float* y, float* out, int n) { INDEX; if (i < n) out[i] = x[i] + y[i]; }
__global__ void no_guard(const float* x, const float* y, float* out, int n) { INDEX; out[i] = x[i] + y[i]; }
__global__ void no_tail(const float* x, const float* y, float* out, int n)
{ INDEX; if (i < n / 32 * 32) out[i] = x[i] + y[i]; }
__global__ void wrong(const float* x, const float* y, float* out, int n) { INDEX; if (i < n) out[i] = x[i] - y[i]; }
__global__ void in_place(float* x, const float* y, float* out, int n)
{ INDEX; if (i < n) out[i] = x[i] = x[i] + y[i]; }
__global__ void divided(const int* x, int* quotient, int* rest, int n)
{ INDEX; if (i < n) { quotient[i] = x[i] / 3; rest[i] = x[i] % 3; } }
__global__ void transpose(const double* x, double* out, int rows, int columns)
{ INDEX; if (i < rows * columns) out[i % columns * rows + i / columns] = x[i]; }
__global__ void scaled(const float* x, float* out, float factor, int n)
{ for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = factor * x[i]; }
__global__ void negated(const float* x, float* out, int rows, int columns, int x0, int x1, int out0, int out1)
{ INDEX; int r = i / columns, c = i % columns; if (r < rows) out[r * out0 + c * out1] = -x[r * x0 + c * x1]; }
__global__ void dense(const float* x, float* out, int rows, int columns, int x0, int x1, int out0, int out1)
{ INDEX; if (i < rows * columns) out[i] = -x[i]; }
__global__ void gaps(const float* x, float* out, int rows, int columns, int x0, int x1, int out0, int out1)
{ INDEX; int r = i / columns, c = i % columns; if (r < rows) { out[r * out0 + c * out1] = -x[r * x0 + c * x1];
  out[r * out0 + c * out1 + 1] = 0; } }
__global__ void first_block(const float* x, float* out, int* state, int n)
{ INDEX; if (threadIdx.x == 0) { atomicCAS(state, -1, blockIdx.x); } if (i < n) out[i] = x[i] * (*state == 0); }
}
"""


@pytest.fixture(scope="module")
def kernel():
    from cuda.core import Device, Program

    Device(0).set_current()
    return Program(SOURCE, "c++").compile("cubin").get_kernel


@pytest.fixture(autouse=True)
def working_device(device):
    yield
    cuda.emulator.reset()


def test_correct_kernel_passes(kernel):
    cuda.emulator.check(kernel("add"), lambda x, y: x + y)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_guard", r"the kernel fails for shape \(1,\), seed 0, order 1: .*past the end of the 4 bytes"),
        (
            "no_tail",
            r"output 0 is wrong for shape \(1,\), seed 0, order 1: 1 of 1 elements, first at \(0,\): nan instead",
        ),
        ("wrong", r"output 0 is wrong for shape \(1,\)"),
        ("in_place", r"input 0 is changed for shape \(1,\)"),
    ],
)
def test_wrong_kernel_is_reported_with_its_shape(kernel, name, message):
    with pytest.raises(AssertionError, match=r"(?s)" + message):
        cuda.emulator.check(kernel(name), lambda x, y: x + y)


def test_integers_and_several_outputs(kernel):
    cuda.emulator.check(kernel("divided"), lambda x: (np.trunc(x / 3).astype(np.int32), np.fmod(x, 3)), dtypes=np.int32)


def test_shapes_of_two_dimensions(kernel):
    cuda.emulator.check(kernel("transpose"), lambda x: x.T.copy(), 2, dtypes=np.float64)


def test_strided_arrays(kernel):
    cuda.emulator.check(kernel("negated"), lambda x: -x, 2, strided=True)
    with pytest.raises(AssertionError, match=r"output 0 is wrong for shape|the kernel wrote beside an array"):
        cuda.emulator.check(kernel("dense"), lambda x: -x, 2, strided=True)
    with pytest.raises(AssertionError, match=r"the kernel wrote beside an array"):
        cuda.emulator.check(kernel("gaps"), lambda x: -x, 2, strided=True)


def test_arguments_get_the_strides(kernel):
    seen = []

    def arguments(inputs, outputs, shape, strides):
        seen.append(strides)
        return (*inputs, *outputs, *map(np.int32, shape), *(np.int32(step) for steps in strides for step in steps))

    cuda.emulator.check(kernel("negated"), lambda x: -x, [(3, 5)], arguments=arguments, strided=True, orders=1)
    assert seen == [[(11, 2), (11, 2)]]


def test_arguments_and_configuration(kernel):
    from cuda.core import LaunchConfig

    cuda.emulator.check(
        kernel("scaled"),
        lambda x: np.float32(3) * x,
        shapes=[10, 1000],
        config=LaunchConfig(grid=1, block=64),
        arguments=lambda inputs, outputs, shape: (*inputs, *outputs, np.float32(3), np.int32(shape[0])),
    )


def test_result_depending_on_block_order_is_reported(kernel):
    def reference(x):
        return x.copy(), np.zeros(1, np.int32)

    with pytest.raises(AssertionError, match=r"is wrong for shape \(1000,\), seed 0, order \d"):
        cuda.emulator.check(kernel("first_block"), reference, [(1000,)], orders=6)


def test_wrong_arguments_are_rejected(kernel):
    with pytest.raises(ValueError, match="dtypes has 1 elements, and the reference has 2 parameters"):
        cuda.emulator.check(kernel("add"), lambda x, y: x + y, dtypes=[np.float32])
    with pytest.raises(TypeError, match="arrays of datetime64.* cannot be generated"):
        cuda.emulator.check(kernel("add"), lambda x, y: x + y, dtypes="datetime64[s]")


def test_other_errors_are_raised_as_they_are(kernel):
    def reference(x, y):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cuda.emulator.check(kernel("add"), reference)
