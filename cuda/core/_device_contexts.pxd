# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

cimport cython

from cuda.core._context cimport Context
from cuda.core._handles._handles cimport KeptContext


# The base of Device with its contexts: the primary one, and the one that was made current last.
cdef class DeviceContexts:
    cdef:
        int _id
        Context _primary                    # None until it is needed
        # The context that this object has made current last; None before. Other packages read it.
        readonly Context _context


# In a critical section, because another thread may use the object and set another context.
cdef inline Context Device_context(DeviceContexts self):
    with cython.critical_section(self):
        return self._context


cdef inline int Device_set_context(DeviceContexts self, Context context) except -1:
    with cython.critical_section(self):
        self._context = context
    return 0


# Keeps the context of Device_context() for a call; CUDAError before the first set_current().
cdef int Device_keep_context(DeviceContexts self, KeptContext* kept) except -1
