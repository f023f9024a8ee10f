# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport WeakCell


cdef class WeakHandle:
    cdef WeakCell cell      # empty until the method _weak_handle of the observed object's class sets it
