# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._memory._ipc cimport _IPCMemPool


cdef class DeviceMemoryResource(_IPCMemPool):
    cdef int _device_id


# The ordinal of an argument, a device or an int; there is such a device.
cdef int device_argument(object device_id) except -1
