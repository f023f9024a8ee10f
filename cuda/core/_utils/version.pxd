# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

# The driver's CUDA version as one number, such as 13000 for 13.0; initializes the driver.
cdef int c_driver_version() except -1

cpdef tuple driver_version()
cpdef tuple binding_version()
