# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names whose home depends on the version of Python."""

from __future__ import annotations

import sys
from enum import StrEnum

if sys.version_info >= (3, 12):
    from collections.abc import Buffer as BufferProtocol
else:
    # Before 3.12 the buffer protocol has no type, and any object may turn out to offer it.
    BufferProtocol = object

__all__ = ["BufferProtocol", "StrEnum"]
