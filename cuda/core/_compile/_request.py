# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What options say about compiling sources of a type, worked out once for all programs that have equal options."""

from __future__ import annotations

import copy

from cuda.core._compile._compilers import (
    LinkerCompiler,
    NVRTCCompiler,
    NVVMCompiler,
    check_nvrtc_options,
    libdevice,
    load_nvvm,
)
from cuda.core._compile._option_memo import memo_of
from cuda.core._compile._options import ProgramOptions, current_arch, linker_options
from cuda.core.typing import SourceCodeType

__all__ = ["ProgramPlan", "program_plan"]

_COMPILERS = {
    SourceCodeType.CXX: NVRTCCompiler,
    SourceCodeType.PTX: LinkerCompiler,
    SourceCodeType.NVVM: NVVMCompiler,
}


class ProgramPlan:
    """How programs with some options are compiled; not to be changed.

    Parameters
    ----------
    kind : SourceCodeType
        What the source is.
    options : :class:`~cuda.core.ProgramOptions`
        The options.
    arch : str
        The architecture.

    Attributes
    ----------
    compiler : type
        The back end.
    options : ProgramOptions
        A copy of the options, with the architecture.
    arguments : tuple of bytes, dict, or LinkerOptions
        The options for NVRTC, for NVVM by target, or for the linker.
    prefix : bytes
        What stands before the source.
    has_file : bool
        Whether debuggers need a file to show.
    libdevice : bytes
        The library of mathematical functions, where the options ask for it.
    is_shared : bool
        Whether all programs with equal options have this plan.

    Raises
    ------
    ValueError
        If there are extra sources, and the source is no IR.
    NotSupportedError
        If the compiler lacks an option, or is too old for one.
    RuntimeError
        If the compiler or the library of mathematical functions is missing, or a macro is malformed.
    """

    __slots__ = ("arguments", "compiler", "has_file", "is_shared", "libdevice", "options", "prefix")

    def __init__(self, kind: SourceCodeType, options: ProgramOptions, arch: str):
        if options.extra_sources and kind is not SourceCodeType.NVVM:
            raise ValueError(f"extra_sources are for code of type 'nvvm', not {kind.value!r}")
        self.compiler = _COMPILERS[kind]
        self.options = options = own_copy(options)
        options.arch = arch
        self.is_shared = False
        self.has_file = False
        self.prefix = self.libdevice = b""
        if kind is SourceCodeType.CXX:
            self.arguments = tuple(options.as_bytes("nvrtc"))
            check_nvrtc_options(options)
            if options.first_line is not None:
                self.prefix = b"#line %d\n" % options.first_line
            elif options.debug or options.lineinfo:
                self.has_file = options.name == "default_program"
        elif kind is SourceCodeType.NVVM:
            load_nvvm()
            self.arguments = {target: options.as_bytes("nvvm", target) for target in NVVMCompiler.targets}
            if options.use_libdevice:
                self.libdevice = libdevice()
        else:
            self.arguments = linker_options(options)


def own_copy(options: ProgramOptions) -> ProgramOptions:
    """Return a copy that does not change with the lists and sources of the user."""
    options = copy.copy(options)
    values = vars(options)
    values.update({name: list(value) for name, value in values.items() if isinstance(value, list)})
    if options.extra_sources:
        options.extra_sources = [
            (name, bytes(source) if isinstance(source, bytearray) else source) for name, source in options.extra_sources
        ]
    return options


def program_plan(kind: SourceCodeType, options: ProgramOptions) -> ProgramPlan:
    """Return the plan for a type of source and some options; without an architecture, for the current device.

    Raises
    ------
    RuntimeError, CUDAError
        If there is no architecture, and no device.
    """
    try:
        # This runs for every program, most of which have options that were seen before.
        memo = options._memo
        plan = memo.results[kind._value_, options.arch]
        if not memo.lists or not memo.is_outdated_by(options.__dict__):
            return plan
    except (AttributeError, KeyError):
        pass
    arch = options.arch
    if arch is None:
        arch = current_arch()
    memo = memo_of(options)
    if memo is None or options.use_bundled_headers:  # whose directory depends on the environment
        return ProgramPlan(kind, options, arch)
    plan = memo.results.get((kind._value_, arch))
    if plan is None:
        plan = ProgramPlan(kind, options, arch)
        plan.is_shared = True
        plan = memo.results.setdefault((kind._value_, arch), plan)
    return plan
