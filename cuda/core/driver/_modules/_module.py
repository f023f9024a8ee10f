# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Modules, functions, and their calls."""

from __future__ import annotations

import builtins
import operator
import os
import time
import warnings

import numpy

from cuda.core._launch._arguments import register_buffer_class
from cuda.core._launch_config import LaunchConfig
from cuda.core._launcher import launch
from cuda.core._module import ObjectCode
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import shown
from cuda.core.driver._checks import path_argument
from cuda.core.driver._constants import func_cache, function_attribute, shared_config
from cuda.core.driver._contexts._context import Context, current_context, member_of
from cuda.core.driver._contexts._streams import Event, stream_of
from cuda.core.driver._errors import (
    INVALID_HANDLE,
    INVALID_VALUE,
    NOT_FOUND,
    call,
    launch_error,
    logic_error,
    translated,
)
from cuda.core.driver._memory._device_memory import DeviceAllocation, as_pointer
from cuda.core.driver._memory._managed import ManagedAllocation
from cuda.core.driver._memory._pools import PooledDeviceAllocation
from cuda.core.driver._modules._arguments import begin, convert, end
from cuda.core.driver._modules._function_call import FunctionCall, PreparedAsyncCall, PreparedCall
from cuda.core.driver._textures._references import SurfaceReference, TextureReference

__all__ = ["Function", "Module", "PreparedFunction", "module_from_file"]


class Module:
    """Compiled code, loaded on the current device.

    Parameters
    ----------
    image : bytes-like
        A CUBIN, PTX or a fat binary.

    Raises
    ------
    LogicError
        If the image is damaged, or no context is current.
    """

    def __init__(self, image: bytes):
        context = current_context("cuModuleLoadDataEx")
        self._open(context, code_of(image))

    def _open(self, context: Context, code: ObjectCode) -> None:
        _load(code)
        self._context = context
        self._code = code
        self._functions = {}
        self._references = {}
        context._objects.add(self)

    @classmethod
    def _of_code(cls, code: ObjectCode, context: Context | None = None) -> Module:
        module = cls.__new__(cls)
        module._open(current_context("cuModuleLoadDataEx") if context is None else context, code)
        return module

    def __repr__(self):
        return f"<cuda.core.driver.Module of {self._code.code_type}>"

    def get_function(self, name: str) -> Function:
        """Return a kernel by the name that it has in the code (``cuModuleGetFunction``).

        Raises
        ------
        LogicError
            If there is none of that name.
        """
        _check_member(self, "cuModuleGetFunction")
        known = self._functions.get(name)
        if known is None:
            known = self._functions[name] = Function(self, name)
        return known

    def get_global(self, name: str) -> tuple[GlobalPointer, int]:
        """Return the address of a variable, which passes for a device pointer, and its bytes (``cuModuleGetGlobal``).

        Raises
        ------
        LogicError
            If there is none of that name.
        """
        _check_member(self, "cuModuleGetGlobal")
        variable = _get_global(self._code, name)
        pointer = GlobalPointer(variable.handle)
        pointer.variable = variable
        return pointer, variable.size

    def get_texref(self, name: str) -> TextureReference:
        """Return the texture reference that a source declares as ``texture<...> name``; the same at each call.

        Raises
        ------
        LogicError
            If there is none of that name.
        """
        return self._reference(TextureReference, name)

    def get_surfref(self, name: str) -> SurfaceReference:
        """Return the surface reference that a source declares as ``surface<...> name``; the same at each call.

        Raises
        ------
        LogicError
            If there is none of that name.
        """
        return self._reference(SurfaceReference, name)

    def _reference(self, kind: type, name: str):
        known = self._references.get(name)
        if not isinstance(known, kind):
            pointer, size = self.get_global(name)
            if size != 8:
                raise logic_error("cuModuleGetTexRef", NOT_FOUND, f"{name} is a variable, and no texture reference")
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
    """The address of a variable in a module, which it owns nothing of; its length is the bytes of the variable."""

    def __len__(self):
        return self.variable.size


def module_from_file(filename: str | os.PathLike) -> Module:
    """Load a module from a file with a CUBIN, PTX or a fat binary.

    Raises
    ------
    RuntimeError
        If there is no such file.
    """
    current_context("cuModuleLoad")
    return Module(read_file(filename, "cuModuleLoad"))


def read_file(filename: str | os.PathLike, api: str) -> bytes:
    """Return what is in a file; RuntimeError, in the name of a call of the driver, where there is none."""
    try:
        with open(path_argument("filename", filename), "rb") as file:
            return file.read()
    except FileNotFoundError as error:
        raise logic_error(api, 301, str(error)) from None


_PREPARED_CALL = """Launch the kernel on the NULL stream, with arguments of the types that :meth:`prepare` settled.

``prepared_call(grid, block, *args, shared_size=0)``

Parameters
----------
grid : tuple of int
    The blocks in each dimension.
block : tuple of int
    The threads of a block in each dimension.
*args
    One for each parameter. Numbers of Python are converted.
shared_size : int, optional
    The bytes of dynamic shared memory. Default is 0.

Raises
------
AttributeError
    If the types were not prepared.
TypeError
    If the arguments are not as many as the types, or cannot be converted to them.
LogicError
    If the driver refuses the launch.
"""
_PREPARED_ASYNC_CALL = """Launch the kernel as :attr:`prepared_call` does, but on a stream, or None for the NULL stream.

``prepared_async_call(grid, block, stream, *args, shared_size=0)``
"""


def _attribute(member, text: str) -> property:
    return property(lambda self: self.get_attribute(member), doc=text)


class Function(FunctionCall):
    """A kernel. Calling it launches it.

    Functions come from :meth:`Module.get_function`.
    """

    # Objects in slots, and not methods: `f.prepared_call(grid, block, *arguments)` then makes no bound method.
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
        function_attribute.BINARY_VERSION, "Ten times the architecture that it is compiled for."
    )
    cache_mode_ca = _attribute(function_attribute.CACHE_MODE_CA, "Whether it is compiled to cache global loads in L1.")
    cluster_scheduling_policy_preference = _attribute(
        function_attribute.CLUSTER_SCHEDULING_POLICY_PREFERENCE, "How blocks of a cluster are spread."
    )
    cluster_size_must_be_set = _attribute(
        function_attribute.CLUSTER_SIZE_MUST_BE_SET, "Whether a launch must state a cluster."
    )
    const_size_bytes = _attribute(function_attribute.CONST_SIZE_BYTES, "The bytes of its constant memory.")
    device_node_update_supported = _attribute(
        function_attribute.DEVICE_NODE_UPDATE_SUPPORTED, "Whether nodes of graphs with it can be updated on the device."
    )
    local_size_bytes = _attribute(function_attribute.LOCAL_SIZE_BYTES, "The bytes of local memory of a thread.")
    max_dynamic_shared_size_bytes = _attribute(
        function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, "The limit of dynamic shared memory of a block, in bytes."
    )
    max_threads_per_block = _attribute(function_attribute.MAX_THREADS_PER_BLOCK, "The largest block.")
    non_portable_cluster_size_allowed = _attribute(
        function_attribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED, "Whether clusters of more than 8 blocks are allowed."
    )
    num_regs = _attribute(function_attribute.NUM_REGS, "The registers of a thread.")
    preferred_shared_memory_carveout = _attribute(
        function_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT, "The per cent of the cache preferred as shared memory."
    )
    ptx_version = _attribute(function_attribute.PTX_VERSION, "Ten times the version of PTX that it was compiled from.")
    required_cluster_depth = _attribute(
        function_attribute.REQUIRED_CLUSTER_DEPTH, "The depth of its cluster; 0 if none."
    )
    required_cluster_height = _attribute(
        function_attribute.REQUIRED_CLUSTER_HEIGHT, "The height of its cluster; 0 if none."
    )
    required_cluster_width = _attribute(
        function_attribute.REQUIRED_CLUSTER_WIDTH, "The width of its cluster; 0 if none."
    )
    shared_memory_mode = _attribute(function_attribute.SHARED_MEMORY_MODE, "How it uses shared memory.")
    shared_size_bytes = _attribute(
        function_attribute.SHARED_SIZE_BYTES, "The bytes of static shared memory of a block."
    )

    def _call_any(self, args, block, grid, stream, shared, time_kernel):
        """Launch with arguments of any kind; see :meth:`FunctionCall.__call__`."""
        inner = stream_of(stream)
        try:
            values, handlers = convert(args, self._name, self._parameter_bytes, stream)
            config = self._config(grid, block, shared)
            if self._module._references:
                self._module._flush()
            if handlers:
                values = begin(handlers, values, stream)
            if time_kernel:
                assert stream is None, "time_kernel measures on the NULL stream; leave out stream"
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
        """Settle the types of the arguments, for the ``prepared_`` calls.

        Parameters
        ----------
        arg_types : str or sequence
            A format string of the module struct, ``P`` for pointers; or a sequence of such characters, NumPy
            types, and ``"P"`` or anything else for pointers.

        Returns
        -------
        Function
            This function.
        """
        self.arg_format, parameters = _parse(arg_types)
        sizes = self._parameter_bytes
        if sizes is not None and len(sizes) != len(parameters):
            raise TypeError(
                f"kernel {self._name!r} takes {len(sizes)} arguments, and {len(parameters)} types were given"
            )
        self.texrefs = [] if texrefs is None else list(texrefs)
        for name, value in (("shared", shared), ("block", block)):
            if value is not None:
                warnings.warn(
                    f"{name} of prepare() is of no effect: give it to the call", DeprecationWarning, stacklevel=2
                )
        self._set_types(parameters)
        return self

    def param_set_texref(self, t: TextureReference) -> None:
        """Accept a texture reference of the module: each launch uses what is bound to all of them."""
        if not isinstance(t, TextureReference):
            raise TypeError(f"a TextureReference is needed, not {type(t).__name__}")

    def get_attribute(self, attr: int) -> int:
        """Return an attribute, a member of :class:`function_attribute` (``cuKernelGetAttribute``)."""
        attribute = member_of(function_attribute, attr, "cuFuncGetAttribute")
        ordinal = current_context("cuFuncGetAttribute")._device._ordinal
        return int(call("cuKernelGetAttribute", attribute, self.kernel, ordinal))

    def set_attribute(self, attr: int, value: int) -> None:
        """Set an attribute, a member of :class:`function_attribute` (``cuKernelSetAttribute``)."""
        attribute = member_of(function_attribute, attr, "cuFuncSetAttribute")
        ordinal = current_context("cuFuncSetAttribute")._device._ordinal
        call("cuKernelSetAttribute", attribute, operator.index(value), self.kernel, ordinal)

    def set_cache_config(self, fc: int) -> None:
        """Set how the kernel divides its cache, a member of :class:`func_cache` (``cuKernelSetCacheConfig``)."""
        config = member_of(func_cache, fc, "cuFuncSetCacheConfig")
        ordinal = current_context("cuFuncSetCacheConfig")._device._ordinal
        call("cuKernelSetCacheConfig", self.kernel, config, ordinal)

    def set_shared_config(self, sc: int) -> None:
        """Accept a size of banks, a member of :class:`shared_config`; it has no effect on current devices."""
        member_of(shared_config, sc, "cuFuncSetSharedMemConfig")

    @staticmethod
    def _make_config(grid, block, shared) -> LaunchConfig:
        grid, block = _extents("grid", grid), _extents("block", block)
        try:
            return LaunchConfig(grid=grid, block=block, shmem_size=operator.index(shared))
        except ValueError as error:
            raise logic_error("cuLaunchKernel", INVALID_VALUE, str(error)) from None

    def _flush_references(self) -> None:
        self._module._flush()

    def prepared_timed_call(self, grid, block, *args, shared_size=0):
        """Launch as :meth:`prepared_call` does, between two events.

        Returns
        -------
        callable
            Without arguments; waits for the kernel, and returns how long it took, in seconds.
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
    """Return code as an object of the type that its first bytes tell."""
    image = bytes(memoryview(image))
    if image[:4] == b"\x7fELF":
        return ObjectCode.from_cubin(image)
    return ObjectCode.from_fatbin(image) if image[:4] == b"\x50\xed\x55\xba" else ObjectCode.from_ptx(image)


@translated
def _load(code: ObjectCode):
    # Asking for the handle loads the code.
    return code.handle


@translated
def _get_kernel(code: ObjectCode, name: str):
    return code.get_kernel(name)


@translated
def _sizes_of(kernel) -> tuple[int, ...] | None:
    """Return the bytes of each parameter; None where the driver does not tell."""
    try:
        return tuple(info.size for info in kernel.arguments_info)
    except NotImplementedError:
        return None


@translated
def _get_global(code: ObjectCode, name: str):
    return code.get_global(name)


def _check_member(module: Module, api: str) -> None:
    if module._is_invalid:
        raise logic_error(api, INVALID_HANDLE, "the context of the module is detached")


def _extents(name: str, value) -> tuple[int, ...]:
    if not isinstance(value, (tuple, list, numpy.ndarray)):
        value = (value,)
    extents = tuple(operator.index(extent) for extent in value)
    if not 1 <= len(extents) <= 3:
        raise logic_error("cuLaunchKernel", INVALID_VALUE, f"{name} must have 1 to 3 dimensions, not {len(extents)}")
    return extents


def _parse(arg_types):
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
    return "".join(code if isinstance(code, str) else "P" for code in codes), [_parameter(code) for code in codes]


_LETTERS = {
    "b": numpy.int8, "B": numpy.uint8, "h": numpy.int16, "H": numpy.uint16, "i": numpy.int32, "I": numpy.uint32,
    "l": numpy.int64, "L": numpy.uint64, "n": numpy.int64, "N": numpy.uint64, "q": numpy.int64, "Q": numpy.uint64,
    "?": numpy.bool_, "f": numpy.float32, "d": numpy.float64, "F": numpy.complex64, "D": numpy.complex128,
}  # fmt: skip
# Numbers of Python that a launch writes as these types by itself.
_OF_PYTHON = {"i": int, "u": int, "f": float, "c": complex, "b": bool}
_WIDTHS = {float: 8, complex: 16}


def _parameter(code) -> tuple:
    """Return the types that a parameter takes as they are, what converts others, and whether it is a float of C++."""
    if isinstance(code, str) and code in _LETTERS:
        return _scalar_parameter(_LETTERS[code])
    if isinstance(code, numpy.dtype) or (isinstance(code, type) and issubclass(code, numpy.generic)):
        dtype = numpy.dtype(code)
        if dtype in (numpy.intp, numpy.uintp):
            return int, DeviceAllocation, as_pointer  # of either sign: programs write addresses so
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
        raise TypeError(f"a {kind.__name__} is needed, not {type(value).__name__}")
    try:
        if numpy.dtype(kind).kind in "iu":
            value = operator.index(value)
        return kind(value)
    except (TypeError, OverflowError) as error:
        raise TypeError(f"a {kind.__name__} is needed, not {shown(value)}: {error}") from None


for _kind in (DeviceAllocation, ManagedAllocation, PooledDeviceAllocation):
    register_buffer_class(_kind)
