# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel launches, bound kernels, and what limits a launch."""

from cpython.object cimport PyObject

from cuda.core._launch_config cimport LaunchConfig
from cuda.core._module cimport Kernel
from cuda.core._native._cuda_core cimport KernelPin
from cuda.core._stream cimport Stream


ctypedef object (*VectorCall)(PyObject* callee, PyObject* const* arguments, size_t count, PyObject* keywords)


cdef class BoundKernel:
    cdef:
        object __weakref__
        VectorCall _call            # the vectorcall function; CPython finds it at this offset
        Kernel _kernel
        LaunchConfig _config
        Stream _stream


# Binds a kernel to a configuration and a stream, which are given as for launch().
cdef BoundKernel BoundKernel_create(Kernel kernel, object config, object stream)

# Checks the arguments, then enqueues.
cdef int launch_kernel(
    Stream stream, LaunchConfig config, Kernel kernel, PyObject* const* arguments, Py_ssize_t count
) except -1

# Raises a kernel's limit of dynamic shared memory on the current device if it is below `size` bytes.
cdef int prepare_for_graph(const KernelPin& pin, unsigned int size) except -1
