# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code that the driver loads at its first use."""

from __future__ import annotations

cimport cython
from libc.stdint cimport intptr_t

from cuda.core._code._loading cimport described, load_image, ptx_log, unload_when_idle
from cuda.core._handles._driver_object cimport DriverObject, bindings_object, refuse_closed
from cuda.core._handles._handles cimport Keep, LibraryHandle, address
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport answer_hasattr
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, init_driver

from cuda.core._code._loading import explain
from cuda.core._utils.cuda_utils import CUDAError

__all__ = ["CodeTypeT"]

CodeTypeT = bytes | bytearray | str
"""What an :class:`ObjectCode` is made of: the code itself, or the path of a file as a str."""


cdef class LazyCode(DriverObject):
    """The base of object codes: the code, and the library that it becomes."""

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, LazyCode):
            return NotImplemented
        return self._identity() == (<LazyCode>other)._identity()

    def __hash__(self):
        return hash(self._identity())

    def __repr__(self):
        # Code that was not loaded has no handle yet; to look at it loads nothing.
        state = "closed" if self.is_closed else f"handle={address(self._h_library):#x}"
        return f"<{type(self).__name__} {state} code_type={self._code_type!r}>"

    def get_module(self):
        """Return the ``driver.CUmodule`` of the current context (``cuLibraryGetModule``).

        Raises
        ------
        RuntimeError
            If this object is closed.
        CUDAError
            If the code cannot be loaded, or no context is current.
        """
        cdef cydriver.CUmodule c_module = NULL
        cdef LibraryHandle h_library = load(self)
        with nogil:
            HANDLE_RETURN(cydriver.cuLibraryGetModule(&c_module, h_library.get()), b"cuLibraryGetModule")
        return bindings_object("CUmodule", <intptr_t>c_module)

    @property
    def handle(self):
        """The ``driver.CUlibrary``, valid in every context; null when closed. Loads at the first use."""
        cdef LibraryHandle h_library
        if not self.is_closed:
            h_library = load(self)
        return bindings_object("CUlibrary", address(h_library))

    @property
    def code(self) -> CodeTypeT:
        """The code as it was given, or the path of its file as a str."""
        return keep_code(self)

    @property
    def code_type(self) -> str:
        """What the code is: a value of :class:`~cuda.core.typing.ObjectCodeFormatType`."""
        return self._code_type

    @property
    def name(self) -> str:
        """The name given to it."""
        return self._name

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._lock is None

    cdef intptr_t _address(self) noexcept:
        return address(self._h_library)

    cdef void _release(self) noexcept:
        with cython.critical_section(self):
            self._lock = None
            self._code = None
        self._h_library.reset()

    cdef object _identity(self):
        cdef LibraryHandle h_library
        if not self.is_closed:
            h_library = load(self)
        return address(h_library)

    cdef int _check_open(self) except -1:
        return 0 if self._lock is not None else refuse_closed(self)


cdef object keep_code(LazyCode self):
    with cython.critical_section(self):
        code = self._code
        is_open = self._lock is not None
    return code if is_open else refuse_closed(self)


cdef LibraryHandle load(LazyCode self) except *:
    cdef cydriver.CUlibrary c_library = NULL
    cdef LibraryHandle h_library
    code = keep_code(self)
    lock = self._lock
    h_library = self._h_library.copy()
    if h_library:
        return h_library
    if lock is None:
        refuse_closed(self)
    init_driver()
    with lock:
        self._check_open()
        h_library = self._h_library.copy()
        if not h_library:
            try:
                c_library = load_image(code)
            except CUDAError as error:
                log = ptx_log(code, self._code_type)
                explain(error, f"loading {described(code, self._code_type, self._name)} failed{log}")
                raise
            h_library = LibraryHandle.own(c_library, &end_library, Keep())
            # Closed meanwhile, the object keeps no library; this call has one all the same.
            if self._lock is not None:
                self._h_library.set(h_library)
    return h_library


cdef void end_library(cydriver.CUlibrary c_library) noexcept nogil:
    unload_when_idle(c_library)


answer_hasattr(LazyCode)
