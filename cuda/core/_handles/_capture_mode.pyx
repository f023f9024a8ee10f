# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls that captures in strict modes forbid, although they do not concern the capture.

A capture in a strict mode forbids its thread, or all threads, calls that may synchronize: freeing
memory, loading code. When the library makes such a call by itself, it sets the thread to relaxed mode during the
call, so that freeing a buffer does not invalidate a capture.
"""

from __future__ import annotations

from libcpp.atomic cimport atomic

__all__ = []

cdef atomic[int]* captures_in_progress = new atomic[int](0)


def capture_count() -> int:
    """Return how many captures this library has begun and not ended."""
    return captures_in_progress.load()
