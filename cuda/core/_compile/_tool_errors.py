# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of NVVM and nvJitLink: each class derives from that of the bindings and from :class:`CUDAError`.

The classes are created at their first use, because that loads the bindings.
"""

from __future__ import annotations

import functools
import importlib

from cuda.core._utils.cuda_utils import CUDAError

__all__ = ["tool_error"]

# The module and the name of the exception class of the bindings, and further base classes.
_BASES = {
    "nvvmError": ("cuda.bindings.nvvm", "nvvmError", ()),
    "nvJitLinkError": ("cuda.bindings.nvjitlink", "nvJitLinkError", ()),
    # For inputs that this library refuses before they reach nvJitLink.
    "nvJitLinkInputError": ("cuda.bindings.nvjitlink", "nvJitLinkError", (ValueError,)),
}


def tool_error(kind: str, status: int, api: str, detail: str = "", log: str = ""):
    """Return the exception for a failed call of a tool.

    Parameters
    ----------
    kind : str
        ``"nvvmError"``, ``"nvJitLinkError"`` or ``"nvJitLinkInputError"``.
    status : int
        The result code of the call.
    api : str
        The C function that was called.
    detail : str, optional
        What was being done, and advice.
    log : str, optional
        The log of the tool.
    """
    results = importlib.import_module(_BASES[kind][0]).Result
    name = next((result.name for result in results if int(result) == int(status)), f"ERROR_{int(status)}")
    log = log.strip()
    message = f"{name} ({int(status)}): {name.removeprefix('ERROR_').replace('_', ' ').lower()} ({api})"
    error = error_class(kind)("\n".join(part for part in (message, detail, log) if part))
    error.status = error.code = int(status)
    error.name = name
    error.api = api
    error.log = log or None
    return error


@functools.cache
def error_class(kind: str) -> type:
    """Return the exception class that derives from the one of the bindings."""
    home, name, others = _BASES[kind]
    base = getattr(importlib.import_module(home), name)
    members = {
        "__doc__": f"{base.__name__}, with its log.",
        "__init__": CUDAError.__init__,
        # Pickles refer to the class by this module, and create it from the message and the attributes.
        "__module__": __name__,
        "__reduce__": Exception.__reduce__,
    }
    return type(kind, (base, CUDAError, *others), members)


def __getattr__(name):
    if name in _BASES:
        return error_class(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
