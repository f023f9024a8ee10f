# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compile CUDA C++ at run time: ``SourceModule`` and its kin, over NVRTC.

The host's headers that sources include out of habit (``stdio.h``, ``math.h``, ``stdint.h``, ``cuda_runtime.h``) are
here, and the options are those of ``nvcc``. A compiler that is named as ``nvcc=`` is used itself.
"""

from __future__ import annotations

from cuda.core._compile._nvrtc import nvrtc_version
from cuda.core.driver._checks import path_argument, text_argument
from cuda.core.driver._compile import _nvcc
from cuda.core.driver._compile._compilation import DEFAULT_NVCC_FLAGS, Request, compile_object
from cuda.core.driver._compile._linker import Linker, find_library, is_needed
from cuda.core.driver._compile._nvcc_options import split_options
from cuda.core.driver._constants import jit_input_type
from cuda.core.driver._contexts._context import current_context
from cuda.core.driver._errors import NOT_SUPPORTED, CompileError, LogicError, logic_error
from cuda.core.driver._modules._module import Module

__all__ = [
    "DEFAULT_NVCC_FLAGS",
    "CompileError",
    "DynamicModule",
    "DynamicSourceModule",
    "SourceModule",
    "compile",
    "get_nvcc_version",
    "preprocess_source",
]


def compile(
    source: str,
    nvcc: str = "nvcc",
    options: list[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: str | bool | None = None,
    include_dirs: list[str] | None = None,
    target: str = "cubin",
) -> bytes:
    """Compile a source, or find it in the cache, and return the code.

    Parameters
    ----------
    source : str
        CUDA C++.
    nvcc : str, optional
        The path of a compiler to use instead of NVRTC.
    options : list of str, optional
        Options of ``nvcc``; those for the host have no effect. Default is ``DEFAULT_NVCC_FLAGS``.
    keep : bool, optional
        Whether to write source, code and messages into a directory, whose path is printed.
    no_extern_c : bool, optional
        Whether the source is *not* put inside ``extern "C"``; templates need that.
    arch : str, optional
        The architecture, such as ``"sm_90"``; by default that of the current device.
    code : str, optional
        For a compiler named by ``nvcc``: its option ``-code``.
    cache_dir : str or False, optional
        The directory of the cache; by default that of the user, or of ``CUDA_CORE_CACHE_DIR`` or
        ``PYCUDA_CACHE_DIR``. False, ``CUDA_CORE_DISABLE_CACHE`` or ``PYCUDA_DISABLE_CACHE``: no cache.
    include_dirs : list of str, optional
        Where headers are searched.
    target : str, optional
        ``"cubin"`` or ``"ptx"``.

    Raises
    ------
    CompileError
        If the source has errors, or the compiler does not know an option.

    Warns
    -----
    UserWarning
        With what the compiler says, where it does not fail.
    """
    request = Request(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
    return bytes(compile_object(request, target).code)


class _Loaded:
    """Base of classes with a module, whose functions and variables they offer; ``module`` is None before linking."""

    module = None

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__name__} of {self.module!r}>"

    def get_function(self, name: str):
        """Return a kernel; see :meth:`Module.get_function`."""
        return self._linked().get_function(name)

    def get_global(self, name: str):
        """Return the address and the size of a variable; see :meth:`Module.get_global`."""
        return self._linked().get_global(name)

    def get_texref(self, name: str):
        """Return a texture reference; see :meth:`Module.get_texref`."""
        return self._linked().get_texref(name)

    def get_surfref(self, name: str):
        """Return a surface reference; see :meth:`Module.get_surfref`."""
        return self._linked().get_surfref(name)

    def _linked(self) -> Module:
        if self.module is None:
            raise LogicError("the module is not linked; call link() first")
        return self.module


class SourceModule(_Loaded):
    """A source that is compiled, or found in the cache, and loaded on the current device.

    Its parameters are those of :func:`compile`, without ``target``.

    Attributes
    ----------
    module : :class:`Module`
        The loaded code.
    """

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: list[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | bool | None = None,
        include_dirs: list[str] | None = None,
    ):
        current_context("cuModuleLoadDataEx")
        request = Request(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
        self.module = Module._of_code(compile_object(request, "cubin"))


class DynamicModule(_Loaded):
    """Several sources and libraries, compiled to relocatable code and linked.

    Parameters
    ----------
    nvcc, keep, no_extern_c, arch, code, cache_dir, include_dirs
        As of :func:`compile`, for all sources.
    link_options : list, optional
        Pairs of :class:`jit_option` and int for the linker.
    message_handler : callable, optional
        Called as ``(ok, info, error)`` with what the linker says.
    log_verbose : bool, optional
        Whether the linker tells what it does.
    cuda_libdir : str, optional
        Where the libraries of CUDA are; found by themselves where they are installed.

    Attributes
    ----------
    module : :class:`Module` or None
        The loaded code; None before :meth:`link`.
    """

    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: list | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | bool | None = None,
        include_dirs: list[str] | None = None,
        message_handler=None,
        log_verbose: bool = False,
        cuda_libdir: str | None = None,
    ):
        self._request = Request("", nvcc, None, keep, no_extern_c, arch, code, cache_dir, include_dirs, True)
        self._linker = Linker(message_handler, link_options, log_verbose)
        self._cuda_libdir = cuda_libdir

    def add_source(self, source: str, nvcc_options: list[str] | None = None, name: str = "kernel.ptx") -> DynamicModule:
        """Compile a source, and return this object."""
        request = self._request._replace(source=source, options=nvcc_options)
        self._linker.add_data(compile_object(request, "cubin").code, jit_input_type.CUBIN, name)
        return self

    def add_data(self, data: bytes, input_type: int, name: str = "unknown") -> DynamicModule:
        """Add code, of a type of :class:`jit_input_type`, and return this object."""
        self._linker.add_data(data, input_type, name)
        return self

    def add_file(self, filename: str, input_type: int) -> DynamicModule:
        """Add the code of a file, of a type of :class:`jit_input_type`, and return this object."""
        self._linker.add_file(filename, input_type)
        return self

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Add a library of CUDA with device code, such as ``"cudadevrt"``, and return this object.

        Raises
        ------
        RuntimeError
            If it is not found.
        """
        if not is_needed(libname):
            return self
        return self.add_file(find_library(libname, self._cuda_libdir), jit_input_type.LIBRARY)

    def link(self) -> DynamicModule:
        """Link and load what was added, and return this object."""
        self.module = self._linker.link_module()
        return self


class DynamicSourceModule(DynamicModule):
    """A source that launches kernels itself: one relocatable source, linked with ``cudadevrt``.

    Its parameters are those of :class:`SourceModule` and ``cuda_libdir``; ``module`` is the loaded code.
    """

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: list[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | bool | None = None,
        include_dirs: list[str] | None = None,
        cuda_libdir: str | None = None,
    ):
        super().__init__(nvcc, None, keep, no_extern_c, arch, code, cache_dir, include_dirs, cuda_libdir=cuda_libdir)
        self.add_source(source, options)
        self.add_stdlib("cudadevrt")
        self.link()


def preprocess_source(source: str, options: list[str], nvcc: str) -> str:
    """Return a source with its headers, as the preprocessor of ``nvcc`` gives it.

    Raises
    ------
    NotSupportedError
        If no compiler is named: NVRTC gives no preprocessed source.
    """
    if nvcc in (None, "nvcc"):
        raise logic_error(
            "preprocess_source", NOT_SUPPORTED, "NVRTC gives no preprocessed source; name the path of nvcc"
        )
    nvcc, source = path_argument("nvcc", nvcc), text_argument("source", source)
    return _nvcc.preprocess(nvcc, source, split_options(options))


def get_nvcc_version(nvcc: str = "nvcc") -> str:
    """Return the version of the compiler: of NVRTC, or what ``nvcc --version`` prints for a named one."""
    if nvcc is not None:
        nvcc = path_argument("nvcc", nvcc)
    return _nvcc.version(nvcc) if nvcc not in (None, "nvcc") else "NVRTC {}.{}".format(*nvrtc_version())


def __dir__():
    return list(__all__)
