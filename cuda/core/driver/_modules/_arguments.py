# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments of the classic style: NumPy scalars, device pointers, and arrays that travel with the call."""

from __future__ import annotations

import numpy

from cuda.core._memory._buffer import Buffer
from cuda.core.driver._contexts._context import current_context
from cuda.core.driver._contexts._streams import keep_until_done, stream_of
from cuda.core.driver._errors import translated
from cuda.core.driver._memory._copies import memcpy_dtoh_async, memcpy_htod_async
from cuda.core.driver._memory._device_memory import DeviceAllocation, PointerHolderBase, as_pointer, managed_address

__all__ = ["ArgumentHandler", "In", "InOut", "Out"]


class ArgumentHandler:
    """An argument with work before and after the call; subclasses define ``pre_call`` and maybe ``post_call``.

    Parameters
    ----------
    ary : array
        The array on the host, contiguous.

    Attributes
    ----------
    array : array
        That array.
    dev_alloc : :class:`DeviceAllocation` or None
        The memory on the device, once :meth:`get_device_alloc` made it.
    """

    def __init__(self, ary):
        self.array = ary
        self.dev_alloc = None

    def __repr__(self):
        return f"<cuda.core.driver.{type(self).__name__} of {type(self.array).__name__}>"

    def get_device_alloc(self, stream=None) -> DeviceAllocation:
        """Return memory of the device with the size of the array, the same at each call.

        Parameters
        ----------
        stream : :class:`Stream`, optional
            In whose order the memory is allocated and freed; the NULL stream by default.

        Raises
        ------
        TypeError
            If the array has no ``nbytes``.
        """
        if self.dev_alloc is None:
            size = getattr(self.array, "nbytes", None)
            if size is None:
                raise TypeError(f"an array is needed, something with nbytes, not {type(self.array).__name__}")
            self.dev_alloc = temporary(int(size), stream)
        return self.dev_alloc

    def pre_call(self, stream) -> None:
        """Do what comes before the launch, in the order of ``stream``; a subclass must define this."""
        raise NotImplementedError(f"{type(self).__name__} must define pre_call(stream)")


class In(ArgumentHandler):
    """An array that is copied to the device before the call."""

    def pre_call(self, stream) -> None:
        """Copy the array to the device, in the order of ``stream``."""
        memory = self.get_device_alloc(stream)
        if self.array.nbytes:
            memcpy_htod_async(memory, self.array, stream)


class Out(ArgumentHandler):
    """An array that is copied from the device after the call."""

    def pre_call(self, stream) -> None:
        """Allocate the memory on the device."""
        self.get_device_alloc(stream)

    def post_call(self, stream) -> None:
        """Copy the array from the device, in the order of ``stream``."""
        if self.array.nbytes:
            memcpy_dtoh_async(self.array, self.get_device_alloc(stream), stream)


class InOut(In, Out):
    """An array that is copied to the device before the call, and back after it."""


@translated
def temporary(size: int, stream) -> DeviceAllocation:
    """Return memory that is allocated and freed in the order of a stream."""
    context = current_context("cuMemAllocAsync")
    context._make_current()
    memory = context._device._core.memory_resource.allocate(max(size, 1), stream=stream_of(stream))
    allocation = DeviceAllocation._init(memory.handle, size, owner=memory)
    context._objects.add(allocation)
    return allocation


SCALARS = frozenset(
    getattr(numpy, name)
    for name in (
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "longlong", "ulonglong"),
        *("bool_", "float16", "float32", "float64", "complex64", "complex128"),
    )
)
# What to write instead of a number of Python.
_ADVICE = {
    int: "; write numpy.int32(x) for an int, numpy.int64(x) for a long, or numpy.uintp(x) for an address",
    bool: "; write numpy.bool_(x) for a bool",
    float: "; write numpy.float32(x) for a float, or numpy.float64(x) for a double",
    complex: "; write numpy.complex64(x) or numpy.complex128(x)",
    type(None): "; write numpy.uintp(0) for a null pointer",
    str: "",
    list: "; write In(numpy.array(x))",
}


def convert(arguments, name: str, sizes: tuple[int, ...] | None, stream=None) -> tuple[list, list[ArgumentHandler]]:
    """Return arguments as :func:`cuda.core.launch` takes them, and those that have work before and after the call.

    Parameters
    ----------
    arguments : sequence
        What the call got.
    name : str
        The name of the kernel.
    sizes : tuple of int or None
        The bytes of each parameter; None where the driver does not tell.
    stream : Stream, optional
        Where the kernel is queued; the NULL stream by default.

    Raises
    ------
    TypeError
        If an argument is of a type that kernels do not take, or its size is not that of the parameter.
    """
    if sizes is not None and len(arguments) != len(sizes):
        raise TypeError(f"kernel {name!r} takes {len(sizes)} arguments, {len(arguments)} given")
    values, handlers = [], []
    for index, argument in enumerate(arguments):
        if type(argument) in SCALARS:
            if sizes is not None and argument.nbytes != sizes[index]:
                raise misfit(argument, index, name, sizes[index], argument.nbytes)
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
            raise misfit(argument, index, name, size, argument.nbytes)
        return argument.tobytes()
    if isinstance(argument, Buffer):
        return argument
    kind = type(argument)
    # A subclass of int, such as the address of a variable, says what it is.
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


def misfit(argument, index: int, name: str, size: int, given: int) -> TypeError:
    """Return the error for an argument whose size is not that of the parameter."""
    bytes_of = "1 byte" if size == 1 else f"{size} bytes"
    advice = ""
    if isinstance(argument, numpy.ndarray) and size == 8:
        advice = "; an array of the host is passed by value: write In(array), Out(array) or InOut(array) to copy it"
    return TypeError(
        f"parameter #{index} (0-based) of kernel {name!r} has {bytes_of}, "
        f"but the {type(argument).__name__} given has {given}{advice}"
    )


def begin(handlers: list[ArgumentHandler], values: list, stream) -> list:
    """Run what comes before the launch, and return the arguments with device memory in place of the handlers."""
    for handler in handlers:
        handler.pre_call(stream)
    return [value.get_device_alloc() if isinstance(value, ArgumentHandler) else value for value in values]


def end(handlers: list[ArgumentHandler], stream) -> None:
    """Run what comes after the launch; without a stream, wait until it is done."""
    inner = stream_of(stream)
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
