# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Waits of the host for the device. On the main thread a signal handler that raises ends them, as Ctrl-C does."""

from cuda.bindings cimport cydriver

from cuda.core._handles._handles cimport ContextHandle


# Each ends with the driver's own wait, which is when it shows what kernels printed and reports errors.
cdef int wait_for_stream(cydriver.CUstream c_stream) except -1 nogil
cdef int wait_for_event(cydriver.CUevent c_event, bint can_spin) except -1 nogil
# The context has to be current.
cdef int wait_for_context(const ContextHandle& h_context) except -1 nogil
