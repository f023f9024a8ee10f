# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compilations of the classic style: compiler options, cache, and files that are kept for inspection."""

from __future__ import annotations

import functools
import io
import os
import re
import tempfile
import warnings
from typing import NamedTuple

from cuda.core._compile._missing_headers import header_directory
from cuda.core._compile.cache._stores import FileStreamProgramCache
from cuda.core._module import ObjectCode
from cuda.core._program import Program, ProgramOptions
from cuda.core._utils import device_choice
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import list_argument, shown
from cuda.core.driver._checks import path_argument, text_argument
from cuda.core.driver._compile import _nvcc
from cuda.core.driver._compile._nvcc_options import UnknownOptionError, split_options, translate
from cuda.core.driver._context import current_context, is_debugging
from cuda.core.driver._errors import CompileError

__all__ = ["DEFAULT_NVCC_FLAGS", "Request", "compile_object"]


def _default_flags() -> list[str]:
    for name in ("CUDA_CORE_DEFAULT_NVCC_FLAGS", "PYCUDA_DEFAULT_NVCC_FLAGS"):
        if name in os.environ:
            return os.environ[name].split()
    return []


DEFAULT_NVCC_FLAGS = _default_flags()

_HEADERS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "include")
_PRELUDE = "driver_prelude.h"
_TEXTURES = "driver_textures.h"
# Macros that a source redefines, and functions of the prelude that a source does not use.
_EXPECTED_DIAGNOSTICS = [47, 177]


class Request(NamedTuple):
    """A source and the arguments of its compilation, as the functions of the module ``compiler`` take them."""

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
    """Compile a source, or take the result from the cache.

    Parameters
    ----------
    request : Request
        The source and its options.
    target : str
        ``"cubin"``, ``"ptx"`` or ``"ltoir"``; with ``nvcc`` also ``"fatbin"``.

    Raises
    ------
    CompileError
        If the source has errors, or the compiler does not know an option.
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
        raise CompileError(f"target must be 'cubin' or 'ptx', not {shown(target)}: fat binaries need nvcc", options)
    return _compile_with_nvrtc(request, source, options, target)


def wrapped(source: str, no_extern_c: bool) -> str:
    """Return a source inside ``extern "C"``, unless ``no_extern_c`` is set. Line numbers stay the same."""
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
            fields["arch"] = "sm_{}{}".format(*current_context("cuCtxGetDevice")._device.compute_capability())
            arguments.append(f"-arch={fields['arch']}")
        program = Program(source, "c++", _options(fields, source, request))
        code = program.compile(target, logs=log, cache=cache_of(request.cache_dir))
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
    directories.append(_HEADERS)
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
    """Return whether a source includes headers that do not come with this package."""
    if "#" not in source:
        return False
    named = re.findall(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', source, re.MULTILINE)
    return any(not os.path.isfile(os.path.join(_HEADERS, name)) for name in named)


@functools.cache
def _toolkit_directories() -> list[str]:
    """Return the include directories of the CUDA toolkit and its libraries that are installed."""
    software = device_choice.software_headers()
    if software:
        return software
    found = (header_directory(library) for library in ("cudart", "cccl", "curand"))
    return [directory for directory in found if directory is not None]


def cache_of(cache_dir) -> FileStreamProgramCache | None:
    """Return the cache in a directory, by default that of the user; None if caching is off or ``cache_dir`` False."""
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
    # After --optimization-info was used once, NVRTC reports inlining for the rest of the process.
    text = _INLINED.sub("", _REDEFINED.sub("", log)).strip()
    if text and not text.startswith("Remark:"):
        warnings.warn(f"The CUDA compiler succeeded, but said the following:\n{text}", UserWarning, stacklevel=6)


# Reports of inlining, and of macros of the prelude that a source redefines (software device).
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
        arch = "sm_{}{}".format(*current_context("cuCtxGetDevice")._device.compute_capability())
    if arch is not None:
        options = [*options, f"-arch={arch}"]
    if request.code is not None:
        options += [f"-code={request.code}"]
    if request.is_relocatable:
        options += ["-rdc=true"]
    options += [f"-I{directory}" for directory in _directories(request)]
    image, log = _nvcc.run(request.nvcc, source, options, target, cache_of(request.cache_dir))
    code = {"ptx": ObjectCode.from_ptx, "fatbin": ObjectCode.from_fatbin}.get(target, ObjectCode.from_cubin)(image)
    if request.keep:
        _keep(source, code, target, log)
    _warn_about(log)
    return code
