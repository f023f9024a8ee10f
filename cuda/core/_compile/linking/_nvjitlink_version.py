# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The version of nvJitLink, from its bindings, which load at first use."""

from __future__ import annotations

import functools
import importlib

__all__ = ["NO_NVJITLINK", "nvjitlink_version"]

# Since this version, the names of the entry points do not contain the version.
_OLDEST = (12, 3)

NO_NVJITLINK = (
    "nvJitLink is missing or older than CUDA 12.3; install it with `pip install nvidia-nvjitlink`, or the CUDA Toolkit"
)


@functools.cache
def nvjitlink_version() -> tuple[int, int] | None:
    """Return the CUDA version of nvJitLink; None if it is missing or too old."""
    try:
        version = tuple(importlib.import_module("cuda.bindings.nvjitlink").version())
    except (ImportError, RuntimeError, AttributeError):  # no bindings, no library, or a library without this function
        return None
    return version if version >= _OLDEST else None
