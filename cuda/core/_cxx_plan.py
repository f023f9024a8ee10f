# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What options say about compiling C++, worked out once for all programs that have equal options."""

from __future__ import annotations

import copy

from cuda.core._compile_options import ProgramOptions, current_arch
from cuda.core._compilers import check_nvrtc_options
from cuda.core._utils.remembered_options import memo_of

__all__ = ["CxxPlan", "cxx_plan"]


class CxxPlan:
    """How C++ programs with some options are compiled; not to be changed.

    Parameters
    ----------
    options : :class:`~cuda.core.ProgramOptions`
        The options.
    arch : str
        The architecture.

    Attributes
    ----------
    options : ProgramOptions
        A copy of the options, with the architecture.
    arguments : tuple of bytes
        The arguments for NVRTC.
    prefix : bytes
        What stands before the source.
    has_file : bool
        Whether debuggers need a file to show.
    is_shared : bool
        Whether all programs with equal options have this plan.

    Raises
    ------
    ValueError
        If there are extra sources.
    NotSupportedError
        If an option is none of NVRTC, or newer than the NVRTC that is loaded.
    RuntimeError
        If NVRTC is missing, or a macro is malformed.
    """

    __slots__ = ("arguments", "has_file", "is_shared", "options", "prefix")

    def __init__(self, options: ProgramOptions, arch: str):
        if options.extra_sources:
            raise ValueError("extra_sources are for code of type 'nvvm', not 'c++'")
        self.options = options = copy.copy(options)
        options.arch = arch
        vars(options).update({name: list(value) for name, value in vars(options).items() if isinstance(value, list)})
        self.arguments = tuple(options.as_bytes("nvrtc"))
        check_nvrtc_options(options)
        self.prefix = b"" if options.first_line is None else b"#line %d\n" % options.first_line
        is_debugged = bool(options.debug or options.lineinfo)
        self.is_shared = False
        self.has_file = is_debugged and options.name == "default_program" and options.first_line is None


def cxx_plan(options: ProgramOptions) -> CxxPlan:
    """Return the plan for some options; without an architecture, for the current device.

    Raises
    ------
    RuntimeError, CUDAError
        If there is no architecture, and no device.
    """
    try:
        # This runs for every program, most of which have options that were seen before.
        memo = options._memo
        plan = memo.results[options.arch]
        if not memo.lists or not memo.is_outdated_by(options.__dict__):
            return plan
    except (AttributeError, KeyError):
        pass
    arch = options.arch
    if arch is None:
        arch = current_arch()
    memo = memo_of(options)
    if memo is None or options.use_bundled_headers:  # whose directory depends on the environment
        return CxxPlan(options, arch)
    plan = memo.results.get(arch)
    if plan is None:
        plan = CxxPlan(options, arch)
        plan.is_shared = True
        plan = memo.results.setdefault(arch, plan)
    return plan
