# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The factories of devices for images; what they make is tested in ``tests/texture``."""

import threading

import pytest

from cuda.core import Device
from cuda.core._device_textures import DeviceTextures
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core.texture import MipmappedArray, OpaqueArray, ResourceDescriptor, SurfaceObject, TextureObject

FIELDS = {"shape": (8,), "format": "uint8", "num_channels": 1, "is_surface_load_store": True}


def test_each_factory_makes_its_class(device):
    array = device.create_opaque_array(FIELDS)
    resource = ResourceDescriptor.from_opaque_array(array)
    assert type(array) is OpaqueArray
    assert type(device.create_mipmapped_array({**FIELDS, "num_levels": 2})) is MipmappedArray
    assert type(device.create_texture_object(resource=resource)) is TextureObject
    assert type(device.create_surface_object(resource=resource)) is SurfaceObject


def test_each_factory_needs_the_device_to_be_current(device):
    resource = ResourceDescriptor.from_opaque_array(device.create_opaque_array(FIELDS))
    errors = []

    def make():
        mine = Device(0)
        calls = [
            lambda: mine.create_opaque_array(FIELDS),
            lambda: mine.create_mipmapped_array({**FIELDS, "num_levels": 2}),
            lambda: mine.create_texture_object(resource=resource),
            lambda: mine.create_surface_object(resource=resource),
        ]
        for call in calls:
            try:
                call()
            except CUDAError as error:
                errors.append(str(error))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    assert len(errors) == 4
    assert all("set_current" in error for error in errors)


def test_factories_are_those_of_devices(device):
    assert isinstance(device, DeviceTextures)
    with pytest.raises(TypeError):
        DeviceTextures.create_opaque_array(object(), FIELDS)
    with pytest.raises(TypeError):
        DeviceTextures().create_opaque_array(FIELDS)
