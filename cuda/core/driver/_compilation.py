# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compilation in the classic style: nvcc options, NVRTC or nvcc, caching, and files kept for inspection."""

from __future__ import annotations

import functools
import io
import os
import re
import shlex
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from cuda.core import CUDAError, ObjectCode, Program, ProgramOptions
from cuda.core._classic import header_directory, list_argument, shown
from cuda.core.driver._checks import path_argument, text_argument, texts_argument
from cuda.core.driver._context import context_for, is_debugging
from cuda.core.driver._errors import CompileError
from cuda.core.utils import FileStreamProgramCache

__all__ = [
    "DEFAULT_NVCC_FLAGS",
    "Request",
    "UnknownOptionError",
    "compile_object",
    "nvcc_version",
    "preprocess_with_nvcc",
    "run_nvcc",
    "split_options",
    "translate",
]


def run_nvcc(nvcc: str, source: str, options: list[str], target: str, cache) -> tuple[bytes, str]:
    """Compile a source with ``nvcc``, and return the code and the compiler's messages.

    The cache is used only if the source includes no files, because the key does not cover their contents.

    Raises
    ------
    CompileError
        If the compilation fails, or the executable does not exist.
    """
    key = None
    if cache is not None and "#include" not in source.replace(" ", ""):
        key = sha256(repr((nvcc, nvcc_version(nvcc), source, options, target)).encode()).digest()
        known = cache.get(key)
        if known is not None:
            return known, ""
    with tempfile.TemporaryDirectory(prefix="cuda_core_nvcc_") as directory:
        path = os.path.join(directory, "kernel.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        output = os.path.join(directory, f"kernel.{target}")
        messages = _call_nvcc([nvcc, f"--{target}", *options, "-o", output, path], "nvcc compilation failed")
        with open(output, "rb") as file:
            image = file.read()
    if key is not None:
        cache[key] = image
    return image, messages


def preprocess_with_nvcc(nvcc: str, source: str, options: list[str]) -> str:
    """Return the preprocessed source (``nvcc --preprocess``)."""
    with tempfile.TemporaryDirectory(prefix="cuda_core_nvcc_") as directory:
        path = os.path.join(directory, "source.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        return _call_nvcc([nvcc, "--preprocess", *options, path], "nvcc preprocessing failed", is_output=True)


@functools.cache
def nvcc_version(nvcc: str) -> str:
    """Return the output of ``nvcc --version``.

    Raises
    ------
    CompileError
        If the executable does not exist.
    """
    return _call_nvcc([nvcc, "--version"], "nvcc was not found", is_output=True)


def _call_nvcc(command: list[str], failure: str, is_output: bool = False) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompileError(f"{failure}: {error}", command) from None
    if done.returncode:
        raise CompileError(failure, command, done.stdout, done.stderr)
    return done.stdout if is_output else (done.stdout + done.stderr).strip()


class UnknownOptionError(Exception):
    """An unknown option, or an option without its value."""


# The keys of these tables are option names without dashes.
# Options without a value:
_SWITCHES = {
    "G": "debug",
    "device-debug": "debug",
    "lineinfo": "lineinfo",
    "generate-line-info": "lineinfo",
    "use_fast_math": "use_fast_math",
    "extra-device-vectorization": "extra_device_vectorization",
    "w": "disable_warnings",
    "disable-warnings": "disable_warnings",
    "restrict": "restrict",
    "dlto": "link_time_optimization",
    "dlink-time-opt": "link_time_optimization",
    "dc": "relocatable_device_code",
    "device-c": "relocatable_device_code",
    "ewp": "extensible_whole_program",
    "extensible-whole-program": "extensible_whole_program",
    "default-device": "device_as_default_execution_space",
    "device-as-default-execution-space": "device_as_default_execution_space",
    "device-int128": "device_int128",
    "no-source-include": "no_source_include",
}
# Options with the value true or false:
_TOGGLES = {
    "ftz": "ftz",
    "prec-div": "prec_div",
    "prec-sqrt": "prec_sqrt",
    "fmad": "fma",
    "rdc": "relocatable_device_code",
    "relocatable-device-code": "relocatable_device_code",
    "builtin-move-forward": "builtin_move_forward",
    "builtin-initializer-list": "builtin_initializer_list",
    "brief-diagnostics": "brief_diagnostics",
    "brief-diag": "brief_diagnostics",
}
# Repeatable options with a value:
_LISTS = {
    "D": "define_macro",
    "define-macro": "define_macro",
    "U": "undefine_macro",
    "undefine-macro": "undefine_macro",
    "I": "include_path",
    "include-path": "include_path",
    "isystem": "include_path",
    "system-include": "include_path",
    "include": "pre_include",
    "pre-include": "pre_include",
    "Xptxas": "ptxas_options",
    "ptxas-options": "ptxas_options",
    "diag-suppress": "diag_suppress",
    "diag-error": "diag_error",
    "diag-warn": "diag_warn",
}
# Options whose value can follow without a separator:
_JOINED = ("D", "U", "I")
_NUMBERS = {"maxrregcount": "max_register_count"}
# Options that do not affect the compilation of device code, without and with a value:
_IGNORED = frozenset(
    "g m64 c keep k verbose v cuda cubin shared expt-relaxed-constexpr extended-lambda expt-extended-lambda save-temps"
    " Wreorder Wdefault-stream-launch Wmissing-launch-bounds Wext-lambda-captures-this dryrun no-compress".split()
)
_IGNORED_WITH_VALUE = frozenset(
    "Xcompiler compiler-options Xlinker linker-options Xarchive Xcudafe Xnvlink ccbin compiler-bindir cudart"
    " default-stream Werror x language t threads l library L library-path keep-dir odir output-directory o".split()
)
_ARCH = frozenset(("arch", "gpu-architecture"))
_CODE = frozenset(("code", "gpu-code"))


def split_options(options) -> list[str]:
    """Return a list of single options, splitting strings that contain several options.

    Raises
    ------
    TypeError
        If ``options`` is neither a str nor a list of str.
    """
    parts = []
    for option in texts_argument("options", options):
        # A path can contain spaces, so a string is split only if another option follows a space.
        parts += shlex.split(option) if re.search(r"\s-|^-\S+\s+\S", option) else [option.strip()]
    return [part for part in parts if part]


def translate(options: list[str]) -> dict:
    """Return the fields of :class:`~cuda.core.ProgramOptions` for ``nvcc`` options.

    Raises
    ------
    UnknownOptionError
        If an option is unknown or lacks its value.
    """
    fields = {}
    rest = iter(options)
    for option in rest:
        if not option.startswith("-"):
            raise UnknownOptionError(f"an option must begin with '-', got {shown(option)}")
        name, has_value, value = option.lstrip("-").partition("=")
        _translate_one(fields, option, name, value if has_value else None, rest)
    return fields


def _translate_one(fields: dict, option: str, name: str, value: str | None, rest: Iterator[str]) -> None:
    if name in _SWITCHES and value is None:
        fields[_SWITCHES[name]] = True
    elif name == "dopt":
        fields["device_code_optimize"] = _value_of(option, value, rest) == "on"
    elif name in _TOGGLES:
        fields[_TOGGLES[name]] = _truth_of(option, _value_of(option, value, rest))
    elif name in _LISTS:
        _append(fields, _LISTS[name], _value_of(option, value, rest))
    elif name[:1] in _JOINED and not option.startswith("--"):
        # The value is taken from the option itself, because a macro definition can contain "=".
        _append(fields, _LISTS[name[0]], option[2:])
    elif name in _NUMBERS:
        fields[_NUMBERS[name]] = int(_value_of(option, value, rest))
    elif name in _ARCH:
        fields["arch"] = arch_of(_value_of(option, value, rest))
    elif name in _CODE:
        fields.setdefault("arch", arch_of(_value_of(option, value, rest)))
    elif name in ("gencode", "generate-code"):
        fields["arch"] = _arch_of_pair(_value_of(option, value, rest))
    elif name == "std":
        fields["std"] = _value_of(option, value, rest).replace("gnu++", "c++")
    elif re.fullmatch(r"O[0-3]|optimize", name):
        _append(fields, "ptxas_options", f"-O{_value_of(option, value, rest) if name == 'optimize' else name[1]}")
    elif name in ("resource-usage", "res-usage"):
        _append(fields, "ptxas_options", "-v")
    elif name in _IGNORED_WITH_VALUE:
        _value_of(option, value, rest)
    elif name not in _IGNORED and not re.match(r"[lL].|Wno-|Wall$|Wextra$", name):
        raise UnknownOptionError(f"unrecognized option {shown(option)}")


def arch_of(text: str) -> str:
    """Return the target architecture, which is the first entry of a list."""
    text = text.split(",")[0].strip("'\"[]")
    return text.replace("compute_", "sm_", 1)


def _arch_of_pair(text: str) -> str:
    """Return the architecture of a pair such as ``arch=compute_70,code=sm_70``: the value of ``code`` if given."""
    parts = dict(part.split("=", 1) for part in re.findall(r"\w+=(?:\[[^\]]*\]|[^,]*)", text))
    return arch_of(parts.get("code") or parts.get("arch") or text)


def _append(fields: dict, name: str, value: str) -> None:
    # ptxas options and diagnostic numbers can be comma-separated lists.
    several = value.split(",") if name == "ptxas_options" or name.startswith("diag_") else [value]
    if name.startswith("diag_"):
        several = [int(number) for number in several]
    fields.setdefault(name, []).extend(several)


def _value_of(option: str, value: str | None, rest: Iterator[str]) -> str:
    if value is None:
        value = next(rest, None)
    if value is None:
        raise UnknownOptionError(f"option {shown(option)} requires a value")
    return value


def _truth_of(option: str, value: str) -> bool:
    if value not in ("true", "false"):
        raise UnknownOptionError(f"option {shown(option)} must be true or false, not {shown(value)}")
    return value == "true"


def _default_flags() -> list[str]:
    for name in ("CUDA_CORE_DEFAULT_NVCC_FLAGS", "PYCUDA_DEFAULT_NVCC_FLAGS"):
        if name in os.environ:
            return os.environ[name].split()
    return []


DEFAULT_NVCC_FLAGS = _default_flags()

_INCLUDE = os.path.join(os.path.dirname(__file__), "include")
# The build generates the "host" directory (tools/host_headers.py).
_HEADERS = (_INCLUDE, os.path.join(_INCLUDE, "host"))
_PRELUDE = "driver_prelude.h"
_TEXTURES = "driver_textures.h"
# The diagnostics for macros that a source redefines, and for prelude functions that it does not use.
_EXPECTED_DIAGNOSTICS = [47, 177]


class Request(NamedTuple):
    """A source and its compilation arguments, as in :func:`cuda.core.driver.compiler.compile`."""

    source: str
    nvcc: str = "nvcc"
    options: list[str] | None = None
    keep: bool = False
    no_extern_c: bool = False
    arch: str | None = None
    code: str | None = None
    cache_dir: str | bool | None = None
    include_dirs: list[str] | None = None
    is_relocatable: bool = False


def compile_object(request: Request, target: str) -> ObjectCode:
    """Compile a source, or load the result from the cache.

    Parameters
    ----------
    request : Request
        The source and its options.
    target : str
        ``"cubin"``, ``"ptx"`` or ``"ltoir"``, or with ``nvcc`` also ``"fatbin"``.

    Raises
    ------
    CompileError
        If the source has errors, or the compiler does not recognize an option.
    LogicError
        If no architecture is given and no context is current.
    """
    text_argument("source", request.source)
    text_argument("target", target)
    for name in ("nvcc", "arch", "code"):
        value = getattr(request, name)
        if value is not None and not (name == "nvcc" and isinstance(value, os.PathLike)):
            text_argument(name, value)
    options = split_options(DEFAULT_NVCC_FLAGS if request.options is None else request.options)
    if is_debugging():
        options += ["-g", "-G"]
        request = request._replace(keep=True, cache_dir=False)
    source = wrapped(request.source, request.no_extern_c)
    if request.nvcc not in (None, "nvcc"):
        return _compile_with_nvcc(request, source, options, target)
    if target not in ("cubin", "ptx", "ltoir"):
        raise CompileError(f"target must be 'cubin' or 'ptx', not {shown(target)}; use nvcc for fat binaries", options)
    return _compile_with_nvrtc(request, source, options, target)


def wrapped(source: str, no_extern_c: bool) -> str:
    """Return a source wrapped in ``extern "C"`` unless ``no_extern_c`` is set. Line numbers are unchanged."""
    if no_extern_c:
        return source
    begin = 'extern "C" {' if source.startswith("\n") else 'extern "C" {\n#line 1\n'
    return f"{begin}{source}\n}}\n"


def _compile_with_nvrtc(request: Request, source: str, options: list[str], target: str) -> ObjectCode:
    arguments = list(options)
    if request.arch is not None:
        arguments.append(f"-arch={request.arch}")
    arguments += [f"-I{directory}" for directory in _directories(request)]
    log = io.StringIO()
    try:
        fields = translate(arguments)
        if "arch" not in fields:
            fields["arch"] = "sm_{}{}".format(*context_for("cuCtxGetDevice")._device.compute_capability())
            arguments.append(f"-arch={fields['arch']}")
        program = Program(source, "c++", _options(fields, source, request))
        code = program.compile(target, logs=log, cache=program_cache(request.cache_dir))
    except (UnknownOptionError, ValueError) as error:
        raise CompileError("nvrtc compilation failed", arguments, stderr=str(error)) from None
    except CUDAError as error:
        if request.keep:
            _keep(source, None, target, str(error))
        text = error.log if error.log and error.name == "NVRTC_ERROR_COMPILATION" else str(error)
        failure = CompileError(
            "nvrtc compilation failed", arguments, None, text, code=error.code, name=error.name, api=error.api
        )
        raise failure from None
    if request.keep:
        _keep(source, code, target, log.getvalue())
        if target == "cubin":
            _keep_file(_keep.directory, "kernel.ptx", program.compile("ptx").code)
    _warn_about(log.getvalue())
    return code


def _options(fields: dict, source: str, request: Request) -> ProgramOptions:
    directories = fields.setdefault("include_path", [])
    directories.extend(_HEADERS)
    if needs_other_headers(source):
        directories.extend(_toolkit_directories())
    before = [_PRELUDE, _TEXTURES] if re.search(r"\b(texture|surface)\s*<", source) else [_PRELUDE]
    fields["pre_include"] = before + fields.get("pre_include", [])
    fields.setdefault("diag_suppress", []).extend(_EXPECTED_DIAGNOSTICS)
    fields["device_as_default_execution_space"] = True
    if request.is_relocatable:
        fields["relocatable_device_code"] = True
    return ProgramOptions(name="kernel.cu", **fields)


def _directories(request: Request) -> list[str]:
    directories = request.include_dirs
    if directories is None or isinstance(directories, (str, os.PathLike)):
        directories = [] if directories is None else [directories]
    directories = list_argument("include_dirs", directories, "a list of paths")
    return [path_argument("each of include_dirs", directory) for directory in directories]


def needs_other_headers(source: str) -> bool:
    """Return whether a source includes headers that this package does not provide."""
    if "#" not in source:
        return False
    named = re.findall(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', source, re.MULTILINE)
    return not all(any(os.path.isfile(os.path.join(folder, name)) for folder in _HEADERS) for name in named)


@functools.cache
def _toolkit_directories() -> list[str]:
    """Return the installed include directories of the CUDA toolkit and its libraries."""
    found = (header_directory(library) for library in ("cudart", "cccl", "curand"))
    return [directory for directory in found if directory is not None]


def program_cache(cache_dir) -> FileStreamProgramCache | None:
    """Return the cache in a directory, by default the user cache, or None if caching is disabled."""
    if cache_dir is False or any(name in os.environ for name in ("CUDA_CORE_DISABLE_CACHE", "PYCUDA_DISABLE_CACHE")):
        return None
    if cache_dir is not None:
        path_argument("cache_dir", cache_dir)
    if cache_dir is None:
        cache_dir = os.environ.get("CUDA_CORE_CACHE_DIR") or os.environ.get("PYCUDA_CACHE_DIR")
    return _cache_in(None if cache_dir is None else os.path.abspath(os.fspath(cache_dir)))


@functools.cache
def _cache_in(directory: str | None) -> FileStreamProgramCache:
    return FileStreamProgramCache(directory)


def _warn_about(log: str) -> None:
    """Warn with the messages of a successful compilation."""
    # Once --optimization-info has been used, NVRTC reports inlining for the rest of the process.
    text = _INLINED.sub("", _REDEFINED.sub("", log)).strip()
    if text and not text.startswith("Remark:"):
        warnings.warn(f"The CUDA compiler succeeded, but said the following:\n{text}", UserWarning, stacklevel=6)


# Reports of inlining, and of prelude macros that a source redefines (software device).
_INLINED = re.compile(r"^remark: .*\n?", re.MULTILINE)
_REDEFINED = re.compile(r'^.*: warning: "\w+" redefined\n(?:  .*\n)*(?:.*: note: .*\n(?:  .*\n)*)?', re.MULTILINE)


def _keep(source: str, code: ObjectCode | None, target: str, log: str) -> None:
    """Write the source, the log and the result to a new directory, and print its path."""
    _keep.directory = directory = tempfile.mkdtemp(prefix="cuda_core_driver_")
    _keep_file(directory, "kernel.cu", source.encode())
    _keep_file(directory, "kernel.log", log.encode())
    if code is not None:
        _keep_file(directory, f"kernel.{target}", code.code)
    print(f"*** compiler output in {directory}")


def _keep_file(directory: str, name: str, content: bytes) -> None:
    with open(os.path.join(directory, name), "wb") as file:
        file.write(content)


def _compile_with_nvcc(request: Request, source: str, options: list[str], target: str) -> ObjectCode:
    arch = request.arch
    if arch is None and not any(re.match(r"--?(arch|gencode|gpu-architecture|generate-code)\b", o) for o in options):
        arch = "sm_{}{}".format(*context_for("cuCtxGetDevice")._device.compute_capability())
    if arch is not None:
        options = [*options, f"-arch={arch}"]
    if request.code is not None:
        options += [f"-code={request.code}"]
    if request.is_relocatable:
        options += ["-rdc=true"]
    options += [f"-I{directory}" for directory in _directories(request)]
    image, log = run_nvcc(request.nvcc, source, options, target, program_cache(request.cache_dir))
    code = {"ptx": ObjectCode.from_ptx, "fatbin": ObjectCode.from_fatbin}.get(target, ObjectCode.from_cubin)(image)
    if request.keep:
        _keep(source, code, target, log)
    _warn_about(log)
    return code
