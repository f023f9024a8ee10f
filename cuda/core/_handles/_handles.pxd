# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Handle types of all resources, and the registries that exist once per process."""

from libc.stdint cimport intptr_t, uint32_t
from libcpp cimport bool as cpp_bool
from libcpp.vector cimport vector

from cpython.object cimport PyObject
from cuda.bindings cimport cydriver


cdef extern from "handle.hpp" namespace "cuda_core" nogil:
    const char* work_left_at_exit

    cppclass Keep:
        Keep() noexcept
        @staticmethod
        Keep of_object(PyObject* object) noexcept
        PyObject* object() noexcept
        cpp_bool operator bool() noexcept
        cpp_bool operator!() noexcept

    cppclass Handle[T]:
        Handle() noexcept
        @staticmethod
        Handle[T] own(T value, void (*destroy)(T) noexcept nogil, Keep keep) except +
        @staticmethod
        Handle[T] own_without_blocking(T value, void (*destroy)(T) noexcept nogil, Keep keep) except +
        @staticmethod
        Handle[T] borrow(T value, Keep keep) except +
        void reset() noexcept
        T get() noexcept
        T& value() noexcept
        Keep keep() noexcept
        PyObject* kept_object() noexcept
        cpp_bool is_owner() noexcept
        uint32_t use_count() noexcept
        cpp_bool operator bool() noexcept
        cpp_bool operator!() noexcept

    cppclass Registry[T]:
        Registry() except +
        Handle[T] add(const Handle[T]& handle) except +
        Handle[T] find(T value) except +
        void remove(T value) noexcept
        vector[Handle[T]] living() except +
        size_t size() except +

    intptr_t address[T](const Handle[T]& handle) noexcept


# The value behind a device pointer; its pool or memory resource is the keep.
cdef extern from "allocation.hpp" namespace "cuda_core" nogil:
    cppclass Block
    cppclass Allocation:
        cydriver.CUdeviceptr pointer
        size_t size
        Handle[cydriver.CUstream] h_stream
        Handle[cydriver.CUcontext] h_context
        PyObject* resource
        Block* block

    void free_after(const Handle[Allocation]& memory, const Allocation& user) noexcept


# Releases on the main thread what ends on threads of the driver.
cdef extern from "deferred.hpp" namespace "cuda_core" nogil:
    cppclass DeferredQueue:
        DeferredQueue() except +
        void resume() noexcept
        cpp_bool is_stuck() noexcept
        size_t size() noexcept

    cppclass KeepList:
        @staticmethod
        KeepList* make(DeferredQueue* queue) except +
        void add(Keep keep) except +
        PyObject* object(size_t index) noexcept
        size_t size() noexcept
        void add_reference() noexcept
        void drop_reference() noexcept


ctypedef Handle[cydriver.CUcontext] ContextHandle
ctypedef Handle[cydriver.CUstream] StreamHandle
ctypedef Handle[cydriver.CUevent] EventHandle
ctypedef Handle[cydriver.CUmemoryPool] MemoryPoolHandle
ctypedef Handle[Allocation] AllocationHandle
ctypedef Handle[cydriver.CUlibrary] LibraryHandle
ctypedef Handle[cydriver.CUkernel] KernelHandle
ctypedef Handle[cydriver.CUgraph] GraphHandle
ctypedef Handle[cydriver.CUgraphExec] GraphExecHandle

# The registries. A pointer, because they are never destroyed: threads may outlive the interpreter.
cdef Registry[cydriver.CUcontext]* context_registry() noexcept nogil
cdef Registry[cydriver.CUstream]* stream_registry() noexcept nogil
cdef Registry[cydriver.CUkernel]* kernel_registry() noexcept nogil
cdef DeferredQueue* deferred_queue() noexcept nogil
