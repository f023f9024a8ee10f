# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The methods of devices that create arrays, textures and surfaces, which ``tests/texture`` tests."""

import pytest

from cuda.core import CUDAError, Device
from cuda.core.texture import MipmappedArray, OpaqueArray, ResourceDescriptor, SurfaceObject, TextureObject
from support.threads import in_thread

DeviceTextures = next(base for base in Device.__mro__ if "create_opaque_array" in vars(base))
FIELDS = {"shape": (8,), "format": "uint8", "num_channels": 1, "is_surface_load_store": True}


def test_each_factory_creates_its_class(device):
    array = device.create_opaque_array(FIELDS)
    resource = ResourceDescriptor.from_opaque_array(array)
    assert type(array) is OpaqueArray
    assert type(device.create_mipmapped_array({**FIELDS, "num_levels": 2})) is MipmappedArray
    assert type(device.create_texture_object(resource=resource)) is TextureObject
    assert type(device.create_surface_object(resource=resource)) is SurfaceObject


def test_each_factory_needs_the_device_to_be_current(device):
    resource = ResourceDescriptor.from_opaque_array(device.create_opaque_array(FIELDS))

    def create():
        mine = Device(0)
        calls = [
            lambda: mine.create_opaque_array(FIELDS),
            lambda: mine.create_mipmapped_array({**FIELDS, "num_levels": 2}),
            lambda: mine.create_texture_object(resource=resource),
            lambda: mine.create_surface_object(resource=resource),
        ]
        for call in calls:
            with pytest.raises(CUDAError, match="set_current"):
                call()
        return True

    assert in_thread(create)


def test_only_devices_have_the_factories():
    with pytest.raises(TypeError):
        Device.create_opaque_array(object(), FIELDS)
