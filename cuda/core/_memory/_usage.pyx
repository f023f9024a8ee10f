# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Counting of memory in use, exact though threads and garbage collection interrupt each other."""

from __future__ import annotations

cimport cython
from libc.stdint cimport UINT64_MAX, uint64_t

__all__ = ["MemoryUsage"]


cdef class MemoryUsage:
    """Counts of what is in use, of their peaks, and of all there was.

    Each method is one step: it runs no Python code, so nothing can come between.
    """

    cdef uint64_t current_bytes, current_count, peak_bytes, peak_count, total_bytes, total_count, failed_count

    def take(self, uint64_t size, uint64_t limit=UINT64_MAX, uint64_t count=1) -> bool:
        """Count ``size`` bytes in use; return False, and count nothing, where that exceeds ``limit``."""
        cdef bint is_within = False
        with cython.critical_section(self):
            if size <= limit and self.current_bytes <= limit - size:
                is_within = True
                self.current_bytes += size
                self.current_count += count
                self.total_bytes += size
                self.total_count += count
                self.peak_bytes = max(self.peak_bytes, self.current_bytes)
                self.peak_count = max(self.peak_count, self.current_count)
        return is_within

    def give(self, uint64_t size) -> None:
        """Count ``size`` bytes as no longer in use."""
        with cython.critical_section(self):
            self.current_bytes -= size
            self.current_count -= 1

    def fail(self) -> None:
        """Count a failed allocation."""
        with cython.critical_section(self):
            self.failed_count += 1

    def reset_peaks(self) -> None:
        """Let the peaks start again from what is in use."""
        with cython.critical_section(self):
            self.peak_bytes = self.current_bytes
            self.peak_count = self.current_count

    def in_use(self) -> int:
        """Return the bytes in use."""
        cdef uint64_t size
        with cython.critical_section(self):
            size = self.current_bytes
        return size

    def figures(self) -> tuple[int, ...]:
        """Return all counts of one moment."""
        cdef uint64_t[7] counts
        with cython.critical_section(self):
            counts = [
                self.current_bytes, self.current_count, self.peak_bytes, self.peak_count,
                self.total_bytes, self.total_count, self.failed_count,
            ]
        return tuple([counts[i] for i in range(7)])
