# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState


# Checks the types of the arguments of `__dlpack__`.
cdef int check_export_arguments(object stream, object dl_device, object copy) except -1
# Returns a DLPack capsule that keeps the view alive.
cdef object export_view(ViewState self, bint is_versioned)
# The result of `__dlpack_device__`: (device_type, device_id).
cdef tuple dlpack_device(ViewState self)

# The capsule `__dlpack_c_exchange_api__`, and the class of the views that the table's functions create.
cdef object exchange_capsule()
cdef int register_view_class(object cls) except -1
