# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parsing of ``__array_interface__`` and ``__cuda_array_interface__``, and of element types in text form."""

from __future__ import annotations

from libc.stdint cimport INT64_MAX, int64_t
from libc.string cimport strchr, strlen

from cuda.core._dlpack cimport DLDataType, DLPack_element

import sys

from cuda.core._utils.validators import check_address, shown

__all__ = ["interface_address"]

cdef bint IS_LITTLE = sys.byteorder == "little"

# typestr -> (itemsize, (code, bits, lanes)). Programs use a handful of types.
cdef dict _parsed_types = {}
cdef enum:
    MAX_CACHED_TYPES = 256


cdef tuple read_entries(object interface, str name):
    if not isinstance(interface, dict):
        raise BufferError(f"an array interface must be a dict, not {type(interface).__name__}")
    version = (<dict>interface).get("version", 0)
    if not isinstance(version, int) or version < 3:
        raise BufferError(f"{name} must be of version 3 or newer, not {shown((<dict>interface).get('version'))}")
    if (<dict>interface).get("mask") is not None:
        raise BufferError("an array with a mask cannot be viewed, nor copied as bytes")
    try:
        shape, typestr, data = interface["shape"], interface["typestr"], interface["data"]
    except KeyError as error:
        raise BufferError(f"the array interface lacks the entry {error}") from error
    return shape, typestr, read_address(data), bool((<tuple>data)[1])


# The address in the entry 'data'; 0 for None.
cdef object read_address(object data):
    if not isinstance(data, tuple) or len(<tuple>data) != 2:
        raise BufferError(f"the entry 'data' must be a tuple (address, is_readonly), not {type(data).__name__}")
    address = (<tuple>data)[0]
    if address is None:
        return 0
    if type(address) is not int or address < 0 or address > 0xffff_ffff_ffff_ffff:
        return check_address("the address in the entry 'data'", address)
    return address


def interface_address(obj: object) -> int:
    """Return the address in ``__cuda_array_interface__`` of an object; the other entries are not read.

    Raises
    ------
    AttributeError
        If the object has no such interface.
    BufferError
        If the interface has no address.
    """
    interface = obj.__cuda_array_interface__
    if not isinstance(interface, dict):
        raise BufferError(f"an array interface must be a dict, not {type(interface).__name__}")
    if "data" not in <dict>interface:
        raise BufferError("the array interface lacks the entry 'data'")
    return read_address((<dict>interface)["data"])


cdef int parse_typestr(object typestr, ElementType* element) except -1:
    cdef object found = None
    if type(typestr) is str:
        found = _parsed_types.get(typestr)
    if found is None:
        found = read_typestr(typestr)
        if len(_parsed_types) < MAX_CACHED_TYPES and type(typestr) is str:
            _parsed_types[typestr] = found
    element.itemsize = (<tuple>found)[0]
    element.dlpack.code, element.dlpack.bits, element.dlpack.lanes = (<tuple>found)[1]
    return 0


# Returns (itemsize, (code, bits, lanes)); lanes is 0 if DLPack has no such type.
cdef tuple read_typestr(object typestr):
    cdef DLDataType element
    itemsize = parse_itemsize(typestr)
    is_native = typestr[0] in ("|=<" if IS_LITTLE else "|=>")
    if is_native and ord(typestr[1]) < 128 and DLPack_element(<char>ord(typestr[1]), itemsize, &element):
        return itemsize, (element.code, element.bits, element.lanes)
    return itemsize, (0, 0, 0)


cdef int64_t parse_itemsize(object typestr) except -1:
    if typestr == "|O":
        return sizeof(void*)
    if isinstance(typestr, str) and len(typestr) > 2:
        count = typestr[2:].partition("[")[0]
        # Numbers of 20 digits or more do not fit 64 bits.
        if count.isdecimal() and len(count) < 20:
            itemsize = int(count) * (4 if typestr[1] == "U" else 1)
            if itemsize <= INT64_MAX:
                return itemsize
    raise BufferError(f"the entry 'typestr' must be like '<f4', not {shown(typestr)[:80]}")


cdef bint parse_format(const char* text, int64_t itemsize, ElementType* element) noexcept:
    cdef char kind
    element.itemsize = itemsize
    if text == NULL:
        text = b"B"
    if text[0] == c"@" or text[0] == c"=" or text[0] == (c"<" if IS_LITTLE else c">"):
        text += 1
    if strlen(text) == 2 and text[0] == c"Z" and strchr(b"fd", text[1]) != NULL:
        kind = c"c"
    elif strlen(text) != 1:
        return False
    elif strchr(b"bhilqn", text[0]) != NULL:
        kind = c"i"
    elif strchr(b"BHILQN", text[0]) != NULL:
        kind = c"u"
    elif strchr(b"efd", text[0]) != NULL:
        kind = c"f"
    elif text[0] == c"?":
        kind = c"b"
    else:
        return False
    return DLPack_element(kind, itemsize, &element.dlpack)
