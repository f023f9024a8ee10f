# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The driver's linker, which is used if nvJitLink is missing."""

from __future__ import annotations

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from cuda.core._context cimport Context_current, Context_enter, Context_leave
from cuda.core._handles._driver_object cimport bindings_object
from cuda.core._handles._handles cimport ContextHandle, Handle, Keep, Kept, Member, address
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN

import os

from cuda.core._code._loading import check_image, explain
from cuda.core._compile._call_lock import CallLock
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import shown
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType

__all__ = ["DriverLinker"]

ctypedef Handle[cydriver.CUlinkState] LinkHandle
ctypedef Member[cydriver.CUlinkState] LinkMember
ctypedef Kept[cydriver.CUlinkState] KeptLink

cdef dict _INPUT_TYPES = {
    ObjectCodeFormatType.CUBIN: <int>cydriver.CUjitInputType.CU_JIT_INPUT_CUBIN,
    ObjectCodeFormatType.PTX: <int>cydriver.CUjitInputType.CU_JIT_INPUT_PTX,
    ObjectCodeFormatType.FATBIN: <int>cydriver.CUjitInputType.CU_JIT_INPUT_FATBINARY,
    ObjectCodeFormatType.OBJECT: <int>cydriver.CUjitInputType.CU_JIT_INPUT_OBJECT,
    ObjectCodeFormatType.LIBRARY: <int>cydriver.CUjitInputType.CU_JIT_INPUT_LIBRARY,
}

# The CUjit_option of each name in the table of linker options.
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
    """Memory that the driver uses as long as a link exists (settings and logs), and the context of the link."""

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
    """A link by the driver (``cuLinkCreate``), in the current context.

    Parameters
    ----------
    settings : list
        Pairs of the name of a ``CUjit_option`` and an int.

    Raises
    ------
    CUDAError
        If no context is current, or a setting is not valid.
    """

    backend = CompilerBackendType.DRIVER
    input_types = tuple(_INPUT_TYPES)

    cdef:
        LinkMember _h_link
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
        """The ``driver.CUlinkState``, null when closed."""
        return bindings_object("CUlinkState", address(self._h_link))

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_link

    def add(self, kind, code, name):
        """Add code (``cuLinkAddData``), or a file of code (``cuLinkAddFile``)."""
        cdef KeptLink link
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
                raise RuntimeError("this Linker is closed")
            try:
                if not is_file and kind != ObjectCodeFormatType.LIBRARY:
                    check_image(data)
                Link_add(link.get(), self._data, _INPUT_TYPES[kind], data, label, is_file)
            except CUDAError as error:
                self._explain(error, detail)
                raise

    def link(self, target) -> bytes:
        """Link, and return the CUBIN (``cuLinkComplete``)."""
        cdef KeptLink link
        with self._call_lock:
            if not link.hold(self._h_link):
                raise RuntimeError("this Linker is closed")
            try:
                return Link_complete(link.get(), self._data)
            except CUDAError as error:
                self._explain(error, f"linking to {target.value} failed")
                raise

    def log(self, kind) -> str:
        """Return the ``"error"`` or the ``"info"`` log, of at most 16 KB."""
        text = self._data.error_log if kind == "error" else self._data.info_log
        return bytes(text or b"").split(b"\0", 1)[0].decode(errors="backslashreplace")

    def close(self):
        """Destroy the link (``cuLinkDestroy``); a call on another thread is completed first."""
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
    return LinkHandle.own(c_link, &Link_destroy, Keep.of_object(<PyObject*>data))


cdef void Link_destroy(cydriver.CUlinkState c_link) noexcept nogil:
    WARN_RETURN(cydriver.cuLinkDestroy(c_link), b"cuLinkDestroy")


cdef int Link_add(
    cydriver.CUlinkState c_link, LinkData data, int kind, bytes code, bytes label, bint is_file
) except -1:
    cdef char* c_code = code
    cdef const char* c_label = label
    cdef size_t c_size = len(code)
    cdef int is_entered = 0
    if kind == cydriver.CUjitInputType.CU_JIT_INPUT_PTX:
        c_size += 1  # PTX ends with a null character, which the memory of a bytes object always has
    with nogil:
        is_entered = Context_enter(data.h_context.get())
        try:
            if is_file:
                HANDLE_RETURN(
                    cydriver.cuLinkAddFile(c_link, <cydriver.CUjitInputType>kind, c_code, 0, NULL, NULL),
                    b"cuLinkAddFile",
                )
            else:
                HANDLE_RETURN(
                    cydriver.cuLinkAddData(
                        c_link, <cydriver.CUjitInputType>kind, c_code, c_size, c_label, 0, NULL, NULL
                    ),
                    b"cuLinkAddData",
                )
        finally:
            Context_leave(is_entered)
    return 0


cdef bytes Link_complete(cydriver.CUlinkState c_link, LinkData data):
    cdef void* c_code = NULL
    cdef size_t c_size = 0
    cdef int is_entered = 0
    with nogil:
        is_entered = Context_enter(data.h_context.get())
        try:
            HANDLE_RETURN(cydriver.cuLinkComplete(c_link, &c_code, &c_size), b"cuLinkComplete")
        finally:
            Context_leave(is_entered)
    # A copy, because the link owns the code.
    return PyBytes_FromStringAndSize(<char*>c_code, c_size)
