# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names that different versions of Python define in different modules."""

from __future__ import annotations

import sys
from enum import StrEnum

if sys.version_info >= (3, 12):
    from collections.abc import Buffer as BufferProtocol
else:
    # Before Python 3.12 there is no type for the buffer protocol, and any object may support it.
    BufferProtocol = object

__all__ = ["BufferProtocol", "StrEnum"]
