# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""New streams, and wrappers of streams from other libraries; a part of ``_stream.pyx``."""

from libc.stdint cimport uintptr_t
from libcpp.utility cimport move

from cpython.object cimport PyObject

from cuda.core._context cimport Context, Context_enter, Context_green, Context_leave, Context_ordinal
from cuda.core._native._cuda_core cimport (
    Anchor,
    ContextHandle,
    GreenHandle,
    StreamHandle,
    note_other_library,
    retire_stream,
    stream_registry,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport LEAVE_RETURN, check_or_create_options

import warnings

from cuda.core._utils.validators import shown


cdef Stream Stream_create(const ContextHandle& h_context, int device_id, object options):
    cdef Stream self = Stream.__new__(Stream)
    cdef StreamHandle h_stream
    cdef cydriver.CUstream c_stream = NULL
    cdef unsigned int c_flags = cydriver.CU_STREAM_NON_BLOCKING
    cdef int c_priority = 0
    cdef int c_least = 0
    cdef int c_greatest = 0
    cdef int is_entered = 0
    cdef const char* api = b"cuCtxGetStreamPriorityRange"
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_SUCCESS
    cdef cydriver.CUresult left
    cdef bint has_priority = False
    cdef GreenHandle h_green
    if not h_context:
        raise RuntimeError("creating a stream needs a current context; call Device.set_current() first")
    if options is not None:
        options = check_or_create_options(StreamOptions, options, "stream options")
        if not options.nonblocking:
            c_flags = cydriver.CU_STREAM_DEFAULT
        if options.priority is not None:
            has_priority = True
            c_priority = options.priority
    if c_flags == cydriver.CU_STREAM_NON_BLOCKING:
        h_green = Context_green(h_context)
    with nogil:
        is_entered = Context_enter(h_context.get())
        if has_priority:
            err = cydriver.cuCtxGetStreamPriorityRange(&c_least, &c_greatest)
        if err == cydriver.CUresult.CUDA_SUCCESS and c_greatest <= c_priority <= c_least:
            if h_green:
                api = b"cuGreenCtxStreamCreate"
                err = cydriver.cuGreenCtxStreamCreate(&c_stream, h_green.get().green, c_flags, c_priority)
            else:
                api = b"cuStreamCreateWithPriority"
                err = cydriver.cuStreamCreateWithPriority(&c_stream, c_flags, c_priority)
        left = Context_leave(is_entered)
    if c_stream != NULL:
        h_stream = StreamHandle.own(c_stream, &Stream_destroy, h_context.anchor())
    LEAVE_RETURN(err, api, left)
    if not h_stream:
        raise ValueError(f"priority must be from {c_greatest} (highest) to {c_least} (lowest), not {c_priority}")
    stream_registry().add(h_stream)
    self._h_stream.set(move(h_stream))
    self._h_context.set(h_context)
    self._device_id = device_id if device_id >= 0 else Context_ordinal(h_context)
    return self


def _create_green_stream(Context context, int device_id, object options):
    options = check_or_create_options(StreamOptions, options, "stream options")
    if not options.nonblocking:
        raise ValueError("nonblocking must be True: streams of green contexts do not wait for the default stream")
    return Stream_create(context._h_context.copy(), device_id, options)


cdef Stream Stream_wrap(cydriver.CUstream c_stream, object owner):
    cdef Stream self = Stream.__new__(Stream)
    # A wrapper of this library's own stream shares its cell.
    cdef StreamHandle h_stream = stream_registry().find(c_stream)
    if not h_stream:
        note_other_library()
        h_stream = StreamHandle.borrow(c_stream, Anchor() if owner is None else Anchor.of_object(<PyObject*>owner))
    self._h_stream.set(move(h_stream))
    self._device_id = -1
    return self


cdef void Stream_destroy(cydriver.CUstream c_stream) noexcept nogil:
    stream_registry().remove(c_stream)
    retire_stream(c_stream)


cdef Stream Stream_from_protocol(object obj):
    protocol = getattr(obj, "__cuda_stream__", None)
    if protocol is None:
        hint = "; pass options by name: options=..." if isinstance(obj, (dict, StreamOptions)) else ""
        raise TypeError(f"obj must be a stream, an object with __cuda_stream__(), not {type(obj).__name__}{hint}")
    if callable(protocol):
        info = protocol()
    else:
        # Extensions have no frames, so the first frame is the caller's.
        warnings.warn(
            "__cuda_stream__ as an attribute is deprecated; make it a method", DeprecationWarning, stacklevel=1
        )
        info = protocol
    cdef uintptr_t c_address
    try:
        version, handle = info
        c_address = int(handle)
    except (OverflowError, TypeError, ValueError) as error:
        raise RuntimeError(f"__cuda_stream__() must return (0, address), not {shown(info)}") from error
    if version != 0:
        raise RuntimeError(f"__cuda_stream__() must return version 0 of the protocol, not {shown(version)}")
    return Stream_wrap(<cydriver.CUstream>c_address, obj)
