# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Keys of calls of captured functions: what a function can observe of its arguments, and beside them."""

cimport cython
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from cuda.core._arrays._importers cimport import_known_with_interface
from cuda.core._arrays._views cimport FOR_COPY, ViewState, element_of, read_entries, shape_of, strides_of
from cuda.core._event cimport Event
from cuda.core._launch_config cimport LaunchConfig
from cuda.core._memory._buffer cimport Buffer, resource_of
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._module cimport Kernel
from cuda.core._native._cuda_core cimport AllocationPin
from cuda.core._stream cimport Stream
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport read_short_int

import dis
import enum
import functools
import pickle
import sys
import types
import weakref

from cuda.core._device import Device
from cuda.core._module import ObjectCode


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
        bint observes               # of the state of a function: its functions and modules are followed
        CallKey state               # what the function observes beside its arguments, after it was captured
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


cdef inline int add_item(CallKey self, object item, int depth) except -1:
    return add_observed(self, item, (), depth) if self.observes else add_argument(self, item, depth)


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


# Device arrays and views of any library, NumPy scalars and dtypes.
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


# --- What a function can observe beside its arguments ---------------------------------------------

# Functions that read what their code does not name.
cdef set DYNAMIC = {
    "getattr", "attrgetter", "methodcaller", "vars", "globals", "eval", "exec", "__dict__", "__getattribute__",
    "__import__", "import_module", "modules", "environ", "getenv",
}

# Installed packages whose functions and modules count as constants.
cdef set CONSTANT_PACKAGES = {*sys.stdlib_module_names, "cuda", "numpy"}

cdef object MISSING = object()

# Read for every call, so not as attributes of their module.
cdef object FUNCTION = types.FunctionType
cdef object METHOD = types.MethodType
cdef object MODULE = types.ModuleType
cdef object BUILTIN_FUNCTION = types.BuiltinFunctionType
cdef object PARTIAL = functools.partial
cdef dict modules = sys.modules
cdef object LRU_CACHE = type(functools.lru_cache(len))

# Types whose values are compared.
cdef set VALUE_TYPES = {int, str, float, bool, bytes}

# Types whose instances are compared as arguments are.
cdef set PLAIN_ARGUMENTS = {Buffer, LaunchConfig, Kernel, tuple, list, dict}

# Objects that do not change, or whose changes do not show in captured work.
cdef tuple CONSTANTS = (
    types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
    enum.Enum, Device, Stream, Event, ObjectCode, MemoryResource,
)

# id -> (code, names in it, those of globals, those of modules that it imports)
cdef dict known_names = {}


# The key of what a function observes beside its arguments: its defaults, its closure and the globals, attributes of
# modules, and attributes of its receiver that its code names, also in the functions that it calls. None if it observes
# something that a key cannot hold.
cdef CallKey CallKey_of_state(object function):
    cdef CallKey self = new_state()
    function = method_of(function)
    self.readings = []
    try:
        if type(function) is FUNCTION or type(function) is METHOD:
            add_observed(self, function, (), 0)
        else:
            add_read(self, WHOLE, None, None, function, (), 0)
        if any([(<Reading>reading).value is CHANGEABLE for reading in self.readings]):
            self.changeable = new_state()
        are_unchanged(self.readings, function, self.changeable)
    except NotComparable:
        return None
    release_resources(self)
    return self


cdef CallKey new_state():
    cdef CallKey self = CallKey.__new__(CallKey)
    self.objects = []
    self.owners = []
    self.words.reserve(32)
    self.observes = True
    return self


# A callable object as the method that a call of it runs.
cdef inline object method_of(object function):
    if type(function) is not FUNCTION and type(getattr(type(function), "__call__", None)) is FUNCTION:
        return METHOD(type(function).__call__, function)
    return function


# Returns true if a function still observes this state, without following everything that it observes again.
cdef bint is_current(CallKey self, object function) except -1:
    cdef CallKey changeable = None if self.changeable is None else new_state()
    try:
        if not are_unchanged(self.readings, method_of(function), changeable):
            return False
        return changeable is None or is_equal(self.changeable, changeable)
    except NotComparable:
        return False


# --- Where the state of a function was read --------------------------------------------------------

cdef enum Place:
    WHOLE                       # the function itself
    IN_DICT
    IN_MAPPING                  # of the names in a class
    IN_CELL
    ATTRIBUTE
    ATTRIBUTE_OF_METHOD         # of the function itself, which is bound
    TYPE_OF_RECEIVER            # the receiver is no holder, because the key must not keep it alive
    IN_RECEIVER
    ATTRIBUTE_OF_RECEIVER


@cython.final
cdef class Reading:
    cdef:
        Place place
        object holder
        object name
        object value            # CHANGEABLE for a value that its identity does not tell
        tuple names             # for the value


cdef object CHANGEABLE = object()


cdef Reading note(CallKey self, Place place, object holder, object name, object value):
    cdef Reading reading = Reading.__new__(Reading)
    reading.place, reading.holder, reading.name, reading.value = place, holder, name, value
    if self.readings is not None:
        self.readings.append(reading)
    return reading


# Adds what was read at a place, and notes the place. Whatever can change in place is read again for each call.
cdef int add_read(
    CallKey self, Place place, object holder, object name, object value, tuple names, int depth
) except -1:
    cdef list readings = self.readings
    if readings is None:
        return add_found(self, value, names, depth)
    if is_told_by_identity(value):
        note(self, place, holder, name, value)
        return add_found(self, value, names, depth)
    note(self, place, holder, name, CHANGEABLE).names = names
    self.readings = None
    try:
        return add_found(self, value, names, depth)
    finally:
        self.readings = readings


# Whether an object is a value, or changes only in what is read of it and noted.
cdef bint is_told_by_identity(object value) except -1:
    cls = type(value)
    if value is None or value is MISSING or cls in VALUE_TYPES or cls is FUNCTION or cls is MODULE or cls is Kernel:
        return True
    if cls is staticmethod or cls is classmethod:
        return is_told_by_identity(value.__func__)
    if cls is property:
        return all([is_told_by_identity(accessor) for accessor in (value.fget, value.fset, value.fdel)])
    if cls is BUILTIN_FUNCTION:
        return type(value.__self__) is MODULE
    # A key does not keep memory resources alive.
    return isinstance(value, (type, *CONSTANTS)) and not isinstance(value, MemoryResource) or is_cython_function(cls)


cdef inline bint is_cython_function(object cls) except -1:
    return cls.__name__ == "cython_function_or_method"


cdef bint are_unchanged(list readings, object function, CallKey changeable) except -1:
    cdef Reading reading
    for reading in readings:
        value = value_at(reading, function)
        if reading.value is CHANGEABLE:
            add_found(changeable, value, reading.names, 0)
        elif value is not reading.value:
            return False
    return True


cdef object value_at(Reading self, object function):
    if self.place == IN_DICT:
        return (<dict>self.holder).get(self.name, MISSING)
    if self.place == IN_CELL:
        return cell_content(self.holder)
    if self.place == ATTRIBUTE:
        return getattr(self.holder, self.name, MISSING)
    if self.place == IN_MAPPING:
        return self.holder.get(self.name, MISSING)
    if self.place == ATTRIBUTE_OF_METHOD:
        return getattr(function, self.name, MISSING)
    if self.place == TYPE_OF_RECEIVER:
        return type(function.__self__)
    if self.place == IN_RECEIVER:
        return getattr(function.__self__, "__dict__", {}).get(self.name, MISSING)
    if self.place == ATTRIBUTE_OF_RECEIVER:
        return getattr(function.__self__, self.name, MISSING)
    return function


cdef object cell_content(object cell):
    cdef PyObject* content = PyCell_Get(cell)
    if content == NULL:  # empty
        return MISSING
    value = <object>content
    Py_DECREF(value)
    return value


cdef int add_observed(CallKey self, object value, tuple names, int depth) except -1:
    cls = type(value)
    if depth > MAX_DEPTH:
        raise NotComparable
    if value is None or cls in VALUE_TYPES or cls in PLAIN_ARGUMENTS:
        add_argument(self, value, depth)
    elif cls is FUNCTION:
        add_function(self, value, depth)
    elif cls is METHOD:
        add_receiver(self, value, depth)
        add_observed(self, value.__func__, (), depth + 1)
    elif cls is MODULE or isinstance(value, type):
        add_identity(self, value)
        if not is_constant(value.__name__ if cls is MODULE else value.__module__):
            add_named(self, value, names, depth + 1)
    elif cls is staticmethod or cls is classmethod:
        add_observed(self, value.__func__, names, depth + 1)
    elif cls is property:
        for accessor in (value.fget, value.fset, value.fdel):
            add_observed(self, accessor, names, depth + 1)
    elif cls is PARTIAL:
        for part in (value.func, value.args, value.keywords):
            add_observed(self, part, names, depth + 1)
    elif cls is BUILTIN_FUNCTION:
        add_identity(self, value)
        if type(value.__self__) is not MODULE:
            add_observed(self, value.__self__, names, depth + 1)
    elif cls is CapturedFunction or cls is LRU_CACHE:
        add_identity(self, value)
        if not add_repetition(self, value):
            add_observed(self, value.__wrapped__, names, depth + 1)
    elif isinstance(value, CONSTANTS) or is_cython_function(cls):
        add_identity(self, value)
    else:
        add_argument(self, value, depth)
    return 0


cdef int add_function(CallKey self, object function, int depth) except -1:
    cdef CodeNames names
    cdef dict namespace = function.__globals__
    code = function.__code__
    add_identity(self, code)
    if is_constant(namespace.get("__name__")) or add_repetition(self, function):
        return 0
    names = names_of(code)
    if not DYNAMIC.isdisjoint(names.all):
        raise NotComparable
    note(self, ATTRIBUTE, function, "__code__", code)
    add_read(self, ATTRIBUTE, function, "__defaults__", function.__defaults__, names.all, depth + 1)
    add_read(self, ATTRIBUTE, function, "__kwdefaults__", function.__kwdefaults__, names.all, depth + 1)
    for cell in function.__closure__ or ():
        add_read(self, IN_CELL, cell, None, cell_content(cell), names.all, depth + 1)
    for name in names.globals:
        add_read(self, IN_DICT, namespace, name, namespace.get(name, MISSING), names.all, depth + 1)
    for name in names.modules:
        if name not in modules:  # relative, or not imported yet
            raise NotComparable
        add_read(self, IN_DICT, modules, name, modules[name], names.all, depth + 1)
    return 0


cdef inline int add_found(CallKey self, object value, tuple names, int depth) except -1:
    if value is MISSING:
        self.words.push_back(0)
        return 0
    return add_observed(self, value, names, depth)


# Adds the attributes of a class or module that code names.
cdef int add_named(CallKey self, object owner, tuple names, int depth) except -1:
    if not isinstance(owner, type):
        for name in names:
            add_read(self, IN_DICT, owner.__dict__, name, owner.__dict__.get(name, MISSING), names, depth)
        return 0
    note(self, ATTRIBUTE, owner, "__mro__", owner.__mro__)
    for part in owner.__mro__:
        if part is object:
            continue
        namespace = part.__dict__
        for name in names:
            add_read(self, IN_MAPPING, namespace, name, namespace.get(name, MISSING), names, depth)
    return 0


# Adds the attributes of the object that a method is bound to, as far as the method or methods that it calls name them.
cdef int add_receiver(CallKey self, object method, int depth) except -1:
    cdef tuple names
    receiver = method.__self__
    cls = receiver if isinstance(receiver, type) else type(receiver)
    names = names_of_methods(cls, method.__func__)
    note(self, ATTRIBUTE_OF_METHOD, None, "__func__", method.__func__)
    add_observed(self, cls, names, depth + 1)
    if cls is receiver or add_repetition(self, receiver):
        return 0
    note(self, TYPE_OF_RECEIVER, None, None, cls)
    namespace = getattr(receiver, "__dict__", {})
    for name in names:
        if any([name in vars(part).get("__slots__", ()) for part in cls.__mro__]):
            value = getattr(receiver, name, MISSING)
            add_read(self, ATTRIBUTE_OF_RECEIVER, None, name, value, names, depth + 1)
        else:
            add_read(self, IN_RECEIVER, None, name, namespace.get(name, MISSING), names, depth + 1)
    return 0


# The names in the code of a method, and in that of all methods and properties of its class that it names.
cdef tuple names_of_methods(object cls, object function):
    cdef CodeNames names = names_of(getattr(function, "__code__", None))
    found = dict.fromkeys(names.all)
    pending = list(found)
    while pending:
        name = pending.pop()
        for part in cls.__mro__:
            method = vars(part).get(name)
            names = names_of(getattr(getattr(getattr(method, "fget", method), "__func__", method), "__code__", None))
            fresh = [other for other in names.all if other not in found]
            found.update(dict.fromkeys(fresh))
            pending += fresh
    return tuple(found)


# The names in code, and in the code of functions that it defines.
@cython.final
cdef class CodeNames:
    cdef:
        object code
        tuple all               # also of attributes
        tuple globals
        tuple modules           # that it imports


cdef CodeNames names_of(object code):
    cdef CodeNames known = known_names.get(id(code))
    if known is None or known.code is not code:
        everything, variables, imported = {}, {}, {}
        collect_names(code, everything, variables, imported)
        known = CodeNames.__new__(CodeNames)
        known.code = code
        known.all, known.globals, known.modules = tuple(everything), tuple(variables), tuple(imported)
        if len(known_names) > 1000:
            known_names.clear()
        known_names[id(code)] = known
    return known


cdef int collect_names(object code, dict everything, dict variables, dict imported) except -1:
    if not isinstance(code, types.CodeType):
        return 0
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            imported[instruction.argval] = None
        elif instruction.opname == "LOAD_NAME" or "GLOBAL" in instruction.opname:
            variables[instruction.argval] = None
    everything.update(dict.fromkeys(code.co_names))
    for constant in code.co_consts:
        collect_names(constant, everything, variables, imported)
    for name in code.co_names:
        if name.startswith("@"):  # no name of the source: pytest adds it to assertions
            del everything[name]
            variables.pop(name, None)
    return 0


cdef bint is_constant(object module) except -1:
    if not isinstance(module, str):
        return False
    return module in CONSTANT_PACKAGES or (<str>module).partition(".")[0] in CONSTANT_PACKAGES


cdef extern from "Python.h":
    PyObject* PyCell_Get(object) noexcept
