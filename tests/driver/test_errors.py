# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Errors: the classic class for each code, caught by the names of either interface."""

import builtins
import pickle

import pytest

import cuda.core
import cuda.core.driver as drv
from cuda.core import CUDAError
from cuda.core.driver._errors import call, classic_error, logic_error, translated


def raised(code):
    return classic_error(CUDAError(f"CUDA_ERROR_{code}: text", code=code, api="cuSomething", explanation="text"))


@pytest.mark.parametrize("code", [1, 3, 101, 201, 400, 500, 700, 710, 801])
def test_most_codes_become_logic_errors(code):
    assert isinstance(raised(code), drv.LogicError)


@pytest.mark.parametrize("code", [701, 702, 703, 719])
def test_launch_failures_raise_errors_of_both_interfaces(code):
    assert type(raised(code)) is drv.LaunchError is cuda.core.LaunchError


@pytest.mark.parametrize("code", [100, 209, 214, 301, 600])
def test_codes_of_the_environment_become_runtime_errors(code):
    assert type(raised(code)) is drv.RuntimeError
    assert isinstance(raised(code), builtins.RuntimeError)


def test_out_of_memory_is_the_builtin():
    assert issubclass(drv.MemoryError, builtins.MemoryError)
    assert type(raised(2)) is drv.MemoryError is cuda.core.OutOfMemoryError


def test_not_supported_error_is_caught_by_either_name():
    error = raised(801)
    assert isinstance(error, drv.LogicError) and isinstance(error, cuda.core.NotSupportedError)


def test_unknown_code_becomes_the_base_class():
    assert drv.Error is drv.CudaError is cuda.core.CUDAError
    assert type(raised(999)) is drv.Error


def test_message_names_the_entry_point_the_text_and_the_detail():
    error = classic_error(CUDAError("NAME: text (cuX)\nmore", code=1, api="cuX", name="NAME", explanation="text"))
    assert str(error) == "cuX failed: text - more"
    assert (error.code, error.name, error.api, error.explanation) == (1, "NAME", "cuX", "text")


@pytest.mark.parametrize("code", [1, 2, 600, 700, 719, 801, 999])
def test_classic_error_is_converted_once(code):
    once = classic_error(CUDAError("NAME: text (cuX)\nmore\nand more", code=code, api="cuX", explanation="text"))
    twice = classic_error(once, "cuY")
    assert twice is once and str(twice) == "cuX failed: text - more\nand more"


def test_library_entry_points_have_module_names():
    assert str(classic_error(CUDAError("N: text", code=500, api="cuLibraryGetKernel", explanation="text"))) == (
        "cuModuleGetFunction failed: text"
    )


def test_closed_object_is_an_invalid_handle():
    error = classic_error(builtins.RuntimeError("this Stream is closed"))
    assert type(error) is drv.LogicError and error.code == 400 and "this Stream is closed" in str(error)


def test_error_without_a_code_keeps_its_message():
    assert str(classic_error(CUDAError("something else"))) == "something else"


def test_notes_are_kept():
    error = CUDAError("N: t", code=1, explanation="t")
    error.add_note("where")
    assert classic_error(error).__notes__ == ["where"]


def test_driver_calls_raise_classic_errors(context):
    with pytest.raises(drv.LogicError, match="cuMemFree failed: "):
        call("cuMemFree", 12345)


def test_translated_functions_raise_classic_errors():
    @translated
    def fail():
        raise CUDAError("N: text", code=1, api="cuX", explanation="text")

    @translated
    def fail_classically():
        raise logic_error("cuY", 400, "gone")

    with pytest.raises(drv.LogicError, match="cuX failed: text"):
        fail()
    with pytest.raises(drv.LogicError, match="cuY failed: invalid resource handle - gone"):
        fail_classically()


def test_compile_error_shows_all_that_is_set():
    error = drv.CompileError("it failed", ["-arch=sm_90", "-w"], stdout="out", stderr="err")
    assert (error.msg, error.command_line, error.stdout, error.stderr) == (
        "it failed", ["-arch=sm_90", "-w"], "out", "err",
    )  # fmt: skip
    for part in ("it failed", "-arch=sm_90 -w", "out", "err"):
        assert part in str(error)
    assert error.log == "err" and isinstance(error, cuda.core.NVRTCError)
    assert str(drv.CompileError("it failed", None)) == "it failed"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_fault_of_a_kernel_is_caught_by_either_name():
    fault = classic_error(CUDAError("text", code=700, name="CUDA_ERROR_ILLEGAL_ADDRESS", api="cuStreamSynchronize"))
    assert type(fault) is drv.DeviceFaultError
    assert isinstance(fault, drv.LogicError) and isinstance(fault, cuda.core.LaunchError)
