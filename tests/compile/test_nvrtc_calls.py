# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls of NVRTC by functions of this package, which behave like those of the bindings."""

from __future__ import annotations

import pytest
from cuda.bindings import nvrtc

from cuda.core._compile import _nvrtc_calls

SOURCE = b'template <class T> __global__ void f(T* x) { *x = 1; }\nextern "C" __global__ void g() {}'

pytestmark = pytest.mark.requires(nvrtc=True)


@pytest.fixture
def program():
    """The handle of a program, as an int."""
    result, program = _nvrtc_calls.nvrtcCreateProgram(SOURCE, b"source", 0, [], [])
    assert result == 0
    yield program
    assert _nvrtc_calls.nvrtcDestroyProgram(program) == (0,)


def test_version_is_that_of_the_bindings():
    assert _nvrtc_calls.nvrtcVersion() == nvrtc.nvrtcVersion()


def test_program_is_compiled_and_its_code_and_names_are_read(program):
    assert _nvrtc_calls.nvrtcAddNameExpression(program, b"f<int>") == (0,)
    assert _nvrtc_calls.nvrtcCompileProgram(program, 1, [b"-arch=sm_90"]) == (0,)
    for size_of, read in (
        (_nvrtc_calls.nvrtcGetCUBINSize, _nvrtc_calls.nvrtcGetCUBIN),
        (_nvrtc_calls.nvrtcGetPTXSize, _nvrtc_calls.nvrtcGetPTX),
        (_nvrtc_calls.nvrtcGetProgramLogSize, _nvrtc_calls.nvrtcGetProgramLog),
    ):
        result, size = size_of(program)
        text = bytearray(size)
        assert (result, read(program, text)) == (0, (0,))
        assert size <= 1 or any(text)
    assert b"f" in _nvrtc_calls.nvrtcGetLoweredName(program, b"f<int>")[1]


def test_handles_of_the_bindings_are_accepted(program):
    handle = _nvrtc_calls.nvrtcProgram(init_value=program)
    assert _nvrtc_calls.nvrtcCompileProgram(handle, 1, [b"-arch=sm_90"]) == (0,)
    assert nvrtc.nvrtcGetCUBINSize(handle) == _nvrtc_calls.nvrtcGetCUBINSize(program)


def test_failed_call_returns_the_enum_member_of_the_bindings(program):
    assert _nvrtc_calls.nvrtcCompileProgram(program, 1, [b"--nonsense"]) == (
        nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION,
    )
    assert _nvrtc_calls.nvrtcGetLoweredName(program, b"nothing")[0] != 0
    assert _nvrtc_calls.nvrtcCompileProgram(0, 0, [])[0] is nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_PROGRAM


@pytest.mark.parametrize(
    "call",
    [
        lambda: _nvrtc_calls.nvrtcCreateProgram("text", b"name", 0, [], []),
        lambda: _nvrtc_calls.nvrtcCompileProgram(None, 0, []),
        lambda: _nvrtc_calls.nvrtcCompileProgram(0, 1, ["text"]),
        lambda: _nvrtc_calls.nvrtcGetPTX(0, None),
    ],
)
def test_wrong_types_are_refused(call):
    with pytest.raises(TypeError):
        call()


def test_other_names_are_those_of_the_bindings():
    assert _nvrtc_calls.nvrtcResult is nvrtc.nvrtcResult
    with pytest.raises(AttributeError):
        _ = _nvrtc_calls.nvrtcNothing
