# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The options of :class:`~cuda.core.Linker`, one table row each, and the translation of PTX program options to them."""

from __future__ import annotations

import os
import re

from cuda.core._compile import _nvjitlink as nvjitlink
from cuda.core._compile._option_table import (
    check_options,
    choice,
    document_options,
    each,
    forwarded_options,
    ignored,
    no_argument,
    number,
    option,
    render_options,
    setting,
    switch,
    toggle,
    unsupported_options,
    value,
    verbatim,
)
from cuda.core._compile._options import ProgramOptions, checked_name, current_arch
from cuda.core._utils.cuda_utils import NotSupportedError
from cuda.core._utils.errors import warn_caller
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import shown

__all__ = ["LinkerOptions", "linker_options"]


def jit_target(arch: str) -> int:
    """Return the ``CUjit_target`` of an architecture."""
    match = re.fullmatch(r"(?:sm|compute)_([1-9]\d+)([af]?)", str(arch))
    if match is None:
        raise ValueError(f"arch must be an architecture such as 'sm_90', not {shown(arch)}")
    # The bits for architecture-specific ("a") and family-specific ("f") features.
    return int(match[1]) | {"": 0, "a": 0x10000, "f": 0x20000}[match[2]]


def jit_cache_mode(no_cache: bool) -> int:
    """Return ``CU_JIT_CACHE_OPTION_NONE``, because rows with False have no setting."""
    return 0


@document_options
@options
class LinkerOptions(Options):
    """Options of :class:`~cuda.core.Linker`.

    For every option, None leaves the linker's default. ``name`` is the name of the resulting
    :class:`~cuda.core.ObjectCode`, and None means ``"<default linker>"``. The driver's linker, which replaces a missing
    nvJitLink, does not support all options: setting others raises ValueError, or warns if earlier versions ignored
    them.

    Examples
    --------
    >>> from cuda.core import LinkerOptions
    >>> LinkerOptions(arch="sm_90", link_time_optimization=True).link_time_optimization
    True
    """

    name: str | None = "<default linker>"
    arch: str | None = option(
        "The architecture, such as ``'sm_90'``. Defaults to the current device's.",
        nvjitlink=value("-arch"),
        driver=setting("CU_JIT_TARGET", jit_target),
    )
    max_register_count: int | None = option(
        "The maximum number of registers per thread.",
        nvjitlink=number("-maxrregcount"),
        driver=setting("CU_JIT_MAX_REGISTERS"),
    )
    time: bool | None = option("Log the times of the phases.", nvjitlink=switch("-time"))
    verbose: bool | None = option(
        "Log verbosely.", nvjitlink=switch("-verbose"), driver=setting("CU_JIT_LOG_VERBOSE", bool, True)
    )
    link_time_optimization: bool | None = option(
        "Optimize the whole program at link time; required for LTO IR.",
        nvjitlink=switch("-lto"),
        driver=setting("CU_JIT_LTO", bool, True),
    )
    ptx: bool | None = option("Generate PTX; only with ``link_time_optimization``.", nvjitlink=switch("-ptx"))
    optimization_level: int | None = option(
        "The optimization level, 0 or 3.",
        nvjitlink=number("-O", join=""),
        driver=setting("CU_JIT_OPTIMIZATION_LEVEL"),
    )
    debug: bool | None = option(
        "Generate debug information.",
        nvjitlink=switch("-g"),
        driver=setting("CU_JIT_GENERATE_DEBUG_INFO", bool, True),
    )
    lineinfo: bool | None = option(
        "Generate line number information.",
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
        "The names of the used kernels. Others might be removed.", nvjitlink=each("-kernels-used"), driver=ignored()
    )
    variables_used: str | list[str] | tuple[str, ...] | None = option(
        "The names of the used variables. Others might be removed.", nvjitlink=each("-variables-used"), driver=ignored()
    )
    optimize_unused_variables: bool | None = option(
        "Remove variables that device code does not use.",
        nvjitlink=switch("-optimize-unused-variables"),
        driver=ignored(),
    )
    ptxas_options: str | list[str] | tuple[str, ...] | None = option(
        "Options of the PTX assembler (ptxas).", nvjitlink=each("-Xptxas")
    )
    split_compile: int | None = option(
        "The number of threads for optimization, or 0 for all processors. Defaults to 1.",
        nvjitlink=number("-split-compile"),
    )
    split_compile_extended: int | None = option(
        "As ``split_compile``, but splits link-time optimization more aggressively.",
        nvjitlink=number("-split-compile-extended"),
    )
    no_cache: bool | None = option(
        "Do not use the linker's own cache.",
        nvjitlink=switch("-no-cache"),
        driver=setting("CU_JIT_CACHE_MODE", jit_cache_mode, True),
    )
    numba_debug: bool | None = option("Deprecated; it has no effect.", nvjitlink=no_argument(), driver=no_argument())
    ofast_compile: str | None = option(
        "Link faster: ``'min'``, ``'mid'`` or ``'max'``.", nvjitlink=choice("-Ofc", ("min", "mid", "max"))
    )
    nvvm_latest: bool | None = option(
        "Use the newest NVVM on all architectures, as a preview.", nvjitlink=switch("-nvvm-latest")
    )
    jump_table_density: int | None = option(
        "The density of cases, in percent, from which a ``switch`` becomes a jump table, with link-time optimization.",
        nvjitlink=number("-jump-table-density"),
    )
    device_stack_protector: bool | None = option(
        "Detect overwritten stacks in device code.", nvjitlink=toggle("--device-stack-protector")
    )
    extra: tuple[str, ...] | list[str] | None = option(
        "Options that no other field has, for a newer nvJitLink. They cannot name files.", nvjitlink=verbatim()
    )
    incremental: bool | None = option(
        "Link only some of the inputs of a later link, so that references may stay unresolved.",
        nvjitlink=switch("-r", since=(13, 2)),
    )

    def _check(self):
        name = checked_name(self.name, "<default linker>")
        if name is not self.name:
            self.name = name
        check_options(self)

    def __post_init__(self):
        self._check()
        if self.numba_debug is not None:
            warn_caller("LinkerOptions.numba_debug has no effect and is deprecated", DeprecationWarning)

    def as_bytes(self, backend: str = "nvjitlink") -> list[bytes]:
        """Return the command-line arguments for nvJitLink.

        Parameters
        ----------
        backend : str, optional
            ``"nvjitlink"``, in upper or lower case: the driver's linker has no command-line arguments.

        Returns
        -------
        list of bytes
            The arguments.

        Raises
        ------
        ValueError
            If ``backend`` is unknown, or an option contains a null character.
        RuntimeError
            If nvJitLink is missing or too old, or ``arch`` is None and there is no device.
        """
        LinkerOptions._check(self)
        if backend != "nvjitlink" and str(backend).lower() != "nvjitlink":
            raise ValueError(f"backend must be 'nvjitlink', not {shown(backend)}")
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
        If the linker does not support an option; the message names it.
    """
    unsupported = unsupported_options(options, "ptx")
    if unsupported:
        raise NotSupportedError(f"options not supported for code of type 'ptx': {', '.join(unsupported)}")
    return LinkerOptions(name=options.name, **forwarded_options(options, "ptx"))
