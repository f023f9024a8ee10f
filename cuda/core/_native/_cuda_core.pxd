# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Handles of all resources, and the state that exists once per process; docs/design/handles.md explains them."""

from libc.stdint cimport int64_t, intptr_t, uint32_t
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


# The handle field of an object, which any thread can close at any time, and the pin that a call takes from it. Taking
# and dropping a pin require the GIL, using it does not.
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
# Count a capture of a stream. The caller holds capture_lock() from before the capture begins or ends.
cdef void note_capture(cydriver.CUstream c_stream) noexcept nogil
cdef void forget_capture(cydriver.CUstream c_stream) noexcept nogil
# Whether one of these captures is of a stream of this context. Green contexts count as part of every context.
cdef bint is_context_capturing(cydriver.CUcontext c_context) noexcept nogil


cdef extern from "locks.hpp" namespace "cuda_core" nogil:
    cppclass CaptureModeScope:
        CaptureModeScope() noexcept
        cpp_bool has_begun() noexcept
        void begin(int mode, void (*restore)(int) noexcept nogil) noexcept
        void end() noexcept

    cppclass Mutex "std::mutex":
        void lock()
        void unlock()

    Mutex& capture_lock()
    Mutex& pool_lock()


cdef extern from "calls.hpp" nogil:
    cpp_bool is_driver_loaded "cuda_core::driver_calls::is_loaded"() noexcept


# Sets this thread to relaxed mode, even if this library captures nothing, because another library might. The mode is
# restored when the function that has the scope as a local variable returns or raises, or by `scope.end()`.
# Returns false, after a warning, if the driver call fails.
cdef inline bint relax_capture_mode(CaptureModeScope& scope) noexcept nogil:
    cdef cydriver.CUstreamCaptureMode c_mode = cydriver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    cdef cydriver.CUresult err
    if scope.has_begun():
        return True
    if not is_driver_loaded():
        return False  # nor are there captures
    err = cydriver.cuThreadExchangeStreamCaptureMode(&c_mode)
    if err == cydriver.CUresult.CUDA_ERROR_NOT_INITIALIZED:
        return False  # there are no captures
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


cdef extern from "values.hpp" namespace "cuda_core" nogil:
    # A value that can only be destroyed with its own context current.
    cppclass InContext[T]:
        T raw
        Handle[cydriver.CUcontext] h_context
        Anchor needs

    # The value of a device pointer. Its anchor is the pool or memory resource.
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

    # A green context. Registries find it by its CUcontext, which the driver reports.
    cppclass Green:
        cydriver.CUcontext context
        cydriver.CUgreenCtx green


# Operands of graphs, whose references the driver drops on its own threads.
cdef extern from "retire.hpp" namespace "cuda_core" nogil:
    cppclass AnchorList:
        @staticmethod
        AnchorList* make() except +
        void add(Anchor anchor) except +
        PyObject* object(size_t index) noexcept
        size_t size() noexcept
        void add_reference() noexcept
        void drop_reference() noexcept


cdef extern from "native.hpp" namespace "cuda_core" nogil:
    void note_printing_code() noexcept
    void note_release_threshold() noexcept
    void note_other_library() noexcept
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
ctypedef Handle[InContext[cydriver.CUtexObject]] TextureHandle
ctypedef Handle[InContext[cydriver.CUsurfObject]] SurfaceHandle

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
ctypedef HandleField[InContext[cydriver.CUtexObject]] TextureField
ctypedef HandleField[InContext[cydriver.CUsurfObject]] SurfaceField

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
ctypedef Pin[InContext[cydriver.CUtexObject]] TexturePin
ctypedef Pin[InContext[cydriver.CUsurfObject]] SurfacePin

# The registries. They are never destroyed, because threads can outlive the interpreter.
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

    # A stream to query. Default streams have a context, all others do not.
    cppclass QueriedStream:
        QueriedStream() noexcept
        StreamHandle h_stream
        ContextHandle h_context


# All streams of this library, and the default streams of the current context and all known contexts.
cdef void find_streams(vector[QueriedStream]& streams) noexcept nogil
# Queries these streams and synchronizes the idle ones. Until then, the driver counts frees on them as queued, even
# though the work has completed.
cdef void query_streams() noexcept nogil
# The work of a stream. The caller has relaxed the capture mode of its thread.
cdef Work work_of(const QueriedStream& stream) noexcept nogil
# Like work_of() for a raw handle. A default stream is that of the current context.
cdef Work work_in_current_context(cydriver.CUstream c_stream) noexcept nogil
# An event after the work of a stream, recorded in the stream's context, or empty if none can be recorded.
cdef EventHandle event_after(const QueriedStream& stream) noexcept nogil
# The registered handle of a context, or a borrowed one.
cdef ContextHandle context_handle(cydriver.CUcontext c_context) noexcept nogil
# Warns of an error that no other call reports.
cdef void note_unexpected(cydriver.CUresult err, const char* api) noexcept nogil


cdef class WeakHandle:
    cdef WeakCell cell      # empty until the method _weak_handle of the observed object's class sets it


cdef extern from "retire.hpp" namespace "cuda_core" nogil:
    # A resource to destroy, and what it waits for: events and capturing streams, both set by find_work().
    cppclass Retired:
        Anchor resource
        vector[EventHandle] events
        vector[QueriedStream] captured

    # Returns true if work is in flight. The value is then moved away, and `destroy` runs once the work has completed.
    cpp_bool retire[T](T& value, void (*destroy)(T) noexcept, Anchor anchor) noexcept


# Records an event in `entry` after the pending work of each busy stream. Returns false if no stream is busy.
cdef bint find_work(Retired* entry) noexcept nogil

# Destroys an event of this library's own, without a warning: the caller might hold a lock or report another error.
cdef inline void destroy_event(cydriver.CUevent c_event) noexcept nogil:
    cydriver.cuEventDestroy(c_event)

# Puts `entry` on the retirement list: its resource is destroyed after its events. `entry` is then empty.
cdef void retire_entry(Retired& entry) noexcept nogil
# Destroys retired resources whose events have completed. Called after synchronizations.
cdef void destroy_idle() noexcept nogil
# Waits up to 200 ms for retired resources when memory is short. Returns false if there are none.
cdef bint wait_for_retired() noexcept nogil
# Waits up to 200 ms before a new resource is created if so many are retired that they might accumulate.
cdef void limit_backlog() noexcept nogil

# The number of retired resources, and a wait until at most `count` are left.
cdef size_t count_retired() noexcept nogil
cdef void wait_until_at_most(size_t count, int64_t nanoseconds) noexcept nogil

# Records an event after a free on a stream that this library does not query, and adds these events to `pending`.
cdef void note_foreign_free(cydriver.CUstream c_stream) noexcept nogil
cdef void find_foreign_frees(Retired* pending) noexcept nogil
# Returns true if a closed stream is not yet destroyed. Pools that were used on it must outlive it.
cdef bint has_pending_streams() noexcept nogil
# Destroys a stream once its work has completed.
cdef void retire_stream(cydriver.CUstream c_stream) noexcept nogil

# Frees memory once the capture ends that keeps it from being freed now. Returns false if the host is out of memory.
cdef bint retire_until_capture_ends(const Allocation& value, void (*free)(Allocation) noexcept nogil) noexcept nogil


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

    # The raw driver value, or 0 if closed.
    cdef intptr_t _address(self) noexcept
    # Drops this object's reference to the resource. It can be called more than once.
    cdef void _release(self) noexcept
    # The value for == and hash. Defaults to the address.
    cdef object _identity(self)
    # Raises RuntimeError if the object is closed.
    cdef int _check_open(self) except -1


# Raises RuntimeError for a closed object.
cdef int refuse_closed(object thing) except -1

# Raises TypeError for an object that cannot be pickled.
cdef int refuse_pickle(object thing) except -1


# The cuda.bindings object for a raw value, such as a driver.CUstream.
cdef object bindings_object(str name, intptr_t value)


# Returned by DriverObject._pin(): keeps the resource during a call of the bindings, even if its object is closed.
cdef class PinnedHandle:
    cdef:
        Anchor _anchor
        public object handle    # an object of cuda.bindings

cdef PinnedHandle pin_as(str name, intptr_t value, Anchor anchor)


# Replaces the property `name` of `cls` by a faster member descriptor for the Python object at `offset` of an instance.
# The docstring is kept.
cdef int add_member(type cls, str name, Py_ssize_t offset) except -1
