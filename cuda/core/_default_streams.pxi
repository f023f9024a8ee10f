# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The stream of calls that are given none: that of ``Stream.use()``, or a default stream; a part of ``_stream.pyx``."""

from libc.stdint cimport uintptr_t
from libc.stdlib cimport getenv, strtol

from cuda.core._native._cuda_core cimport Anchor, ContextHandle, StreamHandle, StreamPin
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN

import contextlib
from contextvars import ContextVar


cpdef Stream default_stream():
    """Return the default stream that the environment variable CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM selects."""
    # Read without Python code, which an exception of a signal handler could interrupt while memory is freed.
    cdef const char* text = getenv(b"CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM")
    return PER_THREAD_DEFAULT_STREAM if text != NULL and strtol(text, NULL, 10) != 0 else LEGACY_DEFAULT_STREAM


# The stream of Stream.use().
_used = ContextVar("cuda.core stream", default=None)
cdef bint is_used = False  # until a program uses one, the variable need not be read


@contextlib.contextmanager
def _use_stream(stream):
    global is_used
    token = _used.set(stream)
    # Stays true after the block, because a task that was started in it may run longer.
    is_used = True
    try:
        yield stream
    finally:
        _used.reset(token)


def launch_stream() -> Stream:
    """Return the stream of a launch that is given none."""
    stream = _used.get() if is_used else None
    return default_stream() if stream is None else stream


def used_stream(int device_id) -> Stream | None:
    """Return the stream of :meth:`Stream.use`, if it belongs to a device."""
    cdef ContextHandle h_context
    cdef int its_device = -1
    stream = _used.get() if is_used else None
    if stream is None:
        return None
    Stream_context(stream, &h_context, &its_device)
    return stream if its_device == device_id else None


def is_default_stream(Stream stream not None) -> bool:
    """Return whether a stream is a default stream, which belongs to the context that is current."""
    cdef StreamPin pin
    Stream_pin(stream, &pin)
    return is_default(pin.handle())


# The device that is current instead of this one, or -1.
cdef int other_current_device(int device_id) except -2:
    cdef cydriver.CUdevice c_device = 0
    if ALLOW_RETURN(
        cydriver.cuCtxGetDevice(&c_device), cydriver.CUresult.CUDA_ERROR_INVALID_CONTEXT, b"cuCtxGetDevice"
    ) and c_device != device_id:
        return c_device
    return -1


# The driver has no handle for a default stream of a context that is not current.
cdef int check_current_device(Stream self) except -1:
    cdef int c_device = other_current_device(self._device_id)
    if c_device >= 0:
        raise RuntimeError(
            f"this is the default stream of device {self._device_id}, but device {c_device} is current; use it in "
            f"`with Device({self._device_id}):`, or use a stream of Device({self._device_id}).create_stream()"
        )
    return 0


# (ordinal, address) -> the default stream of a device
cdef dict _default_streams = {}


cdef Stream default_stream_of(int device_id):
    cdef Stream constant = default_stream()
    cdef Stream stream = _default_streams.get((device_id, constant._address()))
    if stream is None:
        stream = Stream_constant(Stream, <cydriver.CUstream><uintptr_t>constant._address())
        stream._device_id = device_id
        stream._is_default_of_device = True
        stream = _default_streams.setdefault((device_id, constant._address()), stream)
    return stream


cdef Stream Stream_constant(cls, cydriver.CUstream c_stream):
    cdef Stream self = cls.__new__(cls)
    self._h_stream.set(StreamHandle.borrow(c_stream, Anchor()))
    self._device_id = -1
    return self
