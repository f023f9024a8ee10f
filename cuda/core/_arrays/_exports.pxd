# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState


# Refuses arguments of `__dlpack__` of the wrong type.
cdef int check_export_arguments(object stream, object dl_device, object copy) except -1
# A DLPack capsule of the view, which it keeps alive.
cdef object export_view(ViewState self, bint is_versioned)
cdef tuple dlpack_device(ViewState self)

# The capsule of the exchange table, and the class whose attribute it is.
cdef object exchange_capsule()
cdef int register_view_class(object cls) except -1
