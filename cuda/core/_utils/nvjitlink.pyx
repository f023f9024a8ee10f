# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""nvJitLink through its bindings, which load at first use and release the interpreter lock in calls."""

from __future__ import annotations

from libc.stddef cimport size_t
from libc.stdint cimport intptr_t

from cuda.bindings cimport cynvjitlink

import functools
import importlib

from cuda.core._utils.tool_errors import tool_error

__all__ = ["NO_NVJITLINK", "add_to_nvjitlink", "call_nvjitlink", "nvjitlink_log", "nvjitlink_version"]

# The first version whose entry points do not depend on the version.
_OLDEST = (12, 3)

NO_NVJITLINK = (
    "nvJitLink is missing or older than CUDA 12.3; "
    "install it with `pip install nvidia-nvjitlink`, or the CUDA Toolkit"
)


@functools.cache
def nvjitlink_version() -> tuple[int, int] | None:
    """Return the CUDA version of nvJitLink; None where it is missing or too old to be used."""
    try:
        version = tuple(importlib.import_module("cuda.bindings.nvjitlink").version())
    except (ImportError, RuntimeError, AttributeError):  # no bindings, no library, or a function it lacks
        return None
    return version if version >= _OLDEST else None


def call_nvjitlink(api: str, *args, detail: str = "", handle: int = 0):
    """Call nvJitLink and return its result.

    Parameters
    ----------
    api : str
        The function of the bindings.
    *args
        Its arguments.
    detail : str, optional
        What the call is about, for an error.
    handle : int, optional
        The link whose log explains an error. If 0, there is none.

    Raises
    ------
    nvJitLinkError
        If the call failed.
    """
    nvjitlink = importlib.import_module("cuda.bindings.nvjitlink")
    try:
        return getattr(nvjitlink, api)(*args)
    except nvjitlink.nvJitLinkError as error:
        log = nvjitlink_log(handle, "error") if handle else ""
        entry = "nvJitLink" + "".join(word.capitalize() for word in api.split("_"))
        raise tool_error("nvJitLinkError", error.status, entry, detail, log) from None


def add_to_nvjitlink(handle: int, kind: int, code: bytes | None, name: bytes, detail: str) -> None:
    """Add code, or the file ``name`` if there is none.

    The link refers to code and name, and the caller keeps both as long as it lives. The Python bindings
    cannot be used: they pass a copy of the name that ends with the call.

    Raises
    ------
    nvJitLinkError
        If nvJitLink does not take them; with its log.
    """
    cdef cynvjitlink.nvJitLinkHandle c_handle = <cynvjitlink.nvJitLinkHandle><intptr_t>handle
    cdef cynvjitlink.nvJitLinkInputType c_kind = <cynvjitlink.nvJitLinkInputType><int>kind
    cdef cynvjitlink.nvJitLinkResult c_result
    cdef bint is_file = code is None
    cdef const char* c_name = name
    cdef const char* c_code = NULL
    cdef size_t c_size = 0
    if not is_file:
        c_code = code
        c_size = len(code)
    with nogil:
        if is_file:
            c_result = cynvjitlink.nvJitLinkAddFile(c_handle, c_kind, c_name)
        else:
            c_result = cynvjitlink.nvJitLinkAddData(c_handle, c_kind, c_code, c_size, c_name)
    if c_result != cynvjitlink.nvJitLinkResult.NVJITLINK_SUCCESS:
        api = "nvJitLinkAddFile" if is_file else "nvJitLinkAddData"
        raise tool_error("nvJitLinkError", c_result, api, detail, nvjitlink_log(handle, "error"))


def nvjitlink_log(handle: int, kind: str) -> str:
    """Return the ``"error"`` or the ``"info"`` log of a link.

    Raises
    ------
    nvJitLinkError
        If it cannot be fetched.
    """
    text = bytearray(call_nvjitlink(f"get_{kind}_log_size", handle))
    if text:
        call_nvjitlink(f"get_{kind}_log", handle, text)
    return bytes(text).rstrip(b"\0").decode(errors="backslashreplace")
