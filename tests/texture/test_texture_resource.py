# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Resource descriptors: their properties, and rejected sources and arguments."""

import numpy as np
import pytest

import cuda.emulator
from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError
from cuda.core.texture import ResourceDescriptor
from cuda.core.typing import ArrayFormatType


@pytest.fixture
def array(device):
    return device.create_opaque_array({"shape": (8, 4), "format": "uint8", "num_channels": 4})


@pytest.fixture
def buffer(device):
    return device.allocate(4096, stream=LEGACY_DEFAULT_STREAM)


def test_descriptors_of_arrays_have_kind_and_source(device, array):
    descriptor = ResourceDescriptor.from_opaque_array(array)
    assert (descriptor.kind, descriptor.source) == ("array", array)
    names = ("format", "num_channels", "size_bytes", "width", "height", "pitch_bytes")
    assert [getattr(descriptor, name) for name in names] == [None] * 6
    assert repr(descriptor) == "ResourceDescriptor(kind='array')"
    mipmap = device.create_mipmapped_array({"shape": (4,), "format": "uint8", "num_channels": 1, "num_levels": 1})
    descriptor = ResourceDescriptor.from_mipmapped_array(mipmap)
    assert (descriptor.kind, descriptor.source) == ("mipmapped_array", mipmap)
    assert repr(descriptor) == "ResourceDescriptor(kind='mipmapped_array')"


def test_descriptors_of_linear_memory_have_format_and_size(buffer):
    descriptor = ResourceDescriptor.from_linear(buffer, format=np.float32, num_channels=1)
    assert (descriptor.kind, descriptor.source, descriptor.size_bytes) == ("linear", buffer, 4096)
    assert (descriptor.format, descriptor.num_channels) == (ArrayFormatType.FLOAT32, 1)
    assert (descriptor.width, descriptor.height, descriptor.pitch_bytes) == (None, None, None)
    expected = "ResourceDescriptor(kind='linear', format=FLOAT32, num_channels=1, size_bytes=4096)"
    assert repr(descriptor) == expected
    part = ResourceDescriptor.from_linear(buffer, format="int16", num_channels=4, size_bytes=np.int64(80))
    assert part.size_bytes == part._size_bytes == 80


def test_descriptors_of_pitched_memory_have_format_and_extents(buffer):
    descriptor = ResourceDescriptor.from_pitch2d(
        buffer, format="uint8", num_channels=4, width=12, height=5, pitch_bytes=64
    )
    assert (descriptor.kind, descriptor.source, descriptor.size_bytes) == ("pitch2d", buffer, None)
    assert (descriptor.width, descriptor.height, descriptor.pitch_bytes) == (12, 5, 64)
    assert repr(descriptor) == (
        "ResourceDescriptor(kind='pitch2d', format=UINT8, num_channels=4, width=12, height=5, pitch_bytes=64)"
    )


@pytest.mark.parametrize("size", [0, -4, 4100, 6, 1 << 70])
def test_out_of_range_linear_memory_sizes_are_rejected(buffer, size):
    with pytest.raises(ValueError, match="size_bytes must be a multiple of 4"):
        ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1, size_bytes=size)


def test_whole_buffer_is_checked_as_a_size_is(device):
    odd = device.allocate(30, stream=LEGACY_DEFAULT_STREAM)
    with pytest.raises(ValueError, match="size_bytes"):
        ResourceDescriptor.from_linear(odd, format="float32", num_channels=1)


@pytest.mark.parametrize(
    "change",
    [{"width": 0}, {"height": 0}, {"height": -1}, {"pitch_bytes": 47}, {"height": 86}, {"width": 1 << 80}],
    ids=str,
)
def test_out_of_range_pitched_memory_extents_are_rejected(buffer, change):
    fields = {"format": "uint8", "num_channels": 4, "width": 12, "height": 5, "pitch_bytes": 48, **change}
    with pytest.raises(ValueError):
        ResourceDescriptor.from_pitch2d(buffer, **fields)


def test_unknown_formats_and_channels_are_rejected(buffer):
    for change in ({"format": "float64"}, {"num_channels": 3}):
        fields = {"format": "uint8", "num_channels": 1, **change}
        with pytest.raises(ValueError):
            ResourceDescriptor.from_linear(buffer, **fields)
        with pytest.raises(ValueError):
            ResourceDescriptor.from_pitch2d(buffer, **fields, width=1, height=1, pitch_bytes=32)


@pytest.mark.parametrize("wrong", [None, b"bytes", 3], ids=str)
def test_other_sources_need_no_device_to_be_rejected(wrong):
    with pytest.raises(TypeError, match="array must be an OpaqueArray"):
        ResourceDescriptor.from_opaque_array(wrong)
    with pytest.raises(TypeError, match="must be a MipmappedArray"):
        ResourceDescriptor.from_mipmapped_array(wrong)
    with pytest.raises(TypeError, match="buffer must be a Buffer"):
        ResourceDescriptor.from_linear(wrong, format="bad", num_channels=7)
    with pytest.raises(TypeError, match="buffer must be a Buffer"):
        ResourceDescriptor.from_pitch2d(wrong, format="uint8", num_channels=1, width=1, height=1, pitch_bytes=1)


def test_numbers_of_another_type_are_rejected(buffer):
    with pytest.raises(TypeError):
        ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1, size_bytes=16.0)
    with pytest.raises(TypeError, match="height must be an int"):
        ResourceDescriptor.from_pitch2d(buffer, format="uint8", num_channels=1, width=1, height="1", pitch_bytes=32)


def test_closed_sources_are_rejected(array, buffer):
    buffer.close()
    array.close()
    with pytest.raises(RuntimeError, match="closed"):
        ResourceDescriptor.from_opaque_array(array)
    with pytest.raises(RuntimeError, match="closed"):
        ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1)


def test_descriptors_are_read_only_and_equal_only_to_themselves(array):
    first, second = (ResourceDescriptor.from_opaque_array(array) for _ in range(2))
    assert first != second and len({first, second}) == 2
    with pytest.raises(AttributeError):
        first.kind = "linear"
    with pytest.raises(TypeError, match="cannot be pickled"):
        first.__reduce__()
    with pytest.raises(RuntimeError, match="from_opaque_array"):
        ResourceDescriptor()


def pitched(buffer, width, pitch):
    return ResourceDescriptor.from_pitch2d(
        buffer, format=np.float32, num_channels=1, width=width, height=4, pitch_bytes=pitch
    )


def test_misaligned_texture_memory_is_named(device, buffer):
    def message(resource):
        with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE") as caught:
            device.create_texture_object(resource=resource)
        return str(caught.value).splitlines()

    pitch, alignment = device.properties.texture_pitch_alignment, device.properties.texture_alignment
    wrong_pitch = f"pitch_bytes, {pitch + 4}, is not a multiple of device.properties.texture_pitch_alignment, {pitch}"
    assert message(pitched(buffer, 5, pitch + 4))[-1] == wrong_pitch
    address = int(buffer.handle) + 4
    wrong_address = f"the address of the buffer, {address:#x}, is not a multiple of "
    wrong_address += f"device.properties.texture_alignment, {alignment}"
    assert message(pitched(buffer[4:], 5, pitch))[-1] == wrong_address
    linear = ResourceDescriptor.from_linear(buffer[4:], format=np.float32, num_channels=1)
    assert message(linear)[-1] == wrong_address
    assert message(pitched(buffer[4:], 5, pitch + 4))[-2:] == [wrong_address, wrong_pitch]


@pytest.mark.requires(software=True)
def test_aligned_texture_memory_is_not_blamed(device, buffer):
    resource = ResourceDescriptor.from_linear(buffer, format=np.float32, num_channels=1)
    for name in ("CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_OUT_OF_MEMORY"):
        with cuda.emulator.fail("cuTexObjectCreate", name), pytest.raises(CUDAError, match=name) as caught:
            device.create_texture_object(resource=resource)
        assert "alignment" not in str(caught.value)
