# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiling and launching generated kernels."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import _kernels as build
from cuda.core.driver import gpuarray
from cuda.core.driver._array_base import array_device

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
extern "C" __global__ void count(int* out, int step) { atomicAdd(out, step); }
"""


def test_a_kernel_is_launched_with_as_many_blocks_as_elements_need():
    (kernel,) = build.build_kernel(SOURCE, ["count"], array_device().arch, 32, 100)
    out = gpuarray.zeros(1, "i4")
    for size, blocks in ((1, 1), (100, 1), (101, 2), (1000, 10)):
        out.fill(0)
        kernel.launch(None, size, out.ptr, 1)
        assert out.get()[0] == 32 * blocks
    kernel.launch_blocks(drv.Stream()._stream, 3, out.ptr, 2)
    drv.Context.synchronize()
    assert out.get()[0] == 320 + 3 * 64


def test_the_number_of_cached_launch_configurations_is_limited(monkeypatch):
    monkeypatch.setattr(build, "MAX_CONFIGS", 4)
    (kernel,) = build.build_kernel(SOURCE, ["count"], array_device().arch, 1, 1)
    out = gpuarray.zeros(1, "i4")
    for blocks in range(1, 20):
        kernel.launch_blocks(None, blocks, out.ptr, 1)
        assert len(kernel.bound) <= 4
    assert out.get()[0] == sum(range(1, 20))


def test_errors_in_user_code_raise_the_classic_compile_error():
    with pytest.raises(drv.CompileError, match="undeclared"):
        build.build_user_kernel("__global__ void f() { undeclared; }", ["f"], array_device().arch, 1, 1, None, False)


def test_refused_launches_raise_the_classic_errors():
    (kernel,) = build.build_kernel(SOURCE, ["count"], array_device().arch, 4096, 1)
    with pytest.raises(drv.Error, match="cuLaunchKernel failed"):
        kernel.launch(None, 1, np.uint64(0), 1)
