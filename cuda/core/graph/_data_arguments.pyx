# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of captured functions: what makes two calls equal, and which of them are data."""

from __future__ import annotations

from libc.stdint cimport uintptr_t

from cuda.core._handles._handles cimport KeptAllocation
from cuda.core._launch_config cimport LaunchConfig
from cuda.core._memory._buffer cimport Buffer
from cuda.core._module cimport Kernel

import inspect
import struct
import sys

__all__ = ["NotComparable", "data_names"]

cdef frozenset _PLAIN = frozenset((type(None), bool, int, str, bytes))
cdef frozenset _COMPARED = frozenset((complex, dict, Kernel, LaunchConfig))
ADDRESS = "address"  # a kind of data


class NotComparable(Exception):
    """An argument may change without showing it."""


def data_names(function, data) -> tuple[frozenset, frozenset]:
    """Return the positions and the names of the parameters of a function, after its first, that ``data`` names.

    Raises
    ------
    TypeError
        If ``data`` is no str and no iterable of str.
    ValueError
        If the function has no such parameter.
    """
    names = (data,) if isinstance(data, str) else tuple(data)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"data must be names of parameters, not {type(name).__name__}")
    if not names:
        return frozenset(), frozenset()
    parameters = list(inspect.signature(function).parameters.values())[1:]
    known = {parameter.name: index for index, parameter in enumerate(parameters)}
    for name in names:
        if name not in known or parameters[known[name]].kind in (
            inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        ):
            raise ValueError(f"data has {name!r}, which is no parameter of the function after its stream")
    return frozenset(known[name] for name in names), frozenset(names)


cdef class CallKey:
    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        cdef CallKey key
        if self is other or type(other) is not CallKey:
            return self is other
        key = other
        return self.hash == key.hash and self.data == key.data and self.is_of_kind(key)

    cdef bint is_of_kind(self, CallKey other) except -1:
        if self.is_unequal or other.is_unequal or self.kind_hash != other.kind_hash:
            return False
        return self.context == other.context and self.shape == other.shape


cdef CallKey CallKey_create(uintptr_t context, tuple args, dict kwargs, frozenset positions, frozenset names):
    cdef CallKey self = CallKey.__new__(CallKey)
    cdef list data = []
    self.context = context
    self.shape = describe(args, kwargs, positions, names, data, None)
    self.data = tuple(data)
    self.kind_hash = hash(self.shape)
    self.hash = self.kind_hash ^ (hash(self.data) * 3)
    return self


cdef CallKey CallKey_unequal(uintptr_t context):
    cdef CallKey self = CallKey.__new__(CallKey)
    self.context = context
    self.shape = self.data = ()
    self.is_unequal = True
    self.hash = hash(object())
    return self


cdef list kinds_of(tuple args, dict kwargs, frozenset positions, frozenset names):
    cdef list kinds = []
    describe(args, kwargs, positions, names, [], kinds)
    return kinds


cdef tuple describe(tuple args, dict kwargs, frozenset positions, frozenset names, list data, list kinds):
    cdef Py_ssize_t index
    cdef list shape = []
    cdef bint has_data = len(positions) != 0
    for index in range(len(args)):
        if has_data and index in positions:
            shape.append(data_value(args[index], data, kinds, 0))
        else:
            shape.append(value_of(args[index], 0))
    for name, argument in kwargs.items():
        shape.append(name)
        shape.append(data_value(argument, data, kinds, 0) if name in names else value_of(argument, 0))
    return tuple(shape)


# What kind the argument is, for the shape; its value goes to `data`.
cdef object data_value(object argument, list data, list kinds, int depth):
    cdef KeptAllocation memory
    cls = type(argument)
    if isinstance(argument, Buffer):
        keep_memory(argument, &memory)
        value = memory.value().pointer
        kind = cls, ADDRESS, memory.value().size, type((<Buffer>argument)._memory_resource)
    elif cls is int:
        kind, value = cls, argument
    elif cls is float:
        kind, value = cls, struct.pack("<d", argument)
    elif cls is tuple or cls is list:
        check_depth(depth)
        return cls, tuple([data_value(item, data, kinds, depth + 1) for item in argument])
    elif is_numpy_scalar(argument):
        kind, value = kind_of_scalar(argument)
    elif cls in _PLAIN or cls in _COMPARED:
        return value_of(argument, depth)
    else:
        _, value, *rest = value_of_array(argument)
        if type(value) is not int or not 0 <= value < 1 << 63:
            raise NotComparable
        kind = cls, ADDRESS, *rest
    if value is not None:
        data.append(value)
        if kinds is not None:
            kinds.append(kind)
    return kind


cdef int keep_memory(object buffer, KeptAllocation* memory) except -1:
    if not memory.hold((<Buffer>buffer)._h_allocation):
        raise NotComparable
    return 0


cdef tuple kind_of_scalar(object scalar):
    value = value_of_array(scalar)
    if scalar.dtype.kind in "iu":
        return value[:2], int(scalar)
    if scalar.dtype.kind == "f" and scalar.dtype.itemsize <= 8:
        return value[:2], struct.pack("<d", scalar)
    return value, None


# Nested deeper than anything that is compared by value; a list may also contain itself.
cdef enum:
    MOST_DEPTH = 32


cdef int check_depth(int depth) except -1:
    if depth > MOST_DEPTH:
        raise NotComparable
    return 0


# Something hashable that is equal where the captured work must be, too.
cdef object value_of(object argument, int depth):
    cdef KeptAllocation memory
    cls = type(argument)
    if isinstance(argument, Buffer):
        keep_memory(argument, &memory)
        return cls, memory.value().pointer, memory.value().size
    if cls in _PLAIN:
        return cls, argument
    if cls is tuple or cls is list:
        check_depth(depth)
        return cls, tuple([value_of(item, depth + 1) for item in argument])
    if cls is float:
        return cls, struct.pack("d", argument)  # 0.0 is -0.0, and nan is not nan
    if cls is complex:
        return cls, struct.pack("dd", argument.real, argument.imag)
    if cls is dict:
        check_depth(depth)
        return cls, tuple([(value_of(name, depth), value_of(item, depth + 1)) for name, item in argument.items()])
    if cls is Kernel:
        return cls, id(argument)  # the executable keeps it
    if cls is LaunchConfig:
        return cls, repr(argument)
    return value_of_array(argument)


cdef bint is_numpy_scalar(object argument) except -1:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(argument, numpy.generic)


cdef object value_of_array(object argument):
    if is_numpy_scalar(argument):
        return type(argument), str(argument.dtype), argument.tobytes()
    try:
        interface = argument.__cuda_array_interface__
        place = interface["data"][0], interface["shape"], interface.get("strides"), str(interface["typestr"])
        hash(place)
        return type(argument), *place
    except Exception:  # whatever a foreign property raises
        raise NotComparable from None
