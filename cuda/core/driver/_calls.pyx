# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Plain and prepared kernel calls, and copies and fills of linear memory."""

from __future__ import annotations

cimport cython
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport strchr
from libcpp.vector cimport vector

from cpython.buffer cimport PyBUF_ANY_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_GetItem
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from cuda.core._classic cimport (
    HANDLE_RETURN,
    AllocationPin,
    Buffer,
    Kernel,
    LaunchConfig,
    Stream,
    StreamPin,
    Stream_pin,
    VectorCall,
    check_self_in_methods,
    cydriver,
    launch_kernel,
    read_short_int,
    set_call_offset,
    tuple_items,
)

from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError
from cuda.core._classic import shown
from cuda.core.driver._checks import host_memory, checked_int
from cuda.core.driver._context import context_for
from cuda.core.driver._device_memory import DeviceAllocation, as_pointer
from cuda.core.driver._errors import INVALID_VALUE, classic_error, launch_error, logic_error
from cuda.core.driver._storage import ArrayStorage
from cuda.core.driver._streams import Stream as ClassicStream, core_stream, keep_in
from cuda.core.driver._types import SCALARS

__all__ = [
    "FunctionCall",
    "PreparedAsyncCall",
    "PreparedCall",
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htod",
    "memcpy_htod_async",
    "memset_d16",
    "memset_d16_async",
    "memset_d32",
    "memset_d32_async",
    "memset_d8",
    "memset_d8_async",
    "pattern",
]


cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept nogil
    PyTypeObject* Py_TYPE(PyObject*) noexcept nogil
    bint PyType_IsSubtype(PyTypeObject* one, PyTypeObject* other) noexcept nogil
    bint PyIndex_Check(object)
    bint PyLong_CheckExact(PyObject*) noexcept nogil
    const Py_ssize_t PY_SSIZE_T_MAX


cdef Stream default_stream = LEGACY_DEFAULT_STREAM
cdef dict scalar_sizes = {kind: kind().nbytes for kind in SCALARS}
cdef object array_class = ArrayStorage
cdef object allocation_class = DeviceAllocation
cdef object stream_class = ClassicStream
cdef tuple one_block = (1, 1)

# Up to this number of parameters, unprepared calls have a fast path, and prepared calls convert arguments without a
# heap allocation.
cdef enum:
    USUAL_COUNT = 32


# The argument types that need no conversion. PreparedTypes._parameters keeps the classes alive.
cdef struct Accepted:
    PyTypeObject* first
    PyTypeObject* second
    bint takes_subclasses   # whether `second` is a Buffer class, whose subclasses are accepted
    bint is_float32         # whether a Python float is converted to a C float


cdef class PreparedTypes:
    """The argument types of prepared calls.

    Parameters
    ----------
    parameters : sequence
        For each parameter, two types that need no conversion, a function that converts other types, and optionally
        whether the parameter is a C ``float``, which Python floats are converted to. If the second type is a
        :class:`Buffer`, its subclasses also need no conversion.
    """

    cdef:
        vector[Accepted] _accepted
        tuple _parameters

    def __cinit__(self, parameters):
        cdef Accepted accepted
        self._parameters = tuple(tuple(parameter) for parameter in parameters)
        for first, second, convert, *is_float32 in self._parameters:
            if not (isinstance(first, type) and isinstance(second, type) and callable(convert)):
                raise TypeError("each parameter must consist of two types and a function")
            accepted.first = <PyTypeObject*>first
            accepted.second = <PyTypeObject*>second
            accepted.takes_subclasses = issubclass(second, Buffer)
            accepted.is_float32 = bool(is_float32 and is_float32[0])
            self._accepted.push_back(accepted)


cdef class FunctionCall:
    """A callable that launches a kernel.

    A subclass defines ``_call_any`` (the slow path), ``_make_config`` and ``_flush_references``.
    """

    cdef:
        Kernel _kernel
        PreparedTypes _types        # the types of prepared calls, or None before prepare()
        dict _references            # the module's texture references, which are written before a launch
        tuple _known                # grid, block, shared memory and LaunchConfig of the last call
        tuple _known_stream         # stream argument and Stream of the last prepared asynchronous call
        dict _configs               # (grid, block, shared memory) -> LaunchConfig of earlier calls
        vector[int] _sizes          # the size of each parameter in bytes
        bint _has_sizes             # whether the sizes are known

    def _set_call(self, kernel: Kernel, sizes, references: dict) -> None:
        """Set the kernel, the sizes of its parameters (None if unknown), and the module's texture references."""
        self._sizes.clear()
        if sizes is not None:
            for size in sizes:
                self._sizes.push_back(size)
        self._kernel = kernel
        self._references = references
        self._known = (None, None, None, None)
        self._known_stream = (None, default_stream)
        self._configs = {}
        self._has_sizes = sizes is not None

    def _set_types(self, parameters) -> None:
        """Set the argument types of prepared calls. See :class:`PreparedTypes`."""
        types = PreparedTypes(parameters)
        with cython.critical_section(self):
            self._types = types

    def _config(self, grid, block, shared) -> LaunchConfig:
        """Return the configuration for a launch."""
        return config_of(self, grid, block, shared)

    @property
    def kernel(self) -> Kernel:
        """The :class:`cuda.core.Kernel`, for :func:`cuda.core.launch`."""
        return self._kernel

    def __call__(
        self, *args, block=None, grid=one_block, stream=None, shared=0, texrefs=(), time_kernel=False, **unknown
    ):
        """Launch the kernel (``cuLaunchKernel``).

        Parameters
        ----------
        *args
            One argument for each parameter: NumPy scalars, device pointers, device arrays, and host arrays wrapped in
            :class:`In`, :class:`Out` or :class:`InOut`.
        block : tuple of int
            The number of threads in each dimension of a block.
        grid : tuple of int, optional
            The number of blocks in each dimension. Defaults to one block.
        stream : :class:`Stream`, optional
            The stream to enqueue the kernel on. Defaults to the NULL stream.
        shared : int, optional
            The size of the dynamic shared memory in bytes. Defaults to 0.
        texrefs : sequence, optional
            Ignored, because every launch uses all texture references of the module.
        time_kernel : bool, optional
            Whether to wait for the kernel and return its duration in seconds. Defaults to False.

        Returns
        -------
        float or None
            The duration in seconds if ``time_kernel`` is set, else None.

        Raises
        ------
        TypeError
            If the number of arguments is wrong, or an argument has the wrong type or size.
        ValueError
            If ``block`` is missing, or a keyword is unknown.
        LogicError
            If the driver rejects the launch.
        """
        if unknown:
            raise ValueError(f"extra keyword arguments: {', '.join(sorted(unknown))}")
        if block is None:
            raise ValueError("must specify block size: block=(x, y, z)")
        if time_kernel is False and try_fast_launch(self, args, block, grid, stream, shared):
            return None
        return self._call_any(args, block, grid, stream, shared, time_kernel)


cdef class PreparedCall:
    """A callable that launches a kernel on the NULL stream, after :meth:`Function.prepare` has set the types."""

    cdef:
        object __weakref__
        VectorCall _call            # the vectorcall slot
        FunctionCall _function

    def __cinit__(self, FunctionCall function not None):
        self._call = &call_prepared
        self._function = function

    def __call__(self, grid, block, *args, shared_size=0):
        """Launch the kernel. See :meth:`Function.prepared_call` for the parameters."""
        # The slow path, in which Python parses the arguments. call_prepared() is the fast path.
        c_args = tuple_items(<PyObject*>args)
        launch_prepared(self._function, default_stream, grid, block, shared_size, c_args, len(args))


cdef class PreparedAsyncCall:
    """A callable that launches a kernel on a stream, after :meth:`Function.prepare` has set the types."""

    cdef:
        object __weakref__
        VectorCall _call            # the vectorcall slot
        FunctionCall _function

    def __cinit__(self, FunctionCall function not None):
        self._call = &call_prepared_async
        self._function = function

    def __call__(self, grid, block, stream, *args, shared_size=0):
        """Launch the kernel. See :meth:`Function.prepared_async_call` for the parameters."""
        inner = prepared_stream(self._function, stream)
        launch_prepared(self._function, inner, grid, block, shared_size, tuple_items(<PyObject*>args), len(args))


# The fast path, which launches and returns true if every argument is an allocation, an array or a scalar of the right
# size.
cdef bint try_fast_launch(
    FunctionCall self, tuple arguments, object block, object grid, object stream, object shared
) except -1:
    cdef PyObject* items[USUAL_COUNT]
    cdef PyObject* found
    cdef Py_ssize_t count = len(arguments)
    cdef Py_ssize_t index
    cdef LaunchConfig config
    cdef Stream inner = default_stream
    cdef list values = None
    if not self._has_sizes or self._references or count > USUAL_COUNT or <size_t>count != self._sizes.size():
        return False
    for index in range(count):
        argument = arguments[index]
        items[index] = <PyObject*>argument
        found = PyDict_GetItem(scalar_sizes, type(argument))
        if found != NULL:
            if <int>(<object>found) != self._sizes[index]:
                return False
        elif isinstance(argument, array_class):
            if argument._owner.is_closed:
                return False
            # On streams other than the NULL stream, the memory of results is synchronized first.
            value = argument._argument if stream is None else argument._pointer_on(stream)
            if values is None:
                values = []
            values.append(value)  # keeps the argument until the launch returns
            items[index] = <PyObject*>value
        elif not isinstance(argument, allocation_class):
            return False
    config = config_of(self, grid, block, shared)
    if stream is not None:
        inner = <Stream?>core_stream(stream)
    try:
        launch_kernel(inner, config, self._kernel, items, count, True)
    except (CUDAError, RuntimeError) as error:
        raise launch_error(error) from None
    return True


# ---------------------------------------------------------------------------------------------
# Configurations

cdef LaunchConfig config_of(FunctionCall self, object grid, object block, object shared):
    cdef tuple known
    with cython.critical_section(self):
        known = self._known
    if known[0] is grid and known[1] is block and known[2] is shared and known[3] is not None:
        return <LaunchConfig>known[3]
    return find_config(self, grid, block, shared, known)


# Programs often create new tuples for every call, so equal tuples also match. Lists can change, so they are not cached.
cdef LaunchConfig find_config(FunctionCall self, object grid, object block, object shared, tuple known):
    cdef LaunchConfig config
    cdef bint is_key = type(grid) is tuple and type(block) is tuple
    if is_key and known[2] is shared and known[3] is not None and has_extents(<LaunchConfig>known[3], grid, block):
        return <LaunchConfig>known[3]
    if not is_key or not (are_whole(<tuple>grid) and are_whole(<tuple>block) and PyIndex_Check(shared)):
        return <LaunchConfig?>self._make_config(grid, block, shared)
    key = (grid, block, shared)
    found = self._configs.get(key)
    if found is None:
        found = self._make_config(grid, block, shared)
        if len(self._configs) >= 256:
            self._configs.clear()
        self._configs[key] = found
    config = <LaunchConfig?>found
    known = (grid, block, shared, config)
    with cython.critical_section(self):
        self._known = known
    return config


# Returns true if all items are ints. As a dict key, 2.0 equals 2, but it is not a valid size.
cdef bint are_whole(tuple extents):
    for extent in extents:
        if not PyIndex_Check(extent):
            return False
    return True


cdef bint has_extents(LaunchConfig config, tuple grid, tuple block) noexcept:
    return (
        is_extents(grid, config._native.gridDimX, config._native.gridDimY, config._native.gridDimZ)
        and is_extents(block, config._native.blockDimX, config._native.blockDimY, config._native.blockDimZ)
    )


cdef bint is_extents(tuple extents, unsigned int x, unsigned int y, unsigned int z) noexcept:
    cdef Py_ssize_t count = len(extents)
    cdef PyObject** items = tuple_items(<PyObject*>extents)
    if not 1 <= count <= 3:
        return False
    return (
        is_extent(items[0], x)
        and (y == 1 if count < 2 else is_extent(items[1], y))
        and (z == 1 if count < 3 else is_extent(items[2], z))
    )


cdef inline bint is_extent(PyObject* item, unsigned int extent) noexcept:
    cdef int64_t value = 0
    return PyLong_CheckExact(item) and read_short_int(item, &value) and value == <int64_t>extent


# ---------------------------------------------------------------------------------------------
# Prepared calls

cdef int launch_prepared(
    FunctionCall self, Stream stream, object grid, object block, object shared, PyObject* const* arguments,
    Py_ssize_t count,
) except -1:
    cdef PreparedTypes types
    cdef const Accepted* accepted
    cdef LaunchConfig config
    cdef Py_ssize_t index
    with cython.critical_section(self):
        types = self._types
    if types is None or <size_t>count != types._accepted.size():
        reject_prepared(self, types, count)
    if not isinstance(block, tuple):
        raise TypeError(f"block must be a tuple of ints, not {type(block).__name__}")
    if self._references:
        self._flush_references()
    config = config_of(self, grid, block, shared)
    accepted = types._accepted.data()
    try:
        for index in range(count):
            if not is_accepted(accepted + index, Py_TYPE(arguments[index])):
                return launch_converted(self, types, stream, config, arguments)
        return launch_kernel(stream, config, self._kernel, arguments, count, True)
    except (CUDAError, RuntimeError) as error:
        raise launch_error(error) from None


cdef inline bint is_accepted(const Accepted* accepted, PyTypeObject* c_class) noexcept nogil:
    if c_class == accepted.first or c_class == accepted.second:
        return True
    return accepted.takes_subclasses and PyType_IsSubtype(c_class, accepted.second)


cdef int launch_converted(
    FunctionCall self, PreparedTypes types, Stream stream, LaunchConfig config, PyObject* const* arguments
) except -1:
    cdef PyObject* usual[USUAL_COUNT]
    cdef vector[PyObject*] many
    cdef PyObject** converted = usual
    cdef size_t count = types._accepted.size()
    cdef size_t index = 0
    cdef size_t made = 0
    if count > USUAL_COUNT:
        many.resize(count)
        converted = many.data()
    try:
        for made in range(count):
            value = converted_argument(types, made, arguments[made])
            Py_INCREF(value)
            converted[made] = <PyObject*>value
        made = count
        return launch_kernel(stream, config, self._kernel, converted, count, True)
    finally:
        for index in range(made):
            Py_DECREF(<object>converted[index])


cdef object converted_argument(PreparedTypes types, size_t index, PyObject* argument):
    cdef PyTypeObject* c_class = Py_TYPE(argument)
    cdef float narrow
    if is_accepted(types._accepted.data() + index, c_class):
        return <object>argument
    if types._accepted[index].is_float32 and c_class == <PyTypeObject*>float:
        narrow = <float>PyFloat_AS_DOUBLE(<object>argument)
        return PyBytes_FromStringAndSize(<char*>&narrow, sizeof(narrow))
    return (<tuple>types._parameters[index])[2](<object>argument)


# Caches only Stream objects, because an object with `__cuda_stream__` can return another stream next time.
cdef Stream prepared_stream(FunctionCall self, object stream):
    cdef tuple known
    with cython.critical_section(self):
        known = self._known_stream
    if known is not None and known[0] is stream:
        return <Stream>known[1]
    found = <Stream?>core_stream(stream)
    if isinstance(stream, (stream_class, Stream)):
        known = (stream, found)
        with cython.critical_section(self):
            self._known_stream = known
    return found


cdef int reject_prepared(FunctionCall self, PreparedTypes types, Py_ssize_t count) except -1:
    if types is None:
        raise AttributeError(f"{self!r} is not prepared; call prepare() first")
    raise TypeError(
        f"the kernel was prepared for {types._accepted.size()} arguments, but {count} were given after grid and block"
    )


cdef object call_prepared(PyObject* callee, PyObject* const* arguments, size_t nargsf, PyObject* keywords):
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    cdef object shared = 0
    if count < 2 or not is_plain_call(keywords):
        return call_by_python_rules(PreparedCall.__call__, callee, arguments, count, keywords)
    if keywords != NULL and len(<tuple>keywords):
        shared = <object>arguments[count]
    launch_prepared(
        (<PreparedCall>callee)._function, default_stream, <object>arguments[0], <object>arguments[1], shared,
        arguments + 2, count - 2,
    )
    return None


cdef object call_prepared_async(PyObject* callee, PyObject* const* arguments, size_t nargsf, PyObject* keywords):
    cdef FunctionCall function = (<PreparedAsyncCall>callee)._function
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    cdef object shared = 0
    cdef Stream stream
    if count < 3 or not is_plain_call(keywords):
        return call_by_python_rules(PreparedAsyncCall.__call__, callee, arguments, count, keywords)
    if keywords != NULL and len(<tuple>keywords):
        shared = <object>arguments[count]
    stream = prepared_stream(function, <object>arguments[2])
    launch_prepared(
        function, stream, <object>arguments[0], <object>arguments[1], shared, arguments + 3, count - 3
    )
    return None


# Returns true if no keyword other than `shared_size` is given.
cdef inline bint is_plain_call(PyObject* keywords):
    if keywords == NULL or len(<tuple>keywords) == 0:
        return True
    return len(<tuple>keywords) == 1 and (<tuple>keywords)[0] == "shared_size"


cdef object call_by_python_rules(
    object method, PyObject* callee, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords
):
    cdef Py_ssize_t index
    cdef Py_ssize_t named = len(<tuple>keywords) if keywords != NULL else 0
    positional = [<object>arguments[index] for index in range(count)]
    by_name = {(<tuple>keywords)[index]: <object>arguments[count + index] for index in range(named)}
    return method(<object>callee, *positional, **by_name)


cdef int enable_vectorcalls() except -1:
    cdef FunctionCall function = FunctionCall.__new__(FunctionCall)
    cdef PreparedCall call = PreparedCall.__new__(PreparedCall, function)
    cdef PreparedAsyncCall async_call = PreparedAsyncCall.__new__(PreparedAsyncCall, function)
    set_call_offset(<PyTypeObject*>PreparedCall, <char*>&call._call - <char*><PyObject*>call)
    set_call_offset(<PyTypeObject*>PreparedAsyncCall, <char*>&async_call._call - <char*><PyObject*>async_call)
    return 0


enable_vectorcalls()


# ---------------------------------------------------------------------------------------------
# Copies and fills

def memcpy_htod(dest, src) -> None:
    """Copy from the host to the device and wait for the copy (``cuMemcpyHtoD``).

    Parameters
    ----------
    dest : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The destination.
    src : buffer
        The source: bytes, or an array contiguous in C or F order. All of its bytes are copied.

    Raises
    ------
    LogicError
        If the destination is known to be smaller, or no context is current.
    ValueError
        If the source is not contiguous.
    TypeError
        If ``src`` does not support the buffer protocol, or ``dest`` is not a device pointer.
    """
    copy_with_host("cuMemcpyHtoD", dest, src, False, False, None)


def memcpy_htod_async(dest, src, stream=None) -> None:
    """Enqueue a copy from the host to the device (``cuMemcpyHtoDAsync``).

    The copy is asynchronous to the host only if ``src`` is page-locked. ``src`` is kept alive until the copy has
    completed.

    Parameters
    ----------
    dest : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The destination.
    src : buffer
        The source: bytes, or an array contiguous in C or F order. All of its bytes are copied.
    stream : :class:`Stream`, optional
        The stream to enqueue the copy on. Defaults to the NULL stream.

    Raises
    ------
    LogicError, ValueError, TypeError
        As for :func:`memcpy_htod`.
    """
    copy_with_host("cuMemcpyHtoDAsync", dest, src, False, True, stream)


def memcpy_dtoh(dest, src) -> None:
    """Copy from the device to the host and wait for the copy (``cuMemcpyDtoH``).

    Parameters
    ----------
    dest : buffer
        The destination: an array contiguous in C or F order. All of its bytes are written.
    src : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The source.

    Raises
    ------
    LogicError
        If the source is known to be smaller, or no context is current.
    ValueError, BufferError
        If the destination is not contiguous, or is read-only.
    TypeError
        If ``dest`` does not support the buffer protocol, or ``src`` is not a device pointer.
    """
    copy_with_host("cuMemcpyDtoH", src, dest, True, False, None)


def memcpy_dtoh_async(dest, src, stream=None) -> None:
    """Enqueue a copy from the device to the host (``cuMemcpyDtoHAsync``).

    The copy is asynchronous to the host only if ``dest`` is page-locked. ``dest`` is kept alive until the copy has
    completed.

    Parameters
    ----------
    dest : buffer
        The destination: an array contiguous in C or F order. All of its bytes are written.
    src : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The source.
    stream : :class:`Stream`, optional
        The stream to enqueue the copy on. Defaults to the NULL stream.

    Raises
    ------
    LogicError, ValueError, BufferError, TypeError
        As for :func:`memcpy_dtoh`.
    """
    copy_with_host("cuMemcpyDtoHAsync", src, dest, True, True, stream)


def memcpy_dtod(dest, src, size: int) -> None:
    """Copy between device pointers on the NULL stream, without waiting (``cuMemcpyDtoD``).

    Parameters
    ----------
    dest, src : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The destination and the source.
    size : int
        The number of bytes.

    Raises
    ------
    LogicError
        If ``size`` is negative, the destination or the source is known to be smaller, or no context is current.
    TypeError
        If an operand is not a device pointer.
    """
    cdef AllocationPin pin, source_pin
    cdef cydriver.CUdeviceptr pointer, source
    cdef Py_ssize_t count
    context_for("cuMemcpyDtoD")
    count = byte_count("cuMemcpyDtoD", size)
    pointer = device_place("cuMemcpyDtoD", dest, &pin, count, "destination")
    source = device_place("cuMemcpyDtoD", src, &source_pin, count, "source")
    if count:
        try:
            with nogil:
                HANDLE_RETURN(cydriver.cuMemcpyDtoD(pointer, source, count), b"cuMemcpyDtoD")
        except CUDAError as error:
            raise classic_error(error) from None


def memcpy_dtod_async(dest, src, size: int, stream=None) -> None:
    """Enqueue a copy between device pointers (``cuMemcpyDtoDAsync``).

    Parameters
    ----------
    dest, src : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The destination and the source.
    size : int
        The number of bytes.
    stream : :class:`Stream`, optional
        The stream to enqueue the copy on. Defaults to the NULL stream.

    Raises
    ------
    LogicError, TypeError
        As for :func:`memcpy_dtod`.
    """
    cdef AllocationPin pin, source_pin
    cdef StreamPin stream_pin
    cdef cydriver.CUdeviceptr pointer, source
    cdef Py_ssize_t count
    context_for("cuMemcpyDtoDAsync")
    inner = core_stream(stream)
    count = byte_count("cuMemcpyDtoDAsync", size)
    pointer = device_place("cuMemcpyDtoDAsync", dest, &pin, count, "destination")
    source = device_place("cuMemcpyDtoDAsync", src, &source_pin, count, "source")
    Stream_pin(<Stream>inner, &stream_pin)
    if count:
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuMemcpyDtoDAsync(pointer, source, count, stream_pin.get()), b"cuMemcpyDtoDAsync"
                )
        except CUDAError as error:
            raise classic_error(error) from None


def memset_d8(dest, data: int, count: int | None = None, *, size: int | None = None) -> None:
    """Set bytes of device memory to a value on the NULL stream (``cuMemsetD8``).

    Parameters
    ----------
    dest : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The destination.
    data : int
        The value, as a signed or unsigned int of the element's width.
    count : int
        The number of elements.
    size : int
        Another name of ``count``.

    Raises
    ------
    LogicError
        If ``data`` does not fit in an element, the count is negative, the destination is known to be smaller, or no
        context is current.
    TypeError
        If both ``count`` and ``size`` are given or neither is, or ``dest`` is not a device pointer.
    """
    fill("cuMemsetD8", 1, dest, data, count, size)


def memset_d16(dest, data: int, count: int | None = None, *, size: int | None = None) -> None:
    """Set 16-bit elements of device memory to a value (``cuMemsetD16``). See :func:`memset_d8`."""
    fill("cuMemsetD16", 2, dest, data, count, size)


def memset_d32(dest, data: int, count: int | None = None, *, size: int | None = None) -> None:
    """Set 32-bit elements of device memory to a value (``cuMemsetD32``). See :func:`memset_d8`."""
    fill("cuMemsetD32", 4, dest, data, count, size)


def memset_d8_async(dest, data: int, count: int | None = None, stream=None, *, size: int | None = None) -> None:
    """Set bytes of device memory to a value in stream order (``cuMemsetD8Async``).

    Parameters
    ----------
    dest, data, count, size
        As for :func:`memset_d8`.
    stream : :class:`Stream`, optional
        The stream to enqueue the fill on. Defaults to the NULL stream.

    Raises
    ------
    LogicError, TypeError
        As for :func:`memset_d8`.
    """
    fill_async("cuMemsetD8Async", 1, dest, data, count, size, stream)


def memset_d16_async(dest, data: int, count: int | None = None, stream=None, *, size: int | None = None) -> None:
    """Set 16-bit elements to a value in stream order (``cuMemsetD16Async``). See :func:`memset_d8_async`."""
    fill_async("cuMemsetD16Async", 2, dest, data, count, size, stream)


def memset_d32_async(dest, data: int, count: int | None = None, stream=None, *, size: int | None = None) -> None:
    """Set 32-bit elements to a value in stream order (``cuMemsetD32Async``). See :func:`memset_d8_async`."""
    fill_async("cuMemsetD32Async", 4, dest, data, count, size, stream)


# Fills `view` with the host memory of an argument. Returns true if the caller must call PyBuffer_Release.
cdef bint host_place(object obj, bint is_written, Py_buffer* view) except -1:
    cdef int flags = PyBUF_ANY_CONTIGUOUS | PyBUF_FORMAT | (PyBUF_WRITABLE if is_written else 0)
    try:
        PyObject_GetBuffer(obj, view, flags)
        if view.format == NULL or strchr(view.format, b"O") == NULL:
            return True
        PyBuffer_Release(view)
    except (BufferError, TypeError, ValueError):
        pass
    # This either raises an exception with the reason, or finds memory that exports no buffer, such as arrays of dates.
    address, size = host_memory(obj, is_written)
    view.buf = <void*><uintptr_t>address
    view.len = size
    return False


# Returns the device address of an argument, and pins its memory. Raises LogicError if the memory is known to be smaller
# than `size`.
cdef cydriver.CUdeviceptr device_place(
    str api, object obj, AllocationPin* pin, Py_ssize_t size, str what
) except? 0:
    if not isinstance(obj, Buffer) or not pin.hold((<Buffer>obj)._h_allocation):
        return as_pointer(obj)
    if <size_t>size > pin.get().size:
        raise logic_error(
            api, INVALID_VALUE, f"the {what} has {pin.get().size} bytes, fewer than the {size} to copy or fill"
        )
    return pin.get().pointer


cdef Py_ssize_t byte_count(str api, object size, Py_ssize_t width=1) except -1:
    number = checked_int("size" if width == 1 else "count", size)
    if number < 0:
        text = f"the number of bytes must not be negative: {shown(number * width)}"
        raise logic_error(api, INVALID_VALUE, text)
    if number > PY_SSIZE_T_MAX // width:
        raise logic_error(api, INVALID_VALUE, f"{shown(number * width)} bytes exceed the address space")
    return number


# Copies between device and host memory, from the device if `is_read` is set.
cdef int copy_with_host(str api, object device, object host, bint is_read, bint is_async, object stream) except -1:
    cdef Py_buffer view
    cdef bint is_held
    cdef AllocationPin pin
    cdef StreamPin stream_pin
    cdef cydriver.CUdeviceptr pointer
    context = context_for(api)
    is_held = host_place(host, is_read, &view)
    try:
        pointer = device_place(api, device, &pin, view.len, "source" if is_read else "destination")
        if is_async:
            inner = core_stream(stream)
            Stream_pin(<Stream>inner, &stream_pin)
        if view.len:
            with nogil:
                if is_read and is_async:
                    HANDLE_RETURN(
                        cydriver.cuMemcpyDtoHAsync(view.buf, pointer, view.len, stream_pin.get()),
                        b"cuMemcpyDtoHAsync",
                    )
                elif is_read:
                    HANDLE_RETURN(cydriver.cuMemcpyDtoH(view.buf, pointer, view.len), b"cuMemcpyDtoH")
                elif is_async:
                    HANDLE_RETURN(
                        cydriver.cuMemcpyHtoDAsync(pointer, view.buf, view.len, stream_pin.get()),
                        b"cuMemcpyHtoDAsync",
                    )
                else:
                    HANDLE_RETURN(cydriver.cuMemcpyHtoD(pointer, view.buf, view.len), b"cuMemcpyHtoD")
            if is_async:
                keep_in(context, <uintptr_t>stream_pin.get(), inner, host)
    except CUDAError as error:
        raise classic_error(error) from None
    finally:
        if is_held:
            PyBuffer_Release(&view)
    return 0


cpdef uint64_t pattern(str api, object data, int width) except? 0:
    """Return a memset value as an unsigned int of ``width`` bytes, or raise LogicError if it does not fit."""
    cdef int64_t most = (<int64_t>1 << 8 * width) - 1
    number = checked_int("data", data)
    if not -(most // 2) - 1 <= number <= most:
        raise logic_error(api, INVALID_VALUE, f"data must fit in {8 * width} bits, got {shown(number)}")
    return number & most


cdef Py_ssize_t fill_count(str api, int width, object count, object size) except -1:
    if (count is None) == (size is None):
        raise TypeError("pass the number of elements as either count or size")
    return byte_count(api, size if count is None else count, width)


cdef int fill(str api, int width, object dest, object data, object count, object size) except -1:
    cdef AllocationPin pin
    cdef Py_ssize_t c_count
    cdef cydriver.CUdeviceptr pointer
    cdef uint64_t value
    context_for(api)
    c_count = fill_count(api, width, count, size)
    pointer = device_place(api, dest, &pin, c_count * width, "destination")
    if not c_count:
        return 0
    value = pattern(api, data, width)
    try:
        with nogil:
            if width == 1:
                HANDLE_RETURN(cydriver.cuMemsetD8(pointer, value, c_count), b"cuMemsetD8")
            elif width == 2:
                HANDLE_RETURN(cydriver.cuMemsetD16(pointer, value, c_count), b"cuMemsetD16")
            else:
                HANDLE_RETURN(cydriver.cuMemsetD32(pointer, value, c_count), b"cuMemsetD32")
    except CUDAError as error:
        raise classic_error(error) from None
    return 0


cdef int fill_async(
    str api, int width, object dest, object data, object count, object size, object stream
) except -1:
    cdef AllocationPin pin
    cdef StreamPin stream_pin
    cdef Py_ssize_t c_count
    cdef cydriver.CUdeviceptr pointer
    cdef uint64_t value
    context_for(api)
    inner = core_stream(stream)
    c_count = fill_count(api, width, count, size)
    pointer = device_place(api, dest, &pin, c_count * width, "destination")
    Stream_pin(<Stream>inner, &stream_pin)
    if not c_count:
        return 0
    value = pattern(api, data, width)
    try:
        with nogil:
            if width == 1:
                HANDLE_RETURN(cydriver.cuMemsetD8Async(pointer, value, c_count, stream_pin.get()), b"cuMemsetD8Async")
            elif width == 2:
                HANDLE_RETURN(
                    cydriver.cuMemsetD16Async(pointer, value, c_count, stream_pin.get()), b"cuMemsetD16Async"
                )
            else:
                HANDLE_RETURN(
                    cydriver.cuMemsetD32Async(pointer, value, c_count, stream_pin.get()), b"cuMemsetD32Async"
                )
    except CUDAError as error:
        raise classic_error(error) from None
    return 0


check_self_in_methods(globals())
