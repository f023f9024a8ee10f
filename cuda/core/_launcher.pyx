# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel launches, bound kernels, and launch limits."""

from __future__ import annotations

cimport cython
from libc.limits cimport INT_MAX
from libc.stdint cimport uint64_t, uintptr_t
from libcpp.vector cimport vector

from cpython.object cimport PyObject, PyTypeObject

from cuda.core._context cimport Context_enter, Context_leave
from cuda.core._kernel_arg_handler cimport ArgumentBlock_fill
from cuda.core._launch_config cimport LaunchConfig
from cuda.core._module cimport (
    Kernel,
    Kernel_check_layout,
    Kernel_function,
    Kernel_parameters,
    Kernel_pin,
    LastLaunch,
)
from cuda.core._native._cuda_core cimport (
    ArgumentBlock,
    CaptureModeScope,
    ContextHandle,
    KernelPin,
    StreamPin,
    refuse_pickle,
    relax_capture_mode,
    stream_captures,
)
from cuda.core._stream cimport Stream, StreamSource, Stream_accept, Stream_context, Stream_pin
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport (
    PyEval_GetFrame,
    PyFrameObject,
    check_self_in_methods,
    is_running,
    set_call_offset,
    tuple_items,
)
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, LEAVE_RETURN, note_left_context

import math
import operator
import os
import warnings

from cuda import core
from cuda.core._code._loading import explain
from cuda.core._device import Device
from cuda.core._launch_attributes import newer_than_driver
from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import CUDAError, UnavailableError
from cuda.core._utils.late import LateModule
from cuda.core._utils.validators import shown
from cuda.core._utils.variables import is_switched_on

__all__ = ["change_observers", "exceeded_limit", "launch"]

_launch_observers = LateModule("cuda.core._launch_observers")
_other_names = LateModule("cuda.core._utils.other_names")


def launch(
    stream: Stream | GraphBuilder | IsStreamType,
    config: LaunchConfig | dict,
    kernel: Kernel,
    *kernel_args,
    **named_args,
) -> None:
    """Launch a kernel: enqueue it on a stream without waiting for it (``cuLaunchKernelEx``).

    Parameters
    ----------
    stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
        The stream to enqueue the kernel on. The kernel runs in the stream's context, which need not be current, or on a
        default stream in the current context. An object from another library with ``__cuda_stream__`` is accepted with
        a DeprecationWarning.
    config : :class:`LaunchConfig` | dict
        Grid and block dimensions, shared memory and launch attributes.
    kernel : :class:`Kernel`
        The kernel to launch, or the result of :func:`cuda.core.utils.kernel`.
    *kernel_args
        One argument per parameter of the kernel. Values are copied before the call returns, and converted to the C
        types in :attr:`Kernel.signature`.

        - for a pointer: a :class:`Buffer`, an array in device memory with elements of its type, an int, or None for a
          null pointer;
        - for an integer of any width: an int or bool whose value fits, or a NumPy or ctypes integer;
        - for a floating-point or complex number: these, a float or a complex, or a NumPy or ctypes scalar;
        - for a vector such as ``float2``: a tuple or a one-dimensional NumPy array of numbers;
        - for a struct: bytes, a ``numpy.void`` or a ``ctypes.Structure`` of exactly its size, or a dataclass whose
          fields are annotated with NumPy scalar types;
        - for a ``const __grid_constant__ CUtensorMap``: a :class:`TensorMapDescriptor`.

        If the type of a parameter is unknown, a floating-point number must be of its exact type, and a float is a
        ``double``.

        Memory that pointers refer to must stay alive until the kernel has completed.
    **named_args
        Arguments by the names of their parameters, after those by position, if the source of the kernel is known. A
        parameter called ``stream``, ``config`` or ``kernel`` cannot be named.

    Raises
    ------
    TypeError
        If ``stream``, ``config`` or ``kernel`` has the wrong type, the number of arguments is wrong, a name is unknown
        or given twice, or the type or the size of an argument does not match its parameter. Nothing is launched.
    OverflowError
        If a number does not fit its parameter. Nothing is launched.
    RuntimeError
        If the stream, the kernel or a buffer is closed.
    ValueError
        If the blocks of a cooperative grid cannot all be resident at the same time.
    CUDAError
        If the driver rejects the launch. If the launch exceeds a limit of the device, the message names the limit.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> source = 'extern "C" __global__ void square(int* x) { x[threadIdx.x] = threadIdx.x * threadIdx.x; }'
    >>> square = Program(source, "c++").compile("cubin").get_kernel("square")
    >>> x = LegacyPinnedMemoryResource().allocate(16)
    >>> launch(stream, LaunchConfig(grid=1, block=4), square, x)
    >>> stream.sync()
    >>> np.asarray(x).view(np.int32).tolist()
    [0, 1, 4, 9]
    """
    cdef CaptureModeScope mode
    # The general path, with argument parsing by Cython. The fast path is launch_call.
    accepted_config = accept_config(config)
    if hasattr(type(kernel), "_kernel_for"):
        kernel = kernel._kernel_for(stream)
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a Kernel, not {type(kernel).__name__}")
    if not isinstance(stream, StreamSource) and hasattr(stream, "__cuda_stream__"):
        warnings.warn(
            "launching on a stream from another library is deprecated; wrap it with Device.create_stream(obj)",
            DeprecationWarning,
            stacklevel=1,
        )
    target = Stream_accept(stream, True)
    if named_args:
        kernel_args = merged(kernel, all_open(kernel), kernel_args, named_args, False)
    # The first launch loads the kernel, which the capture modes "global" and "thread_local" would forbid.
    relax_capture_mode(mode)
    launch_kernel(target, accepted_config, kernel, tuple_items(<PyObject*>kernel_args), len(kernel_args), True)
    (<Kernel>kernel)._loaded_devices |= device_bit(target)


@cython.final
cdef class BoundKernel:
    """A kernel bound to a launch configuration and a stream, which launches when called with the kernel's arguments.

    :meth:`Kernel.bind` returns one. A call has the effect of :func:`launch` with the same objects and costs less. It
    uses the configuration as it is at the time of the call. Arguments can be fixed, by position or by name; a call then
    passes the open ones only.

    Examples
    --------
    >>> step = scale.bind(LaunchConfig(grid=1, block=4), ..., 0.5, stream=stream)  # x is open, factor is fixed
    >>> step(x)
    >>> step["factor"] = 2.0
    >>> step.on(other_stream)(x)
    """

    cdef:
        object __weakref__
        VectorCall _call            # the vectorcall function; CPython finds it at this offset
        Kernel _kernel
        LaunchConfig _config
        Stream _stream
        tuple _arguments            # the fixed arguments, with `...` for open ones; None if all are open

    def __init__(self, *args, **kwargs):
        raise RuntimeError("BoundKernel cannot be constructed directly; use Kernel.bind()")

    def __call__(self, *kernel_args, **named_args):
        """Launch the kernel (``cuLaunchKernelEx``) with the open arguments, with the errors of :func:`launch`.

        Arguments by name can also replace fixed ones, for this call.
        """
        # Only for callers that look up __call__ by name. Calling the object runs BoundKernel_call.
        if self._kernel is None:
            raise RuntimeError("this BoundKernel has no kernel; use Kernel.bind()")
        BoundKernel_launch(self, kernel_args, named_args)

    def __getitem__(self, key):
        """Return the fixed argument at a position or with the name of a parameter, or ``...`` if it is open."""
        arguments = all_arguments(self)
        return arguments[argument_place(self._kernel, key, len(arguments))]

    def __setitem__(self, key, value):
        """Fix the argument at a position or with the name of a parameter for later calls, or open it with ``...``."""
        arguments = list(all_arguments(self))
        arguments[argument_place(self._kernel, key, len(arguments))] = value
        # Replaced as a whole, because another thread may be launching.
        changed = tuple(arguments)
        with cython.critical_section(self):
            self._arguments = changed

    def __repr__(self):
        return f"<BoundKernel of {self._kernel!r} with {self._config!r} on {self._stream!r}>"

    def __reduce__(self):
        refuse_pickle(self)

    def on(self, stream: Stream | GraphBuilder) -> BoundKernel:
        """Return a bound kernel with the same configuration and fixed arguments on another stream.

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream, or a graph builder, which captures the launches.

        Returns
        -------
        BoundKernel
            The new bound kernel. Changing its fixed arguments does not change those of this one.

        Raises
        ------
        TypeError
            If ``stream`` is not a stream.
        RuntimeError
            If the kernel or ``stream`` is closed.
        """
        cdef BoundKernel other = BoundKernel_create(self._kernel, self._config, stream)
        with cython.critical_section(self):
            other._arguments = self._arguments
        return other

    @property
    def arguments(self) -> tuple:
        """All arguments, with ``...`` for those that a call must pass."""
        return all_arguments(self)

    @property
    def kernel(self) -> Kernel:
        """The kernel that a call launches."""
        return self._kernel

    @property
    def config(self) -> LaunchConfig:
        """The launch configuration. A call uses its values at the time of the call."""
        return self._config

    @property
    def stream(self) -> Stream:
        """The stream that a call enqueues the kernel on."""
        return self._stream


def BoundKernel_create(Kernel kernel not None, config, stream, arguments=(), named=None) -> BoundKernel:
    """Bind a kernel to a configuration, a stream and arguments, for :meth:`Kernel.bind`."""
    cdef BoundKernel self = BoundKernel.__new__(BoundKernel)
    kernel._check_open()
    self._call = &BoundKernel_call
    self._kernel = kernel
    self._config = accept_config(config)
    self._stream = Stream_accept(stream)
    if arguments or named:
        self._arguments = merged(kernel, all_open(kernel), arguments, named or {}, True)
    return self


cdef enum:
    MAX_MERGED = 32     # parameters of a bound kernel that is called without making a tuple

cdef object OPEN = Ellipsis     # in place of an argument that a call must pass


cdef object BoundKernel_call(PyObject* callee, PyObject* const* arguments, size_t count, PyObject* keywords):
    cdef BoundKernel self = <BoundKernel>callee
    cdef PyObject* row[MAX_MERGED]
    cdef Py_ssize_t given = PyVectorcall_NARGS(count)
    if keywords == NULL or not len(<tuple>keywords):
        if self._arguments is None:
            launch_kernel(self._stream, self._config, self._kernel, arguments, given, True)
            return None
        with cython.critical_section(self):
            fixed = self._arguments
        if len(fixed) <= MAX_MERGED and fill_open(fixed, arguments, given, row) == given:
            launch_kernel(self._stream, self._config, self._kernel, row, len(fixed), True)
            return None
    positional, named = split_arguments(arguments, given, keywords)
    BoundKernel_launch(self, tuple(positional), named)
    return None


cdef int BoundKernel_launch(BoundKernel self, tuple arguments, dict named) except -1:
    with cython.critical_section(self):
        fixed = self._arguments
    if fixed is not None or named:
        arguments = merged(self._kernel, fixed or all_open(self._kernel), arguments, named, False)
    items = tuple_items(<PyObject*>arguments)
    return launch_kernel(self._stream, self._config, self._kernel, items, len(arguments), True)


# Writes the fixed arguments to `row`, with the open ones filled by position. Returns how many were open.
cdef inline Py_ssize_t fill_open(
    tuple fixed, PyObject* const* arguments, Py_ssize_t given, PyObject** row
) noexcept:
    cdef PyObject** c_fixed = tuple_items(<PyObject*>fixed)
    cdef Py_ssize_t open_count = 0
    cdef Py_ssize_t place
    for place in range(len(fixed)):
        row[place] = c_fixed[place]
        if row[place] == <PyObject*>OPEN:
            if open_count < given:
                row[place] = arguments[open_count]
            open_count += 1
    return open_count


# The arguments in the order of the parameters: `fixed`, with the open ones filled by position, and then with all others
# replaced that are named.
cdef tuple merged(Kernel kernel, tuple fixed, tuple positional, dict named, bint may_stay_open):
    cdef vector[PyObject*] row
    cdef Py_ssize_t given = len(positional)
    cdef Py_ssize_t open_count, place
    row.resize(len(fixed))
    open_count = fill_open(fixed, tuple_items(<PyObject*>positional), given, row.data())
    arguments = [<object>item for item in row]
    names = parameter_names(kernel) if named else []
    for name, value in named.items():
        place = place_of_name(kernel, name, names)
        if fixed[place] is ... and arguments[place] is not ...:
            raise TypeError(f"{Kernel_function(kernel)}() got two values for parameter {name!r}")
        arguments[place] = value
    if open_count < given:
        raise TypeError(
            f"{Kernel_function(kernel)}() has {open_count} open arguments here, {given} given; fixed ones are replaced "
            "by name"
        )
    if not may_stay_open:
        for value in arguments:
            if value is ...:
                raise_open(kernel, arguments)
    return tuple(arguments)


cdef int raise_open(Kernel kernel, list arguments) except -1:
    names = [
        repr(name or index) for index, ((name, _), value)
        in enumerate(zip(Kernel_parameters(kernel), arguments)) if value is ...
    ]
    raise TypeError(f"{Kernel_function(kernel)}() needs the arguments {', '.join(names)}")


# `...` for each parameter: in place of an argument that a call must pass.
cdef tuple all_open(Kernel kernel):
    Kernel_check_layout(kernel)
    return (...,) * kernel._slots.size()


cdef tuple all_arguments(BoundKernel self):
    with cython.critical_section(self):
        if self._arguments is not None:
            return self._arguments
    if self._kernel is None:
        raise UnavailableError("this BoundKernel was not initialized; create it with Kernel.bind()")
    return all_open(self._kernel)


cdef list parameter_names(Kernel kernel):
    return [name for name, _ in Kernel_parameters(kernel)]


cdef Py_ssize_t place_of_name(Kernel kernel, str name, list names) except -1:
    if name in names:
        return names.index(name)
    function = f"{Kernel_function(kernel)}()"
    if None in names:
        raise TypeError(
            f"{function} got the name {name!r}, but the names of its parameters are unknown; pass the arguments by "
            "position"
        )
    instead = _other_names.suggestion("launch", name) or f"; its parameters are {', '.join(names) or 'none'}"
    raise TypeError(f"{function} has no parameter {name!r}{instead}")


cdef Py_ssize_t argument_place(Kernel kernel, object key, Py_ssize_t count) except -1:
    if isinstance(key, str):
        return place_of_name(kernel, key, parameter_names(kernel))
    if isinstance(key, bool) or not hasattr(type(key), "__index__"):
        raise TypeError(f"an argument is found by its position or name, not by {shown(key)}")
    place = operator.index(key)
    if not -count <= place < count:
        raise IndexError(f"{Kernel_function(kernel)}() has {count} parameters, so none at {shown(place)}")
    return place % count


cdef object launch_call(PyObject* module, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords):
    cdef Stream target
    if (
        count >= 3
        and keywords == NULL
        and Py_TYPE(arguments[1]) == <PyTypeObject*>LaunchConfig
        and Py_TYPE(arguments[2]) == <PyTypeObject*>Kernel
    ):
        if Py_TYPE(arguments[0]) == <PyTypeObject*>Stream:
            launch_kernel(
                <Stream>arguments[0], <LaunchConfig>arguments[1], <Kernel>arguments[2], arguments + 3, count - 3, True
            )
            return None
        # A graph builder, if the kernel is already loaded: the capture does not allow loading it.
        if isinstance(<object>arguments[0], StreamSource):
            target = (<StreamSource>arguments[0])._stream_to_use()
            if (<Kernel>arguments[2])._loaded_devices & device_bit(target):
                launch_kernel(target, <LaunchConfig>arguments[1], <Kernel>arguments[2], arguments + 3, count - 3, True)
                return None
    positional, named = split_arguments(arguments, count, keywords)
    return launch_general(*positional, **named)


# The arguments by position, and those by keyword.
cdef tuple split_arguments(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords):
    cdef Py_ssize_t named = len(<tuple>keywords) if keywords != NULL else 0
    cdef Py_ssize_t index
    return (
        [<object>arguments[index] for index in range(count)],
        {(<tuple>keywords)[index]: <object>arguments[count + index] for index in range(named)},
    )


cdef inline uint64_t device_bit(Stream stream) noexcept:
    return <uint64_t>1 << stream._device_id if 0 <= stream._device_id < 64 else 0


cdef LaunchConfig accept_config(object config):
    if isinstance(config, LaunchConfig):
        return config
    if isinstance(config, dict):
        return LaunchConfig(**config)
    raise TypeError(f"config must be a LaunchConfig or a dict of its fields, not {type(config).__name__}")


# Whether launches have observers. Without them, a launch pays one comparison.
cdef bint is_observed = False
cdef tuple observers = ()


cdef int launch_observed(
    Stream stream, LaunchConfig config, Kernel kernel, PyObject* const* arguments, Py_ssize_t count
) except -1:
    cdef StreamPin pin
    cdef Py_ssize_t index
    Stream_pin(stream, &pin)
    items = tuple([<object>arguments[index] for index in range(count)])
    record = _launch_observers.Launch(
        Kernel_function(kernel), kernel, config, stream, items, stream_captures(pin.get()),
        calling_frame(),
    )
    try:
        with _launch_observers.observed(observers, record):
            launch_kernel(stream, config, kernel, arguments, count, False)
    except CUDAError as error:
        raise error.with_traceback(None)  # without the calls inside this library
    return 0


def change_observers(add=(), remove=()) -> None:
    """Change the observers of launches on all threads (``_launch_observers`` describes them)."""
    global is_observed, observers
    observers = tuple([observer for observer in observers if observer not in remove] + list(add))
    is_observed = len(observers) != 0


cdef int launch_kernel(
    Stream stream, LaunchConfig config, Kernel kernel, PyObject* const* arguments, Py_ssize_t count, bint may_observe
) except -1:
    cdef ArgumentBlock block
    cdef StreamPin stream_pin
    cdef KernelPin kernel_pin
    cdef cydriver.CUlaunchConfig c_config = config._native
    cdef cydriver.CUfunction c_function
    cdef cydriver.CUresult err
    if is_observed and may_observe:
        return launch_observed(stream, config, kernel, arguments, count)
    Stream_pin(stream, &stream_pin)
    Kernel_pin(kernel, &kernel_pin)
    c_config.hStream = stream_pin.get()
    # cuLaunchKernelEx accepts a CUkernel cast to CUfunction, and takes the context from the stream.
    c_function = <cydriver.CUfunction>kernel_pin.get()
    # Set the limit before the launch: a failed launch invalidates a capture.
    if c_config.sharedMemBytes > kernel._default_shared_limit:
        ensure_shared_limit(kernel, kernel_pin, stream, c_config.sharedMemBytes)
    if config._is_grid_resident:
        c_config.gridDimX = resident_blocks(kernel, kernel_pin, stream, &c_config)
    ArgumentBlock_fill(block, kernel, kernel_pin, arguments, count)
    with nogil:
        err = cydriver.cuLaunchKernelEx(&c_config, c_function, block.kernel_params, NULL)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        retry_launch(err, &c_config, block.kernel_params, stream, config, kernel, kernel_pin)
    if kernel._last_launch is not None:
        kernel._last_launch.record.note(c_config, NULL if count == 0 else block.kernel_params[0], kernel._block_size)
        note_caller(kernel._last_launch)
    return 0


# Notes the code that launched the kernel. Its line number is computed when a message needs it.
cdef int note_caller(LastLaunch launched) except -1:
    # Only compares the address: another thread may replace the code.
    if is_running(<PyObject*>launched.code, launched.instruction):
        return 0
    frame = calling_frame()
    if frame is None:
        return 0
    code = frame.f_code
    with cython.critical_section(launched):
        launched.code, launched.instruction = code, frame.f_lasti
    return 0


cdef str PACKAGE = os.path.join(os.path.dirname(core.__file__), "")


# The innermost frame of Python code outside this package, or None if only native code is running.
cdef object calling_frame():
    cdef PyFrameObject* c_frame = PyEval_GetFrame()
    if c_frame == NULL:
        return None
    frame = <object><PyObject*>c_frame
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


# The number of blocks that fill the device, for grid="resident".
cdef unsigned int resident_blocks(
    Kernel kernel, const KernelPin& pin, Stream stream, const cydriver.CUlaunchConfig* c_config
) except 0:
    cdef ContextHandle h_context
    cdef CaptureModeScope mode
    cdef int device_id = -1
    cdef int is_entered = 0
    cdef int c_blocks = 0
    cdef int c_processors = 0
    cdef cydriver.CUresult err
    cdef int threads = <int>(c_config.blockDimX * c_config.blockDimY * c_config.blockDimZ)
    Stream_context(stream, &h_context, &device_id)
    if kernel._resident_blocks is None:
        kernel._resident_blocks = {}
    key = (device_id, threads, c_config.sharedMemBytes)
    found = kernel._resident_blocks.get(key)
    if found is None:
        relax_capture_mode(mode)
        HANDLE_RETURN(
            cydriver.cuDeviceGetAttribute(
                &c_processors, cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_id
            ),
            b"cuDeviceGetAttribute",
        )
        is_entered = Context_enter(h_context.get())
        err = cydriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &c_blocks, <cydriver.CUfunction>pin.get(), threads, c_config.sharedMemBytes
        )
        LEAVE_RETURN(err, b"cuOccupancyMaxActiveBlocksPerMultiprocessor", Context_leave(is_entered))
        # For a block that does not fit, the launch reports the limit.
        found = kernel._resident_blocks[key] = max(c_blocks * c_processors, 1)
    return found


# --- Failed launches --------------------------------------------------------------------------------------------------


# Corrects the cause of a failed launch and tries again, or raises.
cdef int retry_launch(
    cydriver.CUresult err,
    cydriver.CUlaunchConfig* c_config,
    void** kernel_params,
    Stream stream,
    LaunchConfig config,
    Kernel kernel,
    const KernelPin& pin,
) except -1:
    cdef ContextHandle h_context
    cdef int device_id = -1
    cdef int is_entered = 0
    cdef int c_most = INT_MAX
    cdef bint may_be_context = err in (
        cydriver.CUresult.CUDA_ERROR_INVALID_CONTEXT, cydriver.CUresult.CUDA_ERROR_INVALID_HANDLE
    ) and <uintptr_t>c_config.hStream > 2
    cdef bint may_be_shared_memory = c_config.sharedMemBytes > 0 and may_be_resource_error(err)
    try:
        if may_be_context or may_be_shared_memory:
            Stream_context(stream, &h_context, &device_id)
            is_entered = Context_enter(h_context.get())
            if (may_be_shared_memory and raise_shared_limit(pin, device_id, &c_most)) or is_entered:
                with nogil:
                    err = cydriver.cuLaunchKernelEx(c_config, <cydriver.CUfunction>pin.get(), kernel_params, NULL)
        if err != cydriver.CUresult.CUDA_SUCCESS:
            raise_launch_error(err, kernel, config, stream, c_config.sharedMemBytes, c_most)
    except BaseException as error:
        note_left_context(error, Context_leave(is_entered))
        raise
    return LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, Context_leave(is_entered))


# Returns true for the errors that too much dynamic shared memory causes: an invalid value, or a cluster or cooperative
# grid that cannot be resident.
cdef bint may_be_resource_error(cydriver.CUresult err) noexcept:
    return err in (
        cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
        cydriver.CUresult.CUDA_ERROR_INVALID_CLUSTER_SIZE,
        cydriver.CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        cydriver.CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
    )


cdef int raise_launch_error(
    cydriver.CUresult err, Kernel kernel, LaunchConfig config, Stream stream, unsigned int shared, int most_shared
) except -1:
    cdef bint is_too_much = shared > <unsigned int>most_shared
    cdef ContextHandle h_context
    cdef int device_id = -1
    attempt = f"launching {kernel!r} with {config!r} on {stream!r}"
    if err == cydriver.CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE and not is_too_much:
        raise ValueError(
            f"a cooperative grid must have no more blocks than can be resident at the same time: {attempt}"
        )
    try:
        HANDLE_RETURN(err, b"cuLaunchKernelEx")
    except CUDAError as error:
        if is_too_much:
            explain(
                error,
                f"shmem_size must be at most {most_shared} bytes for this kernel on this device, not {shared}",
            )
        elif may_be_resource_error(err):
            Stream_context(stream, &h_context, &device_id)
            limit = newer_than_driver(config) or exceeded_limit(kernel, config, device_id)
            if limit:
                explain(error, limit)
        error.add_note(attempt)
        raise
    return 0


def exceeded_limit(kernel, config, device_id: int) -> str:
    """Return a message about the first dimension above a limit of the device or the kernel, or an empty string."""
    properties = Device(device_id).properties
    grid = (1, 1, 1) if config.grid == "resident" else config.grid
    if config.cluster is not None:
        grid = tuple(size * blocks for size, blocks in zip(grid, config.cluster, strict=True))
    for name, unit, sizes in (("block", "threads", config.block), ("grid", "blocks", grid)):
        for axis, size in zip("xyz", sizes, strict=True):
            limit = getattr(properties, f"max_{name}_dim_{axis}")
            if size > limit:
                return f"{name} must have at most {limit} {unit} in {axis} on this device, but is {sizes}"
    threads = math.prod(config.block)
    limit = properties.max_threads_per_block
    if threads > limit:
        return f"block must have at most {limit} threads on this device, but {config.block} has {threads}"
    limit = kernel.attributes[device_id].max_threads_per_block
    if threads > limit:
        return (
            f"block must have at most {limit} threads for this kernel, because of its registers or its "
            f"__launch_bounds__, but {config.block} has {threads}"
        )
    return ""


# Raises a kernel's limit for dynamic shared memory above the default, once per device.
cdef int ensure_shared_limit(
    Kernel kernel, const KernelPin& pin, Stream stream, unsigned int size
) except -1:
    cdef ContextHandle h_context
    cdef int device_id = stream._device_id
    cdef int c_most = 0
    cdef CaptureModeScope mode
    cdef uint64_t bit
    if device_id < 0:
        Stream_context(stream, &h_context, &device_id)
    bit = <uint64_t>1 << device_id if device_id < 64 else 0
    if kernel._raised_devices & bit:
        return 0
    relax_capture_mode(mode)
    if kernel._default_shared_limit == 0:
        kernel._default_shared_limit = shared_limit_of(pin, device_id)
    if size > kernel._default_shared_limit:
        raise_shared_limit(pin, device_id, &c_most)
        kernel._raised_devices |= bit
    return 0


cdef int prepare_for_graph(const KernelPin& pin, unsigned int size) except -1:
    cdef cydriver.CUdevice c_device = 0
    cdef int c_most = 0
    HANDLE_RETURN(cydriver.cuCtxGetDevice(&c_device), b"cuCtxGetDevice")
    if size > <unsigned int>shared_limit_of(pin, c_device):
        raise_shared_limit(pin, c_device, &c_most)
    return 0


# Raises the limit to the maximum for the device, or returns false if it was already raised. It is always the maximum,
# so that threads with different sizes do not overwrite each other's limit.
cdef bint raise_shared_limit(const KernelPin& pin, int device_id, int* most) except? False:
    cdef cydriver.CUkernel c_kernel = pin.get()
    cdef int c_limit = 0
    cdef int c_static = 0
    HANDLE_RETURN(
        cydriver.cuDeviceGetAttribute(
            &c_limit,
            cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            device_id,
        ),
        b"cuDeviceGetAttribute",
    )
    HANDLE_RETURN(
        cydriver.cuKernelGetAttribute(
            &c_static, cydriver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, c_kernel, device_id
        ),
        b"cuKernelGetAttribute",
    )
    most[0] = max(c_limit - c_static, 0)
    if shared_limit_of(pin, device_id) >= most[0]:
        return False
    HANDLE_RETURN(
        cydriver.cuKernelSetAttribute(
            cydriver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            most[0],
            c_kernel,
            device_id,
        ),
        b"cuKernelSetAttribute",
    )
    return True


# The kernel's current limit for dynamic shared memory per block, in bytes.
cdef int shared_limit_of(const KernelPin& pin, int device_id) except -1:
    cdef int c_now = 0
    HANDLE_RETURN(
        cydriver.cuKernelGetAttribute(
            &c_now,
            cydriver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            pin.get(),
            device_id,
        ),
        b"cuKernelGetAttribute",
    )
    return c_now


# --- Calls without an argument tuple ----------------------------------------------------------------------------------

# Cython would create a tuple for *args, so launch() and BoundKernel use vectorcall directly.
cdef extern from "Python.h":
    """
    static PyMethodDef launch_method = {"launch", NULL, METH_FASTCALL | METH_KEYWORDS, NULL};
    """
    ctypedef void (*PyCFunction)()
    ctypedef struct PyMethodDef:
        PyCFunction ml_meth
        const char* ml_doc
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept nogil
    PyTypeObject* Py_TYPE(PyObject*) noexcept nogil
    object PyCFunction_NewEx(PyMethodDef*, PyObject*, PyObject*)
    PyMethodDef launch_method


cdef object make_launch():
    global launch_doc
    module_name = "cuda.core._launcher"
    # The first line is the signature with its types, which CPython cannot read.
    text = launch.__doc__.partition("\n")[2].lstrip()
    launch_doc = f"launch(stream, config, kernel, *kernel_args, **named_args)\n--\n\n{text}".encode()
    launch_method.ml_meth = <PyCFunction>launch_call
    launch_method.ml_doc = launch_doc
    return PyCFunction_NewEx(&launch_method, NULL, <PyObject*>module_name)


cdef int make_bound_kernels_callable() except -1:
    cdef BoundKernel probe = BoundKernel.__new__(BoundKernel)
    set_call_offset(<PyTypeObject*>BoundKernel, <char*>&probe._call - <char*><PyObject*>probe)
    return 0


cdef object launch_general = launch
cdef bytes launch_doc = b""
launch = make_launch()
make_bound_kernels_callable()
if is_switched_on("CUDA_CORE_DEBUG") or is_switched_on("CUDA_CORE_NVTX"):
    change_observers(_launch_observers.observers_of_environment())
slots.register("bind kernel", BoundKernel_create)
slots.register("launch", launch)
check_self_in_methods(globals())
