# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

# The CUDA version that the driver supports, such as 13000 for 13.0. Initializes the driver.
cdef int c_driver_version() except -1

cpdef tuple driver_version()
cpdef tuple binding_version()
