# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiles and loads the device part of programs, through the interfaces of the software device."""

from __future__ import annotations

import ctypes
import functools
import os

import cuda.emulator
from cuda.emulator.programs._host import ProgramError

_MAJOR, _MINOR = 75, 76  # attributes


@functools.lru_cache(None)
def library() -> ctypes.CDLL:
    return ctypes.CDLL(cuda.emulator.library_path())


def _call(name: str, *arguments: object) -> None:
    """Call a function of the driver, and raise ProgramError if it fails."""
    if code := getattr(library(), name)(*arguments):
        text = ctypes.c_char_p()
        library().cuGetErrorName(code, ctypes.byref(text))
        raise ProgramError(f"{name}: {(text.value or b'').decode() or code}")


def compute_capability() -> int:
    """Return the compute capability of device 0, such as 900."""
    value, numbers = ctypes.c_int(), []
    _call("cuInit", 0)
    for attribute in (_MAJOR, _MINOR):
        _call("cuDeviceGetAttribute", ctypes.byref(value), attribute, 0)
        numbers.append(value.value)
    return 100 * numbers[0] + 10 * numbers[1]


def compile_source(source: str, path: str, options: list[str], names: list[str]) -> tuple[bytes, list[bytes]]:
    """Return the code of a device part, and the symbols of names such as ``f<int>`` and ``&x``."""
    nvrtc, program = library(), ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source.encode("utf-8", "surrogateescape"), os.fsencode(path), 0, None, None
    )
    try:
        for name in names:
            nvrtc.nvrtcAddNameExpression(program, name.encode())
        texts = (ctypes.c_char_p * len(options))(*map(str.encode, options))
        if nvrtc.nvrtcCompileProgram(program, len(options), texts):
            raise ProgramError(_output(program, "nvrtcGetProgramLog").rstrip(b"\0").decode(errors="replace").rstrip())
        symbols, text = [], ctypes.c_char_p()
        for name in names:
            nvrtc.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(text))
            symbols.append(text.value or b"")
        return _output(program, "nvrtcGetCUBIN"), symbols
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _output(program: ctypes.c_void_p, name: str) -> bytes:
    size = ctypes.c_size_t()
    getattr(library(), f"{name}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    getattr(library(), name)(program, buffer)
    return buffer.raw[: size.value]


class Code:
    """Loaded code, for whose kernels and variables addresses of the host stand. It stays loaded."""

    def __init__(self, cubin: bytes):
        self.handle = ctypes.c_void_p()
        _call("cuLibraryLoadData", ctypes.byref(self.handle), cubin, None, None, 0, None, None, 0)

    def name_kernel(self, address: int, symbol: bytes) -> None:
        kernel = ctypes.c_void_p()
        _call("cuLibraryGetKernel", ctypes.byref(kernel), self.handle, symbol)
        library().emulator_name_kernel(ctypes.c_void_p(address), kernel)

    def name_variable(self, address: int, symbol: bytes) -> None:
        library().emulator_name_variable(ctypes.c_void_p(address), self.handle, symbol)

    def name_managed(self, address: int, symbol: bytes) -> None:
        _call("emulator_name_managed", ctypes.c_void_p(address), self.handle, symbol)
