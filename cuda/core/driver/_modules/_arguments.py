# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments of the classic style: NumPy scalars, device pointers, and host arrays that a call copies."""

from __future__ import annotations

import numpy

from cuda.core._memory._buffer import Buffer
from cuda.core.driver._context import current_context
from cuda.core.driver._copies import memcpy_dtoh_async, memcpy_htod_async
from cuda.core.driver._device_memory import DeviceAllocation, PointerHolderBase, as_pointer, managed_address
from cuda.core.driver._errors import translated
from cuda.core.driver._streams import keep_until_done, stream_of
from cuda.core.driver._types import SCALARS

__all__ = ["ArgumentHandler", "In", "InOut", "Out"]


class ArgumentHandler:
    """A kernel argument with copies before and after the launch.

    Subclasses define ``pre_call(stream)``, and ``post_call(stream)`` if something is copied back.

    Parameters
    ----------
    ary : array
        A contiguous array on the host.

    Attributes
    ----------
    array : array
        The array on the host.
    dev_alloc : :class:`DeviceAllocation` or None
        The device memory; None before :meth:`get_device_alloc` has allocated it.
    """

    def __init__(self, ary):
        self.array = ary
        self.dev_alloc = None

    def __repr__(self):
        return f"<cuda.core.driver.{type(self).__name__} of {type(self.array).__name__}>"

    def get_device_alloc(self, stream=None) -> DeviceAllocation:
        """Return device memory with the size of the array; further calls return the same memory.

        Parameters
        ----------
        stream : :class:`Stream`, optional
            The stream on which the memory is allocated and freed. If None, the NULL stream.

        Raises
        ------
        TypeError
            If the array has no ``nbytes``.
        """
        if self.dev_alloc is None:
            size = getattr(self.array, "nbytes", None)
            if size is None:
                raise TypeError(f"ary must be an array with nbytes, not {type(self.array).__name__}")
            self.dev_alloc = temporary(int(size), stream)
        return self.dev_alloc

    def pre_call(self, stream) -> None:
        """Enqueue the work before the launch on ``stream``; a subclass must define this."""
        raise NotImplementedError(f"{type(self).__name__} must define pre_call(stream)")


class In(ArgumentHandler):
    """A host array that is copied to the device before the launch."""

    def pre_call(self, stream) -> None:
        """Copy the array to the device, in stream order."""
        memory = self.get_device_alloc(stream)
        if self.array.nbytes:
            memcpy_htod_async(memory, self.array, stream)


class Out(ArgumentHandler):
    """A host array that is copied from the device after the launch."""

    def pre_call(self, stream) -> None:
        """Allocate the memory on the device."""
        self.get_device_alloc(stream)

    def post_call(self, stream) -> None:
        """Copy the array from the device, in stream order."""
        if self.array.nbytes:
            memcpy_dtoh_async(self.array, self.get_device_alloc(stream), stream)


class InOut(In, Out):
    """A host array that is copied to the device before the launch, and back after it."""


@translated
def temporary(size: int, stream) -> DeviceAllocation:
    """Return stream-ordered memory (``cuMemAllocAsync``)."""
    context = current_context("cuMemAllocAsync")
    context._make_current()
    memory = context._device._core.memory_resource.allocate(max(size, 1), stream=stream_of(stream))
    allocation = DeviceAllocation._init(memory.handle, size, owner=memory)
    context._objects.add(allocation)
    return allocation


# What to write instead of a Python value whose C type is ambiguous.
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
    """Return arguments as :func:`cuda.core.launch` takes them, and the :class:`ArgumentHandler` among them.

    Parameters
    ----------
    arguments : sequence
        The arguments of the call.
    name : str
        The name of the kernel, for messages.
    sizes : tuple of int or None
        The size of each parameter in bytes; None if the driver does not report it.
    stream : Stream, optional
        The stream of the launch. If None, the NULL stream.

    Raises
    ------
    TypeError
        If the number of arguments is wrong, or an argument has a type that kernels do not take, or another size than
        its parameter.
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
    """Return the TypeError for an argument whose size is not that of the parameter."""
    bytes_of = "1 byte" if size == 1 else f"{size} bytes"
    advice = ""
    if isinstance(argument, numpy.ndarray) and size == 8:
        advice = "; a host array is passed by value: write In(array), Out(array) or InOut(array) to copy it"
    return TypeError(
        f"parameter #{index} (0-based) of kernel {name!r} has {bytes_of}, "
        f"but the {type(argument).__name__} given has {given}{advice}"
    )


def begin(handlers: list[ArgumentHandler], values: list, stream) -> list:
    """Call ``pre_call`` of the handlers, and return the arguments with device memory in place of the handlers."""
    for handler in handlers:
        handler.pre_call(stream)
    return [value.get_device_alloc() if isinstance(value, ArgumentHandler) else value for value in values]


def end(handlers: list[ArgumentHandler], stream) -> None:
    """Call ``post_call`` of the handlers. Without a stream, synchronize after the copies; else keep them alive."""
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
