# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Run-time compilation of CUDA C++ with NVRTC: ``SourceModule``, ``DynamicModule`` and ``compile``.

Options use ``nvcc`` syntax. The package provides the host headers that sources often include (``stdio.h``, ``math.h``,
``stdint.h``, ``cuda_runtime.h``). Passing the path of a compiler as ``nvcc`` uses that compiler instead of NVRTC.
"""

from __future__ import annotations

from cuda.core._classic import nvrtc_version
from cuda.core.driver._checks import path_argument, text_argument
from cuda.core.driver._compilation import (
    DEFAULT_NVCC_FLAGS,
    Request,
    compile_object,
    nvcc_version,
    preprocess_with_nvcc,
    split_options,
)
from cuda.core.driver._constants import jit_input_type
from cuda.core.driver._context import context_for
from cuda.core.driver._errors import NOT_SUPPORTED, CompileError, LogicError, logic_error
from cuda.core.driver._linker import Linker, find_library
from cuda.core.driver._module import Module

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
    """Compile a source or load the result from the cache, and return the code.

    Parameters
    ----------
    source : str
        The source in CUDA C++.
    nvcc : str, optional
        The path of an ``nvcc`` to use instead of NVRTC.
    options : list of str, optional
        Options in ``nvcc`` syntax. Options for the host compiler have no effect. Defaults to ``DEFAULT_NVCC_FLAGS``.
    keep : bool, optional
        Whether to write the source, the code and the log to a directory and print its path. Defaults to False.
    no_extern_c : bool, optional
        Whether *not* to wrap the source in ``extern "C"``, which does not allow templates. Defaults to False.
    arch : str, optional
        The target architecture, such as ``"sm_90"``. Defaults to the current device's architecture.
    code : str, optional
        The ``-code`` option for ``nvcc``. NVRTC does not use it.
    cache_dir : str or False, optional
        The cache directory. Defaults to the value of ``CUDA_CORE_CACHE_DIR`` or ``PYCUDA_CACHE_DIR``, or else the user
        cache. Nothing is cached if this is False or the environment variable ``CUDA_CORE_DISABLE_CACHE`` or
        ``PYCUDA_DISABLE_CACHE`` is set.
    include_dirs : list of str, optional
        Directories to search for headers.
    target : str, optional
        The type of the code, ``"cubin"`` or ``"ptx"``. Defaults to ``"cubin"``.

    Raises
    ------
    CompileError
        If the source has errors, or the compiler does not recognize an option.
    LogicError
        If no architecture is given and no context is current.

    Warns
    -----
    UserWarning
        If compilation succeeds with messages, which the warning contains.
    """
    request = Request(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
    return bytes(compile_object(request, target).code)


class _Loaded:
    """Base class with the methods of :class:`Module`. ``module`` is None until it is linked."""

    module = None

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__name__} of {self.module!r}>"

    def get_function(self, name: str):
        """Return a kernel. See :meth:`Module.get_function`."""
        return self._linked().get_function(name)

    def get_global(self, name: str):
        """Return the address and the size of a variable. See :meth:`Module.get_global`."""
        return self._linked().get_global(name)

    def get_texref(self, name: str):
        """Return a texture reference. See :meth:`Module.get_texref`."""
        return self._linked().get_texref(name)

    def get_surfref(self, name: str):
        """Return a surface reference. See :meth:`Module.get_surfref`."""
        return self._linked().get_surfref(name)

    def _linked(self) -> Module:
        if self.module is None:
            raise LogicError("the module is not linked; call link() first")
        return self.module


class SourceModule(_Loaded):
    """A source, compiled or taken from the cache, and loaded on the current device (``cuModuleLoadDataEx``).

    The parameters are the same as for :func:`compile`, except ``target``.

    Attributes
    ----------
    module : :class:`Module`
        The loaded code.

    Raises
    ------
    CompileError
        If the source has errors, or the compiler does not recognize an option.
    LogicError
        If no context is current.

    Examples
    --------
    >>> import numpy as np
    >>> import cuda.core.driver as drv
    >>> from cuda.core.driver import autoinit
    >>> from cuda.core.driver.compiler import SourceModule
    >>> double = SourceModule("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }").get_function("twice")
    >>> array = np.ones(4, np.float32)
    >>> double(drv.InOut(array), block=(4, 1, 1))
    >>> array.tolist()
    [2.0, 2.0, 2.0, 2.0]
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
        context_for("cuModuleLoadDataEx")
        request = Request(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
        try:
            compiled = compile_object(request, "cubin")
        except CompileError as error:
            raise error.with_traceback(None) from None  # without the calls inside this library
        self.module = Module._of_code(compiled)


class DynamicModule(_Loaded):
    """Several sources and libraries, compiled to relocatable device code and linked.

    Parameters
    ----------
    nvcc, keep, no_extern_c, arch, code, cache_dir, include_dirs
        As in :func:`compile`, for all sources.
    link_options : list, optional
        Pairs of a :class:`jit_option` and an int, for the linker.
    message_handler : callable, optional
        Called as ``message_handler(ok, info, error)`` with the linker's logs.
    log_verbose : bool, optional
        Whether the linker writes a verbose log. Defaults to False.
    cuda_libdir : str, optional
        The directory of the static CUDA libraries. Defaults to searching the CUDA packages and the toolkit.

    Attributes
    ----------
    module : :class:`Module` or None
        The loaded code, or None before :meth:`link`.

    Raises
    ------
    LogicError
        If no context is current, or a linker option is unknown.
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
        """Compile a source, add its code, and return this object.

        Parameters
        ----------
        source : str
            The source in CUDA C++.
        nvcc_options : list of str, optional
            The compiler options. Defaults to ``DEFAULT_NVCC_FLAGS``.
        name : str, optional
            The name of the code in linker messages. Defaults to ``"kernel.ptx"``.

        Raises
        ------
        CompileError
            If the source has errors, or the compiler does not recognize an option.
        """
        request = self._request._replace(source=source, options=nvcc_options)
        self._linker.add_data(compile_object(request, "cubin").code, jit_input_type.CUBIN, name)
        return self

    def add_data(self, data: bytes, input_type: int, name: str = "unknown") -> DynamicModule:
        """Add code from memory, and return this object. See :meth:`Linker.add_data`."""
        self._linker.add_data(data, input_type, name)
        return self

    def add_file(self, filename: str, input_type: int) -> DynamicModule:
        """Add code from a file, and return this object. See :meth:`Linker.add_file`."""
        self._linker.add_file(filename, input_type)
        return self

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Add a static CUDA library with device code, and return this object.

        Parameters
        ----------
        libname : str
            The library name, such as ``"cudadevrt"``.

        Raises
        ------
        RuntimeError
            If the library is not found.
        """
        return self.add_file(find_library(libname, self._cuda_libdir), jit_input_type.LIBRARY)

    def link(self) -> DynamicModule:
        """Link and load the added code, and return this object. See :meth:`Linker.link_module`."""
        self.module = self._linker.link_module()
        return self


class DynamicSourceModule(DynamicModule):
    """A source with dynamic parallelism, compiled to relocatable device code and linked with ``cudadevrt``.

    The parameters are the same as for :class:`SourceModule`, plus ``cuda_libdir`` of :class:`DynamicModule`. ``module``
    is the loaded module.

    Raises
    ------
    CompileError
        If the source has errors, or the compiler does not recognize an option.
    RuntimeError
        If a kernel launches kernels and ``cudadevrt`` is not found.
    LogicError
        If linking fails, or no context is current.
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
        missing = None
        try:
            self.add_stdlib("cudadevrt")
        except RuntimeError as error:
            missing = error
        try:
            self.link()
        except LogicError:
            if missing is not None:  # which a kernel that launches none does not need
                raise missing from None
            raise


def preprocess_source(source: str, options: list[str], nvcc: str) -> str:
    """Return the preprocessed source (``nvcc --preprocess``).

    Parameters
    ----------
    source : str
        The source in CUDA C++.
    options : list of str
        The compiler options.
    nvcc : str
        The path of an ``nvcc``.

    Raises
    ------
    NotSupportedError
        If ``nvcc`` is not the path of a compiler, because NVRTC does not return preprocessed sources.
    CompileError
        If preprocessing fails.
    """
    if nvcc in (None, "nvcc"):
        raise logic_error(
            "preprocess_source", NOT_SUPPORTED, "NVRTC does not return preprocessed sources; pass the path of an nvcc"
        )
    nvcc, source = path_argument("nvcc", nvcc), text_argument("source", source)
    return preprocess_with_nvcc(nvcc, source, split_options(options))


def get_nvcc_version(nvcc: str = "nvcc") -> str:
    """Return the NVRTC version, or the output of ``nvcc --version`` if ``nvcc`` is the path of a compiler.

    Parameters
    ----------
    nvcc : str, optional
        The path of an ``nvcc``. Defaults to NVRTC.

    Raises
    ------
    CompileError
        If the compiler is not found.
    """
    if nvcc is not None:
        nvcc = path_argument("nvcc", nvcc)
    return nvcc_version(nvcc) if nvcc not in (None, "nvcc") else "NVRTC {}.{}".format(*nvrtc_version())


def __dir__():
    return list(__all__)
