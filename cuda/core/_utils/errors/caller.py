# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Warnings attributed to the user's line that called the package."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_caller"]


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning for the innermost line of the call stack outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("cuda.core."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
