# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The options of :class:`~cuda.core.Linker`, one row each, and the translation of those of a PTX program."""

from __future__ import annotations

import os
import re

from cuda.core._compile._option_table import (
    check_options,
    document_options,
    each,
    elsewhere,
    forwarded_options,
    ignored,
    number,
    option,
    refused_options,
    render_options,
    setting,
    switch,
    toggle,
    value,
)
from cuda.core._compile._options import ProgramOptions, checked_name, current_arch
from cuda.core._compile.linking import _nvjitlink_version as nvjitlink
from cuda.core._utils.cuda_utils import NotSupportedError
from cuda.core._utils.errors.caller import warn_caller
from cuda.core._utils.options import Options, options_class
from cuda.core._utils.validators import shown

__all__ = ["LinkerOptions", "linker_options"]


def jit_target(arch: str) -> int:
    """Return the ``CUjit_target`` of an architecture."""
    match = re.fullmatch(r"(?:sm|compute)_([1-9]\d+)([af]?)", str(arch))
    if match is None:
        raise ValueError(f"arch must be an architecture such as 'sm_90', not {shown(arch)}")
    # The bits that stand for the features of one architecture, or of its family.
    return int(match[1]) | {"": 0, "a": 0x10000, "f": 0x20000}[match[2]]


def jit_cache_mode(no_cache: bool) -> int:
    """Return the ``CUjit_cacheMode`` for no cache."""
    return 0


@document_options
@options_class
class LinkerOptions(Options):
    """Options of :class:`~cuda.core.Linker`.

    None leaves the linker's default, and False disables an option. ``name`` is the name of the result;
    None stands for ``"<default linker>"``. The driver's linker, which is used if nvJitLink is missing,
    lacks some options: setting them is an error, or a warning for those that earlier versions ignored.
    """

    name: str | None = "<default linker>"
    arch: str | None = option(
        "The architecture, such as ``'sm_90'``; None for that of the device current when the linker is made.",
        nvjitlink=value("-arch"),
        driver=setting("CU_JIT_TARGET", jit_target),
    )
    max_register_count: int | None = option(
        "The most registers that a thread may use.",
        nvjitlink=number("-maxrregcount"),
        driver=setting("CU_JIT_MAX_REGISTERS"),
    )
    time: bool | None = option("Log how long the phases take.", nvjitlink=switch("-time"))
    verbose: bool | None = option(
        "Log what the linker does.", nvjitlink=switch("-verbose"), driver=setting("CU_JIT_LOG_VERBOSE", bool, True)
    )
    link_time_optimization: bool | None = option(
        "Optimise the whole program when it is linked, which LTO IR needs.",
        nvjitlink=switch("-lto"),
        driver=setting("CU_JIT_LTO", bool, True),
    )
    ptx: bool | None = option("Make PTX; only with ``link_time_optimization``.", nvjitlink=switch("-ptx"))
    optimization_level: int | None = option(
        "How much to optimise, 0 or 3.",
        nvjitlink=number("-O", join=""),
        driver=setting("CU_JIT_OPTIMIZATION_LEVEL"),
    )
    debug: bool | None = option(
        "Generate debug information.",
        nvjitlink=switch("-g"),
        driver=setting("CU_JIT_GENERATE_DEBUG_INFO", bool, True),
    )
    lineinfo: bool | None = option(
        "Generate line tables.",
        nvjitlink=switch("-lineinfo"),
        driver=setting("CU_JIT_GENERATE_LINE_INFO", bool, True),
    )
    ftz: bool | None = option("Flush single-precision denormals to zero.", nvjitlink=toggle("-ftz"), driver=ignored())
    prec_div: bool | None = option(
        "Round single-precision divisions as IEEE 754 requires.", nvjitlink=toggle("-prec-div"), driver=ignored()
    )
    prec_sqrt: bool | None = option(
        "Round single-precision square roots as IEEE 754 requires.", nvjitlink=toggle("-prec-sqrt"), driver=ignored()
    )
    fma: bool | None = option(
        "Contract multiplications and additions to fused multiply-adds.", nvjitlink=toggle("-fma"), driver=ignored()
    )
    kernels_used: str | list[str] | tuple[str, ...] | None = option(
        "The kernels that are used; others may be removed.", nvjitlink=each("-kernels-used"), driver=ignored()
    )
    variables_used: str | list[str] | tuple[str, ...] | None = option(
        "The variables that are used; others may be removed.", nvjitlink=each("-variables-used"), driver=ignored()
    )
    optimize_unused_variables: bool | None = option(
        "Remove variables that device code does not use.",
        nvjitlink=switch("-optimize-unused-variables"),
        driver=ignored(),
    )
    ptxas_options: str | list[str] | tuple[str, ...] | None = option(
        "Options for the PTX assembler.", nvjitlink=each("-Xptxas")
    )
    split_compile: int | None = option(
        "Number of threads for optimisation; 1 by default, 0 for all processors.", nvjitlink=number("-split-compile")
    )
    split_compile_extended: int | None = option(
        "The same, more aggressively, for link-time optimisation.",
        nvjitlink=number("-split-compile-extended"),
    )
    no_cache: bool | None = option(
        "Do not use the linker's own cache.",
        nvjitlink=switch("-no-cache"),
        driver=setting("CU_JIT_CACHE_MODE", jit_cache_mode, True),
    )
    numba_debug: bool | None = option("Deprecated; it has no effect.", nvjitlink=elsewhere(), driver=elsewhere())

    def __post_init__(self):
        name = checked_name(self.name, "<default linker>")
        if name is not self.name:
            self.name = name
        check_options(self)
        if self.numba_debug is not None:
            warn_caller("LinkerOptions.numba_debug has no effect and is deprecated", DeprecationWarning)

    def as_bytes(self, backend: str = "nvjitlink") -> list[bytes]:
        """Return the arguments for nvJitLink.

        Parameters
        ----------
        backend : str, optional
            ``"nvjitlink"``, in any case; the driver's linker takes no text.

        Raises
        ------
        ValueError
            If the back end is another, or a string contains a null character.
        RuntimeError
            If nvJitLink is missing or too old, or no architecture is given and there is no driver to ask for a device.
        """
        if backend != "nvjitlink" and str(backend).lower() != "nvjitlink":
            raise ValueError(f"backend must be 'nvjitlink', the only one that takes text, not {shown(backend)}")
        if nvjitlink.nvjitlink_version() is None:
            raise RuntimeError(nvjitlink.NO_NVJITLINK)
        arguments = [os.fsencode(argument) for argument in render_options(self, "nvjitlink")]
        if self.arch is None:
            arguments.insert(0, os.fsencode(f"-arch={current_arch('LinkerOptions')}"))
        return arguments


def linker_options(options: ProgramOptions) -> LinkerOptions:
    """Return the linker options for a PTX program.

    Raises
    ------
    NotSupportedError
        If options are set that the linker lacks; the message names them.
    """
    refused = refused_options(options, "ptx")
    if refused:
        raise NotSupportedError(f"options not supported for code of type 'ptx', which is linked: {', '.join(refused)}")
    return LinkerOptions(name=options.name, **forwarded_options(options, "ptx"))
