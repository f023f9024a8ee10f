# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What a call of the driver is given stays open until the call returns, even if another thread closes it."""

from __future__ import annotations

from libc.stdint cimport intptr_t

from cuda.core._context cimport Context, Context_pin
from cuda.core._event cimport Event, Event_pin
from cuda.core._native._cuda_core cimport DriverObject, bindings_object
from cuda.core._native._cuda_core cimport Anchor, ArrayPin, ContextPin, EventPin, KernelPin, StreamPin
from cuda.core._module cimport Kernel, Kernel_pin
from cuda.core._stream cimport Stream, Stream_pin
from cuda.core.texture._array cimport Array_pin, OpaqueArray

from cuda.core._utils.cuda_utils import call_driver

__all__ = ["Held", "call_with", "hold"]


cdef class Held:
    """A reference to a resource, and its handle as the bindings take it; from :func:`hold`."""

    cdef Anchor _anchor
    cdef public object handle


def hold(thing) -> Held:
    """Return a reference to the resource of an object; RuntimeError if the object is closed."""
    cdef Held self = Held.__new__(Held)
    cdef StreamPin stream
    cdef EventPin event
    cdef KernelPin kernel
    cdef ContextPin context
    cdef ArrayPin array
    if isinstance(thing, Stream):
        Stream_pin(thing, &stream)
        self._anchor, self.handle = stream.anchor(), bindings_object("CUstream", <intptr_t>stream.get())
    elif isinstance(thing, Event):
        Event_pin(thing, &event)
        self._anchor, self.handle = event.anchor(), bindings_object("CUevent", <intptr_t>event.get())
    elif isinstance(thing, Kernel):
        Kernel_pin(thing, &kernel)
        self._anchor, self.handle = kernel.anchor(), bindings_object("CUkernel", <intptr_t>kernel.get())
    elif isinstance(thing, Context):
        Context_pin(thing, &context)
        self._anchor, self.handle = context.anchor(), bindings_object("CUcontext", <intptr_t>context.get())
    elif isinstance(thing, OpaqueArray):
        Array_pin(thing, &array)
        self._anchor, self.handle = array.anchor(), bindings_object("CUarray", <intptr_t>array.value().raw)
    else:
        raise TypeError(f"a Stream, Event, Kernel, Context or OpaqueArray is needed, not {type(thing).__name__}")
    return self


def call_with(str api, tuple arguments):
    """Call the driver as :func:`~cuda.core._utils.cuda_utils.call_driver` does; objects stand for their handles."""
    cdef list held = []  # until the call has returned
    cdef list values = []
    for argument in arguments:
        if isinstance(argument, DriverObject):
            argument = hold(argument)
        if isinstance(argument, Held):
            held.append(argument)
            argument = (<Held>argument).handle
        values.append(argument)
    return call_driver(api, *values)
