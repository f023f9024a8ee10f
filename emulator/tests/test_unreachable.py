# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Code that the compiler may assume is never reached: such kernels have a symbol, and reaching it is a fault."""

import sys

import numpy as np
import pytest

import cuda.emulator
from support.compiled import Code, Program

SOURCE = r"""
extern "C" __global__ void only(int* x) { __builtin_unreachable(); }
extern "C" __global__ void also(int* x) { __builtin_unreachable(); }
template <class T> __global__ void generic(T* x) { __builtin_unreachable(); }
extern "C" __global__ void both(int* x) { if (x[0]) __builtin_unreachable(); else __builtin_unreachable(); }
extern "C" __global__ void assumed(int* x) { __builtin_assume(x[0] == 1); x[1] = 5; }
__device__ int sign(int i) { if (i > 0) return 1; }
extern "C" __global__ void no_return(int* x) { x[1] = sign(x[0]); }
extern "C" __global__ void switched(int* x)
{ switch (x[0]) { case 1: x[1] = 5; break; default: __builtin_unreachable(); } }
extern "C" __global__ void last(int* x) { x[0] = 7; }
"""
LINES = {"only": 2, "also": 3, "_Z7genericIiEvPT_": 4, "both": 5, "assumed": 6, "no_return": 7, "switched": 10}
CHILD = """
import sys
sys.path[:0] = {path!r}
import sys

import numpy as np
import cuda.emulator
from support.compiled import Code, Program
from support.driver import Driver
driver = Driver(); driver.cuInit(0); context = driver.cuCtxCreate(None, 0, 0)
code = Code(driver, Program({source!r}, "-arch=sm_90", names=("generic<int>",)).image)
for name in {kernels!r}:
    try: code(name, 1, 1, np.zeros(2, "i4")); print(name, "silent")
    except driver.Error as error: print(name, error)
    cuda.emulator.reset()
"""


@pytest.fixture(scope="module")
def image(driver):
    return Program(SOURCE, "-arch=sm_90", names=("generic<int>",)).image


@pytest.mark.parametrize("name", LINES)
def test_unreachable_code_is_reported_at_its_line(driver, context, image, capfd, name):
    code = Code(driver, image)
    with pytest.raises(driver.Error, match="cuCtxSynchronize"):
        code(name, 1, 1, np.zeros(2, "i4"))
    cuda.emulator.reset()
    code.close()
    report = capfd.readouterr().err
    assert f"default_program:{LINES[name]} in" in report and "trap: unreachable code: " in report


@pytest.mark.parametrize("name", ["assumed", "no_return", "switched"])
def test_code_that_is_not_reached_is_not_reported(driver, context, image, name):
    code, x = Code(driver, image), np.array([1, 0], "i4")
    code(name, 1, 1, x)
    code.close()
    assert x[1] in (1, 5)


@pytest.mark.parametrize("checks", ["none", "races", "initialized", "stack,rows"])
def test_unreachable_code_is_a_fault_with_all_checks(child, checks):
    out = child(CHILD.format(path=sys.path, source=SOURCE, kernels=[*LINES]), CHECK=checks)
    for name in LINES:
        assert f"{name} cuCtxSynchronize: CUDA_ERROR" in out, out
