# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes of captured graphs that are patched: arguments of kernels, copies and fills."""

import numpy as np
import pytest

from cuda.core import LaunchConfig, launch
from cuda.core.graph import capture
from support.captured_work import OnDevice, fill, ints, kernel, values
from support.graph_work import ONE
from support.kernels import HostMemory, compiled


def test_slices_copies_and_fills_of_data_are_patched(stream, device):
    axpy = kernel("axpy")

    @capture(data=("whole", "target"))
    def work(stream, whole, target):
        launch(stream, LaunchConfig(grid=1, block=4), axpy, whole[16:], whole, 1, 4)
        whole.copy_to(target, stream=stream)
        whole[:4].fill(b"\7\0\0\0", stream=stream)

    pairs = [(ints(8, number), ints(8)) for number in range(1, 6)]
    for whole, target in pairs:
        work(stream, whole.buffer, target.buffer)
    stream.sync()
    assert [values(target) for _, target in pairs] == [[n] * 4 + [2 * n] * 4 for n in range(1, 6)]
    assert [values(whole)[:2] for whole, _ in pairs] == [[7, n] for n in range(1, 6)]
    assert work.statistics.patches == 3


FACTORS = {
    "float": [1.5, 2.5, -0.0, float("inf"), 1e-300],
    "float32": [np.float32(x) for x in (1.5, 2.5, -3, 4)],
    "array": [0.5, 0.25, 0.125, 2.0],
}


@pytest.mark.parametrize("name", FACTORS)
def test_numbers_and_arrays_can_be_data(stream, name):
    scale = kernel("scale32" if name == "float32" else "scale")

    @capture(data=("x", "factor"))
    def work(stream, x, factor):
        launch(stream, ONE, scale, x, factor)

    found, expected = [], []
    dtype = np.float32 if name == "float32" else np.float64
    for factor in FACTORS[name]:
        x = HostMemory(8)
        fill(x, 1, dtype)
        work(stream, OnDevice(x) if name == "array" else x.address, factor)
        stream.sync()
        found.append(x.array(dtype)[0])
        expected.append(scaled(factor, dtype))
    assert found == expected
    assert work.statistics.patches == len(FACTORS[name]) - 2


def scaled(factor, dtype):
    with np.errstate(divide="ignore"):
        return dtype(1) / dtype(factor)


def test_numbers_of_64_bits_can_be_data(stream):
    fill = compiled('extern "C" __global__ void fill(unsigned long long* x, unsigned long long v) { *x = v; }')
    x, found = HostMemory(8), []
    numbers = (1, 2, 3, 2**63 - 1, 2**63, 2**64 - 1, -1)
    work = capture(lambda stream, x, v: launch(stream, ONE, fill.get_kernel("fill"), x, v), data="v")
    for number in numbers:
        work(stream, x.address, number)
        stream.sync()
        found.append(int(x.array(np.uint64)[0]))
    assert found == [number % 2**64 for number in numbers] and work.statistics.patches == 5
    for number in (2**64, -(2**63) - 1):
        with pytest.raises(OverflowError):
            work(stream, x.address, number)
