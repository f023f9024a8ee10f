# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The registries and the queue of deferred releases, one instance of each per process."""

from cuda.core._utils cimport cydriver


cdef Registry[cydriver.CUcontext]* _contexts = new Registry[cydriver.CUcontext]()
cdef Registry[Green]* _greens = new Registry[Green]()
cdef Registry[cydriver.CUstream]* _streams = new Registry[cydriver.CUstream]()
cdef Registry[cydriver.CUkernel]* _kernels = new Registry[cydriver.CUkernel]()
cdef DeferredQueue* _deferred = new DeferredQueue()


cdef Registry[cydriver.CUcontext]* context_registry() noexcept nogil:
    return _contexts


cdef Registry[Green]* green_registry() noexcept nogil:
    return _greens


cdef Registry[cydriver.CUstream]* stream_registry() noexcept nogil:
    return _streams


cdef Registry[cydriver.CUkernel]* kernel_registry() noexcept nogil:
    return _kernels


cdef DeferredQueue* deferred_queue() noexcept nogil:
    return _deferred


def registry_sizes():
    """Return the number of entries of each registry, for tests that look for leaks."""
    return {
        "context": _contexts.size(),
        "green": _greens.size(),
        "stream": _streams.size(),
        "kernel": _kernels.size(),
    }


def deferred_count():
    """Return the number of releases that wait for the main thread, for tests that look for leaks."""
    return _deferred.size()
