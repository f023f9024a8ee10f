# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays and textures for tests, made of the arrays of NumPy."""

from __future__ import annotations

import numpy as np

from cuda.core.texture import ResourceDescriptor


def array_of(device, stream, values: np.ndarray, *, num_channels: int = 1, **options):
    """Return an array with the elements of ``values``; where there are several channels, they are its last axis."""
    values = np.ascontiguousarray(values)
    extents = values.shape[:-1] if num_channels > 1 else values.shape
    array = device.create_opaque_array(
        {"shape": extents[::-1], "format": values.dtype, "num_channels": num_channels, **options}
    )
    array.copy_from(values, stream=stream)
    stream.sync()
    return array


def contents(array, stream) -> np.ndarray:
    """Return the elements of an array, with an axis of channels where there are several."""
    shape = array.shape[::-1] + ((array.num_channels,) if array.num_channels > 1 else ())
    values = np.empty(shape, dtype=array.format.value)
    array.copy_to(values, stream=stream)
    stream.sync()
    return values


def texture_of(device, source, **options):
    """Return a texture of an array, of a mipmapped array, or of the resource of a descriptor."""
    if not isinstance(source, ResourceDescriptor):
        make = "from_mipmapped_array" if hasattr(source, "get_level") else "from_opaque_array"
        source = getattr(ResourceDescriptor, make)(source)
    return device.create_texture_object(resource=source, options=options)
