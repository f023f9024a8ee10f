# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Linking of compiled code, with nvJitLink or the driver's linker.

Both back ends have the attributes ``backend`` and ``handle`` and the methods ``add()``, ``link()``, ``log()`` and
``close()``.
"""

from __future__ import annotations

import functools
import importlib
import threading

from cuda.core._compile._option_table import ignored_options, refused_options, render_options
from cuda.core._compile.linking._driver_linker import DriverLinker
from cuda.core._compile.linking._linker_options import LinkerOptions
from cuda.core._compile.linking._nvjitlink_linker import NvJitLink
from cuda.core._compile.linking._nvjitlink_version import NO_NVJITLINK, nvjitlink_version
from cuda.core._module import ObjectCode
from cuda.core._utils.cuda_utils import check_or_create_options
from cuda.core._utils.errors.caller import warn_caller
from cuda.core._utils.errors.uninitialized import raise_if_uninitialized
from cuda.core._utils.errors.values import completed_as, hasattr_safe
from cuda.core._utils.validators import find_str_enum
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType

__all__ = ["Linker", "LinkerOptions"]

_TARGETS = {target.value: target for target in (ObjectCodeFormatType.CUBIN, ObjectCodeFormatType.PTX)}
_FORMATS = {format.value: format for format in ObjectCodeFormatType}

_choice = threading.RLock()


@hasattr_safe
@raise_if_uninitialized("_linker", "_is_linked")
class Linker:
    """Links compiled code at run time, with nvJitLink (``nvJitLinkCreate``) or the driver (``cuLinkCreate``).

    Parameters
    ----------
    *object_codes : :class:`ObjectCode`
        The inputs, at least one. nvJitLink links all types of code; the driver's linker does not take LTO IR.
    options : :class:`LinkerOptions` | dict, optional
        The linker options. They are copied: later changes have no effect. If None, the defaults, for the current
        device.

    Raises
    ------
    TypeError
        If an input is not an :class:`ObjectCode`, or its code is neither bytes-like nor a path.
    ValueError
        If there are no inputs, or the back end does not have an option, or does not take the type of an input.
    RuntimeError
        If an input is closed, or ``options.arch`` is None and there is no device.
    nvJitLinkError, CUDAError
        If the linker refuses an option or an input; the message has its log.

    Warns
    -----
    RuntimeWarning
        Once per process, if nvJitLink is missing or too old and the driver's linker takes its place.
    DeprecationWarning
        For options that the driver's linker ignores.

    Examples
    --------
    >>> options = ProgramOptions(arch="sm_90", relocatable_device_code=True)
    >>> source = 'extern "C" __device__ int g(); extern "C" __global__ void f(int* x) { *x = g(); }'
    >>> main = Program(source, "c++", options)
    >>> part = Program('extern "C" __device__ int g() { return 1; }', "c++", options)
    >>> linker = Linker(main.compile("cubin"), part.compile("ptx"), options=LinkerOptions(arch="sm_90"))
    >>> kernel = linker.link("cubin").get_kernel("f")
    """

    def __init__(self, *object_codes: ObjectCode, options: LinkerOptions | None = None):
        self._is_linked = False
        if not object_codes:
            raise ValueError("Linker() takes at least one ObjectCode, not none")
        for object_code in object_codes:
            if not isinstance(object_code, ObjectCode):
                raise TypeError(f"Linker() takes ObjectCode objects, not {type(object_code).__name__}")
        options = check_or_create_options(LinkerOptions, options, "linker options")
        self._name = options.name
        is_driver = _decide_nvjitlink_or_driver()
        if is_driver:
            for name in ignored_options(options, "driver"):
                warn_caller(
                    f"the driver's linker ignores {name}, which is deprecated; {NO_NVJITLINK}", DeprecationWarning
                )
        if is_driver:
            self._linker = make_driver_linker(options)
        else:
            self._linker = NvJitLink(options.as_bytes(), is_quick=are_quick_to_link(object_codes))
        for index, object_code in enumerate(object_codes):
            add_input(self._linker, object_code, index)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def __reduce__(self):
        raise TypeError("a Linker cannot be pickled or copied; pickle the ObjectCode that it links to")

    def __repr__(self):
        return f"<Linker backend={self.backend.value!r}{' closed' if self.is_closed else ''}>"

    @classmethod
    def which_backend(cls) -> CompilerBackendType:
        """Return what links: nvJitLink, or the driver if nvJitLink is missing or older than CUDA 12.3.

        Returns
        -------
        CompilerBackendType
            ``"nvJitLink"`` or ``"driver"``; the same for the whole life of the process.
        """
        return CompilerBackendType.DRIVER if _decide_nvjitlink_or_driver() else CompilerBackendType.NVJITLINK

    def link(self, target_type: ObjectCodeFormatType | str) -> ObjectCode:
        """Link the inputs (``nvJitLinkComplete``, ``cuLinkComplete``). A Linker can link once.

        Parameters
        ----------
        target_type : ObjectCodeFormatType | str
            The output format, in upper or lower case: ``"cubin"``, or ``"ptx"``, which nvJitLink generates from LTO IR
            with the options ``link_time_optimization=True, ptx=True``.

        Returns
        -------
        :class:`ObjectCode`
            The linked code. Its name is ``options.name``.

        Raises
        ------
        ValueError
            If the linker cannot generate ``target_type``.
        RuntimeError
            If the linker is closed, or :meth:`link` was called before.
        nvJitLinkError, CUDAError
            If linking failed. The message and the attribute ``log`` of the exception have the linker's log.
        """
        target = _TARGETS.get(target_type) if isinstance(target_type, str) else None
        if target is None:
            target = _TARGETS[find_str_enum(target_type, _TARGETS, "target_type")]
        if self.is_closed:
            raise RuntimeError("this Linker is closed")
        if target is ObjectCodeFormatType.PTX and self.backend is CompilerBackendType.DRIVER:
            raise ValueError(f"target_type must be 'cubin' for the driver's linker, not 'ptx'; {NO_NVJITLINK}")
        if self._is_linked:
            raise RuntimeError("link() was called before on this Linker; create another Linker with the same inputs")
        self._is_linked = True
        return ObjectCode._init(self._linker.link(target), target, name=self._name)

    def get_error_log(self) -> str:
        """Return the linker's error log (``nvJitLinkGetErrorLog``, ``CU_JIT_ERROR_LOG_BUFFER``).

        Returns
        -------
        str
            The log so far; also after :meth:`link` and :meth:`close`.

        Raises
        ------
        nvJitLinkError
            If the log cannot be fetched.
        """
        return self._linker.log("error")

    def get_info_log(self) -> str:
        """Return the linker's information log (``nvJitLinkGetInfoLog``, ``CU_JIT_INFO_LOG_BUFFER``).

        Returns
        -------
        str
            The log so far; also after :meth:`link` and :meth:`close`.

        Raises
        ------
        nvJitLinkError
            If the log cannot be fetched.
        """
        return self._linker.log("info")

    def close(self) -> None:
        """Destroy the linker (``nvJitLinkDestroy``, ``cuLinkDestroy``); calling this again does nothing."""
        if self._linker is not None:
            self._linker.close()

    @property
    def backend(self) -> CompilerBackendType:
        """What links: ``"nvJitLink"`` or ``"driver"``."""
        return self._linker.backend

    @property
    @completed_as(object)
    def handle(self) -> int | driver.CUlinkState:  # noqa: F821
        """The address of the nvJitLink handle, or the ``driver.CUlinkState``; 0 or null when closed."""
        return self._linker.handle

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._linker.is_closed


def are_quick_to_link(object_codes) -> bool:
    """Return whether all inputs are small cubins, which link within a few milliseconds."""
    sizes = [
        len(code.code) if code.code_type == "cubin" and isinstance(code.code, bytes) else None for code in object_codes
    ]
    return None not in sizes and sum(sizes) < 1 << 20


def make_driver_linker(options: LinkerOptions) -> DriverLinker:
    """Return the driver's linker; ValueError for options that it does not have."""
    refused = refused_options(options, "driver")
    if refused:
        raise ValueError(f"the driver's linker does not support the options {', '.join(refused)}; {NO_NVJITLINK}")
    return DriverLinker(render_options(options, "driver"))


def add_input(linker, object_code: ObjectCode, index: int) -> None:
    """Add an object code to a back end."""
    code = object_code.code
    kind = _FORMATS[object_code.code_type]
    if kind not in linker.input_types:
        raise ValueError(
            f"the driver's linker cannot link input {index}, which is {kind.value!r}; compile to 'ptx' or 'cubin'; "
            f"{NO_NVJITLINK}"
        )
    if isinstance(code, (bytearray, memoryview)):
        code = bytes(code)
    if not isinstance(code, (bytes, str)):
        raise TypeError(f"the code of input {index} must be bytes or the path of a file, not {type(code).__name__}")
    linker.add(kind, code, object_code.name or f"input {index}")


def _decide_nvjitlink_or_driver() -> bool:
    """Return whether the driver's linker is used because nvJitLink is missing; decided once per process."""
    if _decision.cache_info().currsize:
        return _decision()
    with _choice:
        is_first = not _decision.cache_info().currsize
        is_driver = _decision()
    if is_driver and is_first:
        warn_caller(f"{NO_NVJITLINK}; until then the driver's linker is used", RuntimeWarning)
    return is_driver


@functools.cache
def _decision() -> bool:
    return nvjitlink_version() is None


def __getattr__(name):
    # A type alias for users' annotations; the bindings are imported when it is first accessed.
    if name == "LinkerHandleT":
        return int | importlib.import_module("cuda.bindings.driver").CUlinkState
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
