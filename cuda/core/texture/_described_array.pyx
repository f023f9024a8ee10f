# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The description of a CUDA array, which mipmapped arrays have too (``CUDA_ARRAY3D_DESCRIPTOR``)."""

from __future__ import annotations

from cuda.core._device cimport Device, Device_find
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe

from cuda.core.typing import ArrayFormatType

__all__ = ["DescribedArray"]


cdef class DescribedArray(DriverObject):
    """What arrays and mipmapped arrays tell of their elements; of a mipmapped array it is level 0."""

    @property
    def handle(self) -> int:
        """The ``CUarray`` or ``CUmipmappedArray`` as an int; 0 when closed."""
        return self._address()

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents in elements, the width first; of a mipmapped array, those of level 0.

        For layered arrays and cube maps the last entry counts layers or faces.
        """
        return self._shape

    @property
    def format(self) -> ArrayFormatType:
        """The data type of one channel."""
        return self._format

    @property
    def num_channels(self) -> int:
        """The number of channels of an element: 1, 2 or 4."""
        return self._num_channels

    @property
    def is_surface_load_store(self) -> bool:
        """Whether surfaces can be created on the array or its levels (``CUDA_ARRAY3D_SURFACE_LDST``)."""
        return bool(self._flags & cydriver.CUDA_ARRAY3D_SURFACE_LDST)

    @property
    def is_layered(self) -> bool:
        """Whether the last extent is the number of layers (``CUDA_ARRAY3D_LAYERED``). Filtering never mixes layers."""
        return bool(self._flags & cydriver.CUDA_ARRAY3D_LAYERED)

    @property
    def is_cubemap(self) -> bool:
        """Whether the array, or each level, is a cube map; the last extent counts faces (``CUDA_ARRAY3D_CUBEMAP``)."""
        return bool(self._flags & cydriver.CUDA_ARRAY3D_CUBEMAP)

    @property
    def device(self) -> Device:
        """The :class:`Device` of the array."""
        return Device_find(self._device_id)

    cdef object _identity(self):
        return id(self)

    cdef int _describe(self, tuple shape, object format, int num_channels, unsigned int flags, int device_id) except -1:
        self._shape = shape
        self._format = format
        self._num_channels = num_channels
        self._flags = flags
        self._device_id = device_id
        return 0


make_hasattr_safe(DescribedArray)
