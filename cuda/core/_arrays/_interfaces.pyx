# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What ``__array_interface__`` and ``__cuda_array_interface__`` share, read with checks for copies and for views."""

from __future__ import annotations

from libc.stdint cimport INT64_MAX, int64_t

from cuda.core._utils.validators import check_address, shown

__all__ = []


cdef tuple read_entries(object interface):
    if not isinstance(interface, dict):
        raise BufferError(f"an array interface must be a dict, not {type(interface).__name__}")
    if interface.get("mask") is not None:
        raise BufferError("an array with a mask cannot be viewed, nor copied as bytes")
    try:
        shape, typestr, data = interface["shape"], interface["typestr"], interface["data"]
    except KeyError as error:
        raise BufferError(f"the array interface lacks the entry {error}") from error
    if not isinstance(data, tuple) or len(data) != 2:
        raise BufferError(f"the entry 'data' must be a tuple (address, is_readonly), not {type(data).__name__}")
    address = 0 if data[0] is None else check_address("the address in the entry 'data'", data[0])
    return shape, typestr, address, data[1]


cdef int64_t parse_itemsize(object typestr) except -1:
    if typestr == "|O":
        return sizeof(void*)
    if isinstance(typestr, str) and len(typestr) > 2:
        count = typestr[2:].partition("[")[0]
        # More digits than a 64-bit number has are not worth reading.
        if count.isdecimal() and len(count) < 20:
            itemsize = int(count) * (4 if typestr[1] == "U" else 1)
            if itemsize <= INT64_MAX:
                return itemsize
    raise BufferError(f"the entry 'typestr' must be like '<f4', not {shown(typestr)[:80]}")
