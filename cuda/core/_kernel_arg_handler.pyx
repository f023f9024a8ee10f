# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments: checked, converted, and laid out as the driver expects them."""

from __future__ import annotations

from libc.stdint cimport (
    INT16_MIN,
    INT32_MIN,
    INT8_MIN,
    UINT16_MAX,
    UINT32_MAX,
    UINT8_MAX,
    int16_t,
    int32_t,
    int64_t,
    int8_t,
    intptr_t,
    uint16_t,
    uint32_t,
    uint64_t,
    uint8_t,
    uintptr_t,
)
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.object cimport PyObject, PyTypeObject

from cuda.core._memory._buffer cimport Buffer, array_access
from cuda.core._module cimport Kernel, Kernel_read_layout, ParamSlot
from cuda.core._native._cuda_core cimport Allocation, ArgumentBlock, KernelPin, LaunchList, launch_list
from cuda.core._utils._cpython cimport read_short_int, tuple_items
from cuda.core._utils._type_table cimport TypeTable

import re
import sys

from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core._utils.locks import RLock
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import shown

__all__ = ["ParamHolder", "advice", "pack_arguments", "parameter_types", "register_buffer_class"]


cdef class ParamHolder:
    """Packed kernel arguments, and the ``void**`` array of their addresses that ``cuLaunchKernel`` expects.

    Parameters
    ----------
    kernel_args : Sequence
        Arguments as :func:`~cuda.core.launch` accepts them. An int is packed as 64 bits.

    Raises
    ------
    TypeError
        If kernels do not accept the type of an argument.
    OverflowError
        If an int does not fit in 64 bits.
    RuntimeError
        If a buffer is closed.
    """

    cdef:
        ArgumentBlock _block
        tuple _kernel_args

    __signature__ = ConstructorSignature()

    def __init__(self, kernel_args):
        """Accept the arguments of ``__cinit__``, which packs them."""

    def __cinit__(self, kernel_args):
        # The items may own the memory that their addresses refer to.
        self._kernel_args = tuple(kernel_args)
        ArgumentBlock_fill_by_sizes(
            self._block, tuple_items(<PyObject*>self._kernel_args), len(self._kernel_args)
        )
        # Unlike a launch, this object does not keep buffers open, so it drops the references taken by filling.
        self._block.end()

    @property
    def ptr(self) -> int:
        """The address of the ``void*`` array, or 0 without arguments. It is valid as long as this object exists."""
        return <intptr_t>self._block.kernel_params


def pack_arguments(layout, kernel_args):
    """Return the bytes of the parameter block that a launch passes to the driver.

    Parameters
    ----------
    layout : Sequence[tuple[int, int]]
        The offset and size of each parameter in bytes, as in :attr:`Kernel.arguments_info`.
    kernel_args : Sequence
        The arguments, as :func:`launch` accepts them.
    """
    cdef Kernel kernel = Kernel.__new__(Kernel)
    cdef KernelPin none
    cdef ArgumentBlock block
    cdef ParamSlot slot
    cdef Py_ssize_t index
    arguments = tuple(kernel_args)
    kernel._has_layout = kernel._is_layout_known = True
    for slot.offset, slot.size in layout:
        kernel._slots.push_back(slot)
        kernel._block_size = max(kernel._block_size, slot.offset + slot.size)
    ArgumentBlock_fill(block, kernel, none, tuple_items(<PyObject*>arguments), len(arguments))
    packed = bytearray(kernel._block_size)
    for index in range(len(arguments)):
        slot = kernel._slots[index]
        packed[slot.offset:slot.offset + slot.size] = (<char*>block.kernel_params[index])[:slot.size]
    return bytes(packed)


def register_buffer_class(cls: type) -> None:
    """Register a subclass of :class:`Buffer`, so that launches find its writer without searching its bases.

    Raises
    ------
    TypeError
        If ``cls`` is not a subclass of :class:`Buffer`.
    """
    if not (isinstance(cls, type) and issubclass(cls, Buffer)):
        raise TypeError(f"cls must be a subclass of Buffer, not {cls!r}")
    register_argument_type(cls, &write_buffer, 8)


# --- Argument blocks --------------------------------------------------------------------------------------------------


cdef LaunchList* _launches = launch_list()


cdef int ArgumentBlock_fill(
    ArgumentBlock& self, Kernel kernel, const KernelPin& pin, PyObject* const* arguments, Py_ssize_t count
) except -1:
    if not kernel._has_layout:
        Kernel_read_layout(kernel, pin)
    if not kernel._is_layout_known:
        return ArgumentBlock_fill_by_sizes(self, arguments, count)
    if <size_t>count != kernel._slots.size():
        raise TypeError(f"{describe(kernel)} takes {count_of_arguments(kernel._slots.size())}, {count} given")
    if count == 0:
        return 0
    return write_slots(self, kernel, arguments, ArgumentBlock_begin(self, arguments, count, kernel._block_size))


cdef int ArgumentBlock_fill_by_sizes(ArgumentBlock& self, PyObject* const* arguments, Py_ssize_t count) except -1:
    cdef Py_ssize_t index
    cdef const ArgumentType* c_type
    cdef vector[size_t] sizes
    cdef Allocation* memory
    cdef size_t size
    cdef size_t total = 0
    cdef char* c_bytes
    cdef int fit
    if count == 0:
        return 0
    # Read each size only once: writing an argument can run Python code that resizes another argument.
    sizes.reserve(count)
    for index in range(count):
        size = natural_size_of(<object>arguments[index], index)
        sizes.push_back(size)
        total += padded(size)
    c_bytes = ArgumentBlock_begin(self, arguments, count, total)
    for index in range(count):
        c_type = resolve_type(<object>arguments[index], index)
        size = sizes[index]
        self.kernel_params[index] = c_bytes
        if c_type.write == &write_buffer:
            memory = self.value_of((<Buffer>arguments[index])._h_allocation)
            if memory == NULL:
                reject_closed_buffer()
            fit = store_bytes(&memory.pointer, 8, c_bytes, size)
        else:
            fit = c_type.write(arguments[index], c_type.natural_size, c_bytes, size)
        if fit != FITS:
            raise_misfit(fit, <object>arguments[index], index, None, size)
        c_bytes += padded(size)
    return 0


# The hot loop: it looks up no name, allocates nothing and counts no references.
cdef int write_slots(ArgumentBlock& self, Kernel kernel, PyObject* const* arguments, char* c_bytes) except -1:
    cdef const ParamSlot* c_slot = kernel._slots.data()
    cdef size_t count = kernel._slots.size()
    cdef const ArgumentType* c_type = NULL
    cdef PyTypeObject* c_class = NULL
    cdef Allocation* memory
    cdef int64_t value
    cdef int fit
    cdef void** c_params = self.kernel_params
    cdef char* c_target
    cdef size_t index
    for index in range(count):
        c_target = c_bytes + c_slot[index].offset
        c_params[index] = c_target
        if Py_TYPE(arguments[index]) != c_class:
            c_class = Py_TYPE(arguments[index])
            c_type = find_type(c_class)
            if c_type == NULL:
                c_type = resolve_type(<object>arguments[index], index)
        # The two most frequent types are written inline; all others call their writer.
        if c_type.write == &write_int and read_short_int(arguments[index], &value):
            fit = store_signed(value, c_target, c_slot[index].size)
        elif c_type.write == &write_buffer:
            memory = self.value_of((<Buffer>arguments[index])._h_allocation)
            if memory == NULL:
                reject_closed_buffer()
            fit = store_bytes(&memory.pointer, 8, c_target, c_slot[index].size)
        else:
            fit = c_type.write(arguments[index], c_type.natural_size, c_target, c_slot[index].size)
        if fit != FITS:
            raise_misfit(fit, <object>arguments[index], index, kernel, c_slot[index].size)
    return 0


cdef inline char* ArgumentBlock_begin(
    ArgumentBlock& self, PyObject* const* arguments, Py_ssize_t count, size_t size
) except NULL:
    cdef char* c_bytes = self.begin(_launches[0], arguments, count, size)
    if c_bytes == NULL:
        raise MemoryError()
    return c_bytes


cdef inline size_t padded(size_t size) noexcept nogil:
    return (size + 15) & ~<size_t>15


cdef int reject_closed_buffer() except -1:
    raise UnavailableError("a Buffer among the kernel arguments is closed")


# --- Argument types ---------------------------------------------------------------------------------------------------


cdef struct ArgumentType:
    ArgumentWriter write
    size_t natural_size


cdef TypeTable[ArgumentType] _types
cdef object _table_lock = RLock()

# The entry for arrays from other libraries: their address is passed.
cdef ArgumentType _array


cdef extern from "Python.h":
    PyTypeObject* Py_TYPE(PyObject*) noexcept nogil
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1


cdef inline const ArgumentType* find_type(PyTypeObject* c_class) noexcept nogil:
    return _types.find(c_class)


cdef int register_argument_type(object cls, ArgumentWriter write, size_t natural_size) except -1:
    cdef ArgumentType c_type
    c_type.write, c_type.natural_size = write, natural_size
    with _table_lock:
        if not _types.add(<PyTypeObject*>cls, c_type):
            raise RuntimeError("too many types of kernel arguments are registered")
    return 0


# Finds the entry for a new type: registers modules imported since the last call, then searches the bases of the type.
cdef const ArgumentType* resolve_type(object argument, Py_ssize_t index) except NULL:
    cdef const ArgumentType* c_type = find_type(Py_TYPE(<PyObject*>argument))
    if c_type == NULL:
        register_loaded_modules()
        for base in type(argument).__mro__:
            c_type = find_type(<PyTypeObject*>base)
            if c_type != NULL:
                break
        else:
            if array_access().is_array(argument):
                return &_array
            name = f"the class {argument.__name__}" if isinstance(argument, type) else f"a {type(argument).__name__}"
            raise TypeError(f"argument {index} is {name}, which kernels do not accept; {hint(argument)}")
    return c_type


cdef size_t natural_size_of(object argument, Py_ssize_t index) except? 0:
    cdef const ArgumentType* c_type = resolve_type(argument, index)
    return c_type.natural_size if c_type.natural_size else memoryview(argument).nbytes


# --- Writers ----------------------------------------------------------------------------------------------------------


cdef int write_int(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef int64_t value
    if read_short_int(argument, &value):
        return store_signed(value, target, size)
    return write_long_int(argument, target, size)


# A separate function, so that write_int saves no registers.
cdef int write_long_int(PyObject* argument, char* target, size_t size) except -1:
    cdef int c_overflow = 0
    cdef int64_t value = PyLong_AsLongLongAndOverflow(<object>argument, &c_overflow)
    if c_overflow == 0:
        return store_signed(value, target, size)
    if c_overflow < 0 or <object>argument > 0xffff_ffff_ffff_ffff:
        return OUT_OF_RANGE
    return store_unsigned(<object>argument, target, size)


cdef int write_bool(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    return store_signed(<object>argument is True, target, size)


cdef int write_float(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef double value = PyFloat_AS_DOUBLE(<object>argument)
    return store_bytes(&value, 8, target, size)


cdef int write_complex(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef double[2] parts
    parts[0] = (<complex><object>argument).real
    parts[1] = (<complex><object>argument).imag
    return store_bytes(&parts, 16, target, size)


cdef int write_none(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef uint64_t null = 0
    return store_bytes(&null, 8, target, size)


# An integer type from the bindings, such as driver.CUdeviceptr.
cdef int write_address(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef uint64_t value = int(<object>argument)
    return store_bytes(&value, 8, target, size)


# Identifies buffers. It never runs for an open buffer, because the loops that fill a block write the address themselves
# and keep the memory.
cdef int write_buffer(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    return reject_closed_buffer()


# The address of an array from another library. The caller must ensure stream order, as with a buffer.
cdef int write_array(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef uintptr_t pointer = 0
    if not array_access().read_address(<object>argument, &pointer):
        return ON_HOST
    return store_bytes(&pointer, 8, target, size)


# NumPy scalars store their value right after the object header; register_numpy_scalar checks that for each type.
cdef inline const char* value_of(PyObject* scalar) noexcept nogil:
    return <const char*>scalar + sizeof(PyObject)


cdef int write_scalar_signed(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    return store_signed(load_signed(value_of(argument), natural_size), target, size)


cdef int write_scalar_unsigned(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    return store_unsigned(load_unsigned(value_of(argument), natural_size), target, size)


cdef int write_scalar_bytes(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    return store_bytes(value_of(argument), natural_size, target, size)


cdef int write_buffer_signed(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef char[8] value
    read_buffer(<object>argument, value, natural_size)
    return store_signed(load_signed(value, natural_size), target, size)


cdef int write_buffer_unsigned(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef char[8] value
    read_buffer(<object>argument, value, natural_size)
    return store_unsigned(load_unsigned(value, natural_size), target, size)


cdef int write_buffer_bytes(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    return FITS if read_buffer(<object>argument, target, size) else WRONG_SIZE


# Copies the buffer of an object if it has exactly `size` bytes.
cdef bint read_buffer(object source, char* target, size_t size) except? False:
    cdef Py_buffer view
    PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)
    cdef bint is_exact = <size_t>view.len == size
    if is_exact:
        memcpy(target, view.buf, size)
    PyBuffer_Release(&view)
    return is_exact


cdef inline int store_signed(int64_t value, char* target, size_t size) noexcept nogil:
    cdef int32_t c_word = <int32_t>value
    cdef int16_t c_half = <int16_t>value
    cdef int8_t c_byte = <int8_t>value
    if size == 8:
        memcpy(target, &value, 8)
    elif size == 4:
        if not INT32_MIN <= value <= <int64_t>UINT32_MAX:
            return OUT_OF_RANGE
        memcpy(target, &c_word, 4)
    elif size == 2:
        if not INT16_MIN <= value <= UINT16_MAX:
            return OUT_OF_RANGE
        memcpy(target, &c_half, 2)
    elif size == 1:
        if not INT8_MIN <= value <= UINT8_MAX:
            return OUT_OF_RANGE
        target[0] = c_byte
    else:
        return WRONG_SIZE
    return FITS


cdef inline int store_unsigned(uint64_t value, char* target, size_t size) noexcept nogil:
    if size == 8:
        memcpy(target, &value, 8)
        return FITS
    if value > <uint64_t>UINT32_MAX:
        return OUT_OF_RANGE
    return store_signed(<int64_t>value, target, size)


cdef inline int store_bytes(const void* c_value, size_t value_size, char* target, size_t size) noexcept nogil:
    if value_size != size:
        return WRONG_SIZE
    memcpy(target, c_value, size)
    return FITS


cdef inline int64_t load_signed(const char* value, size_t size) noexcept nogil:
    if size == 8:
        return (<const int64_t*>value)[0]
    if size == 4:
        return (<const int32_t*>value)[0]
    if size == 2:
        return (<const int16_t*>value)[0]
    return (<const int8_t*>value)[0]


cdef inline uint64_t load_unsigned(const char* value, size_t size) noexcept nogil:
    if size == 8:
        return (<const uint64_t*>value)[0]
    if size == 4:
        return (<const uint32_t*>value)[0]
    if size == 2:
        return (<const uint16_t*>value)[0]
    return (<const uint8_t*>value)[0]


# --- Registration -----------------------------------------------------------------------------------------------------


# The modules whose types are registered. Their scalars can be passed only after the program has imported them.
cdef bint _has_numpy = False
cdef bint _has_ctypes = False
cdef bint _has_bindings = False


cdef int register_loaded_modules() except -1:
    global _has_numpy, _has_ctypes, _has_bindings
    if not _has_numpy and hasattr(sys.modules.get("numpy"), "void"):
        register_numpy(sys.modules["numpy"])
        _has_numpy = True
    if not _has_ctypes and hasattr(sys.modules.get("ctypes"), "c_double"):
        register_ctypes(sys.modules["ctypes"])
        _has_ctypes = True
    if not _has_bindings and hasattr(sys.modules.get("cuda.bindings.driver"), "CUdeviceptr"):
        register_bindings(sys.modules["cuda.bindings.driver"])
        _has_bindings = True
    return 0


cdef int register_numpy(numpy) except -1:
    signed = ("int8", "int16", "int32", "int64", "longlong")
    unsigned = ("bool_", "uint8", "uint16", "uint32", "uint64", "ulonglong")
    opaque = ("float16", "float32", "float64", "complex64", "complex128")
    for name in signed:
        register_numpy_scalar(getattr(numpy, name), &write_scalar_signed, &write_buffer_signed)
    for name in unsigned:
        register_numpy_scalar(getattr(numpy, name), &write_scalar_unsigned, &write_buffer_unsigned)
    for name in opaque:
        register_numpy_scalar(getattr(numpy, name), &write_scalar_bytes, &write_buffer_bytes)
    register_argument_type(numpy.void, &write_buffer_bytes, 0)
    return 0


cdef int register_numpy_scalar(object cls, ArgumentWriter write_fast, ArgumentWriter write_safely) except -1:
    probe = cls(1)
    content = bytes(memoryview(probe))
    is_where_expected = (<const char*>value_of(<PyObject*>probe))[:len(content)] == content
    return register_argument_type(cls, write_fast if is_where_expected else write_safely, len(content))


cdef int register_ctypes(ctypes) except -1:
    signed = ("c_int8", "c_int16", "c_int32", "c_int64", "c_longlong")
    unsigned = ("c_bool", "c_uint8", "c_uint16", "c_uint32", "c_uint64", "c_ulonglong")
    opaque = ("c_float", "c_double", "c_void_p")
    for name in signed:
        cls = getattr(ctypes, name)
        register_argument_type(cls, &write_buffer_signed, ctypes.sizeof(cls))
    for name in unsigned:
        cls = getattr(ctypes, name)
        register_argument_type(cls, &write_buffer_unsigned, ctypes.sizeof(cls))
    for name in opaque:
        cls = getattr(ctypes, name)
        register_argument_type(cls, &write_buffer_bytes, ctypes.sizeof(cls))
    for cls in (ctypes.Structure, ctypes.Union, ctypes.Array):
        register_argument_type(cls, &write_buffer_bytes, 0)
    return 0


cdef int register_bindings(driver) except -1:
    for name in ("CUdeviceptr", "CUtexObject", "CUsurfObject", "CUgraphConditionalHandle"):
        if hasattr(driver, name):
            register_argument_type(getattr(driver, name), &write_address, 8)
    return 0


register_argument_type(Buffer, &write_buffer, 8)
register_argument_type(int, &write_int, 8)
register_argument_type(float, &write_float, 8)
register_argument_type(bool, &write_bool, 1)
register_argument_type(complex, &write_complex, 16)
register_argument_type(type(None), &write_none, 8)
register_argument_type(bytes, &write_buffer_bytes, 0)
_array.write, _array.natural_size = &write_array, 8


# --- Messages ---------------------------------------------------------------------------------------------------------


cdef int raise_misfit(int fit, object argument, Py_ssize_t index, Kernel kernel, size_t size) except -1:
    where = f"argument {index}" if kernel is None else f"argument {index} of {describe(kernel)}"
    bytes_of = f"{size} byte" if size == 1 else f"{size} bytes"
    if fit == OUT_OF_RANGE and size in (1, 2, 4, 8):
        raise OverflowError(f"{where} has {bytes_of}, and {shown(argument)} does not fit")
    name = type(argument).__name__
    if fit == ON_HOST:
        raise TypeError(
            f"{where} is in host memory ({name}), which the device cannot read; copy it to a Buffer, or pass a "
            "structure as bytes or numpy.void"
        )
    cdef size_t own_size = natural_size_of(argument, index)
    how = advice("" if kernel is None else kernel._name or "", index, argument, size)
    raise TypeError(f"{where} has {bytes_of}, but the {name} given has {own_size}{how}")


cdef str describe(Kernel kernel):
    return f"kernel {kernel._name!r}" if kernel._name else "the kernel"


cdef str count_of_arguments(size_t count):
    return {0: "no arguments", 1: "1 argument"}.get(count, f"{count} arguments")


def hint(argument):
    """Return advice about an ``argument`` whose type kernels do not accept."""
    if isinstance(argument, type):
        return "pass a value of this type"
    if hasattr(argument, "handle"):
        return "pass its handle"
    return "pass a number, a Buffer, an array in device memory, or a structure as bytes, numpy.void or ctypes.Structure"


def advice(symbol: str, index: int, argument, size: int) -> str:
    """Return advice on passing ``argument`` to a parameter of ``size`` bytes, naming only types that fit."""
    types = parameter_types(symbol)
    kind = types[index] if types is not None and index < len(types) else None
    if isinstance(argument, (float, complex)) and kind is not None:
        return _advice_for(kind, argument)
    if isinstance(argument, float) and size in (1, 2, 4):
        floats = {2: "numpy.float16 for a __half", 4: "numpy.float32 for a float"}
        known = "only the size of this parameter is known, because the kernel's name does not contain its type"
        return f"; {known}: pass {floats[size] + ', ' if size in floats else ''}an int for an integer"
    if isinstance(argument, complex) and size == 8:
        return "; only the size of this parameter is known: pass numpy.complex64 for a complex of floats"
    if isinstance(argument, int):
        return "; pass a structure as bytes, numpy.void or ctypes.Structure"
    return ""


def _advice_for(kind: str, argument) -> str:
    is_complex = isinstance(argument, complex)
    if kind in ("float", "double") and not is_complex:
        return f"; the parameter is a {kind}: use numpy.float{32 if kind == 'float' else 64}"
    if kind in INTEGERS:
        article = "an" if kind[0] in "aeiou" else "a"
        return f"; the parameter is {article} {kind}: pass an int"
    if kind == "pointer":
        return "; the parameter is a pointer: pass a Buffer, or an address as an int"
    if kind == "__half" and not is_complex:
        return "; the parameter is a __half: use numpy.float16"
    if kind == "bool":
        return "; the parameter is a bool: pass a bool"
    return f"; the parameter is a {kind}: pass its bytes, numpy.void or ctypes.Structure"


# --- Mangled names ----------------------------------------------------------------------------------------------------


def parameter_types(symbol: str) -> list[str] | None:
    """Return the types of a kernel's parameters, or None if its name is not mangled or contains no types.

    The list ends before the first type that is neither arithmetic, a pointer, a structure nor a template parameter.
    """
    rest, seen = _after_name(symbol)
    arguments = []
    if rest[:1] == "I":
        arguments, rest = _template_arguments(rest[1:], seen)
        # The mangled name of a template function also has the return type, which for a kernel is void.
        if rest[:1] != "v":
            return None
        rest = rest[1:]
    types = []
    while rest and rest != "v":
        kind, rest = _first_type(rest, arguments, seen)
        if kind is None:
            break
        types.append(kind)
    return types or None


def _first_type(text: str, arguments: list[str], seen: list[str]) -> tuple[str | None, str]:
    """Return the type at the beginning of ``text`` (None if it is unsupported), and the rest of ``text``.

    Substitutions (``S_``, ``S0_``) refer to ``seen``, the earlier names and types; the type is appended to it.
    """
    if reference := re.match(r"S([0-9A-Z]*)_", text):
        place = int(reference[1], 36) + 1 if reference[1] else 0
        return seen[place] if place < len(seen) else None, text[reference.end() :]
    if text[:1] in TYPES or text[:1] == "v":
        return TYPES.get(text[0], "void"), text[1:]
    if qualified := re.match("P|[rVK]+", text):
        kind, rest = _first_type(text[qualified.end() :], arguments, seen)
        if kind is not None and qualified[0] == "P":
            kind = "pointer"
    elif of_template := re.match(r"T(\d*)_", text):
        place = int(of_template[1]) + 1 if of_template[1] else 0
        kind, rest = arguments[place] if place < len(arguments) else None, text[of_template.end() :]
    elif named := re.match(r"(\d+)", text):
        end = named.end() + int(named[0])
        kind, rest = text[named.end() : end], text[end:]
        if rest[:1] == "I":
            kind = None
    else:
        kind, rest = None, text
    if kind is not None:
        seen.append(kind)
    return kind, rest


def _template_arguments(text: str, seen: list[str]) -> tuple[list[str], str]:
    """Return the arguments of a template and the text after them, or empty text if one is unsupported."""
    arguments = []
    while text and text[0] != "E":
        value = re.match("L[a-z]n?[0-9a-f]+E", text)
        if value:
            kind, text = "a value", text[value.end() :]
        else:
            kind, text = _first_type(text, [], seen)
        if kind is None:
            return [], ""
        arguments.append(kind)
    return arguments, text[1:]


def _after_name(symbol: str) -> tuple[str, list[str]]:
    """Return the text after the name of a function: its template arguments and parameter types.

    The list contains the names that substitutions in these types refer to: the function's scopes, and its template.
    """
    if not symbol.startswith("_Z"):
        return "", []
    is_nested = symbol.startswith("_ZN")
    rest = symbol[3:] if is_nested else symbol[2:]
    names = []
    while True:
        name = re.match(r"L?(\d+)", rest)
        if not name:
            return "", []
        end = name.end() + int(name[1])
        names.append(rest[name.end() : end])
        rest = rest[end:]
        if not is_nested:
            return rest, names if rest[:1] == "I" else []
        if rest[:1] == "E":
            return rest[1:], names[:-1]
        if rest[:1] == "I":
            # A template in a namespace: the end of the nested name follows its arguments.
            following = _template_arguments(rest[1:], names.copy())[1]
            if following[:1] == "E":
                return rest[: len(rest) - len(following)] + following[1:], names


# The builtin types of the Itanium C++ ABI, by their letters.
TYPES = {
    "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "w": "wchar_t",
    "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long",
    "x": "long long", "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip
INTEGERS = frozenset(TYPES.values()) - {"float", "double", "bool"}
