# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Base class of every public resource."""

from __future__ import annotations

from libc.stdint cimport intptr_t

import importlib

__all__ = ["DriverObject"]


cdef class DriverObject:
    """What all resources share: closing, identity, and the refusal of direct construction."""

    made_by = "a factory method"

    def __init__(self, *args, **kwargs):
        raise RuntimeError(f"{type(self).__name__} cannot be constructed directly; use {self.made_by}")

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def __eq__(self, other):
        if not isinstance(other, DriverObject) or not (isinstance(other, type(self)) or isinstance(self, type(other))):
            return NotImplemented
        return self._identity() == (<DriverObject>other)._identity()

    def __hash__(self):
        return hash(self._identity())

    def __repr__(self):
        return f"<{type(self).__name__} {self._address():#x}>"

    def close(self):
        """Release this object's reference to the resource.

        The resource itself ends when its last user is gone. Calling this again does nothing.
        """
        self._release()

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._address() == 0

    cdef intptr_t _address(self) noexcept nogil:
        return 0

    cdef void _release(self) noexcept:
        pass

    cdef object _identity(self):
        return self._address()

    cdef int _check_open(self) except -1:
        if self._address() == 0:
            raise RuntimeError(f"this {type(self).__name__} is closed")
        return 0


cdef object _driver = None


cdef object bindings_object(str name, intptr_t value):
    global _driver
    if _driver is None:
        _driver = importlib.import_module("cuda.bindings.driver")
    return getattr(_driver, name)(init_value=value)
