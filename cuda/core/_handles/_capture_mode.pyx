# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The relaxed capture mode, for calls that strict captures forbid.

A capture in global or thread-local mode forbids all threads, or its own, calls that may synchronize, such as freeing
memory or loading code. When the library makes such a call by itself, it sets the thread to relaxed mode during the
call, so that freeing a buffer does not invalidate a capture.
"""

from __future__ import annotations

from libcpp.atomic cimport atomic

__all__ = []

cdef atomic[int]* captures_in_progress = new atomic[int](0)


def capture_count() -> int:
    """Return the number of captures that this library has begun and not ended."""
    return captures_in_progress.load()
