# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""nvJitLink: its version, and the back end that links with it.

All calls that use a link come from one thread, the linker thread: nvJitLink ties a link to the thread that created it,
and keeps a lock of a thread whose link fails (docs/design/linking.md).
"""

from __future__ import annotations

cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport intptr_t, uint32_t
from libcpp.vector cimport vector

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

from cuda.bindings cimport cynvjitlink

from cuda.core._utils._cpython cimport check_self_in_methods, is_interpreter_exiting

import functools
import importlib
import os
import re
import warnings
from _thread import get_ident

from cuda.core._code._loading import damage
from cuda.core._compile._tools import tool_error
from cuda.core._utils.cuda_utils import CUDAWarning, UnavailableError
from cuda.core._utils.host_wait import Worker, run_interruptibly
from cuda.core._utils.validators import shown
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType

__all__ = ["NO_NVJITLINK", "NvJitLink", "nvjitlink_version"]


# In this version and later, the names of the entry points do not contain the version.
_OLDEST = (12, 3)

NO_NVJITLINK = (
    "nvJitLink is missing or older than CUDA 12.3; install it with `pip install nvidia-nvjitlink`, or the CUDA Toolkit"
)


@functools.cache
def nvjitlink_version() -> tuple[int, int] | None:
    """Return the CUDA version of nvJitLink, or None if it is missing or too old."""
    try:
        version = tuple(importlib.import_module("cuda.bindings.nvjitlink").version())
    except (ImportError, RuntimeError, AttributeError):  # no bindings, no library, or a library without this function
        return None
    return version if version >= _OLDEST else None


cdef dict _INPUT_TYPES = {
    ObjectCodeFormatType.CUBIN: <int>cynvjitlink.NVJITLINK_INPUT_CUBIN,
    ObjectCodeFormatType.PTX: <int>cynvjitlink.NVJITLINK_INPUT_PTX,
    ObjectCodeFormatType.LTOIR: <int>cynvjitlink.NVJITLINK_INPUT_LTOIR,
    ObjectCodeFormatType.FATBIN: <int>cynvjitlink.NVJITLINK_INPUT_FATBIN,
    ObjectCodeFormatType.OBJECT: <int>cynvjitlink.NVJITLINK_INPUT_OBJECT,
    ObjectCodeFormatType.LIBRARY: <int>cynvjitlink.NVJITLINK_INPUT_LIBRARY,
}

# nvJitLink reports other invalid architectures as errors, but a number of one digit terminates the process.
_ARCH = rb"-arch=(sm|compute|lto)_[1-9]\d+[a-z]?"

# The types of input whose files are read and checked here.
_BINARY = (ObjectCodeFormatType.CUBIN, ObjectCodeFormatType.OBJECT, ObjectCodeFormatType.FATBIN)


cdef class NvJitLink:
    """The back end that links with nvJitLink.

    A forked child creates another link with the same options and inputs.

    Parameters
    ----------
    arguments : list of bytes
        The options.

    Raises
    ------
    nvJitLinkError
        If nvJitLink rejects the options. The message contains them.
    """

    backend = CompilerBackendType.NVJITLINK
    input_types = tuple(_INPUT_TYPES)

    cdef:
        Link _link
        list _arguments
        list _inputs
        bint _is_closed

    def __init__(self, arguments: list[bytes]):
        self._arguments = arguments
        self._inputs = []
        self._link = call_on_linker_thread(lambda: Link(arguments))

    @property
    def handle(self) -> int:
        """The address of the ``nvJitLinkHandle``, or 0 if closed."""
        cdef Link link = self._current()
        return <intptr_t>link.c_link if link.is_usable() and not self._is_closed else 0

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._is_closed

    def add(self, kind, code, name) -> None:
        """Add code (``nvJitLinkAddData``), or a file that contains code (``nvJitLinkAddFile``)."""
        if isinstance(code, str):
            added = input_file(kind, code)
        else:
            added = Input(kind, code, name, name.encode(errors="replace"))
        (<Input>added).check()
        self.check_open()
        call_on_linker_thread(lambda: self._add(added))

    def link(self, target) -> bytes:
        """Link, and return the code (``nvJitLinkComplete``)."""
        self.check_open()
        return call_on_linker_thread(lambda: self._complete(target.value))

    def log(self, kind) -> str:
        """Return the ``"error"`` or ``"info"`` log of the link's last call."""
        return self._current().log(kind == "error")

    def close(self) -> None:
        """Let the linker thread destroy the link, soon (``nvJitLinkDestroy``)."""
        self._is_closed = True
        self._current().release()

    cdef int check_open(self) except -1:
        if self._is_closed:
            raise UnavailableError("this Linker is closed")
        return 0

    # The methods below run on the linker thread.

    def _add(self, added):
        self.check_open()
        self._usable().add(added)
        self._inputs.append(added)

    def _complete(self, target):
        self.check_open()
        return self._usable().complete(target)

    # The latest link, on any thread. A forked child replaces it.
    cdef Link _current(self):
        with cython.critical_section(self):
            return self._link

    cdef Link _usable(self):
        cdef Link link = self._current()
        if not link.is_usable():
            link = Link(self._arguments)
            for added in self._inputs:
                link.add(added)
            with cython.critical_section(self):
                self._link = link
        return link


cdef class Input:
    """Code to be linked, or a file that contains code if ``code`` is None."""

    cdef:
        object kind
        bytes code
        str name
        bytes label

    def __init__(self, kind, code, name, label):
        self.kind = kind
        self.code = code
        self.name = name
        self.label = label

    cdef int check(self) except -1:
        explanation = None if self.code is None else damage(self.code)
        if explanation is not None:
            detail = f"{self.detail()}: {explanation}"
            raise tool_error(
                "nvJitLinkInputError", cynvjitlink.NVJITLINK_ERROR_INVALID_INPUT, "nvJitLinkAddData", detail
            )
        return 0

    cdef str detail(self):
        if self.code is None:
            return f"adding the {self.kind.value} file {self.name!r} failed"
        return f"adding the {self.kind.value} input {self.name!r} of {len(self.code)} bytes failed"


cdef Input input_file(kind, str path):
    label = os.fsencode(path)
    if b"\0" in label:
        raise ValueError(f"the path of the module contains a null character: {shown(path)}")
    if kind in _BINARY:
        try:
            with open(path, "rb") as file:
                return Input(kind, file.read(), path, label)
        except OSError:
            pass  # nvJitLink reports the reason
    return Input(kind, None, path, label)


cdef class Link:
    """A link of nvJitLink, which only the linker thread of the process that created it may use."""

    cdef:
        cynvjitlink.nvJitLinkHandle c_link
        long process
        list inputs  # nvJitLink keeps pointers to their names and code as long as the link exists
        str error_log
        str info_log

    def __init__(self, list arguments):
        cdef vector[const char*] c_arguments
        cdef uint32_t c_count
        cdef cynvjitlink.nvJitLinkResult c_result = cynvjitlink.NVJITLINK_ERROR_UNRECOGNIZED_ARCH
        cdef bint is_arch = True
        cdef bytes argument
        for argument in arguments:
            if argument.startswith(b"-arch="):
                is_arch = re.fullmatch(_ARCH, argument) is not None
            c_arguments.push_back(argument)
        c_count = c_arguments.size()
        if is_arch:
            with nogil:
                c_result = cynvjitlink.nvJitLinkCreate(&self.c_link, c_count, c_arguments.data())
        if c_result != cynvjitlink.NVJITLINK_SUCCESS:
            raise options_error(c_result, arguments, is_arch)
        self.error_log = self.info_log = ""
        self.inputs = []
        self.process = _process

    def __del__(self):
        self.release()

    cdef int release(self) except -1:
        if self.is_usable() and not is_interpreter_exiting():
            linker_thread().post(self.destroy)
        return 0

    cdef bint is_usable(self) noexcept:
        return self.c_link != NULL and self.process == _process

    cdef int add(self, Input added) except -1:
        cdef cynvjitlink.nvJitLinkHandle c_link = self.c_link
        cdef cynvjitlink.nvJitLinkInputType c_kind = <cynvjitlink.nvJitLinkInputType><int>_INPUT_TYPES[added.kind]
        cdef cynvjitlink.nvJitLinkResult c_result
        cdef bint is_file = added.code is None
        cdef const char* c_label = added.label
        cdef const char* c_code = NULL
        cdef size_t c_size = 0
        self.inputs.append(added)
        if not is_file:
            c_code = added.code
            c_size = len(added.code)
        with nogil:
            if is_file:
                c_result = cynvjitlink.nvJitLinkAddFile(c_link, c_kind, c_label)
            else:
                c_result = cynvjitlink.nvJitLinkAddData(c_link, c_kind, c_code, c_size, c_label)
        self.fetch_logs()
        if c_result != cynvjitlink.NVJITLINK_SUCCESS:
            entry = "nvJitLinkAddFile" if is_file else "nvJitLinkAddData"
            raise tool_error("nvJitLinkError", c_result, entry, added.detail(), self.error_log)
        return 0

    cdef bytes complete(self, str target):
        cdef cynvjitlink.nvJitLinkHandle c_link = self.c_link
        cdef cynvjitlink.nvJitLinkResult c_result
        cdef bint is_ptx = target == "ptx"
        cdef size_t c_size = 0
        cdef bytes code
        cdef char* c_code
        with nogil:
            c_result = cynvjitlink.nvJitLinkComplete(c_link)
        self.fetch_logs()
        if c_result != cynvjitlink.NVJITLINK_SUCCESS:
            raise tool_error(
                "nvJitLinkError", c_result, "nvJitLinkComplete", f"linking to {target} failed", self.error_log
            )
        if target == "ltoir":
            return linked_ltoir(<intptr_t>c_link)
        if is_ptx:
            c_result = cynvjitlink.nvJitLinkGetLinkedPtxSize(c_link, &c_size)
        else:
            c_result = cynvjitlink.nvJitLinkGetLinkedCubinSize(c_link, &c_size)
        self.check_code(c_result, target, "Size")
        code = PyBytes_FromStringAndSize(NULL, c_size)
        c_code = PyBytes_AS_STRING(code)
        if is_ptx:
            c_result = cynvjitlink.nvJitLinkGetLinkedPtx(c_link, c_code)
        else:
            c_result = cynvjitlink.nvJitLinkGetLinkedCubin(c_link, c_code)
        self.check_code(c_result, target, "")
        return code

    cdef int check_code(self, cynvjitlink.nvJitLinkResult c_result, str target, str what) except -1:
        if c_result != cynvjitlink.NVJITLINK_SUCCESS:
            self.fetch_logs()
            entry = f"nvJitLinkGetLinked{target.capitalize()}{what}"
            detail = (
                f"linking to {target} failed; for PTX, link LTO IR with link_time_optimization=True and ptx=True; "
                "for a cubin, leave out ptx=True"
            )
            raise tool_error("nvJitLinkError", c_result, entry, detail, self.error_log)
        return 0

    cdef int fetch_logs(self) except -1:
        error_log = fetch_log(<intptr_t>self.c_link, "error")
        info_log = fetch_log(<intptr_t>self.c_link, "info")
        with cython.critical_section(self):
            self.error_log, self.info_log = error_log, info_log
        return 0

    # Any thread may call this.
    cdef str log(self, bint is_error):
        with cython.critical_section(self):
            return self.error_log if is_error else self.info_log

    def destroy(self) -> None:
        """Destroy the link, unless it was destroyed, or the process was forked since it was created."""
        cdef cynvjitlink.nvJitLinkHandle c_link = self.c_link
        if self.is_usable():
            self.c_link = NULL
            destroy(<intptr_t>c_link)
            self.inputs = None


cpdef str fetch_log(intptr_t link, str kind):
    """Return the ``"error"`` or ``"info"`` log of a link."""
    cdef cynvjitlink.nvJitLinkHandle c_link = <cynvjitlink.nvJitLinkHandle>link
    cdef cynvjitlink.nvJitLinkResult c_result
    cdef bint is_info = kind == "info"
    cdef size_t c_size = 0
    cdef bytes text
    cdef char* c_text
    if is_info:
        c_result = cynvjitlink.nvJitLinkGetInfoLogSize(c_link, &c_size)
    else:
        c_result = cynvjitlink.nvJitLinkGetErrorLogSize(c_link, &c_size)
    if c_result == cynvjitlink.NVJITLINK_SUCCESS and c_size > 1:
        text = PyBytes_FromStringAndSize(NULL, c_size)
        c_text = PyBytes_AS_STRING(text)
        if is_info:
            c_result = cynvjitlink.nvJitLinkGetInfoLog(c_link, c_text)
        else:
            c_result = cynvjitlink.nvJitLinkGetErrorLog(c_link, c_text)
        if c_result == cynvjitlink.NVJITLINK_SUCCESS:
            return text.rstrip(b"\0").decode(errors="backslashreplace")
    if c_result != cynvjitlink.NVJITLINK_SUCCESS:
        raise tool_error("nvJitLinkError", c_result, f"nvJitLinkGet{kind.capitalize()}Log", "the log cannot be fetched")
    return ""


def linked_ltoir(link: int) -> bytes:
    """Return the linked LTO IR (``nvJitLinkGetLinkedLTOIR``), by the Python functions, which older bindings lack."""
    nvjitlink = importlib.import_module("cuda.bindings.nvjitlink")
    code = bytearray(nvjitlink.get_linked_ltoir_size(link))
    nvjitlink.get_linked_ltoir(link, code)
    return bytes(code)


cpdef void destroy(intptr_t link) noexcept:
    """Destroy a link, and warn with a ``CUDAWarning`` if that fails."""
    # If a filter turns the warning into an error, it goes to sys.unraisablehook, because this function is noexcept.
    cdef cynvjitlink.nvJitLinkHandle c_link = <cynvjitlink.nvJitLinkHandle>link
    cdef cynvjitlink.nvJitLinkResult c_result
    with nogil:
        c_result = cynvjitlink.nvJitLinkDestroy(&c_link)
    if c_result != cynvjitlink.NVJITLINK_SUCCESS:
        error = tool_error("nvJitLinkError", c_result, "nvJitLinkDestroy")
        warnings.warn(f"releasing the linker {link:#x} failed: {error}", CUDAWarning, stacklevel=1)


cdef object options_error(cynvjitlink.nvJitLinkResult c_result, list arguments, bint is_arch):
    given = b" ".join(arguments).decode(errors="backslashreplace")
    detail = "the loaded nvJitLink {}.{} does not support these options: {}".format(*nvjitlink_version(), given)
    if not is_arch:
        detail = f"arch must be an architecture such as 'sm_90'; {detail}"
    return tool_error("nvJitLinkError", c_result, "nvJitLinkCreate", detail)


# --- The linker thread ------------------------------------------------------------------------------------------------

cdef long _process = os.getpid()
_linker_threads: dict[int, Worker] = {}  # by process: a forked child has another one


def after_fork_in_child() -> None:
    global _process
    _process = os.getpid()
    _linker_threads.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork_in_child)


def linker_thread() -> Worker:
    """Return the thread that makes all calls."""
    found = _linker_threads.get(_process)
    if found is None:
        made = Worker()
        found = _linker_threads.setdefault(_process, made)
        if found is not made:
            made.end()
    return found


def call_on_linker_thread(function):
    """Return ``function()``, called on the linker thread, where it continues if a signal handler raises."""
    worker = linker_thread()
    if worker.ident == get_ident():  # a finalizer that runs during another call
        return function()
    return run_interruptibly(function, lambda: None, lambda: lambda: None, worker)


check_self_in_methods(globals())
