# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Surfaces: the arrays that they need, what they keep alive, and rejected arguments."""

import gc

import pytest

from cuda.core import LEGACY_DEFAULT_STREAM
from cuda.core.texture import ResourceDescriptor, SurfaceObject


@pytest.fixture
def array(device):
    return device.create_opaque_array(
        {"shape": (8, 4), "format": "uint8", "num_channels": 4, "is_surface_load_store": True}
    )


def test_surface_keeps_and_returns_its_resource(device, array):
    descriptor = ResourceDescriptor.from_opaque_array(array)
    surface = device.create_surface_object(resource=descriptor)
    assert surface.resource is descriptor
    assert surface.device is device
    assert repr(surface) == f"SurfaceObject(handle={surface.handle:#x})"
    assert surface in gc.get_referrers(descriptor) and descriptor in gc.get_referents(surface)
    with surface as same:
        assert same is surface
    surface.close()
    assert surface.is_closed and surface.handle == 0 and surface.resource is None
    assert repr(surface) == "SurfaceObject(handle=0x0)"
    assert surface.device is device


def test_surface_needs_an_array_with_surface_load_store(device, array):
    plain = device.create_opaque_array({"shape": (8, 4), "format": "uint8", "num_channels": 4})
    with pytest.raises(ValueError, match="is_surface_load_store"):
        device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(plain))
    buffer = device.allocate(512, stream=LEGACY_DEFAULT_STREAM)
    mipmap = device.create_mipmapped_array({"shape": (8, 4), "format": "uint8", "num_channels": 4, "num_levels": 2})
    others = [
        ResourceDescriptor.from_mipmapped_array(mipmap),
        ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1),
        ResourceDescriptor.from_pitch2d(buffer, format="uint8", num_channels=1, width=8, height=4, pitch_bytes=32),
    ]
    for descriptor in others:
        with pytest.raises(ValueError, match=f"must be of kind 'array', not '{descriptor.kind}'"):
            device.create_surface_object(resource=descriptor)


def test_other_objects_are_rejected(device, array):
    for wrong in (array, None, array.handle):
        with pytest.raises(TypeError, match="resource must be a ResourceDescriptor"):
            device.create_surface_object(resource=wrong)
    with pytest.raises(TypeError):
        device.create_surface_object(ResourceDescriptor.from_opaque_array(array))
    with pytest.raises(RuntimeError, match="create_surface_object"):
        SurfaceObject()


def test_closed_array_is_rejected(device, array):
    descriptor = ResourceDescriptor.from_opaque_array(array)
    array.close()
    with pytest.raises(RuntimeError, match="OpaqueArray is closed"):
        device.create_surface_object(resource=descriptor)


def test_surfaces_are_equal_only_to_themselves(device, array):
    descriptor = ResourceDescriptor.from_opaque_array(array)
    first, second = (device.create_surface_object(resource=descriptor) for _ in range(2))
    assert first != second and hash(first) != hash(second)
