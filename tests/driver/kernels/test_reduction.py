# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Reduction kernels: blocks, packs, and the number of threads for each result."""

import numpy as np
import pytest

from cuda.core.driver import gpuarray
from cuda.core.driver._array_base import array_device
from cuda.core.driver._array_reductions import TICKET_BYTES, AxisReduction, Reduction, next_turn
from cuda.core.driver._kernels import prelude

pytestmark = pytest.mark.usefixtures("context")


def sum_of(**more):
    return Reduction("sum", "float", 4, "0", "a + b", "x[i]", ["const float* x"], prelude(), **more)


def run(reduction, d, is_packed=False):
    out, memory = gpuarray.zeros((), "f4"), []

    def allocate(nbytes):
        memory.append(gpuarray.zeros(nbytes, "u1"))
        return memory[0], memory[0].ptr

    kept = reduction.launch(array_device(), None, d.size, (d.ptr,), out.ptr, allocate, is_packed)
    # A single block needs no scratch memory.
    assert kept is (memory[0] if reduction.block_count(d.size, array_device(), is_packed) > 1 else None)
    return float(out)


@pytest.mark.parametrize("size", [0, 1, 255, 1025, 100_000])
def test_packed_and_unpacked_sums_are_equal(size):
    host = np.arange(size, dtype="f4") % 16
    reduction = sum_of(packs=(4, {"x": "float"}, "x_p.items[k]"))
    d = gpuarray.to_gpu(host) if size else gpuarray.zeros(1, "f4")[:0]
    assert run(reduction, d) == host.sum()
    assert run(reduction, d, True) == host.sum()


def test_a_launch_ignores_the_counter_that_an_earlier_one_left():
    d, out = gpuarray.to_gpu(np.ones(50_000, "f4")), gpuarray.zeros((), "f4")
    reduction, device = sum_of(), array_device()
    memory = gpuarray.zeros(TICKET_BYTES + 4 * reduction.block_count(d.size, device, False), "u1")
    for left in (0, next_turn() + 3, 7):
        memory[:8].view("u8").fill(left)
        for _ in range(3):
            reduction.launch(device, None, d.size, (d.ptr,), out.ptr, lambda nbytes: (memory, memory.ptr))
            assert float(out) == 50_000
    assert next_turn() < next_turn()


def test_the_number_of_blocks_is_limited_by_the_device():
    device = array_device()
    reduction = sum_of(packs=(4, {"x": "float"}, "x_p.items[k]"))
    assert reduction.block_count(0, device, False) == 1
    assert reduction.block_count(2048, device, False) == 2
    assert reduction.block_count(10**12, device, False) == 8 * device.multiprocessors
    assert reduction.block_count(10**12, device, True) == 4 * device.multiprocessors


def test_large_elements_have_smaller_blocks():
    wide = Reduction("wide", "struct wide", 256, "wide()", "a", "x[i]", ["wide* x"])
    assert wide.block == 64 and "launch_bounds__(64)" in wide.source()


@pytest.mark.parametrize(("length", "lanes"), [(5, 1), (100, 32), (3000, 256)])
def test_the_number_of_threads_for_a_result_follows_from_its_elements(length, lanes):
    reduction = AxisReduction("axes", "int", 4, "0", "a + b", "x", "int", prelude(), "int")
    host = np.arange(7 * length, dtype="i4").reshape(7, length)
    d, out = gpuarray.to_gpu(host), gpuarray.zeros(7, "i4")
    kept, reduced = ([7], [d.strides[0]]), ([length], [4])
    reduction.launch(array_device(), None, out.ptr, out.strides, d.ptr, kept, reduced)
    assert np.array_equal(out.get(), host.sum(axis=1, dtype="i4"))
    assert [key[3] for key in reduction._kernels] == [lanes]
