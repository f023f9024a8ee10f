# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls beside captures that forbid them, although they have nothing to do with one.

A capture that is not relaxed forbids its thread, or all threads, calls that could wait for the device: the release of
memory, the loading of code. Where the library makes them on its own account, it relaxes the mode of the thread for as
long as the call takes, so that a buffer that ends does not end a capture.
"""

from __future__ import annotations

from libcpp.atomic cimport atomic

__all__ = []

cdef atomic[int]* captures_in_progress = new atomic[int](0)


def capture_count() -> int:
    """Return how many captures this library has begun and not ended."""
    return captures_in_progress.load()
