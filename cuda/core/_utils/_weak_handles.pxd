# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport WeakCell


cdef class WeakHandle:
    cdef WeakCell cell      # observes nothing until the class that makes it says what
