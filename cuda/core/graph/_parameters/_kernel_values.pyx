# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of kernel nodes."""

from __future__ import annotations

from libc.string cimport memset

from cpython.object cimport PyObject

from cuda.core._handles._handles cimport Keep, KeptKernel, KernelHandle, kernel_registry
from cuda.core._handles._launches cimport ArgumentBlock
from cuda.core._launch._arguments cimport ArgumentBlock_fill
from cuda.core._launch_config cimport LaunchConfig
from cuda.core._launcher cimport prepare_for_graph
from cuda.core._module cimport Kernel, Kernel_keep
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport tuple_items
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core.graph._parameters._node_values cimport NodeValues, add_keep, add_object

from cuda.core._launch._limits import exceeded_limit

__all__ = []

# Types of arguments that are copied by value, so that the node needs no references to them.
cdef frozenset PLAIN = frozenset((int, float, bool, complex, type(None)))


cdef class KernelValues(NodeValues):
    def _description(self):
        cdef cydriver.CUdevice c_device = 0
        if self.kernel is None or cydriver.cuCtxGetDevice(&c_device) != cydriver.CUresult.CUDA_SUCCESS:
            return ""
        p = self.params
        config = LaunchConfig(
            grid=(p.gridDimX, p.gridDimY, p.gridDimZ),
            block=(p.blockDimX, p.blockDimY, p.blockDimZ),
            shmem_size=p.sharedMemBytes,
        )
        return exceeded_limit(self.kernel, config, c_device) or f"{self.kernel!r} with {config!r}"

    def __dealloc__(self):
        del self._block

    cdef int prepare(self) except -1:
        cdef KeptKernel kept
        if self._is_native:
            return 0
        Kernel_keep(self.kernel, &kept)
        self._block = new ArgumentBlock()
        ArgumentBlock_fill(
            self._block[0], self.kernel, kept, tuple_items(<PyObject*>self._arguments), len(self._arguments)
        )
        self.params.kernelParams = self._block.kernel_params
        return 0

    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphAddKernelNode(c_node, c_graph, c_from, count, &self.params),
                    b"cuGraphAddKernelNode",
                )
        finally:
            forget_arguments(self)
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphKernelNodeSetParams(c_node, &self.params), b"cuGraphKernelNodeSetParams"
                )
        finally:
            forget_arguments(self)
        return 0

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphExecKernelNodeSetParams(c_exec, c_node, &self.params),
                    b"cuGraphExecKernelNodeSetParams",
                )
        finally:
            forget_arguments(self)
        return 0


cdef KernelValues KernelValues_create(object config, object kernel, tuple arguments):
    cdef KernelValues self = KernelValues.__new__(KernelValues)
    cdef KeptKernel kept
    memset(&self.params, 0, sizeof(self.params))
    set_config(&self.params, config)
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a Kernel, not {type(kernel).__name__}")
    self.kernel = kernel
    Kernel_keep(self.kernel, &kept)
    self.h_kernel = kept.handle()
    self.params.kern = kept.get()
    if self.params.sharedMemBytes > self.kernel._default_shared_limit:
        prepare_for_graph(kept, self.params.sharedMemBytes)
    self._arguments = arguments
    add_keep(self, self.h_kernel.keep())
    for argument in arguments:
        if type(argument) not in PLAIN:
            add_object(self, argument)
    return self


cdef KernelValues KernelValues_read(cydriver.CUgraphNode c_node):
    cdef KernelValues self = KernelValues.__new__(KernelValues)
    memset(&self.params, 0, sizeof(self.params))
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphKernelNodeGetParams(c_node, &self.params), b"cuGraphKernelNodeGetParams")
    self._is_native = True
    if self.params.kern != NULL:
        self.h_kernel = kernel_registry().find(self.params.kern)
        if not self.h_kernel:
            self.h_kernel = KernelHandle.borrow(self.params.kern, Keep())
    return self


cdef KernelValues KernelValues_with_config(cydriver.CUgraphNode c_node, KernelValues values, object config):
    # The arguments are the driver's own copy; the node keeps the references that they need.
    cdef KernelValues self = KernelValues_read(c_node)
    cdef KeptKernel kept
    set_config(&self.params, config)
    if values is not None:
        self.kernel = values.kernel
        self.h_kernel = values.h_kernel
        if self.kernel is not None and self.params.sharedMemBytes > self.kernel._default_shared_limit:
            Kernel_keep(self.kernel, &kept)
            prepare_for_graph(kept, self.params.sharedMemBytes)
    return self


cdef int set_config(cydriver.CUDA_KERNEL_NODE_PARAMS* params, object config) except -1:
    cdef LaunchConfig c_config
    if not isinstance(config, LaunchConfig):
        raise TypeError(f"config must be a LaunchConfig, not {type(config).__name__}")
    c_config = config
    if c_config._cluster[0] or c_config._is_cooperative:
        what = "a cluster" if c_config._cluster[0] else "a cooperative grid"
        raise NotImplementedError(f"config must not have {what}: the driver can only capture such a launch as a node")
    params.gridDimX, params.gridDimY, params.gridDimZ = (
        c_config._native.gridDimX, c_config._native.gridDimY, c_config._native.gridDimZ
    )
    params.blockDimX, params.blockDimY, params.blockDimZ = (
        c_config._native.blockDimX, c_config._native.blockDimY, c_config._native.blockDimZ
    )
    params.sharedMemBytes = c_config._native.sharedMemBytes
    return 0


cdef bint is_plain(tuple arguments) except -1:
    for argument in arguments:
        cls = type(argument)
        if cls is not int and cls is not float and cls not in PLAIN:
            return False
    return True


cdef int change_kernel_in(
    cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node, object config, Kernel kernel, tuple arguments
) except -1:
    cdef cydriver.CUDA_KERNEL_NODE_PARAMS params
    cdef ArgumentBlock block
    cdef KeptKernel kept
    memset(&params, 0, sizeof(params))
    set_config(&params, config)
    Kernel_keep(kernel, &kept)
    params.kern = kept.get()
    if params.sharedMemBytes > kernel._default_shared_limit:
        prepare_for_graph(kept, params.sharedMemBytes)
    try:
        ArgumentBlock_fill(block, kernel, kept, tuple_items(<PyObject*>arguments), len(arguments))
        params.kernelParams = block.kernel_params
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphExecKernelNodeSetParams(c_exec, c_node, &params), b"cuGraphExecKernelNodeSetParams"
            )
    finally:
        block.end()
    return 0


# Destroys the block before the arguments, to which it refers: this may drop their last references.
cdef void forget_arguments(KernelValues self) noexcept:
    del self._block
    self._block = NULL
    self.params.kernelParams = NULL
    self.params.extra = NULL
    self._arguments = None
