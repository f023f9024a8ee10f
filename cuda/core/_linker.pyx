# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The linker, and the back end that links with the driver."""

from __future__ import annotations

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from cuda.core._context cimport Context_current, Context_enter, Context_leave
from cuda.core._native._cuda_core cimport Anchor, ContextHandle, Handle, HandleField, Pin, address, bindings_object
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, LEAVE_RETURN, WARN_RETURN

import functools
import importlib
import os
from time import perf_counter

from cuda.core._code._loading import check_image, explain
from cuda.core._compile._linker_options import LinkerOptions
from cuda.core._compile._nvjitlink import NO_NVJITLINK, NvJitLink, nvjitlink_version
from cuda.core._compile._option_table import ignored_options, render_options, unsupported_options
from cuda.core._compile._tools import CallLock
from cuda.core._module import ObjectCode, linked_declarations
from cuda.core._utils.cuda_utils import CUDAError, NotSupportedError, UnavailableError, check_or_create_options
from cuda.core._utils.errors import warn_caller
from cuda.core._utils.locks import RLock
from cuda.core._utils.logs import debug as log_debug
from cuda.core._utils.logs import elapsed_ms
from cuda.core._utils.validators import find_str_enum, shown
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType

__all__ = ["DriverLinker", "Linker", "LinkerOptions"]


class Linker:
    """Links compiled code at run time, with nvJitLink (``nvJitLinkCreate``) or the driver (``cuLinkCreate``).

    Parameters
    ----------
    *object_codes : :class:`ObjectCode`
        The inputs, at least one. nvJitLink links all types of code; the driver's linker does not accept LTO IR.
    options : :class:`LinkerOptions` | dict, optional
        The linker options, which are copied, so later changes have no effect. Defaults to the default options for the
        current device.

    Raises
    ------
    TypeError
        If an input is not an :class:`ObjectCode`, or its code is neither bytes-like nor a path.
    ValueError
        If there are no inputs, or the back end does not support an option or the type of an input.
    RuntimeError
        If an input is closed, or ``options.arch`` is None and there is no device.
    nvJitLinkError, CUDAError
        If the linker rejects an option or an input. The message contains the linker's log.

    Warns
    -----
    RuntimeWarning
        Once per process, if nvJitLink is missing or too old and the driver's linker replaces it.
    DeprecationWarning
        For options that the driver's linker ignores.

    Examples
    --------
    >>> from cuda.core import Linker, LinkerOptions, Program, ProgramOptions
    >>> options = ProgramOptions(arch="sm_90", relocatable_device_code=True)
    >>> source = 'extern "C" __device__ int g(); extern "C" __global__ void f(int* x) { *x = g(); }'
    >>> main = Program(source, "c++", options)
    >>> part = Program('extern "C" __device__ int g() { return 1; }', "c++", options)
    >>> linker = Linker(main.compile("cubin"), part.compile("ptx"), options=LinkerOptions(arch="sm_90"))
    >>> linker.link("cubin").code_type
    'cubin'
    """

    def __init__(self, *object_codes: ObjectCode, options: LinkerOptions | dict[str, Any] | None = None):
        self._is_linked = False
        if not object_codes:
            raise ValueError("Linker() takes at least one ObjectCode, not none")
        for object_code in object_codes:
            if not isinstance(object_code, ObjectCode):
                raise TypeError(f"Linker() takes ObjectCode objects, not {type(object_code).__name__}")
        options = check_or_create_options(LinkerOptions, options, "linker options")
        self._name = options.name
        self._declarations = linked_declarations(object_codes)
        self._input_types = {object_code.code_type for object_code in object_codes}
        self._is_incremental, self._is_lto = bool(options.incremental), bool(options.link_time_optimization)
        is_driver = _decide_nvjitlink_or_driver()
        if is_driver:
            for name in ignored_options(options, "driver"):
                warn_caller(
                    f"the driver's linker ignores {name}, which is deprecated; {NO_NVJITLINK}", DeprecationWarning
                )
        if is_driver:
            self._linker = make_driver_linker(options)
        else:
            require_nvjitlink(INCREMENTAL, "incremental=True", options.incremental)
            self._linker = NvJitLink(options.as_bytes())
        try:
            for index, object_code in enumerate(object_codes):
                add_input(self._linker, object_code, index)
        except CUDAError as error:
            raise error.with_traceback(None)  # without the calls inside this library

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
        """Return which back end links: nvJitLink, or the driver if nvJitLink is missing or older than CUDA 12.3.

        Returns
        -------
        CompilerBackendType
            ``"nvJitLink"`` or ``"driver"``. It does not change during the life of the process.
        """
        return CompilerBackendType.DRIVER if _decide_nvjitlink_or_driver() else CompilerBackendType.NVJITLINK

    def link(self, target_type: ObjectCodeFormatType | str) -> ObjectCode:
        """Link the inputs (``nvJitLinkComplete``, ``cuLinkComplete``), which a Linker can do once.

        Parameters
        ----------
        target_type : ObjectCodeFormatType | str
            The output format, in upper or lower case: ``"cubin"``, or what nvJitLink generates from LTO IR with the
            option ``link_time_optimization=True``: ``"ptx"``, with ``ptx=True`` too, or ``"ltoir"``, which another link
            can optimize. With the option ``incremental=True``, a cubin is an input for another link, too.

        Returns
        -------
        :class:`ObjectCode`
            The linked code. Its name is ``options.name``.

        Raises
        ------
        ValueError
            If the linker cannot generate ``target_type`` with these options, or from these inputs.
        NotSupportedError
            If nvJitLink is older than CUDA 13.3 and ``target_type`` is ``"ltoir"``.
        RuntimeError
            If the linker is closed, or has already linked.
        nvJitLinkError, CUDAError
            If linking failed. The message and the ``log`` attribute of the exception contain the linker's log.
        """
        target = _TARGETS.get(target_type) if isinstance(target_type, str) else None
        if target is None:
            target = _TARGETS[find_str_enum(target_type, _TARGETS, "target_type")]
        if self.is_closed:
            raise UnavailableError("this Linker is closed")
        self._check_target(target)
        if self._is_linked:
            raise RuntimeError("this Linker has already linked; create another Linker with the same inputs")
        self._is_linked = True
        start = perf_counter()
        try:
            code = self._linker.link(target)
        except CUDAError as error:
            raise error.with_traceback(None)  # without the calls inside this library
        log_debug("linked %s to %s in %.1f ms", self._name or "code", target.value, elapsed_ms(start))
        return ObjectCode._init(code, target, name=self._name, declarations=self._declarations)

    def _check_target(self, target: ObjectCodeFormatType) -> None:
        if target is ObjectCodeFormatType.CUBIN:
            return
        if self.backend is CompilerBackendType.DRIVER:
            raise ValueError(
                f"target_type must be 'cubin' for the driver's linker, not {target.value!r}; {NO_NVJITLINK}"
            )
        if target is ObjectCodeFormatType.PTX:
            if self._is_incremental:
                raise ValueError("target_type must be 'cubin' or 'ltoir' with incremental=True, not 'ptx'")
            return
        if not self._is_lto:
            raise ValueError("target_type 'ltoir' needs the option link_time_optimization=True")
        without = sorted(self._input_types & {"cubin", "ptx"})
        if without:
            raise ValueError(
                f"target_type must not be 'ltoir' with input of type {' and '.join(map(repr, without))}, which contain "
                "no LTO IR; compile them to 'ltoir'"
            )
        require_nvjitlink(LINKED_LTOIR, "target_type 'ltoir'", True)

    def get_error_log(self) -> str:
        """Return the linker's error log (``nvJitLinkGetErrorLog``, ``CU_JIT_ERROR_LOG_BUFFER``).

        Returns
        -------
        str
            The log up to now. It is also available after :meth:`link` and :meth:`close`.

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
            The log up to now. It is also available after :meth:`link` and :meth:`close`.

        Raises
        ------
        nvJitLinkError
            If the log cannot be fetched.
        """
        return self._linker.log("info")

    def close(self) -> None:
        """Destroy the linker (``nvJitLinkDestroy``, ``cuLinkDestroy``). Closing a closed linker has no effect."""
        if self._linker is not None:
            self._linker.close()

    @property
    def backend(self) -> CompilerBackendType:
        """The back end that links: ``"nvJitLink"`` or ``"driver"``."""
        return self._linker.backend

    @property
    def handle(self) -> int | driver.CUlinkState:  # noqa: F821
        """The address of the nvJitLink handle, or the ``driver.CUlinkState``. It is 0 or null if closed."""
        return self._linker.handle

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._linker.is_closed


def _decide_nvjitlink_or_driver() -> bool:
    """Return whether the driver links because nvJitLink is missing, which is decided once per process."""
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


# The first versions of nvJitLink with these features.
INCREMENTAL = 13, 2
LINKED_LTOIR = 13, 3


def require_nvjitlink(version: tuple[int, int], feature: str, is_used) -> None:
    """Raise NotSupportedError if a feature is used that the loaded nvJitLink does not have."""
    loaded = nvjitlink_version()
    if is_used and loaded < version:
        raise NotSupportedError(
            "{} needs nvJitLink {}.{}, but nvJitLink {}.{} is loaded; install a newer nvidia-nvjitlink".format(
                feature, *version, *loaded
            )
        )


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


_TARGETS = {
    target.value: target
    for target in (ObjectCodeFormatType.CUBIN, ObjectCodeFormatType.LTOIR, ObjectCodeFormatType.PTX)
}
_FORMATS = {format.value: format for format in ObjectCodeFormatType}

_choice = RLock()


def __getattr__(name):
    # A type alias for annotations in user code. The bindings are imported when it is first accessed.
    if name == "LinkerHandleT":
        return int | importlib.import_module("cuda.bindings.driver").CUlinkState
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# --- The driver's linker ----------------------------------------------------------------------------------------------


def make_driver_linker(options: LinkerOptions) -> DriverLinker:
    """Return the driver's linker, or raise ValueError for options that it does not support."""
    return DriverLinker(driver_settings(options))


def driver_settings(options: LinkerOptions) -> list:
    """Return the settings for the driver's linker, or raise ValueError for options that it does not support."""
    unsupported = unsupported_options(options, "driver")
    if unsupported:
        raise ValueError(f"the driver's linker does not support the options {', '.join(unsupported)}; {NO_NVJITLINK}")
    return render_options(options, "driver")


ctypedef Handle[cydriver.CUlinkState] LinkHandle
ctypedef HandleField[cydriver.CUlinkState] LinkField
ctypedef Pin[cydriver.CUlinkState] LinkPin

cdef dict _INPUT_TYPES = {
    ObjectCodeFormatType.CUBIN: <int>cydriver.CUjitInputType.CU_JIT_INPUT_CUBIN,
    ObjectCodeFormatType.PTX: <int>cydriver.CUjitInputType.CU_JIT_INPUT_PTX,
    ObjectCodeFormatType.FATBIN: <int>cydriver.CUjitInputType.CU_JIT_INPUT_FATBINARY,
    ObjectCodeFormatType.OBJECT: <int>cydriver.CUjitInputType.CU_JIT_INPUT_OBJECT,
    ObjectCodeFormatType.LIBRARY: <int>cydriver.CUjitInputType.CU_JIT_INPUT_LIBRARY,
}

# The CUjit_option for each name in the table of linker options.
cdef dict _SETTINGS = {
    "CU_JIT_TARGET": <int>cydriver.CUjit_option.CU_JIT_TARGET,
    "CU_JIT_MAX_REGISTERS": <int>cydriver.CUjit_option.CU_JIT_MAX_REGISTERS,
    "CU_JIT_LOG_VERBOSE": <int>cydriver.CUjit_option.CU_JIT_LOG_VERBOSE,
    "CU_JIT_LTO": <int>cydriver.CUjit_option.CU_JIT_LTO,
    "CU_JIT_OPTIMIZATION_LEVEL": <int>cydriver.CUjit_option.CU_JIT_OPTIMIZATION_LEVEL,
    "CU_JIT_GENERATE_DEBUG_INFO": <int>cydriver.CUjit_option.CU_JIT_GENERATE_DEBUG_INFO,
    "CU_JIT_GENERATE_LINE_INFO": <int>cydriver.CUjit_option.CU_JIT_GENERATE_LINE_INFO,
    "CU_JIT_CACHE_MODE": <int>cydriver.CUjit_option.CU_JIT_CACHE_MODE,
}

cdef size_t _LOG_SIZE = 16384


cdef class LinkData:
    """The context of a link, and the settings and logs, whose memory the driver uses as long as the link exists."""

    cdef:
        vector[cydriver.CUjit_option] names
        vector[void*] values
        bytearray error_log
        bytearray info_log
        ContextHandle h_context     # set once

    cdef int add(self, int name, uintptr_t value) except -1:
        self.names.push_back(<cydriver.CUjit_option>name)
        self.values.push_back(<void*>value)
        return 0


cdef class DriverLinker:
    """A link by the driver (``cuLinkCreate``) in the current context.

    Parameters
    ----------
    settings : list
        Pairs: the name of a ``CUjit_option``, and its value as an int.

    Raises
    ------
    CUDAError
        If no context is current, or a setting is invalid.
    """

    backend = CompilerBackendType.DRIVER
    input_types = tuple(_INPUT_TYPES)

    cdef:
        LinkField _h_link
        LinkData _data
        object _call_lock

    def __cinit__(self):
        self._data = LinkData()
        self._call_lock = CallLock()  # one call per link at a time

    def __init__(self, settings):
        cdef LinkData data = self._data
        data.error_log = bytearray(_LOG_SIZE)
        data.info_log = bytearray(_LOG_SIZE)
        data.add(cydriver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, <uintptr_t><char*>data.error_log)
        data.add(cydriver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, _LOG_SIZE)
        data.add(cydriver.CUjit_option.CU_JIT_INFO_LOG_BUFFER, <uintptr_t><char*>data.info_log)
        data.add(cydriver.CUjit_option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, _LOG_SIZE)
        for name, value in settings:
            data.add(_SETTINGS[name], value)
        Context_current(&data.h_context)
        self._h_link.set(Link_create(data))

    @property
    def handle(self):
        """The link as a ``driver.CUlinkState``, or null if closed."""
        return bindings_object("CUlinkState", address(self._h_link))

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_link

    def add(self, kind, code, name):
        """Add code (``cuLinkAddData``), or a file that contains code (``cuLinkAddFile``)."""
        cdef LinkPin link
        is_file = isinstance(code, str)
        data = os.fsencode(code) if is_file else code
        label = name.encode()
        if is_file and b"\0" in data:
            raise ValueError(f"the path of the module contains a null character: {shown(code)}")
        if is_file:
            detail = f"adding the {kind.value} file {code!r} failed"
        else:
            detail = f"adding the {kind.value} input {name!r} of {len(code)} bytes failed"
        with self._call_lock:
            if not link.hold(self._h_link):
                raise UnavailableError("this Linker is closed")
            try:
                if not is_file and kind != ObjectCodeFormatType.LIBRARY:
                    check_image(data)
                Link_add(link.get(), self._data, _INPUT_TYPES[kind], data, label, is_file)
            except CUDAError as error:
                self._explain(error, detail)
                raise

    def link(self, target) -> bytes:
        """Link, and return the CUBIN (``cuLinkComplete``)."""
        cdef LinkPin link
        with self._call_lock:
            if not link.hold(self._h_link):
                raise UnavailableError("this Linker is closed")
            try:
                return Link_complete(link.get(), self._data)
            except CUDAError as error:
                self._explain(error, f"linking to {target.value} failed")
                raise

    def log(self, kind) -> str:
        """Return the ``"error"`` or the ``"info"`` log, of at most 16 KB."""
        text = self._data.error_log if kind == "error" else self._data.info_log
        return bytes(text or b"").split(b"\0", 1)[0].decode(errors="backslashreplace")

    def close(self) -> None:
        """Destroy the link (``cuLinkDestroy``), after the call that another thread is making."""
        self._h_link.reset()

    def _explain(self, error, detail):
        error.log = self.log("error") or None
        explain(error, f"{detail}\n{error.log}" if error.log else detail)


cdef LinkHandle Link_create(LinkData data) except *:
    cdef cydriver.CUlinkState c_link = NULL
    cdef unsigned int c_count = data.names.size()
    cdef cydriver.CUjit_option* c_names = data.names.data()
    cdef void** c_values = data.values.data()
    with nogil:
        HANDLE_RETURN(cydriver.cuLinkCreate(c_count, c_names, c_values, &c_link), b"cuLinkCreate")
    return LinkHandle.own(c_link, &Link_destroy, Anchor.of_object(<PyObject*>data))


cdef void Link_destroy(cydriver.CUlinkState c_link) noexcept nogil:
    WARN_RETURN(cydriver.cuLinkDestroy(c_link), b"cuLinkDestroy", c_link)


cdef int Link_add(
    cydriver.CUlinkState c_link, LinkData data, int kind, bytes code, bytes label, bint is_file
) except -1:
    cdef char* c_code = code
    cdef const char* c_label = label
    cdef size_t c_size = len(code)
    cdef int is_entered = 0
    cdef cydriver.CUresult err
    if kind == cydriver.CUjitInputType.CU_JIT_INPUT_PTX:
        c_size += 1  # PTX must end with a null character, and a bytes object always has one after its last byte
    with nogil:
        is_entered = Context_enter(data.h_context.get())
        if is_file:
            err = cydriver.cuLinkAddFile(c_link, <cydriver.CUjitInputType>kind, c_code, 0, NULL, NULL)
        else:
            err = cydriver.cuLinkAddData(c_link, <cydriver.CUjitInputType>kind, c_code, c_size, c_label, 0, NULL, NULL)
        LEAVE_RETURN(err, b"cuLinkAddFile" if is_file else b"cuLinkAddData", Context_leave(is_entered))
    return 0


cdef bytes Link_complete(cydriver.CUlinkState c_link, LinkData data):
    cdef void* c_code = NULL
    cdef size_t c_size = 0
    cdef int is_entered = 0
    cdef cydriver.CUresult err
    with nogil:
        is_entered = Context_enter(data.h_context.get())
        err = cydriver.cuLinkComplete(c_link, &c_code, &c_size)
        LEAVE_RETURN(err, b"cuLinkComplete", Context_leave(is_entered))
    # A copy, because the link owns the code.
    return PyBytes_FromStringAndSize(<char*>c_code, c_size)


check_self_in_methods(globals())
