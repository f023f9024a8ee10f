# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments: checked, converted, and laid out as the driver expects them."""

from __future__ import annotations

from libc.math cimport isinf
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
)
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.object cimport PyObject, PyTypeObject

from cuda.core._memory._buffer cimport ArrayArgument, Buffer, array_access
from cuda.core._module cimport (
    ANY_INTEGER,
    COMPLEX128,
    COMPLEX64,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    Kernel,
    Kernel_function,
    Kernel_parameters,
    Kernel_read_layout,
    POINTER,
    ParamSlot,
    ParamSlot_set_type,
    ANY_SIZED,
    SIZED,
    STRUCTURE,
    UINT32,
    UINT64,
)
from cuda.core._native._cuda_core cimport Allocation, ArgumentBlock, KernelPin, LaunchList, launch_list
from cuda.core._utils._cpython cimport check_self_in_methods, read_short_int, tuple_items
from cuda.core._utils._type_table cimport TypeTable

import sys

from cuda.core._code._conversions import converted, element_problem, scalar_of, structure
from cuda.core._code._layouts import builtin_layout, byte_order_problem
from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core._utils.locks import RLock
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import shown

__all__ = ["ParamHolder", "advice", "pack_arguments", "register_buffer_class"]


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


def pack_arguments(layout, kernel_args, types=None, symbol=""):
    """Return the bytes of the parameter block that a launch passes to the driver.

    Parameters
    ----------
    layout : Sequence[tuple[int, int]]
        The offset and size of each parameter in bytes, as in :attr:`Kernel.arguments_info`.
    kernel_args : Sequence
        The arguments, as :func:`launch` accepts them.
    types : list of (str or None), optional
        The C types of the parameters.
    symbol : str, optional
        The symbol of the kernel.
    """
    cdef Kernel kernel = Kernel.__new__(Kernel)
    cdef KernelPin none
    cdef ArgumentBlock block
    cdef ParamSlot slot
    cdef Py_ssize_t index
    arguments = tuple(kernel_args)
    kernel._has_layout = kernel._is_layout_known = True
    kernel._types, kernel._name = types, symbol
    kernel._records = [None] * len(layout)
    for index, (slot.offset, slot.size) in enumerate(layout):
        ParamSlot_set_type(&slot, types[index] if types else None)
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
    register_fitting(cls, NULL, 8, ADDRESS, BUFFER)


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
        if c_type.content == BUFFER:
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
                c_type = search_type(<object>arguments[index])
        # The two most frequent types are written inline; all others call their writer.
        if c_type.content == PYTHON_INT and c_slot[index].takes_int and read_short_int(arguments[index], &value):
            if c_slot[index].size == 8 and c_slot[index].low <= value:
                memcpy(c_target, &value, 8)  # an int of 60 bits fits
                continue
            fit = store_checked(value, c_target, c_slot + index)
        elif c_type.fitting & c_slot[index].kind == 0:
            fit = write_converted(arguments[index], index, c_type, c_target, c_slot + index, kernel)
        elif c_type.content == BUFFER:
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


# What the arguments of a type are, if that matters to more than their writer.
cdef enum Content:
    OTHER
    BUFFER
    PYTHON_INT
    PYTHON_BOOL
    PYTHON_FLOAT
    SIGNED
    UNSIGNED
    ARRAY


cdef struct ArgumentType:
    ArgumentWriter write        # NULL for buffers: the loops that fill a block write the address and keep the memory
    Content content
    size_t natural_size
    int fitting                 # the kinds of parameters that the writer suits; others need a conversion


# What a writer can be for.
cdef int EVERY_KIND = -1
cdef int ADDRESS = ANY_SIZED | POINTER | UINT64


cdef TypeTable[ArgumentType] _types
cdef object _table_lock = RLock()

# The entry for arrays from other libraries: their address is passed.
cdef ArgumentType _array

# The entry, all zeros, for types that kernels do not accept, except by conversion to a known C type.
cdef ArgumentType _foreign


cdef extern from "Python.h":
    ctypedef struct PyVarObject:
        pass

    PyTypeObject* Py_TYPE(PyObject*) noexcept nogil
    bint PyType_IsSubtype(PyTypeObject*, PyTypeObject*) noexcept
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1


cdef inline const ArgumentType* find_type(PyTypeObject* c_class) noexcept nogil:
    return _types.find(c_class)


cdef int register_argument_type(object cls, ArgumentWriter write, size_t natural_size) except -1:
    return register_fitting(cls, write, natural_size, ANY_SIZED | UINT64 if natural_size == 8 else ANY_SIZED)


cdef int register_fitting(
    object cls, ArgumentWriter write, size_t natural_size, int fitting, Content content=OTHER
) except -1:
    cdef ArgumentType c_type
    c_type.write, c_type.content, c_type.natural_size, c_type.fitting = write, content, natural_size, fitting
    with _table_lock:
        if not _types.add(<PyTypeObject*>cls, c_type):
            raise RuntimeError("too many types of kernel arguments are registered")
    return 0


# Finds the entry for a new type: registers modules imported since the last call, then searches the bases of the type.
cdef const ArgumentType* search_type(object argument) except NULL:
    cdef const ArgumentType* c_type = find_type(Py_TYPE(<PyObject*>argument))
    if c_type == NULL:
        register_loaded_modules()
        for base in type(argument).__mro__:
            c_type = find_type(<PyTypeObject*>base)
            if c_type != NULL:
                return c_type
        if not array_access().is_array(argument):
            return &_foreign
        if array_access().is_known_class(type(argument)):
            with _table_lock:
                _types.add(Py_TYPE(<PyObject*>argument), _array)
        return &_array
    return c_type


cdef const ArgumentType* resolve_type(object argument, Py_ssize_t index) except NULL:
    cdef const ArgumentType* c_type = search_type(argument)
    if c_type == &_foreign:
        reject_type(argument, index)
    return c_type


cdef int reject_type(object argument, Py_ssize_t index) except -1:
    name = f"the class {argument.__name__}" if isinstance(argument, type) else f"a {type(argument).__name__}"
    raise TypeError(f"argument {index} is {name}, which kernels do not accept; {hint(argument)}")


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


# The address of an array from another library. The caller must ensure stream order, as with a buffer.
cdef int write_array(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef ArrayArgument array
    if not array_access().read_argument(<object>argument, &array):
        return ON_HOST
    return store_bytes(&array.pointer, 8, target, size)


# The address of an array whose elements are those of the pointer.
cdef int write_elements(
    PyObject* argument, size_t index, char* target, const ParamSlot* slot, Kernel kernel
) except -1:
    cdef ArrayArgument array
    if not array_access().read_argument(<object>argument, &array):
        return ON_HOST
    if not (
        (slot.takes_elements or (array.element != 0 and array.element in (slot.elements[0], slot.elements[1])))
        and (slot.takes_readonly or not array.is_readonly)
    ):
        problem = element_problem(kernel._types[index], <object>argument)
        if problem is not None:
            raise_wrong_type(kernel, index, problem)
    return store_bytes(&array.pointer, 8, target, slot.size)


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


# A structure of NumPy or ctypes, of which each field must have the byte order of the device.
cdef int write_record(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    kind = record_kind(argument)
    if kind not in _native_records:
        raise_other_order(<object>argument)
        if len(_native_records) < 1000:
            _native_records.add(kind)
    return write_buffer_bytes(argument, natural_size, target, size)


cdef object _void = None  # numpy.void, once NumPy is registered
cdef bint _has_dtype_where_expected = False  # in a numpy.void
cdef set _native_records = set()  # dtypes and classes whose fields have the byte order of the device


cdef inline object record_kind(PyObject* record):
    if Py_TYPE(record) == <PyTypeObject*>_void and _has_dtype_where_expected:
        return <object>dtype_in_void(record)
    is_void = _void is not None and PyType_IsSubtype(Py_TYPE(record), <PyTypeObject*>_void)
    return (<object>record).dtype if is_void else type(<object>record)


# The dtype of a numpy.void follows the address of its data.
cdef inline PyObject* dtype_in_void(PyObject* record) noexcept nogil:
    return (<PyObject**>(<char*>record + sizeof(PyVarObject)))[1]


cdef int raise_other_order(object record) except -1:
    problem = byte_order_problem(record)
    if problem is not None:
        raise TypeError(f"a {type(record).__name__} cannot be passed to a kernel: {problem}")
    return 0


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


# --- Conversions ------------------------------------------------------------------------------------------------------


# Writes an argument that is not of the C type of its parameter, or not known to be.
cdef int write_converted(
    PyObject* argument, size_t index, const ArgumentType* c_type, char* target, const ParamSlot* slot, Kernel kernel
) except -1:
    cdef double value
    if c_type.content == ARRAY:
        if slot.kind == POINTER:
            return write_elements(argument, index, target, slot, kernel)
        scalar = scalar_of(<object>argument)
        if scalar is not None:
            if search_type(scalar).write == &write_record:
                raise_other_layout(kernel, index, scalar, <object>argument)
            return write_scalar(<PyObject*>scalar, index, target, slot, kernel)
        if slot.kind & (ANY_SIZED | UINT64):
            return write_array(argument, 8, target, slot.size)
    if c_type.write == &write_record and slot.kind != POINTER:
        if kernel._records[index] is not record_kind(argument):
            raise_other_layout(kernel, index, <object>argument, <object>argument)
            raise_other_order(<object>argument)
            kernel._records[index] = record_kind(argument)
        return write_buffer_bytes(argument, 0, target, slot.size)
    if slot.kind & ANY_SIZED:
        content = structure(<object>argument)
        if content is None and slot.kind == STRUCTURE:
            given = type(<object>argument).__name__
            raise_wrong_type(kernel, index, f"{given}; pass bytes, numpy.void, ctypes.Structure or a dataclass")
        if content is None:
            return reject_type(<object>argument, index)
        if kernel._records[index] is not type(<object>argument):
            raise_other_layout(kernel, index, <object>argument, <object>argument)
            kernel._records[index] = type(<object>argument)
        if len(content) != slot.size:
            raise_structure_size(kernel, index, <object>argument, len(content))
        return FITS if read_buffer(content, target, slot.size) else WRONG_SIZE
    if slot.kind & ANY_INTEGER and holds_integer(c_type):
        return write_integer(argument, c_type, target, slot)
    if slot.kind & (FLOAT32 | FLOAT64) and c_type.content in (PYTHON_FLOAT, PYTHON_INT):
        try:
            value = float(<object>argument)
        except OverflowError:
            return OUT_OF_RANGE
        return store_float(value, target, slot.size)
    c_name = kernel._types[index]
    try:
        content = converted(c_name, <object>argument)
    except OverflowError:
        return OUT_OF_RANGE
    except TypeError:
        name = type(<object>argument).__name__
        is_class = isinstance(<object>argument, type)
        raise_wrong_type(kernel, index, f"the class {(<object>argument).__name__}" if is_class else name)
    return FITS if read_buffer(content, target, slot.size) else WRONG_SIZE


# A NumPy scalar, of which a 0-dimensional array has one.
cdef int write_scalar(PyObject* argument, size_t index, char* target, const ParamSlot* slot, Kernel kernel) except -1:
    cdef const ArgumentType* c_type = search_type(<object>argument)
    if c_type.fitting & slot.kind:
        return c_type.write(argument, c_type.natural_size, target, slot.size)
    return write_converted(argument, index, c_type, target, slot, kernel)


cdef inline bint holds_integer(const ArgumentType* c_type) noexcept nogil:
    return c_type.content in (PYTHON_INT, PYTHON_BOOL, SIGNED, UNSIGNED)


# Writes an integer to a parameter of another integer type if the value is in its range.
cdef int write_integer(PyObject* argument, const ArgumentType* c_type, char* target, const ParamSlot* slot) except -1:
    cdef int c_overflow = 0
    cdef int64_t value
    if c_type.content == PYTHON_INT:
        # Most ints are stored without calling this function.
        value = PyLong_AsLongLongAndOverflow(<object>argument, &c_overflow)
        if c_overflow != 0:
            if c_overflow < 0 or slot.kind != UINT64:
                return OUT_OF_RANGE
            return write_long_int(argument, target, slot.size)
    else:
        # As 64 bits: a negative value is one beyond the range of signed numbers for an unsigned type.
        c_type.write(argument, c_type.natural_size, <char*>&value, 8)
        if c_type.content == UNSIGNED and value < 0:
            if slot.kind != UINT64:
                return OUT_OF_RANGE
            return store_signed(value, target, 8)
    return store_checked(value, target, slot)


cdef inline int store_checked(int64_t value, char* target, const ParamSlot* slot) noexcept nogil:
    if not slot.low <= value <= slot.high:
        return OUT_OF_RANGE
    # The lowest bytes are the same for each width.
    if slot.size == 8:
        memcpy(target, &value, 8)
    elif slot.size == 4:
        memcpy(target, &value, 4)
    elif slot.size == 2:
        memcpy(target, &value, 2)
    else:
        target[0] = (<char*>&value)[0]
    return FITS


cdef int store_float(double value, char* target, size_t size) noexcept nogil:
    cdef float c_float = <float>value
    if size == 8:
        memcpy(target, &value, 8)
        return FITS
    if isinf(c_float) and not isinf(value):
        return OUT_OF_RANGE
    memcpy(target, &c_float, 4)
    return FITS


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
    global _void, _has_dtype_where_expected
    # The kinds that hold all values, with the same bytes if they are as wide, come second.
    signed = {"int8": INT32 | INT64, "int16": INT32 | INT64, "int32": INT32 | INT64, "int64": INT64 | POINTER,
              "longlong": INT64 | POINTER}
    unsigned = {"bool_": ANY_INTEGER, "uint8": INT32 | UINT32 | INT64 | UINT64,
                "uint16": INT32 | UINT32 | INT64 | UINT64, "uint32": UINT32 | INT64 | UINT64,
                "uint64": UINT64 | POINTER, "ulonglong": UINT64 | POINTER}
    opaque = {"float16": FLOAT16, "float32": FLOAT32, "float64": FLOAT64, "complex64": COMPLEX64,
              "complex128": COMPLEX128}
    for name, kinds in signed.items():
        register_numpy_scalar(getattr(numpy, name), &write_scalar_signed, &write_buffer_signed, kinds, SIGNED)
    for name, kinds in unsigned.items():
        register_numpy_scalar(getattr(numpy, name), &write_scalar_unsigned, &write_buffer_unsigned, kinds, UNSIGNED)
    for name, kinds in opaque.items():
        register_numpy_scalar(getattr(numpy, name), &write_scalar_bytes, &write_buffer_bytes, kinds, OTHER)
    _void, record = numpy.void, numpy.zeros((), "i4,f4")[()]
    _has_dtype_where_expected = dtype_in_void(<PyObject*>record) == <PyObject*>record.dtype
    register_fitting(numpy.void, &write_record, 0, SIZED | POINTER)
    return 0


cdef int register_numpy_scalar(
    object cls, ArgumentWriter write_fast, ArgumentWriter write_safely, int kinds, Content content
) except -1:
    probe = cls(1)
    value = bytes(memoryview(probe))
    is_where_expected = (<const char*>value_of(<PyObject*>probe))[:len(value)] == value
    if not is_where_expected:
        write_fast = write_safely
    return register_fitting(cls, write_fast, len(value), ANY_SIZED | kinds, content)


cdef int register_ctypes(ctypes) except -1:
    opaque = {"c_float": FLOAT32, "c_double": FLOAT64, "c_void_p": POINTER | UINT64}
    for name in ("c_int8", "c_int16", "c_int32", "c_int64", "c_longlong"):
        cls = getattr(ctypes, name)
        kinds = ANY_SIZED | POINTER if ctypes.sizeof(cls) == 8 else ANY_SIZED
        register_fitting(cls, &write_buffer_signed, ctypes.sizeof(cls), kinds, SIGNED)
    for name in ("c_bool", "c_uint8", "c_uint16", "c_uint32", "c_uint64", "c_ulonglong"):
        cls = getattr(ctypes, name)
        kinds = ANY_SIZED | POINTER if ctypes.sizeof(cls) == 8 else ANY_SIZED
        register_fitting(cls, &write_buffer_unsigned, ctypes.sizeof(cls), kinds, UNSIGNED)
    for name, kinds in opaque.items():
        cls = getattr(ctypes, name)
        register_fitting(cls, &write_buffer_bytes, ctypes.sizeof(cls), ANY_SIZED | kinds)
    for cls in (ctypes.Structure, ctypes.Union):
        register_fitting(cls, &write_record, 0, SIZED | POINTER)
    # An array for a pointer would be its elements, not its address.
    register_fitting(ctypes.Array, &write_record, 0, SIZED)
    return 0


cdef int register_bindings(driver) except -1:
    for name in ("CUdeviceptr", "CUtexObject", "CUsurfObject", "CUgraphConditionalHandle"):
        if hasattr(driver, name):
            register_fitting(getattr(driver, name), &write_address, 8, ADDRESS)
    return 0


register_fitting(Buffer, NULL, 8, ADDRESS, BUFFER)
register_fitting(int, &write_int, 8, SIZED | POINTER, PYTHON_INT)
register_fitting(float, &write_float, 8, SIZED | FLOAT64, PYTHON_FLOAT)
register_fitting(bool, &write_bool, 1, SIZED | ANY_INTEGER, PYTHON_BOOL)
register_fitting(complex, &write_complex, 16, SIZED | COMPLEX128)
register_fitting(type(None), &write_none, 8, SIZED | POINTER)
register_fitting(bytes, &write_buffer_bytes, 0, EVERY_KIND)
_array.write, _array.content, _array.natural_size, _array.fitting = &write_array, ARRAY, 8, 0


# --- Messages ---------------------------------------------------------------------------------------------------------


cdef int raise_misfit(int fit, object argument, Py_ssize_t index, Kernel kernel, size_t size) except -1:
    where = f"argument {index}" if kernel is None else f"argument {index} of {describe(kernel)}"
    if fit == OUT_OF_RANGE and kernel is not None and kernel._slots[index].kind != SIZED:
        raise OverflowError(f"{described_parameter(kernel, index)}; {shown(argument)} does not fit")
    bytes_of = f"{size} byte" if size == 1 else f"{size} bytes"
    if fit == OUT_OF_RANGE and size in (1, 2, 4, 8):
        raise OverflowError(f"{where} has {bytes_of}, and {shown(argument)} does not fit")
    name = type(argument).__name__
    if fit == ON_HOST:
        raise TypeError(
            f"{where} is in host memory ({name}), which the device cannot read; copy it with "
            "Device.to_device(array, stream=stream), or pass a structure as bytes or numpy.void"
        )
    if search_type(argument).content == ARRAY and (scalar := scalar_of(argument)) is not None:
        argument = scalar
    cdef size_t own_size = natural_size_of(argument, index)
    raise TypeError(f"{where} has {bytes_of}, but the {name} given has {own_size}{advice(argument, size)}")


cdef int raise_wrong_type(Kernel kernel, size_t index, str given) except -1:
    raise TypeError(f"{described_parameter(kernel, index)}; got {given}")


# Raises if a record, which is or is in an argument, is not the structure that the parameter is known to be.
cdef int raise_other_layout(Kernel kernel, size_t index, object record, object argument) except -1:
    cdef size_t size = kernel._slots[index].size
    c_type = kernel._types[index] if kernel._types is not None else None
    if c_type is None:
        return 0
    is_structure = c_type.startswith("struct ")
    layout = kernel._declarations.layout(c_type[7:]) if is_structure else builtin_layout(c_type)
    problem = layout.problem(record) if layout is not None else None
    if problem is None:
        return 0
    content = structure(record)
    own_size = memoryview(record).nbytes if content is None else len(content)
    given = type(argument).__name__
    if own_size == size:
        raise_wrong_type(kernel, index, f"{given}: {problem}")
    raise TypeError(
        f"argument {index} of {describe(kernel)} has {size} bytes, but the {given} given has {own_size}; {problem}"
    )


cdef int raise_structure_size(Kernel kernel, size_t index, object argument, size_t own_size) except -1:
    raise TypeError(
        f"argument {index} of {describe(kernel)} has {kernel._slots[index].size} bytes, but a "
        f"{type(argument).__name__} has {own_size} bytes in the layout of C; compare its fields with the structure"
    )


cdef str described_parameter(Kernel kernel, size_t index):
    name, c_type = Kernel_parameters(kernel)[index]
    function = f"{Kernel_function(kernel)}()" if kernel._name else "the kernel's"
    article = "an" if c_type[0] in "aeio" or c_type.startswith("unsigned") else "a"
    return f"{function} parameter {index + 1}{'' if name is None else f' {name!r}'} is {article} {c_type}"


cdef str describe(Kernel kernel):
    return f"kernel {Kernel_function(kernel)!r}" if kernel is not None and kernel._name else "the kernel"


cdef str count_of_arguments(size_t count):
    return {0: "no arguments", 1: "1 argument"}.get(count, f"{count} arguments")


def hint(argument):
    """Return advice about an ``argument`` whose type kernels do not accept."""
    if isinstance(argument, type):
        return "pass a value of this type"
    if hasattr(argument, "handle"):
        return "pass its handle"
    return (
        "pass a number, a Buffer, an array in device memory, or a structure as bytes, numpy.void, ctypes.Structure or "
        "a dataclass of NumPy scalars"
    )


def advice(argument, size: int) -> str:
    """Return advice on passing ``argument`` to a parameter of ``size`` bytes whose type is unknown."""
    if isinstance(argument, float) and size in (1, 2, 4):
        floats = {2: "numpy.float16 for a __half", 4: "numpy.float32 for a float"}
        known = "only the size of this parameter is known"
        return f"; {known}: pass {floats[size] + ', ' if size in floats else ''}an int for an integer"
    if isinstance(argument, complex) and size == 8:
        return "; only the size of this parameter is known: pass numpy.complex64 for a complex of floats"
    if isinstance(argument, int):
        return "; pass a structure as bytes, numpy.void or ctypes.Structure"
    return ""


check_self_in_methods(globals())
