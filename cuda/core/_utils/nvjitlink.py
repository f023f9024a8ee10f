# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""nvJitLink through its bindings, which load at first use and release the interpreter lock in calls."""

from __future__ import annotations

import functools
import importlib

from cuda.core._utils.tool_errors import tool_error

__all__ = ["NO_NVJITLINK", "call_nvjitlink", "nvjitlink_log", "nvjitlink_version"]

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
