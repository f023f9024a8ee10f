# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Handles of all resources, and the state that exists once per process."""

from libc.stdint cimport intptr_t, uint32_t
from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.vector cimport vector

from cpython.object cimport PyObject

from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN


cdef extern from "handle.hpp" namespace "cuda_core" nogil:
    cppclass Anchor:
        Anchor() noexcept
        @staticmethod
        Anchor of_object(PyObject* object) noexcept
        PyObject* object() noexcept
        cpp_bool operator bool() noexcept
        cpp_bool operator!() noexcept

    cppclass Handle[T]:
        Handle() noexcept
        Handle(const Handle[T]& other) noexcept
        @staticmethod
        Handle[T] own(T value, void (*destroy)(T) noexcept nogil, Anchor anchor) except +
        @staticmethod
        Handle[T] own_with_wait(T value, void (*destroy)(T, cpp_bool) noexcept nogil, Anchor anchor) except +
        @staticmethod
        Handle[T] own_holding_gil(T value, void (*destroy)(T) noexcept nogil, Anchor anchor) except +
        @staticmethod
        Handle[T] borrow(T value, Anchor anchor) except +
        void reset() noexcept
        void close() noexcept
        T get() noexcept
        T& value() noexcept
        Anchor anchor() noexcept
        PyObject* anchored_object() noexcept
        cpp_bool is_owner() noexcept
        uint32_t use_count() noexcept
        cpp_bool operator bool() noexcept
        cpp_bool operator!() noexcept

    cppclass WeakCell:
        WeakCell() noexcept
        void observe[T](const Handle[T]& handle) noexcept
        uint32_t use_count() noexcept

    cppclass Registry[T]:
        Handle[T] add(const Handle[T]& handle) except +
        Handle[T] find(T value) except +
        void remove(T value) noexcept
        vector[Handle[T]] living() except +
        size_t size() except +

    intptr_t address[T](const Handle[T]& handle) noexcept


# The handle field of an object, which any thread may close at any time, and the reference that a call takes from it.
# Taking and dropping that reference need the GIL, using it does not.
cdef extern from "handle_field.hpp" namespace "cuda_core":
    cppclass HandleField[T]:
        HandleField() noexcept
        Handle[T] copy() noexcept
        void set(Handle[T] handle) noexcept
        void reset() noexcept
        void close() noexcept
        uint32_t use_count() noexcept
        cpp_bool operator bool() noexcept
        cpp_bool operator!() noexcept

    cppclass Pin[T]:
        Pin() noexcept
        cpp_bool hold(const HandleField[T]& member) noexcept
        T get() noexcept nogil
        T& value() noexcept nogil
        const Handle[T]& handle() noexcept nogil
        Anchor anchor() noexcept nogil
        cpp_bool is_owner() noexcept nogil
        cpp_bool operator bool() noexcept nogil
        cpp_bool operator!() noexcept nogil

    intptr_t address[T](const HandleField[T]& member) noexcept


# The number of captures that this library has begun and not ended.
cdef atomic[int]* captures_in_progress


cdef extern from "locks.hpp" namespace "cuda_core" nogil:
    cppclass CaptureModeScope:
        CaptureModeScope() noexcept
        cpp_bool has_begun() noexcept
        void begin(int mode, void (*restore)(int) noexcept nogil) noexcept
        void end() noexcept


# Sets this thread to relaxed mode, even if this library captures nothing: another library may. The mode is restored
# when the function that has the scope as a local variable returns or raises, or by `scope.end()`.
# Returns false, after a warning, if the driver refuses.
cdef inline bint relax_capture_mode(CaptureModeScope& scope) noexcept nogil:
    cdef cydriver.CUstreamCaptureMode c_mode = cydriver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    cdef cydriver.CUresult err
    if scope.has_begun():
        return True
    err = cydriver.cuThreadExchangeStreamCaptureMode(&c_mode)
    WARN_RETURN(err, b"cuThreadExchangeStreamCaptureMode")
    if err != cydriver.CUresult.CUDA_SUCCESS:
        return False
    scope.begin(<int>c_mode, &restore_capture_mode)
    return True


cdef inline void restore_capture_mode(int mode) noexcept nogil:
    cdef cydriver.CUstreamCaptureMode c_mode = <cydriver.CUstreamCaptureMode>mode
    cdef cydriver.CUresult err = cydriver.cuThreadExchangeStreamCaptureMode(&c_mode)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(err, b"cuThreadExchangeStreamCaptureMode")
        # Try once more, because otherwise the thread would stay in relaxed mode.
        WARN_RETURN(cydriver.cuThreadExchangeStreamCaptureMode(&c_mode), b"cuThreadExchangeStreamCaptureMode")


cdef inline bint stream_captures(cydriver.CUstream c_stream) except -1 nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    HANDLE_RETURN(cydriver.cuStreamIsCapturing(c_stream, &c_status), b"cuStreamIsCapturing")
    return c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE


# The result of cuStreamQuery. For a capturing stream, whose capture the query would invalidate, no query is made, and
# the result is CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
cdef inline cydriver.CUresult query_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUresult err = cydriver.cuStreamIsCapturing(c_stream, &c_status)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        return err
    if c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
        return cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    return cydriver.cuStreamQuery(c_stream)


# A value that can only be destroyed with its own context current.
cdef extern from "values.hpp" namespace "cuda_core" nogil:
    cppclass InContext[T]:
        T raw
        Handle[cydriver.CUcontext] h_context
        bint is_small


# The value behind a device pointer; its anchor is the pool or memory resource.
cdef extern from "values.hpp" namespace "cuda_core" nogil:
    cppclass Block
    cppclass Allocation:
        cydriver.CUdeviceptr pointer
        size_t size
        Handle[cydriver.CUstream] h_stream
        Handle[cydriver.CUcontext] h_context
        PyObject* resource
        Block* block
        Handle[InContext[cydriver.CUgraphicsResource]] h_graphics

    void free_after(const Handle[Allocation]& memory, const Allocation& user) noexcept


# A green context; registries find it by its CUcontext, which the driver reports.
cdef extern from "values.hpp" namespace "cuda_core" nogil:
    cppclass Green:
        cydriver.CUcontext context
        cydriver.CUgreenCtx green


# Moves releases from threads of the driver to the main thread.
cdef extern from "retire.hpp" namespace "cuda_core" nogil:
    cppclass MainThreadInbox:
        void resume() noexcept
        cpp_bool is_stuck() noexcept
        size_t size() noexcept

    MainThreadInbox* main_thread_inbox() noexcept

    cppclass AnchorList:
        @staticmethod
        AnchorList* make(MainThreadInbox* queue) except +
        void add(Anchor anchor) except +
        PyObject* object(size_t index) noexcept
        size_t size() noexcept
        void add_reference() noexcept
        void drop_reference() noexcept


cdef extern from "native.hpp" namespace "cuda_core" nogil:
    atomic[cpp_bool] waits_need_driver
    void note_use_of_stream() noexcept


ctypedef Handle[cydriver.CUcontext] ContextHandle
ctypedef Handle[Green] GreenHandle
ctypedef Handle[cydriver.CUstream] StreamHandle
ctypedef Handle[cydriver.CUevent] EventHandle
ctypedef Handle[cydriver.CUmemoryPool] MemoryPoolHandle
ctypedef Handle[Allocation] AllocationHandle
ctypedef Handle[cydriver.CUlibrary] LibraryHandle
ctypedef Handle[cydriver.CUkernel] KernelHandle
ctypedef Handle[cydriver.CUgraph] GraphHandle
ctypedef Handle[cydriver.CUgraphExec] GraphExecHandle
ctypedef Handle[InContext[cydriver.CUarray]] ArrayHandle
ctypedef Handle[InContext[cydriver.CUmipmappedArray]] MipmappedArrayHandle
ctypedef Handle[InContext[cydriver.CUgraphicsResource]] GraphicsHandle

ctypedef HandleField[cydriver.CUcontext] ContextField
ctypedef HandleField[cydriver.CUstream] StreamField
ctypedef HandleField[cydriver.CUevent] EventField
ctypedef HandleField[cydriver.CUmemoryPool] MemoryPoolField
ctypedef HandleField[Allocation] AllocationField
ctypedef HandleField[cydriver.CUlibrary] LibraryField
ctypedef HandleField[cydriver.CUkernel] KernelField
ctypedef HandleField[cydriver.CUgraphExec] GraphExecField
ctypedef HandleField[InContext[cydriver.CUarray]] ArrayField
ctypedef HandleField[InContext[cydriver.CUmipmappedArray]] MipmappedArrayField
ctypedef HandleField[InContext[cydriver.CUgraphicsResource]] GraphicsField

ctypedef Pin[cydriver.CUcontext] ContextPin
ctypedef Pin[cydriver.CUstream] StreamPin
ctypedef Pin[cydriver.CUevent] EventPin
ctypedef Pin[cydriver.CUmemoryPool] MemoryPoolPin
ctypedef Pin[Allocation] AllocationPin
ctypedef Pin[cydriver.CUkernel] KernelPin
ctypedef Pin[cydriver.CUgraphExec] GraphExecPin
ctypedef Pin[InContext[cydriver.CUarray]] ArrayPin
ctypedef Pin[InContext[cydriver.CUmipmappedArray]] MipmappedArrayPin
ctypedef Pin[InContext[cydriver.CUgraphicsResource]] GraphicsPin

# The registries. They are never destroyed, because threads may outlive the interpreter.
cdef extern from "registry.hpp" namespace "cuda_core" nogil:
    Registry[cydriver.CUcontext]* context_registry() noexcept
    Registry[Green]* green_registry() noexcept
    Registry[cydriver.CUstream]* stream_registry() noexcept
    Registry[cydriver.CUkernel]* kernel_registry() noexcept


cdef extern from "retire.hpp" namespace "cuda_core" nogil:
    enum Work:
        NO_WORK
        SOME_WORK
        UNKNOWN_WORK  # a capture forbids the query

    bint is_unexpected(cydriver.CUresult err) noexcept

    # An unexpected error, returned by functions that must not run Python code, as a warning would.
    cppclass UnexpectedError:
        cydriver.CUresult code
        const char* api

    # A stream to query: a default stream with its context, all others without.
    cppclass QueriedStream:
        QueriedStream() noexcept
        StreamHandle h_stream
        ContextHandle h_context


# All streams of this library, and the default streams of the current context and of all that the library knows.
cdef void find_streams(vector[QueriedStream]& streams) noexcept nogil
# Queries all of these, and synchronizes the idle ones. Until then the driver counts frees on them as queued,
# although the work is done.
cdef void query_streams() noexcept nogil
# The work of a stream; the caller has relaxed the capture mode of its thread. An unexpected error is a warning, or is
# returned in `error`.
cdef Work work_of(const QueriedStream& stream, UnexpectedError* error) noexcept nogil
# The same for a raw handle; a default stream is that of the current context.
cdef Work work_in_current_context(cydriver.CUstream c_stream, UnexpectedError* error) noexcept nogil
# Makes the context of a default stream current; false if that fails. leave_context() undoes it.
cdef bint enter_context(const QueriedStream& stream, bint* is_entered, UnexpectedError* error) noexcept nogil
cdef void leave_context(bint is_entered, UnexpectedError* error) noexcept nogil
# Warns of an unexpected error, or returns it in `error`.
cdef void report(cydriver.CUresult err, const char* api, UnexpectedError* error) noexcept nogil


cdef class WeakHandle:
    cdef WeakCell cell      # empty until the method _weak_handle of the observed object's class sets it


cdef extern from "retire.hpp" namespace "cuda_core" nogil:
    # A resource to destroy, and what to wait for: events, and streams that capture; find_work() fills the latter two.
    cppclass Retired:
        Anchor resource
        vector[EventHandle] events
        vector[QueriedStream] unrecorded

    # Whether the value has to wait; if so, it is moved away, and `destroy` is called when the work in flight is done.
    cpp_bool retire[T](T& value, void (*destroy)(T) noexcept, Anchor anchor) noexcept
    # The same, but a small value always waits: the streams are queried once for several of them.
    cpp_bool retire_small "cuda_core::retire"[T](T& value, void (*destroy)(T) noexcept, cpp_bool is_small) noexcept


cdef enum:
    SMALL_ARRAY = 1 << 20  # bytes; arrays up to this size are destroyed in batches

# Whether a resource may wait in a batch: it is small, and its context is one that users cannot destroy.
cdef bint can_batch(bint is_small, const ContextHandle& h_context) noexcept nogil
# Destroys the batch, or defers that if work is in flight.
cdef void destroy_batch() noexcept nogil
# Whether this thread is destroying a batch, and has found that no stream is busy.
cdef bint are_streams_idle() noexcept nogil

# Records an event behind the work of each busy stream, in `entry`; false if no stream is busy.
cdef bint find_work(Retired* entry) noexcept nogil
# Destroys `entry.resource` after its events; empties `entry`.
cdef void retire_entry(Retired& entry) noexcept nogil
# Destroys the deferred resources whose events have completed; called after synchronizations.
cdef void destroy_idle() noexcept nogil
# Waits up to a fifth of a second for deferred resources, where memory is short; false if there are none.
cdef bint wait_for_retired() noexcept nogil
# The same before a new resource is created, if so many are deferred that they might accumulate.
cdef void limit_backlog() noexcept nogil

# Records an event behind the work of a stream that this library will not query.
cdef void record_tail(cydriver.CUstream c_stream) noexcept nogil
# Whether a closed stream is still to be destroyed: pools that were used on it have to outlive it.
cdef bint has_pending_streams() noexcept nogil
# Destroys a stream after its work.
cdef void retire_stream(cydriver.CUstream c_stream) noexcept nogil

# Frees memory after the capture that keeps it from being freed now; false if the host is out of memory.
cdef bint retire_until_capture_ends(const Allocation& value, void (*free)(Allocation) noexcept nogil) noexcept nogil
# Frees what waits for captures, or lets it wait for those that go on.
cdef void free_after_captures() noexcept nogil


cdef extern from "values.hpp" namespace "cuda_core" nogil:
    cppclass BindlessObject[T]:
        T raw
        Handle[cydriver.CUcontext] h_context
        Anchor needs
        bint is_small
        T for_work() noexcept
        bint may_be_in_use() noexcept


ctypedef Handle[BindlessObject[cydriver.CUtexObject]] TextureHandle
ctypedef Handle[BindlessObject[cydriver.CUsurfObject]] SurfaceHandle

ctypedef HandleField[BindlessObject[cydriver.CUtexObject]] TextureField
ctypedef HandleField[BindlessObject[cydriver.CUsurfObject]] SurfaceField

ctypedef Pin[BindlessObject[cydriver.CUtexObject]] TexturePin
ctypedef Pin[BindlessObject[cydriver.CUsurfObject]] SurfacePin


cdef extern from "arguments.hpp" namespace "cuda_core":
    cppclass LaunchList:
        void keep_memory_of[T](PyObject* object, const HandleField[T]& member) noexcept

    LaunchList* launch_list() noexcept nogil

    # The arguments of one launch, on the stack.
    cppclass ArgumentBlock:
        ArgumentBlock() noexcept
        char* begin(LaunchList& list, PyObject* const* arguments, size_t count, size_t size) noexcept
        T* value_of[T](const HandleField[T]& member) noexcept
        void end() noexcept
        void** kernel_params


cdef class DriverObject:
    cdef object __weakref__

    # The raw driver value, 0 when closed.
    cdef intptr_t _address(self) noexcept
    # Drops this object's reference to the resource; may be called more than once.
    cdef void _release(self) noexcept
    # The value that == and hash use; the address by default.
    cdef object _identity(self)
    # Raises RuntimeError when the object is closed.
    cdef int _check_open(self) except -1


# Raises the RuntimeError for a closed object.
cdef int refuse_closed(object thing) except -1

# Raises the TypeError for an object that cannot be pickled.
cdef int refuse_pickle(object thing) except -1


# The object of cuda.bindings for a raw value, such as a driver.CUstream.
cdef object bindings_object(str name, intptr_t value)


# Replaces the property `name` of `cls` by a faster member descriptor for the Python object at `offset` of an instance.
# The docstring is kept.
cdef int add_member(type cls, str name, Py_ssize_t offset) except -1
