# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport LibraryHandle
from cuda.core._utils cimport cydriver


# Loads bytes, or the file of a path.
cdef cydriver.CUlibrary load_image(object code) except? NULL
cdef void unload_when_idle(cydriver.CUlibrary c_library) noexcept nogil

# The log of the driver's compiler for PTX, as the end of a message; empty without one.
cdef str ptx_log(object code, str code_type)

# What the code is, for messages.
cdef str described(object code, str code_type, str name)
