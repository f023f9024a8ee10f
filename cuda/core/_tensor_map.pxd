# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport ContextHandle
from cuda.core._utils cimport cydriver


cdef class TensorMapDescriptor:
    cdef:
        char _storage[256]              # the descriptor lies in it, at a multiple of 128 bytes
        ContextHandle _h_context        # set once: the one that was current
        int _device_id
        int _alignment                  # of the memory
        object _view                    # what keeps the memory
        str _kind
        int _rank
        object _data_type
        object _swizzle

    cdef cydriver.CUtensorMap* c_map(self) noexcept
