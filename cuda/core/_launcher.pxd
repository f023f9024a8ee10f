# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel launches, bound kernels, and launch limits."""

from cpython.object cimport PyObject

from cuda.core._launch_config cimport LaunchConfig
from cuda.core._module cimport Kernel
from cuda.core._native._cuda_core cimport KernelPin
from cuda.core._stream cimport Stream


# A function that CPython calls instead of __call__, without an argument tuple.
ctypedef object (*VectorCall)(PyObject* callee, PyObject* const* arguments, size_t count, PyObject* keywords)

# Checks the arguments and enqueues the kernel. Launches of users may be observed.
cdef int launch_kernel(
    Stream stream, LaunchConfig config, Kernel kernel, PyObject* const* arguments, Py_ssize_t count, bint may_observe
) except -1

# Raises a kernel's limit for dynamic shared memory on the current device if it is below `size` bytes.
cdef int prepare_for_graph(const KernelPin& pin, unsigned int size) except -1
