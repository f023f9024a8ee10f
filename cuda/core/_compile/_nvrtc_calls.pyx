# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The functions of ``cuda.bindings.nvrtc`` that every compilation uses, without importing that module.

The module imports ``cuda.bindings.driver``, which takes longer than compiling a small kernel. The functions have the
interface of the bindings: they take a program as an int or as an ``nvrtcProgram``, and return a tuple of the result and
the outputs. The result is 0, or on failure a member of ``nvrtcResult``. All other names are looked up in the bindings.
"""

from __future__ import annotations

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport intptr_t
from cuda.core._utils cimport cynvrtc
from cuda.core._utils.cynvrtc cimport NVRTC_ERROR_INVALID_INPUT, nvrtcProgram, nvrtcResult

import importlib
import os

__all__ = [
    "is_loaded",
    "loaded_path",
    "nvrtcAddNameExpression",
    "nvrtcCompileProgram",
    "nvrtcCreateProgram",
    "nvrtcDestroyProgram",
    "nvrtcGetCUBIN",
    "nvrtcGetCUBINSize",
    "nvrtcGetLTOIR",
    "nvrtcGetLTOIRSize",
    "nvrtcGetLoweredName",
    "nvrtcGetPCHCreateStatus",
    "nvrtcGetPCHHeapSizeRequired",
    "nvrtcGetPTX",
    "nvrtcGetPTXSize",
    "nvrtcGetProgramLog",
    "nvrtcGetProgramLogSize",
    "nvrtcSetFlowCallback",
    "nvrtcVersion",
]

cdef extern from "calls.hpp" nogil:
    bint c_is_loaded "cuda_core::nvrtc_calls::is_loaded"()
    const char* c_loaded_path "cuda_core::nvrtc_calls::loaded_path"() except? NULL

ctypedef nvrtcResult (*SizeFunction)(nvrtcProgram, size_t*) except? NVRTC_ERROR_INVALID_INPUT nogil
ctypedef nvrtcResult (*TextFunction)(nvrtcProgram, char*) except? NVRTC_ERROR_INVALID_INPUT nogil


def is_loaded() -> bool:
    """Return whether NVRTC is loaded already, so that the next call does not load it."""
    return c_is_loaded()


def loaded_path() -> str:
    """Return the path of the NVRTC library that is called, with symbolic links resolved. Loads the library."""
    cdef const char* c_path = c_loaded_path()
    return os.path.realpath(os.fsdecode(<bytes>c_path)) if c_path != NULL else ""


def nvrtcVersion():
    cdef int c_major = 0
    cdef int c_minor = 0
    cdef cynvrtc.nvrtcResult c_result = cynvrtc.nvrtcVersion(&c_major, &c_minor)
    return (result_of(c_result), c_major, c_minor)


def nvrtcCreateProgram(bytes source not None, bytes name not None, int header_count, headers, include_names):
    """Create a program; headers in memory are not supported, so the last three arguments are ignored."""
    cdef const char* c_source = source
    cdef const char* c_name = name
    cdef cynvrtc.nvrtcProgram c_program = NULL
    cdef cynvrtc.nvrtcResult c_result
    with nogil:
        c_result = cynvrtc.nvrtcCreateProgram(&c_program, c_source, c_name, 0, NULL, NULL)
    return (result_of(c_result), <intptr_t>c_program)


def nvrtcDestroyProgram(program):
    cdef cynvrtc.nvrtcProgram c_program = program_of(program)
    cdef cynvrtc.nvrtcResult c_result
    with nogil:
        c_result = cynvrtc.nvrtcDestroyProgram(&c_program)
    return (result_of(c_result),)


def nvrtcCompileProgram(program, int count, list options not None):
    cdef cynvrtc.nvrtcProgram c_program = program_of(program)
    cdef cynvrtc.nvrtcResult c_result
    cdef list given = list(options)  # another thread may change the list during the call
    cdef int c_count = <int>len(given)
    cdef const char** c_options = <const char**>PyMem_Malloc((c_count + 1) * sizeof(char*))
    if c_options == NULL:
        raise MemoryError()
    try:
        for index in range(c_count):
            c_options[index] = <bytes?>given[index]
        with nogil:
            c_result = cynvrtc.nvrtcCompileProgram(c_program, c_count, c_options)
    finally:
        PyMem_Free(c_options)
    return (result_of(c_result),)


def nvrtcSetFlowCallback(program, callback, argument):
    """Set the function that the compiler calls to ask whether to stop, and its argument, as addresses."""
    cdef cynvrtc.nvrtcProgram c_program = program_of(program)
    cdef cynvrtc.nvrtcResult c_result = cynvrtc.nvrtcSetFlowCallback(
        c_program, <void*><intptr_t>int(callback), <void*><intptr_t>int(argument)
    )
    return (result_of(c_result),)


def nvrtcAddNameExpression(program, bytes expression not None):
    cdef cynvrtc.nvrtcResult c_result = cynvrtc.nvrtcAddNameExpression(program_of(program), expression)
    return (result_of(c_result),)


def nvrtcGetLoweredName(program, bytes expression not None):
    cdef const char* c_name = NULL
    cdef cynvrtc.nvrtcResult c_result = cynvrtc.nvrtcGetLoweredName(program_of(program), expression, &c_name)
    return (result_of(c_result), <bytes>c_name if c_name != NULL else None)


def nvrtcGetPTXSize(program):
    return size_of(program, cynvrtc.nvrtcGetPTXSize)


def nvrtcGetPTX(program, bytearray text not None):
    return fill(program, text, cynvrtc.nvrtcGetPTX)


def nvrtcGetCUBINSize(program):
    return size_of(program, cynvrtc.nvrtcGetCUBINSize)


def nvrtcGetCUBIN(program, bytearray text not None):
    return fill(program, text, cynvrtc.nvrtcGetCUBIN)


def nvrtcGetLTOIRSize(program):
    return size_of(program, cynvrtc.nvrtcGetLTOIRSize)


def nvrtcGetLTOIR(program, bytearray text not None):
    return fill(program, text, cynvrtc.nvrtcGetLTOIR)


def nvrtcGetProgramLogSize(program):
    return size_of(program, cynvrtc.nvrtcGetProgramLogSize)


def nvrtcGetProgramLog(program, bytearray text not None):
    return fill(program, text, cynvrtc.nvrtcGetProgramLog)


def nvrtcGetPCHHeapSizeRequired(program):
    return size_of(program, cynvrtc.nvrtcGetPCHHeapSizeRequired)


def nvrtcGetPCHCreateStatus(program):
    return (result_of(cynvrtc.nvrtcGetPCHCreateStatus(program_of(program))),)


def __getattr__(name):
    return getattr(importlib.import_module("cuda.bindings.nvrtc"), name)


cdef object result_of(cynvrtc.nvrtcResult c_result):
    if c_result == cynvrtc.NVRTC_SUCCESS:
        return 0
    return importlib.import_module("cuda.bindings.nvrtc").nvrtcResult(<int>c_result)


cdef cynvrtc.nvrtcProgram program_of(program) except? NULL:
    return <cynvrtc.nvrtcProgram><intptr_t>int(program)


cdef tuple size_of(program, SizeFunction function):
    cdef size_t c_size = 0
    cdef cynvrtc.nvrtcResult c_result = function(program_of(program), &c_size)
    return (result_of(c_result), c_size)


cdef tuple fill(program, bytearray text, TextFunction function):
    """Fill ``text``, which must have the size that NVRTC reported."""
    cdef cynvrtc.nvrtcProgram c_program = program_of(program)
    cdef char* c_text = text
    cdef cynvrtc.nvrtcResult c_result
    with nogil:
        c_result = function(c_program, c_text)
    return (result_of(c_result),)
