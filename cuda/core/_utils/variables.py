# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Environment variables that switch something on."""

from __future__ import annotations

import os

__all__ = ["is_switched_on"]


def is_switched_on(variable: str) -> bool:
    """Return whether an environment variable has a value other than 0."""
    return os.environ.get(variable, "").strip() not in ("", "0")
