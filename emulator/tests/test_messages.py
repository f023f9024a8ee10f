# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Messages of compile errors name what the program contains, and nothing of the device's own headers."""

import pytest

from support.compiled import Program

pytestmark = pytest.mark.requires(software=True)

KERNEL = "struct S {{}}; __global__ void f(int* x, S* s, float4 v, cudaTextureObject_t t) {{ {} }}"
ERRORS = {
    "x[0] = std::max(x[1], 2);": 'error: namespace "std" has no member "max"',
    "x[0] = maxx(x[1], 3);": 'identifier "maxx" is undefined',
    "threadIdx = 3;": "const uint3",
    "int y = threadIdx;": "const uint3",
    "blockDim.q = 1;": 'class "dim3" has no member "q"',
    "__shared__ int a[x[0]];": "expression must have a constant value",
    "tex2D<double>(t, 1, 2);": "no instance of the function matches the argument list",
    "atomicCAS((float*)x, 1.f, 2.f);": "no matching function for call to 'atomicCAS(float*, float, float)'",
    "atomicAdd(s, S());": "no matching function for call to 'atomicAdd(S*&, S)'",
    "v.q = 1;": 'class "float4" has no member "q"',
}
COOPERATIVE = """#include <cooperative_groups.h>
__global__ void f(int* x)
{
    auto block = cooperative_groups::this_thread_block();
    cooperative_groups::tiled_partition<7>(block);
}
"""


@pytest.mark.parametrize("body", ERRORS)
def test_message_has_no_internal_name(driver, body):
    log = Program(KERNEL.format(body), "-arch=sm_90").log
    assert ERRORS[body] in log and "1 error detected" in log, log
    assert "emu" not in log.lower(), log


def test_error_in_device_header_is_shown_in_the_program(driver):
    log = Program(COOPERATIVE, "-arch=sm_90").log
    assert "default_program(5): error: static assertion failed with" in log
    assert "    cooperative_groups::tiled_partition<7>(block);\n" in log
    assert "1 error detected" in log and "emulator" not in log
