# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Modules, functions, and kernel arguments: NumPy scalars, device pointers, and host arrays to copy."""

from __future__ import annotations

import builtins
import operator
import os
import time
import warnings

import numpy

from cuda.core import Buffer, CUDAError, LaunchConfig, ObjectCode, launch
from cuda.core._classic import kernel_with_sizes_only, register_buffer_class, shown
from cuda.core.driver._calls import FunctionCall, PreparedAsyncCall, PreparedCall
from cuda.core.driver._checks import path_argument
from cuda.core.driver._constants import func_cache, function_attribute, shared_config
from cuda.core.driver._context import Context, classic_member, context_for
from cuda.core.driver._copies import memcpy_dtoh_async, memcpy_htod_async
from cuda.core.driver._device_memory import DeviceAllocation, PointerHolderBase, as_pointer, managed_address
from cuda.core.driver._errors import (
    INVALID_HANDLE,
    INVALID_VALUE,
    NOT_FOUND,
    call,
    launch_error,
    logic_error,
    translated,
)
from cuda.core.driver._host_memory import ManagedAllocation
from cuda.core.driver._pools import PooledDeviceAllocation
from cuda.core.driver._streams import Event, core_stream, keep_until_done
from cuda.core.driver._textures import SurfaceReference, TextureReference
from cuda.core.driver._types import SCALARS

__all__ = ["ArgumentHandler", "Function", "In", "InOut", "Module", "Out", "PreparedFunction", "module_from_file"]


class ArgumentHandler:
    """A kernel argument that is copied before or after the launch.

    Subclasses define ``pre_call(stream)``, and also ``post_call(stream)`` to copy results back.

    Parameters
    ----------
    ary : array
        A contiguous host array.

    Attributes
    ----------
    array : array
        The host array.
    dev_alloc : :class:`DeviceAllocation` or None
        The device memory, or None before :meth:`get_device_alloc` has allocated it.
    """

    def __init__(self, ary):
        self.array = ary
        self.dev_alloc = None

    def __repr__(self):
        return f"<cuda.core.driver.{type(self).__name__} of {type(self.array).__name__}>"

    def get_device_alloc(self, stream=None) -> DeviceAllocation:
        """Return device memory of the array's size (``cuMemAllocAsync``). Further calls return the same memory.

        Parameters
        ----------
        stream : :class:`Stream`, optional
            The stream to allocate and free the memory on. Defaults to the NULL stream.

        Raises
        ------
        TypeError
            If the array has no ``nbytes``.
        LogicError
            If no context is current.
        MemoryError
            If the device does not have enough memory.
        """
        if self.dev_alloc is None:
            size = getattr(self.array, "nbytes", None)
            if size is None:
                raise TypeError(f"ary must be an array with nbytes, not {type(self.array).__name__}")
            self.dev_alloc = temporary(int(size), stream)
        return self.dev_alloc

    def pre_call(self, stream) -> None:
        """Enqueue the work before the launch on ``stream``. Subclasses must define this method.

        Parameters
        ----------
        stream : :class:`Stream` | None
            The stream of the launch. None means the NULL stream.
        """
        raise NotImplementedError(f"{type(self).__name__} must define pre_call(stream)")


class In(ArgumentHandler):
    """A host array that is copied to the device before the launch. See :class:`ArgumentHandler`."""

    def pre_call(self, stream) -> None:
        """Copy the array to the device in stream order (``cuMemcpyHtoDAsync``).

        Parameters
        ----------
        stream : :class:`Stream` | None
            The stream of the launch. None means the NULL stream.
        """
        memory = self.get_device_alloc(stream)
        if self.array.nbytes:
            memcpy_htod_async(memory, self.array, stream)


class Out(ArgumentHandler):
    """A host array that is copied from the device after the launch. See :class:`ArgumentHandler`."""

    def pre_call(self, stream) -> None:
        """Allocate the device memory in stream order (``cuMemAllocAsync``).

        Parameters
        ----------
        stream : :class:`Stream` | None
            The stream of the launch. None means the NULL stream.
        """
        self.get_device_alloc(stream)

    def post_call(self, stream) -> None:
        """Copy the array from the device in stream order (``cuMemcpyDtoHAsync``).

        Parameters
        ----------
        stream : :class:`Stream` | None
            The stream of the launch. None means the NULL stream.
        """
        if self.array.nbytes:
            memcpy_dtoh_async(self.array, self.get_device_alloc(stream), stream)


class InOut(In, Out):
    """A host array that is copied to the device before the launch, and back after it."""


@translated
def temporary(size: int, stream) -> DeviceAllocation:
    """Return stream-ordered memory (``cuMemAllocAsync``)."""
    context = context_for("cuMemAllocAsync")
    context._make_current()
    memory = context._device._core.memory_resource.allocate(max(size, 1), stream=core_stream(stream))
    allocation = DeviceAllocation._init(memory.handle, size, owner=memory)
    context._objects.add(allocation)
    return allocation


# Advice for Python values, whose C type is ambiguous.
_ADVICE = {
    int: "; write numpy.int32(x) for an int, numpy.int64(x) for a long, or numpy.uintp(x) for an address",
    bool: "; write numpy.bool_(x) for a bool",
    float: "; write numpy.float32(x) for a float, or numpy.float64(x) for a double",
    complex: "; write numpy.complex64(x) or numpy.complex128(x)",
    type(None): "; write numpy.uintp(0) for a null pointer",
    str: "",
    list: "; write In(numpy.array(x))",
}


def launch_arguments(
    arguments, name: str, sizes: tuple[int, ...] | None, stream=None
) -> tuple[list, list[ArgumentHandler]]:
    """Return arguments in the form that :func:`cuda.core.launch` accepts, and the :class:`ArgumentHandler` among them.

    Parameters
    ----------
    arguments : sequence
        The arguments of the call.
    name : str
        The kernel name, for messages.
    sizes : tuple of int or None
        The size of each parameter in bytes, or None if the driver does not report it.
    stream : Stream, optional
        The stream of the launch. Defaults to the NULL stream.

    Raises
    ------
    TypeError
        If the number of arguments is wrong, kernels do not accept the type of an argument, or its size differs from
        the parameter's.
    """
    if sizes is not None and len(arguments) != len(sizes):
        raise TypeError(f"kernel {name!r} takes {len(sizes)} arguments, {len(arguments)} given")
    values, handlers = [], []
    for index, argument in enumerate(arguments):
        if type(argument) in SCALARS:
            if sizes is not None and argument.nbytes != sizes[index]:
                raise wrong_size(argument, index, name, sizes[index], argument.nbytes)
            values.append(argument)
        elif isinstance(argument, DeviceAllocation):
            values.append(argument)
        elif hasattr(argument, "_pointer_on"):
            values.append(argument._pointer_on(stream))  # an array
        elif isinstance(argument, ArgumentHandler):
            handlers.append(argument)
            values.append(argument)
        else:
            values.append(_convert_other(argument, index, name, None if sizes is None else sizes[index]))
    return values, handlers


def _convert_other(argument, index: int, name: str, size: int | None):
    if isinstance(argument, (numpy.ndarray, numpy.void)):
        address = managed_address(argument) if isinstance(argument, numpy.ndarray) else None
        if address is not None:
            return address
        if size is not None and argument.nbytes != size:
            raise wrong_size(argument, index, name, size, argument.nbytes)
        return argument.tobytes()
    if isinstance(argument, Buffer):
        return argument
    kind = type(argument)
    # A subclass of int, such as GlobalPointer, is an address.
    if kind not in _ADVICE and (
        isinstance(argument, (PointerHolderBase, int))
        or hasattr(argument, "gpudata")
        or hasattr(argument, "__cuda_array_interface__")
    ):
        return as_pointer(argument)
    handle = getattr(argument, "handle", None)
    if kind.__module__.startswith("cuda.core.texture") and handle is not None:
        return int(handle)
    raise TypeError(
        f"invalid type on parameter #{index} (0-based) of kernel {name!r}: {kind.__name__}{_ADVICE.get(kind, '')}"
    )


def wrong_size(argument, index: int, name: str, size: int, given: int) -> TypeError:
    """Return the TypeError for an argument whose size differs from the parameter's size."""
    bytes_of = "1 byte" if size == 1 else f"{size} bytes"
    advice = ""
    if isinstance(argument, numpy.ndarray) and size == 8:
        advice = "; host arrays are passed by value, so write In(array), Out(array) or InOut(array) to copy one"
    return TypeError(
        f"parameter #{index} (0-based) of kernel {name!r} has {bytes_of}, "
        f"but the {type(argument).__name__} given has {given}{advice}"
    )


def begin(handlers: list[ArgumentHandler], values: list, stream) -> list:
    """Call the handlers' ``pre_call``, and return the arguments with device memory in place of the handlers."""
    for handler in handlers:
        handler.pre_call(stream)
    return [value.get_device_alloc() if isinstance(value, ArgumentHandler) else value for value in values]


def end(handlers: list[ArgumentHandler], stream) -> None:
    """Call the handlers' ``post_call``, then wait for the copies or, on an explicit stream, keep the handlers alive."""
    inner = core_stream(stream)
    has_work = False
    for handler in handlers:
        post_call = getattr(handler, "post_call", None)
        if post_call is not None:
            post_call(stream)
            has_work = True
    if stream is None:
        if has_work:
            inner.sync()
    else:
        keep_until_done(inner, "cuLaunchKernel", *handlers)


class Module:
    """Compiled code, loaded on the current device (``cuModuleLoadDataEx``).

    Parameters
    ----------
    image : bytes-like
        A CUBIN, PTX or a fat binary.

    Raises
    ------
    LogicError
        If the image is invalid, or no context is current.
    TypeError
        If ``image`` is not bytes-like.
    """

    def __init__(self, image: bytes):
        context = context_for("cuModuleLoadDataEx")
        self._open(context, code_of(image))

    def _open(self, context: Context, code: ObjectCode) -> None:
        _load_code(code)
        self._context = context
        self._code = code
        self._functions = {}
        self._references = {}
        context._objects.add(self)

    @classmethod
    def _of_code(cls, code: ObjectCode, context: Context | None = None) -> Module:
        module = cls.__new__(cls)
        module._open(context_for("cuModuleLoadDataEx") if context is None else context, code)
        return module

    def __repr__(self):
        return f"<cuda.core.driver.Module of {self._code.code_type}>"

    def get_function(self, name: str) -> Function:
        """Return a kernel (``cuModuleGetFunction``).

        Parameters
        ----------
        name : str
            The (mangled) name in the code.

        Raises
        ------
        LogicError
            If the module has no kernel with this name, or its context is detached.
        """
        _check_attached(self, "cuModuleGetFunction")
        known = self._functions.get(name)
        if known is None:
            known = self._functions[name] = Function(self, name)
        return known

    def get_global(self, name: str) -> tuple[GlobalPointer, int]:
        """Return the address and the size of a global variable (``cuModuleGetGlobal``).

        Parameters
        ----------
        name : str
            The (mangled) name in the code.

        Returns
        -------
        (int, int)
            The address, which is a device pointer, and the size in bytes.

        Raises
        ------
        LogicError
            If the module has no variable with this name, or its context is detached.
        """
        _check_attached(self, "cuModuleGetGlobal")
        variable = _get_global(self._code, name)
        pointer = GlobalPointer(variable.handle)
        pointer.variable = variable
        return pointer, variable.size

    def get_texref(self, name: str) -> TextureReference:
        """Return a texture reference declared as ``texture<...> name``. Every call returns the same object.

        Parameters
        ----------
        name : str
            The name in the code.

        Raises
        ------
        LogicError
            If the module has no texture reference with this name, or its context is detached.
        """
        return self._reference(TextureReference, name)

    def get_surfref(self, name: str) -> SurfaceReference:
        """Return a surface reference declared as ``surface<...> name``. Every call returns the same object.

        Parameters
        ----------
        name : str
            The name in the code.

        Raises
        ------
        LogicError
            If the module has no surface reference with this name, or its context is detached.
        """
        return self._reference(SurfaceReference, name)

    def _reference(self, kind: type, name: str):
        known = self._references.get(name)
        if not isinstance(known, kind):
            pointer, size = self.get_global(name)
            if size != 8:
                raise logic_error("cuModuleGetTexRef", NOT_FOUND, f"{name} is a variable, not a texture reference")
            known = kind()
            known._variable = pointer
            self._references[name] = known
        return known

    def _flush(self) -> None:
        for reference in self._references.values():
            reference._flush()

    def _invalidate(self) -> None:
        self._is_invalid = True
        self._code.close()

    _is_invalid = False


class GlobalPointer(int):
    """The address of a module's global variable. ``len()`` returns the variable's size in bytes."""

    def __len__(self):
        return self.variable.size


def module_from_file(filename: str | os.PathLike) -> Module:
    """Load a module from a file (``cuModuleLoad``).

    Parameters
    ----------
    filename : str or path-like
        The path of a file that contains a CUBIN, PTX or a fat binary.

    Raises
    ------
    RuntimeError
        If the file does not exist.
    LogicError
        If the code is invalid, or no context is current.
    """
    context_for("cuModuleLoad")
    return Module(read_file(filename, "cuModuleLoad"))


def read_file(filename: str | os.PathLike, api: str) -> bytes:
    """Return the contents of a file, or raise RuntimeError for the driver call ``api`` if it does not exist."""
    try:
        with open(path_argument("filename", filename), "rb") as file:
            return file.read()
    except FileNotFoundError as error:
        raise logic_error(api, 301, str(error)) from None


_PREPARED_CALL = """Launch the prepared kernel on the NULL stream (``cuLaunchKernel``).

``prepared_call(grid, block, *args, shared_size=0)``

Parameters
----------
grid : tuple of int
    The number of blocks in each dimension of the grid.
block : tuple of int
    The number of threads in each dimension of a block.
*args
    One argument for each parameter. Python numbers are converted to the types set by :meth:`prepare`.
shared_size : int, optional
    The size of the dynamic shared memory in bytes. Defaults to 0.

Raises
------
AttributeError
    If :meth:`prepare` was not called.
TypeError
    If the number of arguments is wrong, or an argument cannot be converted to its type.
LogicError
    If the driver rejects the launch.
"""
_PREPARED_ASYNC_CALL = """Launch the prepared kernel on a stream (``cuLaunchKernel``). See :attr:`prepared_call`.

``prepared_async_call(grid, block, stream, *args, shared_size=0)``, where ``stream`` can be None for the NULL stream.
"""


def _attribute(member, text: str) -> property:
    return property(lambda self: self.get_attribute(member), doc=text)


class Function(FunctionCall):
    """A kernel, returned by :meth:`Module.get_function`. Calling the object launches the kernel."""

    # Callable objects in slots instead of methods, so that `f.prepared_call(...)` creates no bound method.
    __slots__ = {
        "__dict__": "Attributes that programs add.",
        "__weakref__": "Weak references.",
        "prepared_async_call": _PREPARED_ASYNC_CALL,
        "prepared_call": _PREPARED_CALL,
    }

    def __init__(self, module: Module, name: str):
        if not isinstance(module, Module):
            raise TypeError(f"module must be a Module, not {type(module).__name__}")
        self._module = module
        self._name = name
        kernel = _get_kernel(module._code, name)
        self._parameter_bytes = _sizes_of(kernel)
        self._set_call(kernel, self._parameter_bytes, module._references)
        self.prepared_call = PreparedCall(self)
        self.prepared_async_call = PreparedAsyncCall(self)

    def __repr__(self):
        return f"<cuda.core.driver.Function {self._name!r}>"

    binary_version = _attribute(
        function_attribute.BINARY_VERSION, "The architecture of the machine code: 10 * major + minor."
    )
    cache_mode_ca = _attribute(
        function_attribute.CACHE_MODE_CA, "Whether the code was compiled to cache global loads in L1 (``-dlcm=ca``)."
    )
    cluster_scheduling_policy_preference = _attribute(
        function_attribute.CLUSTER_SCHEDULING_POLICY_PREFERENCE, "The preferred scheduling policy of clusters."
    )
    cluster_size_must_be_set = _attribute(
        function_attribute.CLUSTER_SIZE_MUST_BE_SET, "Whether a launch must specify the cluster size."
    )
    const_size_bytes = _attribute(function_attribute.CONST_SIZE_BYTES, "The size of the constant memory in bytes.")
    device_node_update_supported = _attribute(
        function_attribute.DEVICE_NODE_UPDATE_SUPPORTED, "Whether the device can update the kernel's graph nodes."
    )
    local_size_bytes = _attribute(function_attribute.LOCAL_SIZE_BYTES, "The local memory per thread in bytes.")
    max_dynamic_shared_size_bytes = _attribute(
        function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, "The maximum dynamic shared memory of a launch in bytes."
    )
    max_threads_per_block = _attribute(
        function_attribute.MAX_THREADS_PER_BLOCK, "The maximum number of threads per block."
    )
    non_portable_cluster_size_allowed = _attribute(
        function_attribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED, "Whether clusters of more than 8 blocks are allowed."
    )
    num_regs = _attribute(function_attribute.NUM_REGS, "The number of registers per thread.")
    preferred_shared_memory_carveout = _attribute(
        function_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT, "The preferred shared memory, in percent of its maximum."
    )
    ptx_version = _attribute(function_attribute.PTX_VERSION, "The PTX version of the code: 10 * major + minor.")
    required_cluster_depth = _attribute(
        function_attribute.REQUIRED_CLUSTER_DEPTH, "The required depth of a cluster, or 0 if none is required."
    )
    required_cluster_height = _attribute(
        function_attribute.REQUIRED_CLUSTER_HEIGHT, "The required height of a cluster, or 0 if none is required."
    )
    required_cluster_width = _attribute(
        function_attribute.REQUIRED_CLUSTER_WIDTH, "The required width of a cluster, or 0 if none is required."
    )
    shared_memory_mode = _attribute(function_attribute.SHARED_MEMORY_MODE, "The kernel's shared memory mode.")
    shared_size_bytes = _attribute(function_attribute.SHARED_SIZE_BYTES, "The static shared memory per block in bytes.")

    def __getattr__(self, name):
        attribute = function_attribute.names.get(name)  # PyCUDA's programs write NUM_REGS as well
        if attribute is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.get_attribute(attribute)

    def _call_any(self, args, block, grid, stream, shared, time_kernel):
        """The slow path of :meth:`FunctionCall.__call__`, for arguments of any kind."""
        inner = core_stream(stream)
        try:
            values, handlers = launch_arguments(args, self._name, self._parameter_bytes, stream)
            config = self._config(grid, block, shared)
            if self._module._references:
                self._module._flush()
            if handlers:
                values = begin(handlers, values, stream)
            if time_kernel:
                assert stream is None, "time_kernel measures on the NULL stream: stream must be None"
                Context.synchronize()
                start = time.perf_counter()
            launch(inner, config, self.kernel, *values)
            duration = None
            if time_kernel:
                Context.synchronize()
                duration = time.perf_counter() - start
            if handlers:
                end(handlers, stream)
            return duration
        except (CUDAError, builtins.RuntimeError) as error:
            raise launch_error(error) from None

    def prepare(self, arg_types, texrefs=None, *, shared=None, block=None) -> Function:
        """Set the argument types for the ``prepared_`` calls.

        Parameters
        ----------
        arg_types : str or sequence
            A format string as for :mod:`struct`, with ``P`` for pointers, or a sequence of such characters and NumPy
            types, where any other entry means a pointer.
        texrefs : sequence, optional
            Ignored, because every launch uses all texture references of the module.
        shared, block : object, optional
            Ignored and deprecated. Pass them to the call instead.

        Returns
        -------
        Function
            This function.

        Raises
        ------
        TypeError
            If the number of types differs from the number of parameters.

        Warns
        -----
        DeprecationWarning
            If ``shared`` or ``block`` is given.
        """
        self.arg_format, parameters = _parse_types(arg_types)
        sizes = self._parameter_bytes
        if sizes is not None and len(sizes) != len(parameters):
            raise TypeError(f"kernel {self._name!r} takes {len(sizes)} arguments, {len(parameters)} types given")
        self.texrefs = [] if texrefs is None else list(texrefs)
        for name, value in (("shared", shared), ("block", block)):
            if value is not None:
                warnings.warn(
                    f"the {name} argument of prepare() has no effect; pass it to the call",
                    DeprecationWarning,
                    stacklevel=2,
                )
        self._set_types(parameters)
        return self

    def param_set_texref(self, t: TextureReference) -> None:
        """Check a texture reference. It has no effect, because every launch uses all of the module's references.

        Parameters
        ----------
        t : TextureReference
            The texture reference.

        Raises
        ------
        TypeError
            If ``t`` is not a TextureReference.
        """
        if not isinstance(t, TextureReference):
            raise TypeError(f"t must be a TextureReference, not {type(t).__name__}")

    def get_attribute(self, attr: int) -> int:
        """Return an attribute (``cuKernelGetAttribute``).

        Parameters
        ----------
        attr : function_attribute | int
            The attribute.

        Raises
        ------
        LogicError
            If the attribute is unknown, or no context is current.
        """
        attribute = classic_member(function_attribute, attr, "cuFuncGetAttribute")
        ordinal = context_for("cuFuncGetAttribute")._device._ordinal
        return int(call("cuKernelGetAttribute", attribute, self.kernel, ordinal))

    def set_attribute(self, attr: int, value: int) -> None:
        """Set an attribute (``cuKernelSetAttribute``).

        Parameters
        ----------
        attr : function_attribute | int
            The attribute.
        value : int
            The new value.

        Raises
        ------
        LogicError
            If the attribute is unknown, the driver rejects the value, or no context is current.
        """
        attribute = classic_member(function_attribute, attr, "cuFuncSetAttribute")
        ordinal = context_for("cuFuncSetAttribute")._device._ordinal
        call("cuKernelSetAttribute", attribute, operator.index(value), self.kernel, ordinal)

    def set_cache_config(self, fc: int) -> None:
        """Set the preferred split of on-chip memory into shared memory and L1 (``cuKernelSetCacheConfig``).

        Parameters
        ----------
        fc : func_cache | int
            The preferred split.

        Raises
        ------
        LogicError
            If ``fc`` is invalid, or no context is current.
        """
        config = classic_member(func_cache, fc, "cuFuncSetCacheConfig")
        ordinal = context_for("cuFuncSetCacheConfig")._device._ordinal
        call("cuKernelSetCacheConfig", self.kernel, config, ordinal)

    def set_shared_config(self, sc: int) -> None:
        """Check a bank size, which has no effect on current devices.

        Parameters
        ----------
        sc : shared_config | int
            The bank size.

        Raises
        ------
        LogicError
            If ``sc`` is invalid.
        """
        classic_member(shared_config, sc, "cuFuncSetSharedMemConfig")

    @staticmethod
    def _make_config(grid, block, shared) -> LaunchConfig:
        grid, block = _launch_extents("grid", grid), _launch_extents("block", block)
        try:
            return LaunchConfig(grid=grid, block=block, shmem_size=operator.index(shared))
        except ValueError as error:
            raise logic_error("cuLaunchKernel", INVALID_VALUE, str(error)) from None

    def _flush_references(self) -> None:
        self._module._flush()

    def prepared_timed_call(self, grid, block, *args, shared_size=0):
        """Launch the kernel between two events. See :attr:`prepared_call`.

        Parameters
        ----------
        grid, block : tuple[int, ...]
            The numbers of blocks and of threads per block.
        *args : object
            The arguments, of the prepared types.
        shared_size : int, optional
            The dynamic shared memory in bytes. Defaults to 0.

        Returns
        -------
        callable
            A function without parameters that waits for the kernel and returns its duration in seconds.

        Raises
        ------
        AttributeError, TypeError, LogicError
            As for :attr:`prepared_call`.
        """
        start, end_ = Event(), Event()
        start.record()
        self.prepared_call(grid, block, *args, shared_size=shared_size)
        end_.record()

        def seconds():
            end_.synchronize()
            return start.time_till(end_) * 1e-3

        return seconds


PreparedFunction = Function


def code_of(image) -> ObjectCode:
    """Return code as an :class:`ObjectCode` of the type that its first bytes indicate."""
    image = bytes(memoryview(image))
    if image[:4] == b"\x7fELF":
        return ObjectCode.from_cubin(image)
    return ObjectCode.from_fatbin(image) if image[:4] == b"\x50\xed\x55\xba" else ObjectCode.from_ptx(image)


@translated
def _load_code(code: ObjectCode):
    # Loads the code. Its handle would do so as well, but then it would stay loaded without the module.
    return code.get_module()


@translated
def _get_kernel(code: ObjectCode, name: str):
    # PyCUDA passes the bytes of an argument regardless of the parameter's type.
    return kernel_with_sizes_only(code.get_kernel(name))


@translated
def _sizes_of(kernel) -> tuple[int, ...] | None:
    """Return the size of each parameter in bytes, or None if the driver does not report it."""
    try:
        return tuple(info.size for info in kernel.arguments_info)
    except NotImplementedError:
        return None


@translated
def _get_global(code: ObjectCode, name: str):
    return code.get_global(name)


def _check_attached(module: Module, api: str) -> None:
    if module._is_invalid:
        raise logic_error(api, INVALID_HANDLE, "the module's context is detached")


def _launch_extents(name: str, value) -> tuple[int, ...]:
    if not isinstance(value, (tuple, list, numpy.ndarray)):
        value = (value,)
    extents = tuple(operator.index(extent) for extent in value)
    if not 1 <= len(extents) <= 3:
        raise logic_error("cuLaunchKernel", INVALID_VALUE, f"{name} must have 1 to 3 dimensions, not {len(extents)}")
    return extents


def _parse_types(arg_types):
    codes = []
    if isinstance(arg_types, str):
        count = ""
        for letter in arg_types:
            if letter.isdigit():
                count += letter
            elif letter == "x" or letter.isspace():
                count = ""
            else:
                codes += [letter] * int(count or 1)
                count = ""
    else:
        codes = list(arg_types)
    return "".join(code if isinstance(code, str) else "P" for code in codes), [
        _prepared_parameter(code) for code in codes
    ]


_LETTERS = {
    "b": numpy.int8, "B": numpy.uint8, "h": numpy.int16, "H": numpy.uint16, "i": numpy.int32, "I": numpy.uint32,
    "l": numpy.int64, "L": numpy.uint64, "n": numpy.int64, "N": numpy.uint64, "q": numpy.int64, "Q": numpy.uint64,
    "?": numpy.bool_, "f": numpy.float32, "d": numpy.float64, "F": numpy.complex64, "D": numpy.complex128,
}  # fmt: skip
# The Python types that launch() writes as NumPy types of each kind.
_OF_PYTHON = {"i": int, "u": int, "f": float, "c": complex, "b": bool}
_WIDTHS = {float: 8, complex: 16}


def _prepared_parameter(code) -> tuple:
    """Return two types that need no conversion, a function that converts others, and whether the C type is float."""
    if isinstance(code, str) and code in _LETTERS:
        return _scalar_parameter(_LETTERS[code])
    if isinstance(code, numpy.dtype) or (isinstance(code, type) and issubclass(code, numpy.generic)):
        dtype = numpy.dtype(code)
        if dtype in (numpy.intp, numpy.uintp):
            return int, DeviceAllocation, as_pointer  # programs use both types for addresses
        if dtype.kind in "iufcb":
            return _scalar_parameter(dtype.type)
        return numpy.void, bytes, lambda value: numpy.asarray(value, dtype).tobytes()
    return int, DeviceAllocation, as_pointer


def _scalar_parameter(kind: type) -> tuple[type, type, object, bool]:
    dtype = numpy.dtype(kind)
    plain = _OF_PYTHON[dtype.kind]
    if _WIDTHS.get(plain, dtype.itemsize) != dtype.itemsize:
        plain = kind  # such as a float of 4 bytes
    return kind, plain, lambda value: _converted(kind, value), kind is numpy.float32


def _converted(kind: type, value):
    if isinstance(value, (str, bytes)) or value is None:
        raise TypeError(f"the argument must be a {kind.__name__}, not {type(value).__name__}")
    try:
        if numpy.dtype(kind).kind in "iu":
            value = operator.index(value)
        return kind(value)
    except (TypeError, OverflowError) as error:
        raise TypeError(f"the argument must be a {kind.__name__}, not {shown(value)}: {error}") from None


for _kind in (DeviceAllocation, ManagedAllocation, PooledDeviceAllocation):
    register_buffer_class(_kind)
