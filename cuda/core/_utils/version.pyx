# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Versions of the driver and of the bindings, each read once."""

from __future__ import annotations

from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, init_driver

import importlib

__all__ = ["binding_version", "driver_version"]

cdef int _driver = 0
cdef dict _cache = {}  # "bindings": the version of cuda.bindings


cdef int c_driver_version() except -1:
    global _driver
    cdef int c_version = 0
    if _driver == 0:
        init_driver()
        with nogil:
            HANDLE_RETURN(cydriver.cuDriverGetVersion(&c_version), b"cuDriverGetVersion")
        _driver = c_version
    return _driver


cpdef tuple driver_version():
    """Return the CUDA version that the driver supports, as ``(major, minor, patch)``."""
    cdef int c_version = c_driver_version()
    return (c_version // 1000, c_version % 1000 // 10, c_version % 10)


cpdef tuple binding_version():
    """Return the version of the installed ``cuda.bindings``, as ``(major, minor, patch)``."""
    version = _cache.get("bindings")
    if version is None:
        # At first use, because importlib.metadata takes long to import.
        parts = importlib.import_module("importlib.metadata").version("cuda-bindings").split(".")
        version = _cache.setdefault("bindings", tuple([int(part) for part in parts[:3] if part.isdigit()]))
    return version
