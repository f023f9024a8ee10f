# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._utils cimport cydriver


cdef struct PointerInfo:
    int device_id               # -1 for pageable host memory
    bint is_device_accessible
    bint is_host_accessible
    bint is_managed


# The driver's information about an address.
cdef PointerInfo pointer_info(cydriver.CUdeviceptr pointer) except *
