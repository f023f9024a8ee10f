# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Offsets and sizes of the parameters of kernels."""

import threading

import pytest

from cuda.core import Program, ProgramOptions
from support.contract import ParamInfo

SOURCE = """
struct Block { char bytes[12]; };
extern "C" __global__ void plain(int* out) { *out = 1; }
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {}
extern "C" __global__ void mixed(char a, double b, Block c, short d) {}
extern "C" __global__ void nothing() {}
template <class T> __global__ void scale(T* x, T factor) { *x *= factor; }
"""


@pytest.fixture
def code(device):
    return Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin", ["scale<float>"])


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize(
    "name, layout",
    [
        ("nothing", []),
        ("plain", [(0, 8)]),
        ("scale<float>", [(0, 8), (8, 4)]),
        ("saxpy", [(0, 4), (8, 8), (16, 8), (24, 8), (32, 8)]),
        ("mixed", [(0, 1), (8, 8), (16, 12), (28, 2)]),
    ],
)
def test_parameters_are_aligned_as_in_c(code, name, layout):
    kernel = code.get_kernel(name)
    assert kernel.arguments_info == layout
    assert kernel.num_arguments == len(layout)


@pytest.mark.requires(cuda=(12, 4))
def test_parameters_are_named_tuples(code):
    assert ParamInfo._fields == ("offset", "size")
    assert code.get_kernel("saxpy").arguments_info[1].offset == 8


@pytest.mark.requires(cuda=(12, 4))
def test_parameters_are_read_where_no_context_is_current(device):
    code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    found = []
    thread = threading.Thread(target=lambda: found.append(code.get_kernel("plain").arguments_info))
    thread.start()
    thread.join()
    assert found == [[(0, 8)]]
