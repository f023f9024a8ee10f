# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Waits for the device, and long driver calls. On the main thread, a signal handler that raises interrupts them."""

from cuda.core._native._cuda_core cimport Anchor, ContextHandle
from cuda.core._utils cimport cydriver


ctypedef int (*Blocking)(void* argument) noexcept nogil

# Each ends with the driver's own wait, which prints kernel output and reports errors.
cdef int wait_for_stream(cydriver.CUstream c_stream) except -1 nogil
cdef int wait_for_event(cydriver.CUevent c_event, bint can_spin) except -1 nogil
# For pageable host copies, because the driver's own wait cannot be interrupted.
cdef int wait_before_copy(cydriver.CUstream c_stream, cydriver.CUdeviceptr c_host) except -1 nogil
# The context must be current.
cdef int wait_for_context(const ContextHandle& h_context) except -1 nogil

# Makes a long call on the helper thread. If a signal handler raises, the call continues there and holds `anchor`.
cdef int call_interruptibly(Blocking function, void* argument, Anchor anchor) except? -1 nogil

# Raises an exception that a signal handler raised in a destructor at the next bytecode of the main thread. Returns
# false for any other exception.
cdef bint raise_later_if_from_handler(object error) noexcept

# Makes a software device usable again after a faulty kernel, whose other work ends within a second; false on a GPU.
cdef bint recover_device() except -1

# Before a release for which the driver would wait: waits for the work in flight on known streams. Returns false if a
# signal handler raised, whose exception is raised at the next bytecode; the caller retires the resource.
cdef bint wait_before_release() noexcept nogil
