# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uintptr_t

from cuda.core._native._cuda_core cimport DriverObject, note_use_of_stream, refuse_closed
from cuda.core._native._cuda_core cimport (
    Anchor,
    ContextHandle,
    ContextField,
    EventField,
    StreamPin,
    StreamHandle,
    StreamField,
)
from cuda.core._utils cimport cydriver


# The base class of objects on which work can be enqueued: streams, and graph builders with their capturing stream.
cdef class StreamSource(DriverObject):
    cdef Stream _stream_to_use(self)


cdef class Stream(StreamSource):
    cdef:
        StreamField _h_stream
        ContextField _h_context    # empty for default streams, which belong to the current one
        EventField _h_join         # recorded for streams that wait for this one
        int _device_id              # -1 until known
        bint _is_default_of_device  # a default stream, to use only while that device is current


# Pins the stream of an object for a call. RuntimeError if the object is closed, or the default stream of a device that
# is not current.
cdef inline int Stream_pin(Stream self, StreamPin* pin) except -1:
    note_use_of_stream()
    if self._is_default_of_device:
        check_current_device(self)
    return 0 if pin.hold(self._h_stream) else refuse_closed(self)


cdef int check_current_device(Stream self) except -1

# Returns true for a default stream (or none), which is another stream in each context.
cdef inline bint is_default(const StreamHandle& h_stream) noexcept nogil:
    return <uintptr_t>h_stream.get() <= 2

# Creates a stream in a context, which need not be current. The caller keeps the context.
cdef Stream Stream_create(const ContextHandle& h_context, int device_id, object options)
# Wraps a stream without owning it, and keeps `owner` alive.
cdef Stream Stream_wrap(cydriver.CUstream c_stream, object owner)

# The stream of an argument: a Stream, a graph builder, or (if allowed) an external stream.
cpdef Stream Stream_accept(object arg, bint allow_stream_protocol=*)
cpdef Stream default_stream()
# The same as the default stream of one device, which no other device that is current takes for its own.
cdef int other_current_device(int device_id) except -2
cdef Stream default_stream_of(int device_id)

# The context in which work on a stream runs, and its device. RuntimeError if the stream is closed.
cdef int Stream_context(Stream self, ContextHandle* h_context, int* device_id) except -1

# Returns true if work on the stream is captured. The legacy default stream cannot capture.
cdef bint is_captured(const StreamHandle& h_stream) except -1

# Lets the graph that a capturing stream builds keep things, as do its clones and launches. A higher layer implements
# it.
cdef class CapturedOperands:
    cdef int keep(self, const StreamHandle& h_stream, Anchor thing) except -1

cdef CapturedOperands captured_operands()

# Makes later work in the pinned stream wait for pending work in the other stream.
cdef int Stream_wait_stream(const StreamPin& waiting, Stream other) except -1
