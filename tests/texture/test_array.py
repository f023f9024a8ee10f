# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Opaque arrays: their properties, copies from and to host memory and buffers, and their lifetime."""

import ctypes
import gc
import pickle
import weakref

import numpy as np
import pytest
from cuda.bindings import driver

import cuda.emulator
from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError, Device, Host, LegacyPinnedMemoryResource
from cuda.core.texture import OpaqueArray, OpaqueArrayOptions
from cuda.core.typing import ArrayFormatType
from cuda.core.utils import CopyOptions
from support.graph_work import is_released
from support.images import array_of, contents
from support.memory import read
from support.threads import in_thread
from support.work import settle

SHAPES = [(37,), (16, 9), (5, 4, 3)]


def made(device, shape=(8, 4), format="float32", num_channels=1, **options) -> OpaqueArray:
    return device.create_opaque_array(OpaqueArrayOptions(shape, format, num_channels, **options))


def pattern(array) -> np.ndarray:
    return np.random.default_rng(7).integers(0, 256, array.size_bytes, dtype=np.uint8)


def test_array_returns_its_options(device):
    array = made(device, (32, 16), "float32", 2, is_surface_load_store=True)
    assert array.shape == (32, 16)
    assert array.format is ArrayFormatType.FLOAT32
    assert (array.num_channels, array.element_bytes, array.size_bytes) == (2, 8, 32 * 16 * 8)
    assert array.is_surface_load_store and not array.is_layered and not array.is_cubemap
    assert array.device is device
    assert type(array.handle) is int and array.handle != 0
    assert repr(array) == "OpaqueArray(shape=(32, 16), format=FLOAT32, num_channels=2)"


def test_driver_gets_the_options(device):
    array = made(device, (6, 5, 4), "uint16", 4, is_layered=True)
    error, description = driver.cuArray3DGetDescriptor(array.handle)
    assert error == 0
    assert (description.Width, description.Height, description.Depth) == (6, 5, 4)
    assert description.Format == driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT16
    assert (description.NumChannels, description.Flags) == (4, driver.CUDA_ARRAY3D_LAYERED)


@pytest.mark.parametrize("format", ArrayFormatType)
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_copies_there_and_back_keep_every_byte(device, stream, format, channels):
    array = made(device, (5, 3), format, channels)
    source = pattern(array)
    array.copy_from(source, stream=stream)
    target = np.zeros_like(source)
    assert array.copy_to(target, stream=stream) is target
    stream.sync()
    assert (target == source).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_copies_through_buffers_keep_every_byte(device, stream, shape):
    array = made(device, shape, "uint16", 2)
    source = pattern(array)
    pinned = LegacyPinnedMemoryResource().allocate(array.size_bytes)
    np.asarray(pinned)[:] = source
    array.copy_from(pinned, stream=stream)
    buffer = device.allocate(array.size_bytes, stream=stream)
    assert array.copy_to(buffer, stream=stream) is buffer
    other = made(device, shape, "uint16", 2)
    other.copy_from(buffer, stream=stream)
    assert contents(other, stream).tobytes() == source.tobytes()


SOURCES = {
    "bytes": lambda size: bytes(range(256))[:size],
    "bytearray": lambda size: bytearray(range(size)),
    "memoryview": lambda size: memoryview(bytearray(range(size))),
    "ctypes": lambda size: (ctypes.c_uint8 * size)(*range(size)),
    "matrix": lambda size: np.arange(size, dtype=np.uint8).reshape(-1, 2),
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_contiguous_objects_of_all_kinds_are_sources(device, stream, make):
    array = made(device, (8, 4), "uint8", 4)
    array.copy_from(make(128), stream=stream)
    assert contents(array, stream).ravel().tolist() == list(range(128))


def test_larger_sources_and_destinations_are_used_in_part(device, stream):
    array = made(device, (4, 2), "uint8")
    array.copy_from(bytes(range(100)), stream=stream)
    target = np.full(100, 255, dtype=np.uint8)
    array.copy_to(target, stream=stream)
    stream.sync()
    assert target.tolist() == [*range(8), *[255] * 92]
    buffer = device.allocate(64, stream=stream)
    buffer.fill(b"\x07", stream=stream)
    array.copy_to(buffer, stream=stream)
    assert read(buffer, stream) == bytes([*range(8), *[7] * 56])


def test_rows_are_in_c_order(device, stream):
    values = np.arange(3 * 4 * 5, dtype=np.int16).reshape(3, 4, 5)
    array = array_of(device, stream, values)
    assert array.shape == (5, 4, 3)
    assert (contents(array, stream) == values).all()


def test_too_small_memory_is_rejected(device, stream):
    array = made(device)
    for small in (bytes(127), device.allocate(127, stream=stream)):
        with pytest.raises(ValueError, match="127 bytes"):
            array.copy_from(small, stream=stream)
    with pytest.raises(ValueError, match="dst has 127 bytes"):
        array.copy_to(bytearray(127), stream=stream)


@pytest.mark.parametrize("other", [None, [1, 2], 3, "text"], ids=str)
def test_objects_without_a_buffer_are_rejected(device, stream, other):
    array = made(device)
    with pytest.raises(TypeError, match="src must be a Buffer"):
        array.copy_from(other, stream=stream)
    with pytest.raises(TypeError, match="dst must be a Buffer"):
        array.copy_to(other, stream=stream)


def test_another_array_is_rejected_as_a_source(device, stream):
    with pytest.raises(TypeError, match="OpaqueArray"):
        made(device).copy_from(made(device), stream=stream)


def test_read_only_or_noncontiguous_destinations_are_rejected(device, stream):
    array = made(device)
    with pytest.raises(BufferError):
        array.copy_to(bytes(128), stream=stream)
    frozen = np.zeros((4, 8), dtype=np.float32)
    frozen.flags.writeable = False
    for target in (frozen, np.zeros((4, 8), dtype=np.float32, order="F"), np.zeros((4, 16), dtype=np.float32)[:, ::2]):
        with pytest.raises(ValueError):
            array.copy_to(target, stream=stream)
    with pytest.raises(ValueError):
        array.copy_from(np.zeros((8, 4), dtype=np.float32).T, stream=stream)


def test_object_elements_are_rejected(device, stream):
    with pytest.raises(TypeError, match="plain bytes"):
        made(device).copy_from(np.array([None] * 16), stream=stream)


def test_stream_is_required_by_name(device, stream):
    array, source = made(device), bytes(128)
    with pytest.raises(TypeError):
        array.copy_from(source)
    with pytest.raises(TypeError):
        array.copy_from(source, stream)
    for wrong in (None, 0, "stream"):
        with pytest.raises(TypeError, match="stream must be a Stream"):
            array.copy_from(source, stream=wrong)


def test_closed_objects_are_rejected(device, stream):
    array, source = made(device), device.allocate(128, stream=stream)
    source.close()
    with pytest.raises(RuntimeError, match="Buffer is closed"):
        array.copy_from(source, stream=stream)
    array.close()
    array.close()
    assert array.is_closed and array.handle == 0
    with array as same:
        assert same is array
    assert (array.shape, array.size_bytes, array.num_channels, array.device) == ((8, 4), 128, 1, device)
    with pytest.raises(RuntimeError, match="OpaqueArray is closed"):
        array.copy_to(bytearray(128), stream=stream)


def test_copies_can_be_captured(device, stream):
    array = made(device)
    source, target = (LegacyPinnedMemoryResource().allocate(128) for _ in range(2))
    builder = stream.create_graph_builder()
    builder.begin_building()
    array.copy_from(source, stream=builder)
    array.copy_to(target, stream=builder)
    graph = builder.end_building().complete()
    for value in (3, 4):
        np.asarray(source)[:] = value
        np.asarray(target)[:] = 0
        graph.launch(stream)
        stream.sync()
        assert (np.asarray(target) == value).all()


def test_captured_copies_keep_the_array_and_the_memory(device, stream):
    array = made(device)
    source = np.full(128, 7, np.uint8)
    target = LegacyPinnedMemoryResource().allocate(128)
    result = np.asarray(target)
    result[:] = 0
    alive = weakref.ref(source)
    builder = stream.create_graph_builder()
    builder.begin_building()
    array.copy_from(source, stream=builder)
    array.copy_to(target, stream=builder)
    array.close()
    del array, source
    gc.collect()
    assert alive() is not None
    graph = builder.end_building().complete()
    builder.close()
    graph.launch(stream)
    stream.sync()
    assert (result == 7).all()
    graph.close()
    del graph, builder
    assert is_released(alive)


def test_rejected_copy_does_not_invalidate_the_capture(device, stream):
    array = made(device)
    builder = stream.create_graph_builder()
    builder.begin_building()
    with pytest.raises(ValueError, match="fewer than the"):
        array.copy_from(np.zeros(3, np.uint8), stream=builder)
    array.copy_from(np.zeros(128, np.uint8), stream=builder)
    assert len(builder.end_building().graph_definition.nodes()) == 1


@pytest.mark.requires(devices=2)
def test_copy_runs_on_the_device_of_its_stream(devices):
    first, second = devices[:2]
    first.set_current()
    array, stream = made(first), first.create_stream()
    source = pattern(array)
    second.set_current()
    array.copy_from(source, stream=stream)
    target = np.zeros_like(source)
    array.copy_to(target, stream=stream)
    stream.sync()
    assert (target == source).all()
    assert array.device == first
    array.close()


def test_options_may_be_a_dict_but_not_missing(device):
    assert device.create_opaque_array({"shape": [3], "format": "uint8", "num_channels": 1}).shape == (3,)
    for wrong in (None, 3, (8, 4)):
        with pytest.raises(TypeError):
            device.create_opaque_array(wrong)
    with pytest.raises(TypeError):
        device.create_opaque_array({"shape": (3,), "format": "uint8", "num_channels": 1, "depth": 3})
    with pytest.raises(ValueError, match="num_channels"):
        device.create_opaque_array({"shape": (3,), "format": "uint8", "num_channels": 3})


def test_driver_rejects_extents_over_the_device_limits(device):
    with pytest.raises(CUDAError):
        made(device, (1 << 40, 1 << 40))


def test_arrays_are_equal_only_to_themselves(device):
    first, second = made(device), made(device)
    assert first == first and first != second
    assert hash(first) != hash(second)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(first)
    with pytest.raises(RuntimeError, match="create_opaque_array"):
        OpaqueArray()


@pytest.mark.requires(software=True)  # other processes change the free memory of a GPU
def test_closing_frees_the_memory(device, stream):
    def free():
        error, free, _ = driver.cuMemGetInfo()
        assert error == 0
        return free

    gc.collect()
    device.sync()  # frees small resources closed before
    before = free()
    array = made(device, (2048, 2048), "float32", 4)
    assert free() <= before - array.size_bytes
    array.close()
    assert free() == before
    array = made(device, (2048, 2048), "float32", 4)
    del array
    gc.collect()
    assert free() == before


def test_foreign_array_has_the_properties_the_driver_returns(device, stream):
    description = driver.CUDA_ARRAY3D_DESCRIPTOR()
    description.Width, description.Height, description.NumChannels = 6, 3, 2
    description.Format = driver.CUarray_format.CU_AD_FORMAT_HALF
    error, handle = driver.cuArray3DCreate(description)
    assert error == 0
    borrowed = OpaqueArray._from_handle(int(handle), False)
    assert (borrowed.shape, borrowed.format, borrowed.num_channels) == ((6, 3), ArrayFormatType.FLOAT16, 2)
    assert borrowed.device == device
    values = np.arange(36, dtype=np.float16)
    borrowed.copy_from(values, stream=stream)
    borrowed.close()
    owner = OpaqueArray._from_handle(int(handle), True, device_id=0)
    assert (contents(owner, stream).ravel() == values).all()
    owner.close()
    assert owner.is_closed


@pytest.mark.requires(software=True)
def test_only_an_owner_destroys_a_foreign_array(device):
    array = made(device)
    handle = array.handle
    (line,) = (line for line in cuda.emulator.leaks() if f" {int(handle):#x} " in line and line.startswith("array"))
    OpaqueArray._from_handle(handle, False).close()
    assert line in cuda.emulator.leaks()
    before = set(cuda.emulator.leaks())
    error, foreign = driver.cuArray3DCreate(driver.cuArray3DGetDescriptor(handle)[1])
    assert error == 0 and len(set(cuda.emulator.leaks()) - before) == 1
    OpaqueArray._from_handle(int(foreign), True).close()
    settle()
    assert set(cuda.emulator.leaks()) <= before


def test_invalid_foreign_handles_are_rejected(device):
    with pytest.raises(CUDAError):
        OpaqueArray._from_handle(0, False)
    with pytest.raises(TypeError, match="handle must be an int"):
        OpaqueArray._from_handle("array", False)


def test_array_can_be_closed_on_any_thread(device):
    array = made(device)
    in_thread(array.close)  # no context is current there
    assert array.is_closed


@pytest.mark.requires(device=True)
def test_array_needs_a_current_device():
    with pytest.raises(CUDAError, match="set_current"):
        in_thread(lambda: made(Device(0)))


OPTIONS = [
    {"overlap_mode": "prefer_overlap_with_compute"},
    {"src_access_order": "any", "src_location_hint": Host(), "dst_location_hint": Host()},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("channels", [1, 4])
def test_copies_with_options_keep_every_byte(device, stream, options, shape, channels):
    array = made(device, shape, "uint16", channels)
    source = pattern(array)
    array.copy_from(source, stream=stream, options=options)
    buffer = device.allocate(array.size_bytes, stream=stream)
    array.copy_to(buffer, stream=stream, options=CopyOptions(**options))
    assert read(buffer, stream) == source.tobytes()
    array.copy_from(buffer, stream=stream, options=options)
    out = array.copy_to(np.empty_like(source), stream=stream)
    stream.sync()
    assert np.array_equal(out, source)


def test_copies_with_options_cover_layers(device, stream):
    array = made(device, (6, 5, 3), "float32", 1, is_layered=True)
    source = pattern(array)
    array.copy_from(source, stream=stream, options={})
    assert np.array_equal(contents(array, stream).view(np.uint8).ravel(), source)


@pytest.mark.requires(cuda=(13, 2))
def test_source_of_a_copy_is_read_during_the_call(device, stream):
    array = made(device)
    source = pattern(array)
    expected = source.copy()
    array.copy_from(source, stream=stream, options={"src_access_order": "during_api_call"})
    source[:] = 0
    assert np.array_equal(contents(array, stream).view(np.uint8).ravel(), expected)


def test_options_of_a_copy_are_checked(device, stream):
    array = made(device)
    source = pattern(array)
    with pytest.raises(TypeError, match="options"):
        array.copy_from(source, stream=stream, options=3)
    with pytest.raises(ValueError, match="'late' is not a valid MemcpySrcAccessOrder"):
        array.copy_to(source, stream=stream, options={"src_access_order": "late"})
    with pytest.raises(TypeError, match="options must be None on the legacy default stream"):
        array.copy_from(source, stream=LEGACY_DEFAULT_STREAM, options={})
    with pytest.raises(TypeError, match="options must be None on a capturing stream"):
        array.copy_from(source, stream=device.create_graph_builder().begin_building(), options={})
