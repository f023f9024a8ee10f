# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Keys of calls of captured functions: what a function can observe of its arguments."""

cimport cython
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.object cimport PyObject

from cuda.core._arrays._importers cimport import_known_with_interface
from cuda.core._arrays._views cimport FOR_COPY, ViewState, element_of, read_entries, shape_of, strides_of
from cuda.core._launch_config cimport LaunchConfig
from cuda.core._memory._buffer cimport Buffer, resource_of
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._module cimport Kernel
from cuda.core._native._cuda_core cimport AllocationPin
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport read_short_int

import pickle
import sys
import weakref


# --- Keys: everything a function can observe of its arguments -------------------------------------

cdef enum:
    MAX_DEPTH = 32  # more deeply nested arguments are captured each time


cdef class CapturedFunction


class NotComparable(Exception):
    """Raised for an argument whose state a key cannot hold."""


# Two calls with equal keys capture the same work. The words of an argument begin with its type, which implies how many
# follow, so that no two lists of arguments have the same words.
@cython.final
cdef class CallKey:
    cdef:
        vector[uint64_t] words      # numbers, addresses, and identities of objects
        list objects                # compared with ==: instances of builtin types, and NumPy dtypes
        list owners                 # the objects whose identities are in `words`
        list resources              # once captured: weak references to those that may be dropped
        vector[PyObject*] seen      # mutable arguments: a function can tell whether two are the same object
        dict names                  # of the state of a function: all names in its code
        CallKey state               # what the function observes beside its arguments
        list readings               # of the state of a function: where it was read; None while nothing is noted
        CallKey changeable          # the values of these readings that can change in place


# The key of a call, or None if it cannot be compared with others.
cdef CallKey CallKey_create(uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names):
    cdef CallKey self = CallKey.__new__(CallKey)
    cdef Py_ssize_t index
    cdef Py_ssize_t total = count
    self.objects = []
    self.owners = []
    self.words.reserve(32)
    self.words.push_back(context)
    self.words.push_back(count)
    self.words.push_back(names != NULL)
    if names != NULL:
        self.objects.append(<object>names)
        total += len(<tuple>names)
    try:
        for index in range(total):
            add_argument(self, <object>arguments[index], 0)
    except NotComparable:
        return None
    return self


cdef bint is_equal(CallKey self, CallKey other) except -1:
    if self.words != other.words or self.objects != other.objects:
        return False
    if self.state is not other.state and not is_equal(self.state, other.state):
        return False
    for reference in self.resources:
        if reference() is None:
            return False
    return True


cdef uint64_t hash_of(CallKey self) except? 0:
    cdef uint64_t mark = hash(tuple(self.objects))
    cdef uint64_t word
    for word in self.words:
        mark = (mark ^ word) * <uint64_t>0xff51afd7ed558ccd
        mark ^= mark >> 32
    return mark


# Prepares a key for being stored: an identity must not be reused while the key exists. But a key does not keep memory
# resources alive, because their memory would stay reserved.
cdef int release_resources(CallKey self) except -1:
    for part in (self.state, self.changeable):
        if part is not None:
            release_resources(part)
    if self.resources is not None:
        return 0
    owners, self.owners = self.owners, []
    self.resources = []
    for owner in owners:
        if isinstance(owner, MemoryResource):
            self.resources.append(weakref.ref(owner))
        else:
            self.owners.append(owner)
    return 0


cdef int add_argument(CallKey self, object argument, int depth) except -1:
    cdef type cls = type(argument)
    cdef int64_t number
    cdef uint64_t bits
    cdef double real
    self.words.push_back(<uintptr_t><PyObject*>cls)
    if argument is None or cls is bool:
        self.words.push_back(<uintptr_t><PyObject*>argument)
    elif cls is int:
        if read_short_int(<PyObject*>argument, &number):
            self.words.push_back(1)
            self.words.push_back(<uint64_t>number)
        else:
            self.words.push_back(0)
            self.objects.append(argument)
    elif cls is float:
        real = PyFloat_AS_DOUBLE(argument)  # its bits, because 0.0 == -0.0 and nan != nan
        memcpy(&bits, &real, sizeof(bits))
        self.words.push_back(bits)
    elif cls is complex:
        add_argument(self, argument.real, depth)
        add_argument(self, argument.imag, depth)
    elif cls is str or cls is bytes:
        self.objects.append(argument)
    elif isinstance(argument, Buffer):
        add_buffer(self, <Buffer>argument)
    elif cls is Kernel:
        add_identity(self, argument)
    elif cls is LaunchConfig:
        add_config(self, <LaunchConfig>argument)
    elif cls is tuple or cls is list or cls is dict:
        add_items(self, argument, depth)
    elif cls is set or cls is frozenset:
        add_set(self, argument)
    else:
        add_array(self, argument)
    return 0


cdef inline int add_identity(CallKey self, object owner) except -1:
    self.words.push_back(<uintptr_t><PyObject*>owner)
    self.owners.append(owner)
    return 0


# Adds which earlier argument this object is; returns false for a new one.
cdef bint add_repetition(CallKey self, object argument) except -1:
    cdef size_t index
    for index in range(self.seen.size()):
        if self.seen[index] == <PyObject*>argument:
            self.words.push_back(index)
            return True
    self.words.push_back(<uint64_t>-1)
    self.seen.push_back(<PyObject*>argument)
    return False


cdef int add_items(CallKey self, object items, int depth) except -1:
    if depth > MAX_DEPTH:
        raise NotComparable
    if add_repetition(self, items):
        return 0
    self.words.push_back(len(items))
    if type(items) is dict:
        for key, value in items.items():
            add_item(self, key, depth + 1)
            add_item(self, value, depth + 1)
    else:
        for value in items:
            add_item(self, value, depth + 1)
    return 0


cdef int add_set(CallKey self, object items) except -1:
    if not all([type(item) in (int, str, bytes, bool) for item in items]):
        raise NotComparable
    if not add_repetition(self, items):
        self.objects.append(frozenset([(type(item), item) for item in items]))
    return 0


cdef inline int add_item(CallKey self, object item, int depth) except -1:
    return add_argument(self, item, depth) if self.names is None else add_observed(self, item, depth)


cdef int add_buffer(CallKey self, Buffer buffer) except -1:
    cdef AllocationPin memory
    cdef type cls = type(buffer)
    if cls is not Buffer:
        if not cls.__module__.startswith("cuda.core."):
            raise NotComparable  # a subclass may have attributes
        add_identity(self, cls)
    if add_repetition(self, buffer):
        return 0
    if not memory.hold(buffer._h_allocation):
        raise NotComparable
    self.words.push_back(memory.value().pointer)
    self.words.push_back(memory.value().size)
    self.words.push_back(buffer._is_readonly | buffer._is_mapped << 1)
    add_identity(self, resource_of(buffer))
    return 0


cdef int add_config(CallKey self, LaunchConfig config) except -1:
    cdef int index
    cdef size_t word
    if add_repetition(self, config):
        return 0
    for index in range(3):
        self.words.push_back(config._grid[index])
        self.words.push_back(config._cluster[index])
    self.words.push_back(config._native.blockDimX)
    self.words.push_back(config._native.blockDimY)
    self.words.push_back(config._native.blockDimZ)
    self.words.push_back(config._native.sharedMemBytes)
    self.words.push_back(config._is_grid_resident)
    for index in range(config._native.numAttrs):
        self.words.push_back(<uint64_t>config._attributes[index].id)
        for word in range(sizeof(cydriver.CUlaunchAttributeValue) // 8):
            self.words.push_back((<uint64_t*>&config._attributes[index].value)[word])
    return 0


# Libraries whose device arrays have no state but what their interface says.
cdef set ARRAY_PACKAGES = {"cuda", "cupy", "jax", "jaxlib", "numba", "torch"}


# Device arrays and views, NumPy scalars and dtypes.
cdef int add_array(CallKey self, object argument) except -1:
    add_identity(self, type(argument))
    try:
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(argument, numpy.dtype):
            self.objects.append(value_of_dtype(argument))
            return 0
        if numpy is not None and isinstance(argument, numpy.generic):
            if type(argument) is not argument.dtype.type or argument.dtype.hasobject:
                raise NotComparable
            self.objects += value_of_dtype(argument.dtype), argument.tobytes()
            return 0
        package = type(argument).__module__.partition(".")[0]
        if package not in ARRAY_PACKAGES or package == "torch" and argument.__dict__:
            raise NotComparable  # its attributes may change what its methods return
        interface = argument.__cuda_array_interface__
        if add_repetition(self, argument):
            return 0
        if interface.get("version") == 2:
            add_known_array(self, argument)  # a tensor of PyTorch
        else:
            shape, typestr, address, is_readonly = read_entries(interface, "__cuda_array_interface__")
            self.objects.append(plain((
                shape, typestr, address, is_readonly, interface.get("strides"), interface.get("descr"),
                interface.get("stream"),
            )))
        dtype = getattr(argument, "dtype", None)
        if numpy is not None and isinstance(dtype, numpy.dtype):
            self.objects.append(value_of_dtype(dtype))
    except Exception:  # a property of another library's class may raise anything
        raise NotComparable from None
    return 0


cdef int add_known_array(CallKey self, object argument) except -1:
    cdef ViewState state = ViewState.__new__(ViewState)
    if not import_known_with_interface(state, argument, -1, FOR_COPY) or not state._is_device_accessible:
        raise NotComparable
    element = element_of(state)
    hash(element)
    self.objects.append((state._ptr, shape_of(state), strides_of(state), element, bool(state._is_readonly)))
    return 0


# Equal NumPy dtypes can differ in their metadata, and in the metadata of their fields.
cdef object value_of_dtype(object dtype):
    return dtype if dtype.fields is None and dtype.subdtype is None and not dtype.metadata else pickle.dumps(dtype)


# A copy of nested tuples and lists as tuples, whose other items must be instances of builtin types.
cdef object plain(object value):
    cls = type(value)
    if cls is tuple or cls is list:
        return tuple([plain(item) for item in value])
    if value is None or cls is int or cls is str or cls is bool:
        return value
    raise NotComparable
