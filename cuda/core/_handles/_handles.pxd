# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Handle types of all resources, and the registries that exist once per process."""

from libcpp cimport bool as cpp_bool

from cpython.object cimport PyObject

from cuda.core._handles._mechanism cimport (  # no-cython-lint (others cimport it from here)
    Handle,
    Keep,
    Kept,
    Member,
    Registry,
    WeakCell,
    address,
    work_left_at_exit,
)
from cuda.core._utils cimport cydriver


# A value that can only be destroyed with its own context current.
cdef extern from "in_context.hpp" namespace "cuda_core" nogil:
    cppclass InContext[T]:
        T raw
        Handle[cydriver.CUcontext] h_context
        bint is_small


# The value behind a device pointer; its `keep` is the pool or memory resource.
cdef extern from "allocation.hpp" namespace "cuda_core" nogil:
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
cdef extern from "green.hpp" namespace "cuda_core" nogil:
    cppclass Green:
        cydriver.CUcontext context
        cydriver.CUgreenCtx green


# Moves releases from threads of the driver to the main thread.
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

ctypedef Member[cydriver.CUcontext] ContextMember
ctypedef Member[cydriver.CUstream] StreamMember
ctypedef Member[cydriver.CUevent] EventMember
ctypedef Member[cydriver.CUmemoryPool] MemoryPoolMember
ctypedef Member[Allocation] AllocationMember
ctypedef Member[cydriver.CUlibrary] LibraryMember
ctypedef Member[cydriver.CUkernel] KernelMember
ctypedef Member[cydriver.CUgraphExec] GraphExecMember
ctypedef Member[InContext[cydriver.CUarray]] ArrayMember
ctypedef Member[InContext[cydriver.CUmipmappedArray]] MipmappedArrayMember
ctypedef Member[InContext[cydriver.CUgraphicsResource]] GraphicsMember

ctypedef Kept[cydriver.CUcontext] KeptContext
ctypedef Kept[cydriver.CUstream] KeptStream
ctypedef Kept[cydriver.CUevent] KeptEvent
ctypedef Kept[cydriver.CUmemoryPool] KeptMemoryPool
ctypedef Kept[Allocation] KeptAllocation
ctypedef Kept[cydriver.CUkernel] KeptKernel
ctypedef Kept[cydriver.CUgraphExec] KeptGraphExec
ctypedef Kept[InContext[cydriver.CUarray]] KeptArray
ctypedef Kept[InContext[cydriver.CUmipmappedArray]] KeptMipmappedArray
ctypedef Kept[InContext[cydriver.CUgraphicsResource]] KeptGraphics

# The registries. They are pointers because they are never destroyed: threads may outlive the interpreter.
cdef Registry[cydriver.CUcontext]* context_registry() noexcept nogil
cdef Registry[Green]* green_registry() noexcept nogil
cdef Registry[cydriver.CUstream]* stream_registry() noexcept nogil
cdef Registry[cydriver.CUkernel]* kernel_registry() noexcept nogil
cdef DeferredQueue* deferred_queue() noexcept nogil
