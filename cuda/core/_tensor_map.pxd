# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The class of tensor map descriptors."""

from cuda.core._native._cuda_core cimport ContextHandle
from cuda.core._utils cimport cydriver


cdef class TensorMapDescriptor:
    cdef:
        char _storage[256]              # contains the CUtensorMap, at a multiple of 128 bytes
        ContextHandle _h_context        # set once: the context that was current at creation
        int _device_id
        int _alignment                  # of the tensor's address, in bytes
        object _view                    # keeps the memory alive
        str _kind
        int _rank
        object _data_type
        object _swizzle

    cdef cydriver.CUtensorMap* c_map(self) noexcept
