# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Linking compiled code, by nvJitLink or by the driver's linker.

A back end has ``backend``, ``handle``, ``add()``, ``link()``, ``log()`` and ``close()``.
"""

from __future__ import annotations

import copy
import functools
import importlib
import os
import re
import sys
import threading
import warnings

from cuda.core._code_image import check_image
from cuda.core._compile_options import LinkerOptions
from cuda.core._driver_linker import DriverLinker
from cuda.core._module import ObjectCode
from cuda.core._utils.caller import warn_caller
from cuda.core._utils.cuda_utils import CUDAError, check_or_create_options
from cuda.core._utils.nvjitlink import (
    NO_NVJITLINK,
    add_to_nvjitlink,
    call_nvjitlink,
    nvjitlink_log,
    nvjitlink_version,
)
from cuda.core._utils.option_table import ignored_options, refused_options, render_options
from cuda.core._utils.tool_errors import tool_error
from cuda.core._utils.validators import find_str_enum
from cuda.core._utils.workers import next_worker
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType

__all__ = ["Linker", "LinkerOptions"]

_TARGETS = (ObjectCodeFormatType.CUBIN, ObjectCodeFormatType.PTX)

# Other architectures nvJitLink refuses by itself; after a number of one digit it would end the process.
_ARCH = re.compile(r"(sm|compute|lto)_[1-9]\d+[a-z]?")

_choice = threading.Lock()


class Linker:
    """Compiled code that is linked at run time.

    Parameters
    ----------
    *object_codes : :class:`ObjectCode`
        The inputs, of any type: at least one.
    options : :class:`LinkerOptions`, optional
        How to link; a dict of its fields is taken too. They are copied: later changes have no effect.

    Raises
    ------
    TypeError
        If an input is no :class:`ObjectCode`, or its code is neither bytes-like nor a path.
    ValueError
        If there are no inputs, or the back end lacks an option or the type of an input.
    RuntimeError
        If an input is closed, or there is neither an architecture in the options nor a driver to ask for a device.
    nvJitLinkError, CUDAError
        If an option or an input is not valid; with the log.

    Warns
    -----
    RuntimeWarning
        Once per process, if nvJitLink is missing or too old and the driver's linker takes its place.
    DeprecationWarning
        For options that the driver's linker ignores.

    Examples
    --------
    >>> options = ProgramOptions(arch="sm_90", relocatable_device_code=True)
    >>> main = Program('extern "C" __device__ int g(); extern "C" __global__ void f(int* x) { *x = g(); }', "c++", options)
    >>> part = Program('extern "C" __device__ int g() { return 1; }', "c++", options)
    >>> linker = Linker(main.compile("cubin"), part.compile("ptx"), options=LinkerOptions(arch="sm_90"))
    >>> kernel = linker.link("cubin").get_kernel("f")
    """

    def __init__(self, *object_codes: ObjectCode, options: LinkerOptions | None = None):
        self._linker = None
        self._is_linked = False
        if not object_codes:
            raise ValueError("a Linker needs at least one ObjectCode")
        for object_code in object_codes:
            if not isinstance(object_code, ObjectCode):
                raise TypeError(f"a Linker takes ObjectCode objects, not {type(object_code).__name__}")
        self._options = copy.copy(check_or_create_options(LinkerOptions, options, "linker options"))
        is_driver = _decide_nvjitlink_or_driver()
        if is_driver:
            for name in ignored_options(self._options, "driver"):
                warn_caller(
                    f"the driver's linker ignores {name}, which is deprecated; {NO_NVJITLINK}", DeprecationWarning
                )
        self._linker = make_driver_linker(self._options) if is_driver else NvJitLink(self._options)
        for index, object_code in enumerate(object_codes):
            add_input(self._linker, object_code, index)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def __repr__(self):
        return f"<Linker backend={self.backend.value!r}{' closed' if self.is_closed else ''}>"

    @classmethod
    def which_backend(cls) -> CompilerBackendType:
        """Return what links: nvJitLink, or the driver where that is missing or older than CUDA 12.3.

        The answer is the same for the life of the process.
        """
        return CompilerBackendType.DRIVER if _decide_nvjitlink_or_driver() else CompilerBackendType.NVJITLINK

    def link(self, target_type: ObjectCodeFormatType | str) -> ObjectCode:
        """Link the inputs (``nvJitLinkComplete``, ``cuLinkComplete``); a linker links once.

        Parameters
        ----------
        target_type : ObjectCodeFormatType | str
            What to make, in any case: ``"cubin"``, or ``"ptx"``, which nvJitLink makes of LTO IR with
            the options ``link_time_optimization=True, ptx=True``.

        Returns
        -------
        :class:`ObjectCode`
            The linked code, named as the options say.

        Raises
        ------
        ValueError
            If the linker cannot make ``target_type``.
        RuntimeError
            If the linker is closed, or has linked already.
        nvJitLinkError, CUDAError
            If linking failed; the message and ``log`` have what the linker says.
        """
        target = ObjectCodeFormatType(find_str_enum(target_type, [target.value for target in _TARGETS], "target_type"))
        if self.is_closed:
            raise RuntimeError("this Linker is closed")
        if target is ObjectCodeFormatType.PTX and self.backend is CompilerBackendType.DRIVER:
            raise ValueError(f"the driver's linker makes no PTX, only 'cubin'; {NO_NVJITLINK}")
        if self._is_linked:
            raise RuntimeError("this Linker has linked already; make another one of the same inputs")
        self._is_linked = True
        return ObjectCode._init(self._linker.link(target), target, name=self._options.name)

    def get_error_log(self) -> str:
        """Return the errors so far; kept after :meth:`link` and :meth:`close`.

        Raises
        ------
        nvJitLinkError
            If the log cannot be fetched.
        """
        return self._linker.log("error")

    def get_info_log(self) -> str:
        """Return the messages so far; kept after :meth:`link` and :meth:`close`.

        Raises
        ------
        nvJitLinkError
            If the log cannot be fetched.
        """
        return self._linker.log("info")

    def close(self) -> None:
        """Give back the linker's state; calling this again does nothing."""
        if self._linker is not None:
            self._linker.close()

    @property
    def backend(self) -> CompilerBackendType:
        """What links."""
        return self._linker.backend

    @property
    def handle(self) -> int | driver.CUlinkState:  # noqa: F821
        """The address of the nvJitLink handle, or the ``driver.CUlinkState``; 0 or null when closed."""
        return self._linker.handle

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._linker.is_closed


class NvJitLink:
    """The back end that links with nvJitLink.

    A link belongs to the thread that makes it: used, or only destroyed, by another one, nvJitLink may
    corrupt the memory of the process. So all its calls are made by one worker.

    Parameters
    ----------
    options : :class:`LinkerOptions`
        How to link.

    Raises
    ------
    nvJitLinkError
        If nvJitLink does not take the options; the message has them.
    """

    backend = CompilerBackendType.NVJITLINK
    input_types = tuple(ObjectCodeFormatType)

    def __init__(self, options: LinkerOptions):
        self._handle = 0
        self._inputs = []  # kept as long as the link refers to them
        self._logs = {"error": "", "info": ""}
        self._lock = threading.Lock()  # one call of a link at a time
        arguments = options.as_bytes()
        given = b" ".join(arguments).decode(errors="backslashreplace")
        detail = "nvJitLink {}.{}, which is loaded, does not take these options: {}".format(*nvjitlink_version(), given)
        if options.arch is not None and not _ARCH.fullmatch(str(options.arch)):
            raise tool_error("nvJitLinkError", 16, "nvJitLinkCreate", f"arch must be such as 'sm_90'; {detail}")
        self._worker = next_worker()
        self._handle = self._worker.run(create, arguments, detail)

    def __del__(self):
        # The interpreter may have taken the bindings apart already; the process ends then anyway.
        if not sys.is_finalizing() and getattr(self, "_handle", 0):
            self._worker.post(destroy, self._handle, self._inputs)

    @property
    def handle(self) -> int:
        """The address of the ``nvJitLinkHandle``, 0 when closed."""
        return self._handle

    @property
    def is_closed(self) -> bool:
        """Whether the link is gone."""
        return not self._handle

    def add(self, kind: ObjectCodeFormatType, code: bytes | str, name: str) -> None:
        """Add code (``nvJitLinkAddData``), or a file of code (``nvJitLinkAddFile``)."""
        number = int(getattr(importlib.import_module("cuda.bindings.nvjitlink").InputType, kind.name))
        if isinstance(code, str):
            data, label = None, os.fsencode(code)
            detail = f"adding the {kind.value} file {code!r} failed"
            if b"\0" in label:
                raise ValueError(f"the path of the module contains a null character: {code!r}")
        else:
            data, label = code, name.encode(errors="replace")
            detail = f"adding the {kind.value} input {name!r} of {len(code)} bytes failed"
            check_whole(data, detail)
        with self._lock:
            self._inputs.append((data, label))
            self._worker.run(add_to_nvjitlink, self._handle, number, data, label, detail)

    def link(self, target: ObjectCodeFormatType) -> bytes:
        """Link, and return the code (``nvJitLinkComplete``)."""
        with self._lock:
            if not self._handle:
                raise RuntimeError("this Linker is closed")
            return self._worker.run(complete, self._handle, target)

    def log(self, kind: str) -> str:
        """Return the ``"error"`` or the ``"info"`` log."""
        with self._lock:
            return self._worker.run(nvjitlink_log, self._handle, kind) if self._handle else self._logs[kind]

    def close(self) -> None:
        """Keep the logs and destroy the link (``nvJitLinkDestroy``), after a call in another thread."""
        with self._lock:
            handle, self._handle = self._handle, 0
            if handle and self._worker.is_alive:
                self._logs = self._worker.run(end, handle, self._inputs)


def create(arguments: list[bytes], detail: str) -> int:
    """Begin a link of nvJitLink (``nvJitLinkCreate``)."""
    return call_nvjitlink("create", len(arguments), arguments, detail=detail)


def complete(handle: int, target: ObjectCodeFormatType) -> bytes:
    """Link, and return the code (``nvJitLinkComplete``)."""
    detail = f"linking to {target.value} failed"
    kind = f"get_linked_{target.value}"
    call_nvjitlink("complete", handle, detail=detail, handle=handle)
    detail += "; PTX, and nothing else, is made with link_time_optimization=True and ptx=True, of LTO IR"
    code = bytearray(call_nvjitlink(f"{kind}_size", handle, detail=detail, handle=handle))
    call_nvjitlink(kind, handle, code, detail=detail, handle=handle)
    return bytes(code)


def end(handle: int, inputs: list) -> dict[str, str]:
    """Return the logs of a link of nvJitLink, and end it."""
    try:
        return {kind: nvjitlink_log(handle, kind) for kind in ("error", "info")}
    finally:
        destroy(handle, inputs)


def destroy(handle: int, inputs: list) -> None:
    """End a link of nvJitLink, then its inputs; a failure is shown as a ``ResourceWarning``."""
    try:
        call_nvjitlink("destroy", handle)
    except CUDAError as error:
        warnings.warn(f"releasing a CUDA resource failed: {error}", ResourceWarning, stacklevel=2)
    inputs.clear()


def make_driver_linker(options: LinkerOptions) -> DriverLinker:
    """Return the driver's linker, having refused what it lacks."""
    refused = refused_options(options, "driver")
    if refused:
        raise ValueError(f"options not supported by the driver's linker: {', '.join(refused)}; {NO_NVJITLINK}")
    return DriverLinker(render_options(options, "driver"))


def add_input(linker, object_code: ObjectCode, index: int) -> None:
    """Add an object code to a back end."""
    kind = ObjectCodeFormatType(object_code.code_type)
    code = object_code.code
    if kind not in linker.input_types:
        raise ValueError(
            f"the driver's linker takes no {kind.value}, which input {index} is; compile to 'ptx' or 'cubin'; {NO_NVJITLINK}"
        )
    if isinstance(code, (bytearray, memoryview)):
        code = bytes(code)
    if not isinstance(code, (bytes, str)):
        raise TypeError(f"the code of input {index} must be bytes or the path of a file, not {type(code).__name__}")
    linker.add(kind, code, object_code.name or f"input {index}")


def check_whole(data: bytes, detail: str) -> None:
    """Refuse an input that ends before its own headers say: nvJitLink would read past its end."""
    try:
        check_image(data)
    except CUDAError as error:
        raise tool_error("nvJitLinkError", 3, "nvJitLinkAddData", f"{detail}: {error.explanation}") from None


def _decide_nvjitlink_or_driver() -> bool:
    """Return whether the driver links, for want of nvJitLink; decided once per process."""
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
    # An alias of types in the bindings, which load at first use.
    if name == "LinkerHandleT":
        return int | importlib.import_module("cuda.bindings.driver").CUlinkState
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
