# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compile requests: everything that determines the result of a compilation, and that result.

A :class:`CompileSettings` has the back end and its rendered arguments. A :class:`CompileRequest` adds source, target
and name expressions; its key is the cache key. The result, from a cache or from a compiler, is a
:class:`CompiledCode`.
"""

from __future__ import annotations

import copy
import os

from cuda.core._compile._missing_headers import installed_header_directories
from cuda.core._compile._nvrtc import NVRTCBackEnd, check_nvrtc_options
from cuda.core._compile._option_table import given_values
from cuda.core._compile._options import ProgramOptions, current_arch
from cuda.core._utils import libraries
from cuda.core._utils.late import LateModule
from cuda.core.typing import SourceCodeType

__all__ = ["CompileRequest", "CompileSettings", "CompiledCode", "compile_settings"]

_linker_options = LateModule("cuda.core._compile._linker_options")
_nvvm = LateModule("cuda.core._compile._nvvm")
_ptx = LateModule("cuda.core._compile._ptx")


class CompileSettings:
    """The settings of a program: the back end and its rendered arguments for one set of options.

    Parameters
    ----------
    kind : SourceCodeType
        The language of the source.
    options : :class:`~cuda.core.ProgramOptions`
        The options.
    arch : str
        The architecture.

    Attributes
    ----------
    back_end : type
        The class of the back end: NVRTC, NVVM or the linkers.
    options : ProgramOptions
        A copy of the options, with the architecture.
    arguments : tuple of bytes, dict, or LinkerOptions
        The rendered options: arguments for NVRTC, arguments for NVVM by target, or linker options.
    prefix : bytes
        Text that is inserted before the source.
    header_directories : list of str
        The directories of installed headers, which the compiler can search after ``include_path``.
    has_file : bool
        Whether the source must be written to a file for debuggers.
    libdevice : bytes
        The contents of libdevice, if the options request it.
    keys : dict
        The keys of the program's compilations in a cache, with the headers that they depend on.

    Raises
    ------
    ValueError
        If ``extra_sources`` is set and the source is not NVVM IR.
    NotSupportedError
        If the compiler does not support an option, or is too old for it.
    RuntimeError
        If the compiler or libdevice is missing, or ``define_macro`` is malformed.
    """

    __slots__ = ("arguments", "back_end", "has_file", "header_directories", "keys", "libdevice", "options", "prefix")

    def __init__(self, kind: SourceCodeType, options: ProgramOptions, arch: str, code: str = ""):
        if options.extra_sources and kind is not SourceCodeType.NVVM:
            raise ValueError(f"extra_sources are for code of type 'nvvm', not {kind.value!r}")
        self.options = options = own_copy(options)
        options.arch = arch
        self.has_file = False
        self.header_directories = []
        self.keys = {}
        self.prefix = self.libdevice = b""
        if kind is SourceCodeType.CXX:
            self.back_end = NVRTCBackEnd
            self.header_directories = installed_header_directories(code, options)
            paths = [os.fsencode(f"--include-path={directory}") for directory in self.header_directories]
            self.arguments = (*options.as_bytes("nvrtc"), *([] if libraries.compiler_build() else paths))
            check_nvrtc_options(options)
            if options.first_line is not None:
                self.prefix = b"#line %d\n" % options.first_line
            elif options.debug or options.lineinfo:
                self.has_file = options.name == "default_program"
        elif kind is SourceCodeType.NVVM:
            _nvvm.load_nvvm()
            self.back_end = _nvvm.NVVMBackEnd
            self.arguments = {target: options.as_bytes("nvvm", target) for target in self.back_end.targets}
            if options.use_libdevice:
                self.libdevice = _nvvm.libdevice()
        else:
            self.back_end = _ptx.PTXBackEnd
            self.arguments = _linker_options.linker_options(options)


def own_copy(options: ProgramOptions) -> ProgramOptions:
    """Return a copy with its own lists and sources, which user code cannot modify."""
    options = copy.copy(options)
    for name, value in given_values(options):
        if isinstance(value, list):
            setattr(options, name, list(value))
    if options.extra_sources:
        options.extra_sources = [
            (name, bytes(source) if isinstance(source, bytearray) else source) for name, source in options.extra_sources
        ]
    return options


def compile_settings(kind: SourceCodeType, options: ProgramOptions, code: str = "") -> CompileSettings:
    """Check options, and return the settings for a source and its language.

    If ``arch`` is None, the settings are for the current device.

    Raises
    ------
    TypeError, ValueError
        If an option is not valid.
    RuntimeError, CUDAError
        If ``arch`` is None and there is no device.
    """
    ProgramOptions._check(options)  # the user may have assigned to fields since the last check
    return CompileSettings(kind, options, current_arch() if options.arch is None else options.arch, code)


class CompileRequest:
    """One compilation: source, settings, target and name expressions.

    Parameters
    ----------
    code : str | bytes
        The source.
    kind : SourceCodeType
        The language of the source.
    settings : CompileSettings
        The back end and its arguments.
    target : ObjectCodeFormatType
        The output format.
    expressions : sequence of str or bytes
        The name expressions, as they were passed in; only C++ has these.

    Attributes
    ----------
    key : bytes or None
        The cache key, or None before it is computed or if there is none.
    unresolved_include : str or None
        The ``#include`` whose header cannot be determined; there is then no cache key.
    """

    __slots__ = ("code", "expressions", "key", "kind", "settings", "target", "unresolved_include")

    def __init__(self, code, kind: SourceCodeType, settings: CompileSettings, target, expressions):
        self.code = code
        self.kind = kind
        self.settings = settings
        self.target = target
        self.expressions = expressions
        self.key = self.unresolved_include = None


class CompiledCode:
    """The result of a request, from a compiler or from a cache.

    Parameters
    ----------
    code : bytes
        The code.
    symbols : list of bytes
        The mangled names of the name expressions, in the same order; empty for languages without them.
    log : str
        The compiler's log; empty from a cache.
    question : str
        The question about types and layouts that the compiler answered, or an empty string.
    answer : bytes
        The answer: mangled names in lines, empty if there is none.
    """

    __slots__ = ("answer", "code", "log", "question", "symbols")

    def __init__(self, code: bytes, symbols: list[bytes], log: str = "", question: str = "", answer: bytes = b""):
        self.code = code
        self.symbols = symbols
        self.log = log
        self.question = question
        self.answer = answer
