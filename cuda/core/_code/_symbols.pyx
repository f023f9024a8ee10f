# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Symbols of loaded code: kernels and variables by their names, and the names that there are."""

from __future__ import annotations

from libc.stddef cimport size_t
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport LibraryHandle
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN, HANDLE_RETURN
from cuda.core._utils.version cimport c_driver_version

import re

from cuda.core._code._elf import elf_variables
from cuda.core._utils.validators import name_bytes

__all__ = ["nearest", "requested_names", "variable_names"]


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
        # Managed variables have a call of their own.
        if not ALLOW_RETURN(
            cydriver.cuLibraryGetGlobal(c_pointer, c_size, h_library.get(), c_symbol),
            cydriver.CUresult.CUDA_ERROR_NOT_FOUND,
            b"cuLibraryGetGlobal",
        ):
            HANDLE_RETURN(
                cydriver.cuLibraryGetManaged(c_pointer, c_size, h_library.get(), c_symbol), b"cuLibraryGetManaged"
            )
    return 0


cdef bytes mapped_symbol(dict mapping, object name):
    encoded = name_bytes("name", name)
    symbol = mapping.get(name)
    if symbol is None:
        symbol = mapping.get(encoded if isinstance(name, str) else name.decode(errors="replace"))
    return encoded if symbol is None else name_bytes("name", symbol)


def nearest(name, names, what="kernels"):
    """Return the part of a message that lists the names most similar to ``name``."""
    if names is None:
        return ""
    if not names:
        return f", which has no {what} at all"
    # A mangled name holds the name of the source.
    like = [known for known in names if name in known]
    import difflib

    like = like or difflib.get_close_matches(name, names, 5, 0.5) or sorted(names)
    more = "" if len(like) <= 5 and len(like) == len(names) else f" (of {len(names)})"
    return f"; it has {', '.join(like[:5])}{more}"


def requested_names(names, mapping):
    """Return the names of symbols, with name expressions in place of mangled names."""
    if names is None or not mapping:
        return names
    expressions = {
        symbol.decode() if isinstance(symbol, bytes) else symbol: expression for expression, symbol in mapping.items()
    }
    return [expressions.get(name, name) for name in names]


def variable_names(code, code_type: str) -> list[str] | None:
    """Return the names of the variables in PTX or a CUBIN, which the driver cannot list; None if unknown."""
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
    # The compiler's own have names that C++ cannot have.
    return sorted(name for name in names if name[0] not in ".$")


cdef list kernel_names(const LibraryHandle& h_library):
    """Return the names of all kernels of a library, or None where the driver cannot tell."""
    cdef unsigned int c_count = 0
    cdef vector[cydriver.CUkernel] c_kernels
    cdef const char* c_name = NULL
    cdef size_t i
    cdef list names = []
    # Enumeration came with CUDA 12.4, and names of kernels with 12.3.
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
