# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Code images: checks, loading and unloading them, and their kernels and variables."""

from __future__ import annotations

cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport intptr_t, uintptr_t
from libc.stdlib cimport free
from libc.string cimport memcmp
from libcpp.vector cimport vector

from cpython.object cimport PyObject

from cuda.core._native._cuda_core cimport (
    Anchor,
    CaptureModeScope,
    DriverObject,
    LibraryHandle,
    address,
    bindings_object,
    limit_backlog,
    note_printing_code,
    refuse_closed,
    relax_capture_mode,
    retire,
)
from cuda.core._native._device_wait cimport call_interruptibly
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods, is_interpreter_exiting
from cuda.core._utils.cuda_utils cimport (
    ALLOW_RETURN,
    HANDLE_RETURN,
    WARN_RETURN,
    c_driver_version,
    init_driver,
    raise_driver_error,
)

import os
import re
import struct

from cuda.core._code._elf import elf_damage, elf_variables
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import format_or_list, name_bytes, shown

__all__ = ["CodeTypeT", "check_image", "damage", "explain", "similar_names", "source_names", "variable_names"]


CodeTypeT = bytes | bytearray | str
"""The type of :attr:`ObjectCode.code`: the code itself, or the path of its file as a str."""


cdef class LazyCode(DriverObject):
    """Base of :class:`ObjectCode`: code, and the library that is loaded from it on first use."""

    def __dealloc__(self):
        _leaked.pop(<uintptr_t><void*>self, None)

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, LazyCode):
            return NotImplemented
        return self._identity() == (<LazyCode>other)._identity()

    def __hash__(self):
        return hash(self._identity())

    def __repr__(self):
        # This does not load the code: the handle is 0 before the first use.
        state = "closed" if self.is_closed else f"handle={address(self._h_library):#x}"
        return f"<{type(self).__name__} {state} code_type={self._code_type!r}>"

    def get_module(self):
        """Return the library's module in the current context (``cuLibraryGetModule``), and load the code on first use.

        Returns
        -------
        driver.CUmodule
            The module, which is unloaded with the library.

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
        """The library as a ``CUlibrary`` of the bindings, or null if closed.

        Reading it loads the code on first use. The library is valid in every context, and stays loaded until
        :meth:`close`, because the program might unload it through this handle.
        """
        cdef LibraryHandle h_library
        if not self.is_closed:
            h_library = load(self)
            leak(self, h_library)
        return bindings_object("CUlibrary", address(h_library))

    @property
    def code(self) -> CodeTypeT:
        """The code as it was passed in, or the path of its file as a str."""
        return keep_code(self)

    @property
    def code_type(self) -> str:
        """The format of the code, a value of :class:`~cuda.core.typing.ObjectCodeFormatType`."""
        return self._code_type

    @property
    def name(self) -> str:
        """The name shown in error messages."""
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
        leaked = <LeakedLibrary?>_leaked.pop(<uintptr_t><void*>self, _NOTHING_LEAKED)
        del leaked.held
        leaked.held = NULL

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


# A leaked reference to a library whose raw handle the program has read. Such programs, for example numba-cuda, might
# unload the library themselves, and unloading it twice crashes the driver. So the library is unloaded here only when
# the object is closed.
cdef class LeakedLibrary:
    cdef LibraryHandle* held


cdef dict _leaked = {}  # address of the LazyCode -> LeakedLibrary


cdef LeakedLibrary _NOTHING_LEAKED = LeakedLibrary()


cdef int leak(LazyCode self, const LibraryHandle& h_library) except -1:
    cdef LeakedLibrary leaked = LeakedLibrary()
    if _leaked.setdefault(<uintptr_t><void*>self, leaked) is leaked:
        leaked.held = new LibraryHandle(h_library)
    return 0


cdef LibraryHandle load(LazyCode self) except *:
    cdef cydriver.CUlibrary c_library = NULL
    cdef LibraryHandle h_library
    code = keep_code(self)
    with cython.critical_section(self):
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
            h_library = LibraryHandle.own(c_library, &destroy_library, Anchor())
            # If the object was closed in the meantime, only this call keeps the library.
            if self._lock is not None:
                self._h_library.set(h_library)
    return h_library


cdef cydriver.CUlibrary load_image(object code) except? NULL:
    cdef Loading loading = Loading()
    cdef cydriver.CUlibrary c_library
    loading.is_file = isinstance(code, str)
    if loading.is_file:
        loading.data = os.fsencode(code)
        if b"\0" in loading.data:
            raise ValueError(f"module must be a path without null characters, not {shown(code)}")
    elif isinstance(code, (bytes, bytearray, memoryview)):
        # PTX must end with a null character, which the memory of a bytes object always has.
        loading.data = bytes(code)
        check_image(loading.data)
    else:
        raise TypeError(f"module must be bytes, a bytearray or a path, not {type(code).__name__}")
    if may_print(loading.data, loading.is_file):
        note_printing_code()
    loading.load()
    c_library = loading.call.c_library
    loading.call.c_library = NULL  # the caller owns it now
    return c_library


# Whether kernels may call printf (vprintf, emu_printf), whose output the driver prints when it is waited for.
# Compressed code hides the name of the function, so only machine code and PTX are searched.
cdef bint may_print(bytes data, bint is_file) except -1:
    if is_file or not (data.startswith(b"\x7fELF") or data.lstrip().startswith((b".", b"//"))):
        return True
    return b"vprintf" in data or b"emu_printf" in data


cdef struct LoadCall:
    bint is_file
    bint has_counts     # whether the driver can count the kernels
    const char* c_data
    cydriver.CUlibrary c_library
    const char* api     # the latest driver call


cdef class Loading:
    """Loads an image on the helper thread, which continues if a signal handler raises on the calling thread."""

    cdef:
        LoadCall call
        bytes data
        bint is_file

    def __dealloc__(self):
        if self.call.c_library != NULL:
            with nogil:
                unload_when_idle(self.call.c_library)

    cdef int load(self) except -1:
        cdef LoadCall* call = &self.call
        cdef Anchor anchor = Anchor.of_object(<PyObject*>self)
        cdef cydriver.CUresult err
        call.is_file, call.c_data = self.is_file, self.data
        call.has_counts = c_driver_version() >= 12040
        with nogil:
            limit_backlog()
            err = <cydriver.CUresult>call_interruptibly(&load_and_check, call, anchor)
            if err != cydriver.CUresult.CUDA_SUCCESS:
                raise_driver_error(err, call.api)
        return 0


# cuLibraryLoadData accepts any bytes and might parse them later. If the library has no kernels, the image might be
# invalid: get its module now, so that the error is raised where the image is known.
cdef int load_and_check(void* argument) noexcept nogil:
    cdef LoadCall* call = <LoadCall*>argument
    cdef unsigned int c_count = 1
    cdef cydriver.CUmodule c_module = NULL
    cdef cydriver.CUcontext c_context = NULL
    cdef CaptureModeScope mode
    cdef cydriver.CUresult err
    relax_capture_mode(mode)
    if call.is_file:
        call.api = b"cuLibraryLoadFromFile"
        err = cydriver.cuLibraryLoadFromFile(&call.c_library, call.c_data, NULL, NULL, 0, NULL, NULL, 0)
    else:
        call.api = b"cuLibraryLoadData"
        err = cydriver.cuLibraryLoadData(&call.c_library, call.c_data, NULL, NULL, 0, NULL, NULL, 0)
    if err == cydriver.CUresult.CUDA_SUCCESS and call.has_counts:
        call.api = b"cuLibraryGetKernelCount"
        err = cydriver.cuLibraryGetKernelCount(&c_count, call.c_library)
        if err == cydriver.CUresult.CUDA_SUCCESS and c_count == 0:
            call.api = b"cuCtxGetCurrent"
            err = cydriver.cuCtxGetCurrent(&c_context)
            if err == cydriver.CUresult.CUDA_SUCCESS and c_context != NULL:
                call.api = b"cuLibraryGetModule"
                err = cydriver.cuLibraryGetModule(&c_module, call.c_library)
    return <int>err


cdef void destroy_library(cydriver.CUlibrary c_library) noexcept nogil:
    unload_when_idle(c_library)


# Unloading blocks until the context is idle, and a garbage collection must not block.
cdef void unload_when_idle(cydriver.CUlibrary c_library) noexcept nogil:
    cdef CaptureModeScope mode
    # If other work was enqueued in the meantime, unloading is postponed again.
    if is_interpreter_exiting() or not retire(c_library, &unload_when_idle, Anchor()):
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuLibraryUnload(c_library), b"cuLibraryUnload", c_library)


# --- Code images ------------------------------------------------------------------------------------------------------


def check_image(data: bytes) -> None:
    """Check a code image, because the driver reads past the end of a corrupt one.

    Raises
    ------
    CUDAError, ValueError
        If the image is empty or truncated, or an ELF file with invalid offsets or indices.
    """
    explanation = damage(data)
    if explanation is not None:
        raise DamagedImageError(
            f"CUDA_ERROR_INVALID_IMAGE: the module {explanation}",
            code=cydriver.CUresult.CUDA_ERROR_INVALID_IMAGE,
            name="CUDA_ERROR_INVALID_IMAGE",
            explanation=f"the module {explanation}",
        )


class DamagedImageError(CUDAError, ValueError):
    """A code image is empty or truncated, or its headers are invalid."""


def damage(bytes data) -> str | None:
    """Return what is wrong with an image, as the end of a sentence, or None if it is not corrupt."""
    cdef const unsigned char* c_data = data
    cdef size_t size = len(data)
    cdef size_t needed
    if size == 0:
        return "is empty"
    if size >= 4 and memcmp(c_data, b"\x7fELF", 4) == 0:
        return elf_damage(data)
    if size >= 4 and memcmp(c_data, b"\x50\xed\x55\xba", 4) == 0:
        # A fat binary: the size of its header plus the size of its contents.
        needed = 16 if size < 16 else sum(struct.unpack_from("<HQ", data, 6))
        if size < needed:
            return f"is cut off: it has {size} bytes and needs {needed}"
    return None


# --- Symbols ----------------------------------------------------------------------------------------------------------


cdef bytes mapped_symbol(dict mapping, object name):
    encoded = name_bytes("name", name)
    symbol = mapping.get(name)
    if symbol is None:
        symbol = mapping.get(encoded if isinstance(name, str) else name.decode(errors="replace"))
    return encoded if symbol is None else name_bytes("name", symbol)


cdef cydriver.CUkernel find_kernel(const LibraryHandle& h_library, bytes symbol) except NULL:
    cdef cydriver.CUkernel c_kernel = NULL
    cdef const char* c_symbol = symbol
    with nogil:
        HANDLE_RETURN(cydriver.cuLibraryGetKernel(&c_kernel, h_library.get(), c_symbol), b"cuLibraryGetKernel")
    return c_kernel


cdef int find_variable(
    const LibraryHandle& h_library, bytes symbol, cydriver.CUdeviceptr* c_pointer, size_t* c_size
) except -1:
    cdef const char* c_symbol = symbol
    with nogil:
        # cuLibraryGetGlobal does not find managed variables.
        if not ALLOW_RETURN(
            cydriver.cuLibraryGetGlobal(c_pointer, c_size, h_library.get(), c_symbol),
            cydriver.CUresult.CUDA_ERROR_NOT_FOUND,
            b"cuLibraryGetGlobal",
        ):
            HANDLE_RETURN(
                cydriver.cuLibraryGetManaged(c_pointer, c_size, h_library.get(), c_symbol), b"cuLibraryGetManaged"
            )
    return 0


cdef list kernel_names(const LibraryHandle& h_library):
    """Return the names of all kernels in a library, or None if the driver cannot list them."""
    cdef unsigned int c_count = 0
    cdef vector[cydriver.CUkernel] c_kernels
    cdef const char* c_name = NULL
    cdef size_t i
    cdef list names = []
    # Drivers older than CUDA 12.4 do not have cuLibraryEnumerateKernels, and those older than 12.3 no cuKernelGetName.
    if c_driver_version() < 12040:
        return None
    if cydriver.cuLibraryGetKernelCount(&c_count, h_library.get()) != cydriver.CUDA_SUCCESS:
        return None
    c_kernels.resize(c_count)
    if c_count and cydriver.cuLibraryEnumerateKernels(
        c_kernels.data(), c_count, h_library.get()
    ) != cydriver.CUDA_SUCCESS:
        return None
    for i in range(c_kernels.size()):
        if cydriver.cuKernelGetName(&c_name, c_kernels[i]) != cydriver.CUDA_SUCCESS:
            return None
        names.append((<bytes>c_name).decode(errors="replace"))
    return names


cdef extern from "<cxxabi.h>" namespace "abi" nogil:
    char* __cxa_demangle(const char* name, char* buffer, size_t* size, int* status)


cpdef str demangled(str symbol):
    """Return the C++ function or variable that a symbol stands for, or None for a plain name."""
    cdef bytes name = symbol.encode(errors="replace")
    cdef int c_status = 0
    cdef char* c_text
    if not symbol.startswith("_Z"):
        return None
    c_text = __cxa_demangle(name, NULL, NULL, &c_status)
    if c_text == NULL:
        return None
    try:
        return (<bytes>c_text).decode(errors="replace")
    finally:
        free(c_text)


def variable_names(code, code_type: str) -> list[str] | None:
    """Return the names of the variables in PTX or a CUBIN, which the driver cannot list, or None if unknown."""
    if not isinstance(code, (bytes, bytearray)):
        return None
    if code_type == "ptx":
        space = rb"^[ \t]*(?:\.\w+[ \t]+)*\.(?:global|const)\b(?:[ \t]*\.attribute\([^)]*\))?"
        found = re.findall(space + rb"[^;=(]*?([\w$]+)[ \t]*(?:\[[^;=]*)?[;=]", code, re.MULTILINE)
        names = {name.decode() for name in found}
    elif code_type == "cubin" and code[:4] == b"\x7fELF":
        names = set(elf_variables(bytes(code)))
    else:
        return None
    # Those of compilers and linkers: their names are not valid in C++, or those of the software device.
    own = r"[.$]|_DYNAMIC$|_GLOBAL_OFFSET_TABLE_$|_ZN3emu|.*emu_"
    return sorted(name for name in names if not re.match(own, name))


def source_names(names, mapping):
    """Return the names of symbols, with name expressions in place of mangled names."""
    if names is None or not mapping:
        return names
    expressions = {
        symbol.decode() if isinstance(symbol, bytes) else symbol: expression for expression, symbol in mapping.items()
    }
    return [expressions.get(name, name) for name in names]


_MAX_LISTED = 5


def similar_names(name, names, what="kernels"):
    """Return the part of a message that lists the names most similar to ``name``."""
    if names is None:
        return ""
    if not names:
        return f", which has no {what} at all"
    import difflib  # slow to import, and only needed for this message

    # A mangled name contains the name in the source.
    like = [known for known in names if name in known] or difflib.get_close_matches(name, names, _MAX_LISTED, 0.5)
    if like:
        return f"; did you mean {format_or_list(like[:_MAX_LISTED])}?"
    listed = ", ".join(sorted(names)[:_MAX_LISTED])
    return f"; it has {listed}" if len(names) <= _MAX_LISTED else f"; it has {len(names)} {what}, such as {listed}"


# --- Messages ---------------------------------------------------------------------------------------------------------


def explain(error, text) -> None:
    """Append a line to the message of an exception."""
    error.args = (f"{error.args[0]}\n{text}",)


cdef str described(object code, str code_type, str name):
    what = f"the {code_type} module {name!r}" if name else f"the {code_type} module"
    return f"{what} of the file {code!r}" if isinstance(code, str) else f"{what} of {len(code)} bytes"


cdef str ptx_log(object code, str code_type):
    """Return the log of the driver's PTX compiler as the end of a message, or an empty string without a log."""
    cdef cydriver.CUmodule c_module = NULL
    cdef cydriver.CUcontext c_context = NULL
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    cdef cydriver.CUjit_option c_options[2]
    cdef void* c_values[2]
    cdef bytearray log
    cdef bytes data
    cdef const char* c_data
    if code_type != "ptx" or not isinstance(code, (bytes, bytearray)):
        return ""
    # The driver might compile a library long after it was loaded, when a log buffer would no longer exist. But it
    # compiles a module immediately, so the same code is loaded as a module to get the log.
    if cydriver.cuCtxGetCurrent(&c_context) != cydriver.CUDA_SUCCESS or c_context == NULL:
        return ""
    log = bytearray(16384)
    data = bytes(code)
    c_data = data
    c_options[0] = cydriver.CU_JIT_ERROR_LOG_BUFFER
    c_options[1] = cydriver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
    c_values[0] = <void*><char*>log
    c_values[1] = <void*><uintptr_t>len(log)
    with nogil:
        relax_capture_mode(mode)
        err = cydriver.cuModuleLoadDataEx(&c_module, c_data, 2, c_options, c_values)
        if err == cydriver.CUDA_SUCCESS:
            WARN_RETURN(cydriver.cuModuleUnload(c_module), b"cuModuleUnload", c_module)
    text = bytes(log).split(b"\0", 1)[0].decode(errors="backslashreplace").strip()
    return f":\n{text}" if text else ""


check_self_in_methods(globals())
