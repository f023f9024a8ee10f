# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What a captured function observes beside its arguments: keys of its state.

All code that a call can run is followed: functions by their globals, closures and defaults, classes by their methods.
Attributes of modules, classes and receivers are read by every name in that code, because code can pass an object to
other code that names the attribute. Code that cannot be followed, and functions whose result depends on more than the
objects of the program (time, files, random numbers), have no key, so every call captures.
"""

cimport cython

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from cuda.core._event cimport Event
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._module cimport Kernel
from cuda.core._stream cimport Stream

import dis
import enum
import functools
import sys
import types

from cuda.core._device import Device
from cuda.core._module import ObjectCode

# Names of functions and attributes that read what the code does not name, or what changes without being assigned.
cdef set DYNAMIC = {
    "getattr", "hasattr", "attrgetter", "methodcaller", "vars", "dir", "globals", "eval", "exec", "__import__",
    "__dict__", "__getattribute__", "__globals__", "__closure__", "__code__", "__subclasses__", "__annotations__",
    "open", "input", "random", "load", "fromfile", "loadtxt", "genfromtxt", "memmap", "is_done",
    # Contents of memory, which are no part of a key.
    "from_dlpack", "array", "asarray", "asanyarray", "ascontiguousarray", "memoryview", "frombuffer", "from_buffer",
    "from_address", "string_at", "to_host", "tolist", "item",
}

# Packages whose functions count as constants: their results depend on their arguments only.
cdef set PURE_PACKAGES = {
    "builtins", "math", "cmath", "operator", "_operator", "functools", "_functools", "itertools", "collections",
    "_collections", "_collections_abc", "abc", "_abc", "array", "bisect", "contextlib", "copy", "ctypes", "_ctypes",
    "dataclasses", "decimal", "enum", "fractions", "heapq", "numbers", "re", "reprlib", "string", "struct", "_struct",
    "types", "typing", "warnings", "_warnings", "cuda", "numpy",
}
cdef str IMPURE_MODULE = "numpy.random"  # NumPy imports it when it is first used

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

# Types with one instance.
cdef set SINGLETON_TYPES = {type(None), type(NotImplemented), type(Ellipsis)}

# Types whose instances are compared as arguments are.
cdef set PLAIN_ARGUMENTS = {Buffer, LaunchConfig, Kernel, tuple, list, dict}

# Objects that do not change, or whose changes do not show in captured work.
cdef tuple DESCRIPTORS = (
    types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
    types.ClassMethodDescriptorType, types.MethodWrapperType,
)
cdef tuple RESOURCES = (Device, Stream, Event, ObjectCode, MemoryResource)

# Methods that only a call of the class runs.
cdef set CONSTRUCTORS = {"__new__", "__init__", "__post_init__", "__init_subclass__", "__set_name__"}

# Names with which code can call the class of an object that it has.
cdef set CLASS_READERS = {"type", "__class__", "copy", "deepcopy", "replace"}

# id -> the names in this code
cdef dict known_names = {}


# The key of what a function observes beside its arguments, or None if it observes something that a key cannot hold.
cdef CallKey CallKey_of_state(object function):
    cdef CallKey self
    cdef dict names = {}
    cdef Py_ssize_t known = -1
    function = method_of(function)
    try:
        while len(names) != known:  # until no code is found that has other names
            known = len(names)
            self = new_state(names)
            self.readings = []
            if type(function) is FUNCTION or type(function) is METHOD:
                add_observed(self, function, 0)
            else:
                add_read(self, WHOLE, None, None, function, 0)
        if any([(<Reading>reading).value is CHANGEABLE for reading in self.readings]):
            self.changeable = new_state(names)
        are_unchanged(self.readings, function, self.changeable)
    except NotComparable:
        return None
    release_resources(self)
    return self


cdef CallKey new_state(dict names):
    cdef CallKey self = CallKey.__new__(CallKey)
    self.objects = []
    self.owners = []
    self.words.reserve(32)
    self.names = names
    return self


# A callable object as the method that a call of it runs.
cdef inline object method_of(object function):
    if type(function) is not FUNCTION and type(getattr(type(function), "__call__", None)) is FUNCTION:
        return METHOD(type(function).__call__, function)
    return function


# Returns true if a function still observes this state, without following everything that it observes again.
cdef bint is_current(CallKey self, object function) except -1:
    cdef CallKey changeable = None
    cdef Py_ssize_t known = len(self.names)
    if self.changeable is not None:
        changeable = new_state(self.names)
    try:
        if not are_unchanged(self.readings, method_of(function), changeable):
            return False
        return changeable is None or is_equal(self.changeable, changeable) and len(self.names) == known
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


cdef object CHANGEABLE = object()


cdef int note(CallKey self, Place place, object holder, object name, object value) except -1:
    cdef Reading reading
    if self.readings is not None:
        reading = Reading.__new__(Reading)
        reading.place, reading.holder, reading.name, reading.value = place, holder, name, value
        self.readings.append(reading)
    return 0


# Adds what was read at a place, and notes the place. Whatever can change in place is read again for each call.
cdef int add_read(CallKey self, Place place, object holder, object name, object value, int depth) except -1:
    cdef list readings = self.readings
    if readings is None:
        return add_found(self, value, depth)
    if is_told_by_identity(value):
        note(self, place, holder, name, value)
        return add_found(self, value, depth)
    note(self, place, holder, name, CHANGEABLE)
    self.readings = None
    try:
        return add_found(self, value, depth)
    finally:
        self.readings = readings


# Whether an object is a value, or changes only in what is read of it and noted.
cdef bint is_told_by_identity(object value) except -1:
    cls = type(value)
    if value is MISSING or cls in VALUE_TYPES or cls in SINGLETON_TYPES:
        return True
    if cls is FUNCTION or cls is MODULE or cls is Kernel:
        return True
    if cls is staticmethod or cls is classmethod:
        return is_told_by_identity(value.__func__)
    if cls is property:
        return all([is_told_by_identity(accessor) for accessor in (value.fget, value.fset, value.fdel)])
    if cls is BUILTIN_FUNCTION:
        return type(value.__self__) is MODULE
    # A key does not keep memory resources alive.
    is_resource = isinstance(value, RESOURCES) and not isinstance(value, MemoryResource)
    return is_resource or isinstance(value, (type, *DESCRIPTORS)) or is_cython_function(cls)


cdef inline bint is_cython_function(object cls) except -1:
    return cls.__name__ == "cython_function_or_method"


cdef bint are_unchanged(list readings, object function, CallKey changeable) except -1:
    cdef Reading reading
    for reading in readings:
        value = value_at(reading, function)
        if reading.value is CHANGEABLE:
            add_found(changeable, value, 0)
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


# --- What is followed ------------------------------------------------------------------------------

cdef int add_observed(CallKey self, object value, int depth) except -1:
    cls = type(value)
    if depth > MAX_DEPTH:
        raise NotComparable
    if cls in VALUE_TYPES or cls in PLAIN_ARGUMENTS:
        add_argument(self, value, depth)
    elif cls in SINGLETON_TYPES:
        add_identity(self, value)
    elif cls is FUNCTION:
        add_function(self, value, depth)
    elif cls is METHOD:
        add_receiver(self, value, depth)
        add_observed(self, value.__func__, depth + 1)
    elif cls is MODULE:
        add_module(self, value, depth)
    elif isinstance(value, type):
        add_class(self, value, True, depth)
    elif cls is staticmethod or cls is classmethod:
        add_observed(self, value.__func__, depth + 1)
    elif cls is property:
        for accessor in (value.fget, value.fset, value.fdel):
            add_observed(self, accessor, depth + 1)
    elif cls is PARTIAL:
        for part in (value.func, value.args, value.keywords):
            add_observed(self, part, depth + 1)
    elif cls is BUILTIN_FUNCTION:
        add_identity(self, value)
        if type(value.__self__) is MODULE or value.__self__ is None:
            is_constant(value.__module__, value.__name__)
        else:
            add_observed(self, value.__self__, depth + 1)
    elif cls is CapturedFunction:
        add_identity(self, value)
        if not add_repetition(self, value):
            add_observed(self, (<CapturedFunction>value)._function, depth + 1)
            add_attributes(self, value, depth)
    elif cls is LRU_CACHE:
        add_identity(self, value)
        if not add_repetition(self, value):
            add_observed(self, value.__wrapped__, depth + 1)
            add_attributes(self, value, depth)
    elif isinstance(value, enum.Enum):
        add_identity(self, value)
        add_observed(self, cls, depth + 1)
        add_observed(self, dict(vars(value)), depth + 1)
    elif isinstance(value, DESCRIPTORS) or isinstance(value, RESOURCES) and cls.__module__.startswith("cuda.core"):
        add_identity(self, value)
    elif is_cython_function(cls):
        add_identity(self, value)
        is_constant(value.__module__, value.__name__)
    elif cls.__module__ == "dataclasses":  # marks in generated methods
        add_identity(self, value)
    else:
        add_argument(self, value, depth)
    return 0


cdef inline int add_found(CallKey self, object value, int depth) except -1:
    if value is MISSING:
        self.words.push_back(0)
        return 0
    return add_observed(self, value, depth)


cdef int add_function(CallKey self, object function, int depth) except -1:
    cdef CodeNames names
    cdef dict namespace = function.__globals__
    code = function.__code__
    add_identity(self, code)
    if add_repetition(self, function):
        return 0
    for cell in function.__closure__ or ():
        add_read(self, IN_CELL, cell, None, cell_content(cell), depth + 1)
    if is_constant(namespace.get("__name__"), function.__name__):
        return 0
    names = names_of(code)
    if not DYNAMIC.isdisjoint(names.all):
        raise NotComparable
    self.names.update(names.all)
    note(self, ATTRIBUTE, function, "__code__", code)
    for name in ("__defaults__", "__kwdefaults__"):
        add_read(self, ATTRIBUTE, function, name, getattr(function, name), depth + 1)
    for name in names.globals:
        if name in namespace or name not in function.__builtins__:
            add_read(self, IN_DICT, namespace, name, namespace.get(name, MISSING), depth + 1)
        else:
            note(self, IN_DICT, namespace, name, MISSING)
            add_read(self, IN_DICT, function.__builtins__, name, function.__builtins__[name], depth + 1)
    for name in names.modules:
        if name not in modules:  # relative, or not imported yet
            raise NotComparable
        add_read(self, IN_DICT, modules, name, modules[name], depth + 1)
    return add_attributes(self, function, depth)


# Adds the attributes that the program has given to a function.
cdef int add_attributes(CallKey self, object function, int depth) except -1:
    cdef dict namespace = function.__dict__
    for name in tuple(self.names):
        add_read(self, IN_DICT, namespace, name, namespace.get(name, MISSING), depth + 1)
    return 0


cdef int add_module(CallKey self, object module, int depth) except -1:
    cdef dict namespace = module.__dict__
    cdef bint constant = is_constant(module.__name__)
    add_identity(self, module)
    if add_repetition(self, module):
        return 0
    for name in (*self.names, "__getattr__"):
        value = namespace.get(name, MISSING)
        if not constant:
            add_read(self, IN_DICT, namespace, name, value, depth + 1)
        elif value is not MISSING:
            note(self, IN_DICT, namespace, name, value)
            add_identity(self, value)
            if type(value) is MODULE:
                add_module(self, value, depth + 1)
    return 0


# Adds the attributes of a class that code names, and the methods that operators and statements call.
cdef int add_class(CallKey self, object cls, bint is_called, int depth) except -1:
    add_identity(self, cls)
    if is_constant(cls.__module__, cls.__name__):
        return 0
    if not add_repetition(self, cls):
        if type(cls) is not type:
            add_observed(self, type(cls), depth + 1)
        note(self, ATTRIBUTE, cls, "__mro__", cls.__mro__)
        add_members_of_class(self, cls, False, depth)
    if is_called and not add_repetition(self, cls.__mro__):
        add_members_of_class(self, cls, True, depth)
    return 0


cdef int add_members_of_class(CallKey self, object cls, bint are_constructors, int depth) except -1:
    for part in cls.__mro__:
        if is_constant(part.__module__):
            continue
        namespace = part.__dict__
        if are_constructors:
            names = CONSTRUCTORS
        else:
            special = [name for name in namespace if name not in CONSTRUCTORS and is_special(name, namespace[name])]
            names = dict.fromkeys([*self.names, *special])
        for name in names:
            add_read(self, IN_MAPPING, namespace, name, namespace.get(name, MISSING), depth + 1)
    return 0


# Whether a member of a class can run without being named.
cdef bint is_special(object name, object value) except -1:
    if not (name.startswith("__") and name.endswith("__")) or name.startswith("__annotate"):
        return False
    return callable(value) or hasattr(type(value), "__get__")


# Adds the attributes of the object that a method is bound to.
cdef int add_receiver(CallKey self, object method, int depth) except -1:
    receiver = method.__self__
    note(self, ATTRIBUTE_OF_METHOD, None, "__func__", method.__func__)
    if isinstance(receiver, type):
        return add_class(self, receiver, True, depth + 1)
    cls = type(receiver)
    if is_constant(cls.__module__):
        return add_observed(self, receiver, depth + 1)
    add_class(self, cls, not CLASS_READERS.isdisjoint(self.names), depth + 1)
    if add_repetition(self, receiver):
        return 0
    note(self, TYPE_OF_RECEIVER, None, None, cls)
    namespace = getattr(receiver, "__dict__", {})
    for name in tuple(self.names):
        if any([type(vars(part).get(name)) is types.MemberDescriptorType for part in cls.__mro__]):  # a slot
            add_read(self, ATTRIBUTE_OF_RECEIVER, None, name, getattr(receiver, name, MISSING), depth + 1)
        else:
            add_read(self, IN_RECEIVER, None, name, namespace.get(name, MISSING), depth + 1)
    return 0


# Returns true for a module of pure functions, or one of its members. Raises for others of Python and NumPy.
cdef bint is_constant(object module, object name=None) except -1:
    if not isinstance(module, str):
        return False
    package = (<str>module).partition(".")[0]
    if package in PURE_PACKAGES and not (<str>module).startswith(IMPURE_MODULE) and name not in DYNAMIC:
        return True
    if package in sys.stdlib_module_names or package in PURE_PACKAGES:
        raise NotComparable
    return False


# The names in code, and in the code of functions that it defines.
@cython.final
cdef class CodeNames:
    cdef:
        object code
        dict all                # also of attributes
        tuple globals
        tuple modules           # that it imports


cdef CodeNames names_of(object code):
    cdef CodeNames known = known_names.get(id(code))
    if known is None or known.code is not code:
        everything, variables, imported = {}, {}, {}
        collect_names(code, everything, variables, imported)
        known = CodeNames.__new__(CodeNames)
        known.code = code
        known.all, known.globals, known.modules = everything, tuple(variables), tuple(imported)
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


cdef extern from "Python.h":
    PyObject* PyCell_Get(object) noexcept
