# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The options of :class:`~cuda.core.Program`, one table row each.

The renderer ``ptx`` translates an option to the linker option of the same name.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from cuda.core._compile._option_table import (
    check_options,
    choice,
    document_options,
    each,
    forward,
    macros,
    no_argument,
    number,
    option,
    render_options,
    switch,
    toggle,
    unsupported_options,
    value,
    verbatim,
)
from cuda.core._device import Device
from cuda.core._utils.cuda_utils import CUDAError, NotSupportedError
from cuda.core._utils.files import cache_root
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import shown
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType

__all__ = ["ProgramOptions"]

# The first version of NVRTC with precompiled headers.
PCH = (12, 8)


def virtual_arch(arch: str) -> str:
    """Return the virtual architecture for NVVM, ``"compute_90"`` for ``"sm_90"``."""
    return arch.replace("sm_", "compute_", 1) if arch.startswith("sm_") else arch


def file_of_times(path) -> str:
    """Return the path of the file that NVRTC writes the compilation times to."""
    if isinstance(path, bool):
        raise TypeError(f"time must be the path of a file for code of type 'c++', not {path}")
    return str(path)


def bundled_headers_dir() -> str:
    """Return the directory into which NVRTC unpacks its built-in headers."""
    return str(cache_root() / "nvrtc-bundled-headers")


@document_options
@options
class ProgramOptions(Options):
    """Options of :class:`~cuda.core.Program`.

    For every option, None leaves the compiler's default. ``name`` is the name of the program in the compiler's messages
    and the name of the resulting :class:`~cuda.core.ObjectCode`. None means ``"default_program"``.

    Examples
    --------
    >>> from cuda.core import Program, ProgramOptions
    >>> options = ProgramOptions(arch="sm_90", define_macro=[("N", "16")], use_fast_math=True)
    >>> Program('extern "C" __global__ void f(int* x) { *x = N; }', "c++", options).compile("cubin").code_type
    'cubin'
    """

    name: str | None = "default_program"
    arch: str | None = option(
        "The architecture, such as ``'sm_90'``. Defaults to the current device's.",
        nvrtc=value("-arch"),
        nvvm=value("-arch", virtual_arch),
        ptx=forward(),
    )
    relocatable_device_code: bool | None = option(
        "Generate relocatable code, to be linked later. Defaults to False.", nvrtc=toggle("--relocatable-device-code")
    )
    extensible_whole_program: bool | None = option(
        "Generate extensible whole-program code: optimized as a whole, but other code can be linked to it.",
        nvrtc=switch("--extensible-whole-program"),
    )
    debug: bool | None = option(
        "Generate debug information.", nvrtc=switch("--device-debug"), nvvm=switch("-g"), ptx=forward()
    )
    lineinfo: bool | None = option(
        "Generate line number information.", nvrtc=switch("--generate-line-info"), ptx=forward()
    )
    device_code_optimize: bool | None = option(
        "Optimize device code, even with ``debug``.", nvrtc=switch("--dopt=on"), nvvm=toggle("-opt", "3", "0")
    )
    ptxas_options: str | list[str] | tuple[str, ...] | None = option(
        "Options of the PTX assembler (ptxas).", nvrtc=each("--ptxas-options"), ptx=forward()
    )
    max_register_count: int | None = option(
        "The maximum number of registers per thread.", nvrtc=number("--maxrregcount"), ptx=forward()
    )
    ftz: bool | None = option(
        "Flush single-precision denormals to zero. Defaults to False.",
        nvrtc=toggle("--ftz"),
        nvvm=toggle("-ftz", "1", "0"),
        ptx=forward(),
    )
    prec_sqrt: bool | None = option(
        "Round single-precision square roots as IEEE 754 requires. Defaults to True.",
        nvrtc=toggle("--prec-sqrt"),
        nvvm=toggle("-prec-sqrt", "1", "0"),
        ptx=forward(),
    )
    prec_div: bool | None = option(
        "Round single-precision divisions as IEEE 754 requires. Defaults to True.",
        nvrtc=toggle("--prec-div"),
        nvvm=toggle("-prec-div", "1", "0"),
        ptx=forward(),
    )
    fma: bool | None = option(
        "Contract multiplications and additions to fused multiply-adds. Defaults to True.",
        nvrtc=toggle("--fmad"),
        nvvm=toggle("-fma", "1", "0"),
        ptx=forward(),
    )
    use_fast_math: bool | None = option(
        "Use fast, less accurate mathematical functions; implies ``ftz`` and ``fma``, no ``prec_div``, ``prec_sqrt``.",
        nvrtc=switch("--use_fast_math"),
    )
    extra_device_vectorization: bool | None = option(
        "Vectorize device code more aggressively.", nvrtc=switch("--extra-device-vectorization")
    )
    link_time_optimization: bool | None = option(
        "Generate LTO IR, which is optimized when it is linked.", nvrtc=switch("--dlink-time-opt"), ptx=forward()
    )
    gen_opt_lto: bool | None = option("Optimize before generating LTO IR.", nvrtc=switch("--gen-opt-lto"))
    define_macro: str | tuple[str, str] | list[str | tuple[str, str]] | tuple[str | tuple[str, str], ...] | None = (
        option(
            "Macros to define: a name, a pair (name, value), or a list of these.",
            nvrtc=macros("--define-macro"),
        )
    )
    undefine_macro: str | list[str] | tuple[str, ...] | None = option(
        "Macros to undefine.", nvrtc=each("--undefine-macro")
    )
    include_path: str | list[str] | tuple[str, ...] | None = option(
        "Directories that are searched for headers.", nvrtc=each("--include-path").uses_files("headers")
    )
    use_bundled_headers: bool | None = option(
        "Use the CUDA headers that are built into NVRTC; they are unpacked once per user.",
        nvrtc=switch("--use-bundled-headers", bundled_headers_dir, after="undefine_macro", since=(13, 3)),
    )
    pre_include: str | list[str] | tuple[str, ...] | None = option(
        "Headers that are included before the source.", nvrtc=each("--pre-include").uses_files("headers")
    )
    no_source_include: bool | None = option(
        "Do not search the directory of the source for headers.", nvrtc=switch("--no-source-include")
    )
    std: str | None = option(
        "The C++ standard: ``'c++03'``, ``'c++11'``, ``'c++14'``, ``'c++17'``, ``'c++20'`` or ``'c++23'``. "
        "Defaults to C++17.",
        nvrtc=choice("--std", ("c++03", "c++11", "c++14", "c++17", "c++20", "c++23")),
    )
    builtin_move_forward: bool | None = option(
        "Provide ``std::move`` and ``std::forward``. Defaults to True.", nvrtc=toggle("--builtin-move-forward")
    )
    builtin_initializer_list: bool | None = option(
        "Provide ``std::initializer_list``. Defaults to True.", nvrtc=toggle("--builtin-initializer-list")
    )
    disable_warnings: bool | None = option("Suppress all warnings.", nvrtc=switch("--disable-warnings"))
    restrict: bool | None = option(
        "Treat all pointer parameters of kernels as ``__restrict__``.", nvrtc=switch("--restrict")
    )
    device_as_default_execution_space: bool | None = option(
        "Treat functions without an execution space as device functions.",
        nvrtc=switch("--device-as-default-execution-space"),
    )
    device_int128: bool | None = option("Allow ``__int128``.", nvrtc=switch("--device-int128"))
    optimization_info: str | None = option(
        "Report optimizations of this kind, such as ``'inline'``.", nvrtc=value("--optimization-info")
    )
    no_display_error_number: bool | None = option(
        "Do not show the numbers of diagnostics.", nvrtc=switch("--no-display-error-number")
    )
    diag_error: int | list[int] | tuple[int, ...] | None = option(
        "Numbers of diagnostics that are reported as errors.", nvrtc=each("--diag-error")
    )
    diag_suppress: int | list[int] | tuple[int, ...] | None = option(
        "Numbers of diagnostics that are suppressed.", nvrtc=each("--diag-suppress")
    )
    diag_warn: int | list[int] | tuple[int, ...] | None = option(
        "Numbers of diagnostics that are reported as warnings.", nvrtc=each("--diag-warn")
    )
    brief_diagnostics: bool | None = option(
        "Omit source lines and columns in diagnostics.", nvrtc=toggle("--brief-diagnostics")
    )
    time: str | bool | None = option(
        "The path of a CSV file for the times of the compilation phases. For PTX, True: the linker logs the times.",
        nvrtc=value("--time", file_of_times, takes_bool=True).uses_files("writes"),
        ptx=forward(bool),
    )
    split_compile: int | None = option(
        "The number of threads for optimization, or 0 for all processors. Defaults to 1.",
        nvrtc=number("--split-compile", takes_bool=True),
        ptx=forward(int),
    )
    fdevice_syntax_only: bool | None = option("Check the syntax only.", nvrtc=switch("--fdevice-syntax-only"))
    minimal: bool | None = option("Omit language features to compile small programs faster.", nvrtc=switch("--minimal"))
    no_cache: bool | None = option("Do not use the compiler's own cache.", nvrtc=switch("--no-cache"), ptx=forward())
    fdevice_time_trace: str | None = option(
        "The path of a file for a compilation trace as JSON.", nvrtc=value("--fdevice-time-trace").uses_files("writes")
    )
    device_float128: bool | None = option(
        "Allow ``__float128``.", nvrtc=switch("--device-float128", after="device_int128")
    )
    frandom_seed: str | None = option("The seed for generated names.", nvrtc=value("--frandom-seed"))
    ofast_compile: str | None = option(
        "Compile faster: ``'0'``, ``'min'``, ``'mid'`` or ``'max'``.", nvrtc=value("--Ofast-compile")
    )
    pch: bool | None = option(
        "Create and use precompiled headers automatically.", nvrtc=switch("--pch", since=PCH).uses_files("reads")
    )
    create_pch: str | None = option(
        "The path of a precompiled header file to create.", nvrtc=value("--create-pch", since=PCH).uses_files("writes")
    )
    use_pch: str | None = option(
        "The path of a precompiled header file to use.", nvrtc=value("--use-pch", since=PCH).uses_files("reads")
    )
    pch_dir: str | None = option(
        "The directory of precompiled headers.", nvrtc=value("--pch-dir", since=PCH).uses_files("reads")
    )
    pch_verbose: bool | None = option(
        "Report why an automatic precompiled header could not be used.", nvrtc=toggle("--pch-verbose", since=PCH)
    )
    pch_messages: bool | None = option(
        "Report when a precompiled header is created or used.", nvrtc=toggle("--pch-messages", since=PCH)
    )
    instantiate_templates_in_pch: bool | None = option(
        "Instantiate templates when a precompiled header is created.",
        nvrtc=toggle("--instantiate-templates-in-pch", since=PCH),
    )
    extra_sources: Sequence[tuple[str, str | bytes | bytearray]] | None = option(
        "Further NVVM modules, as pairs (name, source).", nvvm=no_argument()
    )
    use_libdevice: bool | None = option(
        "Link libdevice, the library of mathematical functions, to NVVM IR.", nvvm=no_argument().uses_files("reads")
    )
    numba_debug: bool | None = option(
        "Generate debug information in the format of Numba.",
        nvrtc=switch("--numba-debug", since=(13, 2)),
        nvvm=switch("-numba-debug", after="debug", since=(13, 1)),
        ptx=no_argument(),
    )
    wconversion: bool | None = option(
        "Warn of implicit conversions that might narrow a number.", nvrtc=switch("--Wconversion")
    )
    wreorder: bool | None = option(
        "Warn of member initializers in another order than the members.", nvrtc=switch("--Wreorder")
    )
    warning_as_error: str | list[str] | tuple[str, ...] | None = option(
        "Kinds of warnings that are errors: ``'all-warnings'``, ``'reorder'``, ``'deprecated-declarations'`` or "
        "``'conversion'``.",
        nvrtc=each("--warning-as-error"),
    )
    fmax_errors: int | None = option("The number of errors after which compiling ends.", nvrtc=number("--fmax-errors"))
    ffinite_math_only: bool | None = option(
        "Assume that no number is infinite or NaN.", nvrtc=switch("--ffinite-math-only")
    )
    fno_signed_zeros: bool | None = option("Ignore the sign of zeros.", nvrtc=switch("--fno-signed-zeros"))
    jump_table_density: int | None = option(
        "The density of cases, in percent, from which a ``switch`` becomes a jump table. Defaults to 101: never.",
        nvrtc=number("--jump-table-density"),
        ptx=forward(),
    )
    device_stack_protector: bool | None = option(
        "Detect overwritten stacks in device code.", nvrtc=toggle("--device-stack-protector"), ptx=forward()
    )
    modify_stack_limit: bool | None = option(
        "Enlarge the stack of the process for the compilation. Defaults to True.", nvrtc=toggle("--modify-stack-limit")
    )
    enable_tile: bool | None = option("Also compile tile kernels.", nvrtc=switch("--enable-tile"))
    tile_only: bool | None = option("Generate code of tile kernels only.", nvrtc=switch("--tile-only"))
    simt_only: bool | None = option("Accept tile kernels, and generate no code of them.", nvrtc=switch("--simt-only"))
    diagnose_implicit_tile_var: bool | None = option(
        "Report variables that cannot be ``__tile__`` implicitly.", nvrtc=switch("--diagnose-implicit-tile-var")
    )
    extra: tuple[str, ...] | list[str] | None = option(
        "Options that no other field has, such as ``('--new=1',)``, for a newer compiler. They cannot name files.",
        nvrtc=verbatim(),
        nvvm=verbatim(),
        ptx=forward(),
    )
    first_line: int | None = option(
        "The line of the file ``name`` on which the source begins, for messages and line number information.",
        nvrtc=no_argument(),
    )

    def _check(self):
        self.name = checked_name(self.name, "default_program")
        check_options(self)
        check_first_line(self.first_line)
        if self.extra_sources is not None:
            check_extra_sources(self.extra_sources)

    def __repr__(self):
        if not hasattr(self, "arch"):
            return Options.__repr__(self)
        return f"{type(self).__name__}(name={self.name!r}, arch={self.arch!r})"

    def as_bytes(
        self, backend: CompilerBackendType | str, target_type: ObjectCodeFormatType | str | None = None
    ) -> list[bytes]:
        """Return the command-line arguments for a compiler.

        Parameters
        ----------
        backend : CompilerBackendType | str
            ``"nvrtc"`` or ``"nvvm"``, in upper or lower case.
        target_type : ObjectCodeFormatType | str, optional
            The output format. For ``"ltoir"``, NVVM has an additional argument.

        Returns
        -------
        list of bytes
            The arguments.

        Raises
        ------
        ValueError
            If ``backend`` is unknown, or an option contains a null character.
        NotSupportedError
            If the compiler does not support an option; the message names it.
        RuntimeError
            If ``define_macro`` is malformed, or ``arch`` is None and there is no device.
        """
        ProgramOptions._check(self)
        key = str(backend).lower()
        if key not in ("nvrtc", "nvvm"):
            raise ValueError(f"Unknown backend {shown(backend)}. Must be one of: 'nvrtc', 'nvvm'")
        is_ltoir = str(target_type).lower() == "ltoir"
        unsupported = unsupported_options(self, key)
        if key == "nvvm" and is_ltoir and "link_time_optimization" in unsupported:
            unsupported.remove("link_time_optimization")  # implied by the target
        if unsupported:
            raise NotSupportedError(f"options not supported by {key.upper()} backend: {', '.join(unsupported)}")
        arguments = render_options(self, key)
        if self.arch is None:
            arguments.insert(0, f"-arch={virtual_arch(current_arch()) if key == 'nvvm' else current_arch()}")
        if key == "nvvm" and is_ltoir:
            arguments.append("-gen-lto")
        return [os.fsencode(argument) for argument in arguments]


def current_arch(owner: str = "ProgramOptions") -> str:
    """Return the architecture of the current device, such as ``"sm_90"``.

    Raises
    ------
    RuntimeError, CUDAError
        If there is no driver, or no device.
    """
    try:
        return f"sm_{Device().arch}"
    except (RuntimeError, CUDAError) as error:
        error.args = (f"arch is None and there is no current device; pass for example {owner}(arch='sm_90'). {error}",)
        raise


def checked_name(name, default: str) -> str:
    """Check a name and return it, or return the default for None."""
    if name is None:
        return default
    if not isinstance(name, str):
        raise TypeError(f"name must be a str or None, not {type(name).__name__}")
    if "\0" in name:
        raise ValueError(f"name contains a null character: {shown(name)}")
    return name


def check_first_line(line) -> None:
    """Check that a value is None or a line number of C++, from 1 to 2**31 - 1."""
    if line is not None and (isinstance(line, bool) or not isinstance(line, int)):
        raise TypeError(f"first_line must be an int or None, not {type(line).__name__}")
    if line is not None and not 1 <= line < 1 << 31:
        raise ValueError(f"first_line must be from 1 to {(1 << 31) - 1}, not {shown(line)}")


def check_extra_sources(sources) -> None:
    """Check that the sources are pairs (name, source)."""
    shape = "extra_sources must be a sequence of pairs ((name, source), ...)"
    if isinstance(sources, (str, bytes)) or not isinstance(sources, Sequence):
        raise TypeError(f"{shape}, not {type(sources).__name__}")
    for index, item in enumerate(sources):
        if not isinstance(item, (tuple, list)) or len(item) != 2 or not isinstance(item[0], str):
            raise TypeError(f"{shape}; item {index} is {shown(item)}")
        if not isinstance(item[1], (str, bytes, bytearray)):
            raise TypeError(
                f"the source of {shown(item[0])} (index {index}) must be a str or bytes, not {type(item[1]).__name__}"
            )
        if not item[1]:
            raise ValueError(f"the source of {shown(item[0])} (index {index}) cannot be empty")
