# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Texture objects: their options, what they keep alive, and rejected arguments."""

import gc

import numpy as np
import pytest
from cuda.bindings import driver

import cuda.emulator
from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError
from cuda.core.texture import ResourceDescriptor, TextureObject, TextureObjectOptions
from cuda.core.typing import AddressModeType, FilterModeType, ReadModeType
from support.contract import _normalize_address_modes
from support.images import run


@pytest.fixture
def array(device):
    return device.create_opaque_array({"shape": (8, 4), "format": "uint8", "num_channels": 4})


@pytest.fixture
def buffer(device):
    return device.allocate(4096, stream=LEGACY_DEFAULT_STREAM)


def texture(device, source, **options) -> TextureObject:
    return device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(source), options=options)


class TestOptions:
    def test_strings_become_members(self):
        options = TextureObjectOptions("wrap", "linear", "normalized_float", mipmap_filter_mode="LINEAR")
        assert options.filter_mode is FilterModeType.LINEAR
        assert options.read_mode is ReadModeType.NORMALIZED_FLOAT
        assert options.mipmap_filter_mode is FilterModeType.LINEAR
        assert options.address_mode == "wrap"

    @pytest.mark.parametrize("field", ["filter_mode", "read_mode", "mipmap_filter_mode"])
    @pytest.mark.parametrize("value", ["bad", 1, None])
    def test_unknown_modes_are_rejected(self, field, value):
        with pytest.raises(ValueError):
            TextureObjectOptions(**{field: value})

    @pytest.mark.parametrize(
        "mode, expected",
        [
            ("wrap", ("wrap",) * 3),
            (AddressModeType.MIRROR, ("mirror",) * 3),
            (("wrap", "clamp"), ("wrap", "clamp", "clamp")),
            (["border"], ("border",) * 3),
            (iter(["wrap", "clamp", "mirror"]), ("wrap", "clamp", "mirror")),
        ],
    )
    def test_last_address_mode_is_used_for_the_remaining_axes(self, mode, expected):
        modes = _normalize_address_modes(mode)
        assert modes == expected
        assert all(type(one) is AddressModeType for one in modes)

    @pytest.mark.parametrize(
        "field, value, error",
        [
            ("address_mode", "bad", ValueError),
            ("address_mode", ("wrap", 42), ValueError),
            ("address_mode", ("wrap", None), ValueError),
            ("address_mode", (), ValueError),
            ("address_mode", ("wrap",) * 4, ValueError),
            ("address_mode", 42, TypeError),
            ("address_mode", None, TypeError),
            ("max_anisotropy", -1, ValueError),
            ("max_anisotropy", 1 << 32, ValueError),
            ("max_anisotropy", 1.5, TypeError),
            ("border_color", (1, 2, 3), ValueError),
            ("border_color", (1, 2, 3, 4, 5), ValueError),
            ("border_color", 1.0, TypeError),
            ("border_color", ("r", "g", "b", "a"), TypeError),
            ("border_color", (None,) * 4, TypeError),
            ("mipmap_level_bias", "0", TypeError),
            ("max_mipmap_level_clamp", None, TypeError),
        ],
    )
    def test_invalid_options_are_rejected_at_creation(self, device, array, field, value, error):
        options = TextureObjectOptions(**{field: value})
        with pytest.raises(error, match=field.split("_")[0]):
            device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array), options=options)

    @pytest.mark.requires(nvrtc=True)
    @pytest.mark.parametrize("color", [None, (1, 2, 3, 4), [0.5] * 4, np.ones(4, np.float32)], ids=repr)
    def test_border_color_is_read_outside_of_the_array(self, device, stream, color):
        floats = device.create_opaque_array({"shape": (8, 4), "format": "float32", "num_channels": 4})
        made = texture(device, floats, address_mode="border", border_color=color)
        expected = [float(value) for value in (color if color is not None else [0] * 4)]
        assert run(device, stream, "plane", made, [[-3.5, 1.5], [100, 100]]).tolist() == [expected] * 2

    def test_driver_gets_the_options(self, device):
        cube = device.create_opaque_array(
            {"shape": (4, 4, 6), "format": "uint8", "num_channels": 4, "is_cubemap": True}
        )
        made = texture(
            device, cube, address_mode=("wrap", "mirror", "clamp"), filter_mode="linear", read_mode="normalized_float",
            normalized_coords=True, srgb=True, disable_trilinear_optimization=True, seamless_cubemap=True,
            max_anisotropy=8, mipmap_filter_mode="linear", mipmap_level_bias=0.5, min_mipmap_level_clamp=1.0,
            max_mipmap_level_clamp=2.5,
        )  # fmt: skip
        error, description = driver.cuTexObjectGetTextureDesc(made.handle)
        assert error == 0
        assert [int(mode) for mode in description.addressMode] == [0, 2, 1]
        assert int(description.filterMode) == int(description.mipmapFilterMode) == 1
        assert description.flags == 2 | 16 | 32 | 64
        assert description.maxAnisotropy == 8
        clamps = (description.mipmapLevelBias, description.minMipmapLevelClamp, description.maxMipmapLevelClamp)
        assert clamps == (0.5, 1.0, 2.5)

    @pytest.mark.parametrize(
        "shape, options, expected",
        [
            ((8,), {}, ["border", "clamp", "clamp"]),
            ((8, 3), {"is_layered": True}, ["border", "clamp", "clamp"]),
            ((8, 4), {}, ["border", "border", "clamp"]),
            ((8, 4, 3), {"is_layered": True}, ["border", "border", "clamp"]),
            ((4, 4, 6), {"is_cubemap": True}, ["border", "border", "clamp"]),
            ((8, 4, 3), {}, ["border", "border", "border"]),
        ],
    )
    def test_address_modes_are_set_only_for_the_axes_of_the_array(self, device, shape, options, expected):
        source = device.create_opaque_array({"shape": shape, "format": "float32", "num_channels": 1, **options})
        made = texture(device, source, address_mode="border")
        error, description = driver.cuTexObjectGetTextureDesc(made.handle)
        assert error == 0
        modes = [driver.CUaddress_mode(mode).name for mode in description.addressMode]
        assert modes == [f"CU_TR_ADDRESS_MODE_{mode.upper()}" for mode in expected]

    def test_seamless_cubemap_needs_a_cube_map(self, device, array, buffer):
        for source in (
            ResourceDescriptor.from_opaque_array(array),
            ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1),
        ):
            with pytest.raises(ValueError, match="seamless_cubemap needs an array created with is_cubemap=True"):
                device.create_texture_object(resource=source, options={"seamless_cubemap": True})

    def test_read_mode_sets_the_flag_for_integers(self, device, array):
        flags = []
        for mode in ReadModeType:
            made = texture(device, array, read_mode=mode)
            error, description = driver.cuTexObjectGetTextureDesc(made.handle)
            assert error == 0
            flags.append(description.flags)
        assert flags == [1, 0]


class TestTexture:
    def test_texture_returns_its_resource_and_options(self, device, array):
        descriptor = ResourceDescriptor.from_opaque_array(array)
        options = TextureObjectOptions(filter_mode="linear", read_mode="normalized_float")
        made = device.create_texture_object(resource=descriptor, options=options)
        assert made.resource is descriptor and made.options is options
        assert made.device is device and made.handle != 0
        assert repr(made) == f"TextureObject(handle={made.handle:#x})"
        made.close()
        made.close()
        assert made.is_closed and made.handle == 0 and made.resource is None
        assert made.options is options and made.device is device
        assert repr(made) == "TextureObject(handle=0x0)"
        with made as same:
            assert same is made

    def test_options_have_defaults(self, device, array):
        descriptor = ResourceDescriptor.from_opaque_array(array)
        for options in (None, {}):
            made = device.create_texture_object(resource=descriptor, options=options)
            assert made.options == TextureObjectOptions()
        assert device.create_texture_object(resource=descriptor).options == TextureObjectOptions()

    def test_default_options_are_not_shared_between_textures(self, device, array):
        descriptor = ResourceDescriptor.from_opaque_array(array)
        first, second = (device.create_texture_object(resource=descriptor) for _ in range(2))
        assert first.options is first.options
        first.options.filter_mode = "linear"
        assert second.options == TextureObjectOptions()
        third = device.create_texture_object(resource=descriptor)
        assert int(driver.cuTexObjectGetTextureDesc(third.handle)[1].filterMode) == 0

    def test_assigned_fields_are_checked_when_the_options_are_used(self, device, array):
        descriptor = ResourceDescriptor.from_opaque_array(array)
        options = TextureObjectOptions()
        options.read_mode = "element_type"
        device.create_texture_object(resource=descriptor, options=options)
        assert options.read_mode is ReadModeType.ELEMENT_TYPE
        options.filter_mode = "cubic"
        with pytest.raises(ValueError, match="cubic"):
            device.create_texture_object(resource=descriptor, options=options)

    def test_other_arguments_are_rejected(self, device, array):
        descriptor = ResourceDescriptor.from_opaque_array(array)
        for wrong in (array, None, 3):
            with pytest.raises(TypeError, match="resource must be a ResourceDescriptor"):
                device.create_texture_object(resource=wrong)
        with pytest.raises(TypeError):
            device.create_texture_object(descriptor)
        with pytest.raises(TypeError):
            device.create_texture_object(resource=descriptor, options=3)
        with pytest.raises(RuntimeError, match="create_texture_object"):
            TextureObject()

    def test_texture_keeps_its_array(self, device, array):
        made = texture(device, array)
        descriptor = made.resource
        assert descriptor in gc.get_referents(made) and array in gc.get_referents(descriptor)
        address = array.handle
        array.close()
        assert driver.cuArray3DGetDescriptor(address)[0] == 0
        with pytest.raises(RuntimeError, match="OpaqueArray is closed"):
            device.create_texture_object(resource=descriptor)
        made.close()

    @pytest.mark.requires(software=True)
    def test_closed_array_is_destroyed_with_its_last_texture(self, device):
        device.sync()  # frees arrays of earlier tests, which waited for work
        before = set(cuda.emulator.leaks())
        array = device.create_opaque_array({"shape": (8, 4), "format": "uint8", "num_channels": 4})
        first, second = texture(device, array), texture(device, array)
        assert len(set(cuda.emulator.leaks()) - before) == 3
        array.close()
        first.close()
        assert len(set(cuda.emulator.leaks()) - before) == 2
        second.close()
        device.sync()  # small resources are freed together
        assert set(cuda.emulator.leaks()) <= before

    def test_texture_keeps_the_memory_of_its_buffer(self, device, buffer):
        descriptor = ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1)
        made = device.create_texture_object(resource=descriptor)
        address = buffer.handle
        assert buffer in gc.get_referents(descriptor)
        buffer.close()
        assert driver.cuMemGetAddressRange(address)[0] == 0
        with pytest.raises(RuntimeError, match="Buffer is closed"):
            device.create_texture_object(resource=descriptor)
        made.close()

    def test_driver_checks_the_pitch(self, device, buffer):
        pitch = device.properties.texture_pitch_alignment

        def rows(pitch):
            fields = {"format": "uint8", "num_channels": 1, "width": 3, "height": 3}
            return ResourceDescriptor.from_pitch2d(buffer, **fields, pitch_bytes=pitch)

        with pytest.raises(CUDAError):
            device.create_texture_object(resource=rows(pitch + 1))
        assert device.create_texture_object(resource=rows(pitch)).handle != 0

    def test_textures_are_equal_only_to_themselves(self, device, array):
        descriptor = ResourceDescriptor.from_opaque_array(array)
        first, second = (device.create_texture_object(resource=descriptor) for _ in range(2))
        assert first != second and len({first, second}) == 2
        with pytest.raises(TypeError, match="cannot be pickled"):
            first.__reduce__()

    def test_modules_are_package_attributes(self):
        import cuda.core

        names = ("_array", "_mipmapped_array", "_surface", "_texture")
        assert all(hasattr(cuda.core.texture, name) for name in names)
