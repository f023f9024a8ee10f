# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of captured functions: comparison of calls, and data arguments."""

from __future__ import annotations

cimport cython
from cpython.float cimport PyFloat_AS_DOUBLE
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcmp, memcpy

from cuda.core._arrays._view_state cimport ViewState, element_of, shape_of, strides_of
from cuda.core._arrays.importing._importers cimport import_known_with_interface
from cuda.core._arrays.importing._interfaces cimport read_entries
from cuda.core._arrays.importing._protocols cimport FOR_COPY
from cuda.core._handles._handles cimport KeptAllocation
from cuda.core._launch_config cimport LaunchConfig
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory.ranges._memory_range cimport resource_of
from cuda.core._module cimport Kernel
from cuda.core._utils._cpython cimport read_short_int

import inspect
import struct
import sys

from cuda.core._utils.validators import list_argument

__all__ = ["NotComparable", "data_names"]

cdef frozenset _PLAIN = frozenset((type(None), bool, int, str, bytes))
cdef frozenset _COMPARED = frozenset((complex, dict, Kernel, LaunchConfig))
ADDRESS = "address"  # in the kind of a data argument: it is memory
_HALF = 1 << 63


class NotComparable(Exception):
    """Raised for an argument that cannot be compared by value with that of another call."""


def data_names(function, data) -> tuple[frozenset, frozenset]:
    """Return the positions and the names of the parameters in ``data``; position 0 is the one after the stream.

    Raises
    ------
    TypeError
        If ``data`` is neither a str nor an iterable of str.
    ValueError
        If the function does not have one of the parameters.
    """
    names = [data] if isinstance(data, str) else list_argument("data", data, "names of parameters")
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
            raise ValueError(f"data must name parameters after the stream; the function has no parameter {name!r}")
    return frozenset(known[name] for name in names), frozenset(names)


cdef extern from "Python.h":
    PyTypeObject* Py_TYPE(PyObject*) noexcept nogil
    int PyObject_RichCompareBool(PyObject*, PyObject*, int) except -1
    Py_ssize_t Py_SIZE(PyObject*) noexcept nogil
    int Py_EQ


cdef class CallPattern:
    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        cdef CallPattern pattern
        if self is other or type(other) is not CallPattern:
            return self is other
        pattern = other
        return self.hash == pattern.hash and self.context == pattern.context and self.shape == pattern.shape

    cdef bint is_fast(self) noexcept:
        return len(self.kinds) <= MAX_WORDS

    cdef bint match(
        self, uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names, DataWord* words
    ) except -1:
        cdef Py_ssize_t index
        cdef size_t place = 0
        if context != self.context or count != self.count:
            return False
        if names == NULL:
            if len(self.names):
                return False
        elif <PyObject*>self.names != names and not PyObject_RichCompareBool(<PyObject*>self.names, names, Py_EQ):
            return False
        for index in range(count + len(self.names)):
            if not match_one(self, arguments[index], &place, &words):
                return False
        return True


# Compares one argument and its items; advances `place` and `words` past them.
cdef bint match_one(CallPattern self, PyObject* argument, size_t* place, DataWord** words) except -1:
    cdef const Expected* expected = &self.expected[place[0]]
    cdef int64_t number
    cdef double real
    place[0] += 1
    if expected.comparison == IDENTICAL:
        return argument == expected.thing
    if expected.comparison == EQUAL_VALUE or expected.comparison == DATA_VALUE:
        return match_value(expected, argument, words)
    if Py_TYPE(argument) != expected.cls:
        return False
    if expected.comparison == DATA_MEMORY or expected.comparison == EQUAL_MEMORY:
        return match_memory(expected, argument, words)
    if expected.comparison == DATA_INT:
        if read_short_int(argument, &number):
            words[0][0].bits = <uint64_t>number
            words[0][0].type = SIGNED
            words[0] += 1
            return True
        return match_value(expected, argument, words)
    if expected.comparison == EQUAL_INT:
        return read_short_int(argument, &number) and <uint64_t>number == expected.bits
    if expected.comparison == DATA_FLOAT or expected.comparison == EQUAL_FLOAT:
        real = PyFloat_AS_DOUBLE(<object>argument)
        if expected.comparison == EQUAL_FLOAT:
            return memcmp(&real, &expected.bits, 8) == 0
        memcpy(&words[0][0].bits, &real, 8)
        words[0][0].type = DOUBLE
        words[0] += 1
        return True
    if expected.comparison == EQUAL_TEXT:
        return argument == expected.thing or PyObject_RichCompareBool(argument, expected.thing, Py_EQ) != 0
    if expected.comparison == EQUAL_CONFIG:
        return is_config(<LaunchConfig>argument, self.configs.data() + expected.bits)
    return match_items(self, expected.size, argument, place, words)


cdef bint match_memory(const Expected* expected, PyObject* argument, DataWord** words) except -1:
    cdef KeptAllocation memory
    if (
        not memory.hold((<Buffer>argument)._h_allocation)
        or memory.value().size != expected.size
        or (<Buffer>argument)._is_readonly != expected.is_readonly
        or type_of_resource(<Buffer>argument) != expected.resource
    ):
        return False
    if expected.comparison == EQUAL_MEMORY:
        return memory.value().pointer == expected.bits
    words[0][0].bits = memory.value().pointer
    words[0][0].type = SIGNED
    words[0] += 1
    return True


cdef inline PyTypeObject* type_of_resource(Buffer buffer) noexcept:
    with cython.critical_section(buffer):
        return Py_TYPE(<PyObject*>buffer._memory_resource)


# The slow path of a comparison, with calls into Python.
cdef bint match_value(const Expected* expected, PyObject* argument, DataWord** words) except -1:
    try:
        if expected.comparison == EQUAL_VALUE:
            return value_of(<object>argument) == <object>expected.thing
        kind, value = data_of(<object>argument)
    except NotComparable:
        return False
    if value is None or kind != <object>expected.thing:
        return False
    write_word(value, words[0])
    words[0] += 1
    return True


cdef bint match_items(
    CallPattern self, size_t size, PyObject* argument, size_t* place, DataWord** words
) except -1:
    cdef bint is_list = isinstance(<object>argument, list)
    cdef size_t index
    # Comparing an item may run code that shortens the list.
    for index in range(size):
        if <size_t>Py_SIZE(argument) != size:
            return False
        item = (<list>argument)[index] if is_list else (<tuple>argument)[index]
        if not match_one(self, <PyObject*>item, place, words):
            return False
    return <size_t>Py_SIZE(argument) == size


# ---------------------------------------------------------------------------------------------
# Describing a call

cdef CallPattern CallPattern_create(
    uintptr_t context, tuple args, dict kwargs, DataChoice choice, frozenset positions, frozenset names, list data
):
    cdef CallPattern self = CallPattern.__new__(CallPattern)
    cdef Py_ssize_t index
    cdef list shape = []
    self.context = context
    self.kinds = []
    self.kept = []
    self.count = len(args)
    self.names = tuple(kwargs)
    for index in range(len(args)):
        shape.append(describe(self, args[index], choice == NAMED and index in positions, choice == MEMORY, data, 0))
    for name, argument in kwargs.items():
        shape.append(name)
        shape.append(describe(self, argument, choice == NAMED and name in names, choice == MEMORY, data, 0))
    self.shape = tuple(shape)
    self.hash = hash(self.shape)
    return self


# A hashable description of an argument: its value, or for a data argument its kind.
cdef object describe(CallPattern self, object argument, bint is_data, bint is_memory_data, list data, int depth):
    cdef Expected expected
    cdef double real
    cdef int64_t number
    cls = type(argument)
    clear(&expected, cls)
    if isinstance(argument, Buffer):
        return describe_memory(self, &expected, argument, is_data or is_memory_data, data)
    if cls is tuple or cls is list:
        if depth > MAX_DEPTH:
            raise NotComparable
        expected.comparison, expected.size = ITEMS, len(argument)
        self.expected.push_back(expected)
        return cls, tuple([describe(self, item, is_data, is_memory_data, data, depth + 1) for item in argument])
    if is_data and cls is int or cls is float:
        expected.comparison = DATA_FLOAT if cls is float else DATA_INT
        if is_data:
            expected.thing = <PyObject*>cls
            return add_data(self, &expected, cls, struct.pack("<d", argument) if cls is float else argument, data)
        real = argument
        expected.comparison = EQUAL_FLOAT
        memcpy(&expected.bits, &real, 8)
        self.expected.push_back(expected)
        return value_of(argument)
    if cls is int and read_short_int(<PyObject*>argument, &number):
        expected.comparison, expected.bits = EQUAL_INT, <uint64_t>number
    elif cls is Kernel:
        expected.comparison, expected.thing = IDENTICAL, <PyObject*>argument
    elif cls is LaunchConfig:
        expected.comparison, expected.bits = EQUAL_CONFIG, self.configs.size()
        self.configs.resize(self.configs.size() + CONFIG_NUMBERS)
        read_config(argument, self.configs.data() + expected.bits)
    elif cls in _PLAIN and cls is not int:
        expected.comparison = EQUAL_TEXT if cls is str or cls is bytes else IDENTICAL
        keep(self, &expected, argument)
    elif cls is not int and cls not in _COMPARED and (is_data or not is_numpy_scalar(argument)):
        kind, value = data_of(argument)
        if value is not None and (is_data or (is_memory_data and kind[1] is ADDRESS)):
            expected.comparison = DATA_VALUE
            keep(self, &expected, kind)
            return add_data(self, &expected, kind, value, data)
        return describe_value(self, &expected, argument)
    else:
        return describe_value(self, &expected, argument)
    self.expected.push_back(expected)
    return value_of(argument)


cdef object describe_value(CallPattern self, Expected* expected, object argument):
    value = value_of(argument)
    expected.comparison = EQUAL_VALUE
    keep(self, expected, value)
    self.expected.push_back(expected[0])
    return value


cdef object describe_memory(CallPattern self, Expected* expected, Buffer buffer, bint is_data, list data):
    cdef KeptAllocation memory
    if not memory.hold(buffer._h_allocation):
        raise NotComparable
    resource = type(resource_of(buffer))
    expected.size = memory.value().size
    expected.is_readonly = buffer._is_readonly
    expected.resource = <PyTypeObject*>resource
    self.kept.append(resource)
    kind = type(buffer), ADDRESS, memory.value().size, resource, bool(buffer._is_readonly)
    if is_data:
        expected.comparison = DATA_MEMORY
        return add_data(self, expected, kind, memory.value().pointer, data)
    expected.comparison, expected.bits = EQUAL_MEMORY, memory.value().pointer
    self.expected.push_back(expected[0])
    return kind, memory.value().pointer


cdef object add_data(CallPattern self, const Expected* expected, object kind, object value, list data):
    if not isinstance(value, bytes) and not -_HALF <= value < 2 * _HALF:
        raise NotComparable
    self.expected.push_back(expected[0])
    self.kinds.append(kind)
    data.append(value)
    return kind


cdef int keep(CallPattern self, Expected* expected, object thing) except -1:
    self.kept.append(thing)
    expected.thing = <PyObject*>thing
    return 0


cdef int clear(Expected* expected, cls) except -1:
    expected.comparison = IDENTICAL
    expected.cls = <PyTypeObject*>cls
    expected.thing = NULL
    expected.bits = expected.size = 0
    expected.resource = NULL
    expected.is_readonly = False
    return 0


cdef int write_words(list data, DataWord* words) except -1:
    cdef Py_ssize_t index
    for index in range(len(data)):
        write_word(data[index], &words[index])
    return 0


cdef int write_word(object value, DataWord* word) except -1:
    cdef double real
    if isinstance(value, bytes):
        real = struct.unpack("<d", value)[0]
        memcpy(&word.bits, &real, 8)
        word.type = DOUBLE
    elif value < _HALF:
        word.bits = <uint64_t><int64_t>value
        word.type = SIGNED
    else:
        word.bits = <uint64_t>value
        word.type = UNSIGNED
    return 0


# ---------------------------------------------------------------------------------------------
# Values of arguments

cdef enum:
    # Deeper nested arguments are not compared by value. A list may also contain itself.
    MAX_DEPTH = 32
    CONFIG_NUMBERS = 12


cdef int read_config(LaunchConfig config, uint32_t* numbers) except -1:
    cdef int index
    for index in range(3):
        numbers[index] = config._grid[index]
        numbers[3 + index] = config._cluster[index]
    numbers[6], numbers[7], numbers[8] = config._native.blockDimX, config._native.blockDimY, config._native.blockDimZ
    numbers[9], numbers[10] = config._native.sharedMemBytes, config._is_cooperative
    numbers[11] = config._is_serialization_programmatic
    return 0


cdef bint is_config(LaunchConfig config, const uint32_t* numbers) except -1:
    cdef uint32_t[CONFIG_NUMBERS] own
    read_config(config, own)
    return memcmp(own, numbers, sizeof(own)) == 0


# The kind and the value of a data argument that is not a Buffer, a short int or a float; None as the value if its type
# cannot be data.
cdef tuple data_of(object argument):
    if type(argument) is int:
        if not -_HALF <= argument < 2 * _HALF:
            raise NotComparable
        return int, argument
    if is_numpy_scalar(argument):
        value = value_of_array(argument)
        if argument.dtype.kind in "iu":
            return value[:2], int(argument)
        if argument.dtype.kind == "f" and argument.dtype.itemsize <= 8:
            return value[:2], struct.pack("<d", argument)
        return value, None
    cls, address, *rest = value_of_array(argument)
    if type(address) is not int or not 0 <= address < _HALF:
        raise NotComparable
    return (cls, ADDRESS, *rest), address


# A hashable value of an argument: arguments of equal values lead to the same captured work.
cdef object value_of(object argument, int depth=0):
    cdef KeptAllocation memory
    cls = type(argument)
    if isinstance(argument, Buffer):
        if not memory.hold((<Buffer>argument)._h_allocation):
            raise NotComparable
        return cls, memory.value().pointer, memory.value().size
    if cls in _PLAIN:
        return cls, argument
    if cls is tuple or cls is list or cls is dict:
        if depth > MAX_DEPTH:
            raise NotComparable
        if cls is dict:
            items = [(value_of(name, depth), value_of(item, depth + 1)) for name, item in argument.items()]
        else:
            items = [value_of(item, depth + 1) for item in argument]
        return cls, tuple(items)
    if cls is float:
        return cls, struct.pack("<d", argument)  # bytes, because 0.0 == -0.0 and nan != nan
    if cls is complex:
        return cls, struct.pack("<dd", argument.real, argument.imag)
    if cls is Kernel:
        return cls, id(argument)  # the executable keeps it
    if cls is LaunchConfig:
        return cls, repr(argument)
    return value_of_array(argument)


cdef bint is_numpy_scalar(object argument) except -1:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(argument, numpy.generic)


cdef tuple value_of_array(object argument):
    if is_numpy_scalar(argument):
        return type(argument), str(argument.dtype), argument.tobytes()
    try:
        interface = argument.__cuda_array_interface__
        if interface.get("version") == 2:
            return value_of_known_array(argument)  # a tensor of PyTorch
        shape, typestr, address, _ = read_entries(interface, "__cuda_array_interface__")
        place = type(argument), address, shape, interface.get("strides"), typestr
        hash(place)
        return place
    except Exception:  # a property of a foreign class may raise anything
        raise NotComparable from None


cdef tuple value_of_known_array(object argument):
    cdef ViewState state = ViewState.__new__(ViewState)
    if not import_known_with_interface(state, argument, -1, FOR_COPY) or not state._is_device_accessible:
        raise NotComparable
    return type(argument), state._ptr, shape_of(state), strides_of(state), element_of(state)
