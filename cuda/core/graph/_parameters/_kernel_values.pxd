# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport KernelHandle
from cuda.core._handles._launches cimport ArgumentBlock
from cuda.core._module cimport Kernel
from cuda.core._utils cimport cydriver
from cuda.core.graph._parameters._node_values cimport NodeValues


cdef class KernelValues(NodeValues):
    cdef:
        KernelHandle h_kernel   # set once
        Kernel kernel           # for the layout of its parameters
        cydriver.CUDA_KERNEL_NODE_PARAMS params
        tuple _arguments        # until the driver has copied them
        ArgumentBlock* _block   # NULL except from prepare() until the driver has copied the arguments
        bint _is_native         # read from a node: `params` points to the driver's copy of the arguments


# `config` is a LaunchConfig, `arguments` a tuple of what launch() takes.
cdef KernelValues KernelValues_create(object config, object kernel, tuple arguments)
cdef KernelValues KernelValues_read(cydriver.CUgraphNode c_node)

# The parameters of a node with another configuration and the same kernel and arguments.
cdef KernelValues KernelValues_with_config(cydriver.CUgraphNode c_node, KernelValues values, object config)

# Whether all arguments are copied by value, so that the node needs no references to them.
cdef bint is_plain(tuple arguments) except -1

# Changes a kernel node of an executable. The caller keeps the kernel alive.
cdef int change_kernel_in(
    cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node, object config, Kernel kernel, tuple arguments
) except -1
