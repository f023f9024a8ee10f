# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""SourceModule: how sources are compiled, and the error of a source that cannot be."""

import traceback
from pathlib import Path

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver.compiler import SourceModule, compile

pytestmark = pytest.mark.usefixtures("context")


def test_source_is_compiled_inside_extern_c():
    module = SourceModule("__global__ void f(int *x) { x[0] = 7; }")
    out = np.zeros(1, np.int32)
    module.get_function("f")(drv.Out(out), block=(1, 1, 1))
    assert out[0] == 7


def test_source_may_declare_extern_c_itself():
    source = (
        'template <class T> __device__ T two() { return 2; } extern "C" __global__ void f(int *x) { *x = two<int>(); }'
    )
    out = np.zeros(1, np.int32)
    SourceModule(source, no_extern_c=True).get_function("f")(drv.Out(out), block=(1, 1, 1))
    assert out[0] == 2


def test_compile_error_has_the_compiler_output():
    with pytest.raises(drv.CompileError) as caught:
        SourceModule("__global__ void f() { int x = ; }")
    error = caught.value
    assert "error" in error.stderr and error.stdout in (None, "") and error.command_line and error.msg
    assert error.stderr in str(error)


def test_compile_error_traceback_has_the_users_line():
    with pytest.raises(drv.CompileError) as caught:
        SourceModule("__global__ void f() { int x = ; }")
    files = [Path(frame.filename).name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert files == [Path(__file__).name, "compiler.py"]


def test_compile_returns_bytes():
    assert isinstance(compile("__global__ void f() {}"), bytes)
