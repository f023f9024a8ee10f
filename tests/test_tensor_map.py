# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tensor maps: creation from views, rejections, and the tiles that kernels load and store with them."""

import copy
import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import support.tensor_maps as tma
from cuda.core import (
    Buffer,
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    TensorMapDescriptor,
    launch,
)
from cuda.core.utils import StridedMemoryView
from support.contexts import no_context
from support.contract import ParamHolder, TensorMapInterleave, TensorMapOOBFill, TensorMapSwizzle, _require_view_device
from support.processes import Child
from support.threads import in_thread

pytestmark = pytest.mark.requires(compute=(9, 0))

F32 = np.dtype(np.float32)


@pytest.fixture
def view(device, stream):
    """A view of shape (64, 96) of float32 on the device."""
    return tma.on_device(np.arange(64 * 96, dtype=np.float32).reshape(64, 96), stream)


@pytest.fixture
def image(device, stream):
    """A view of N, H, W, C on the device."""
    return tma.on_device(np.arange(2 * 6 * 7 * 8, dtype=np.float32).reshape(2, 6, 7, 8), stream)


# --- descriptors ---


def test_repr_has_mode_rank_type_and_swizzle(view, image):
    tiled = view.as_tensor_map((8, 32), swizzle=TensorMapSwizzle.SWIZZLE_128B)
    assert repr(tiled) == "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=SWIZZLE_128B)"
    columns = TensorMapDescriptor._from_im2col(image, (-1, -1), (1, 1), 8, 16)
    assert repr(columns) == "TensorMapDescriptor(im2col, rank=4, dtype=FLOAT32, swizzle=NONE)"
    assert tiled.device == Device()


def test_descriptors_compare_by_identity_and_cannot_be_copied(view):
    one, two = view.as_tensor_map((8, 32)), view.as_tensor_map((8, 32))
    assert one == one and one != two and hash(one) != hash(two)
    for call in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="pickled or copied"):
            call(one)


def test_no_direct_construction():
    with pytest.raises(RuntimeError, match="use StridedMemoryView.as_tensor_map"):
        TensorMapDescriptor()


def test_descriptor_keeps_the_view_and_the_memory(device, stream):
    view = tma.on_device(np.arange(64, dtype=np.float32), stream)
    count = sys.getrefcount(view)
    descriptor = view.as_tensor_map((16,))
    assert sys.getrefcount(view) == count + 1
    del descriptor
    assert sys.getrefcount(view) == count
    descriptor = view.as_tensor_map((16,))
    del view
    gc.collect()
    assert tma.load_tile(descriptor, (16,), (16,), F32, stream).tolist() == [*range(16, 32)]


def test_coordinates_and_extents_are_in_the_order_of_the_axes(view, stream):
    tile = tma.load_tile(view.as_tensor_map((4, 8)), (2, 16), (4, 8), F32, stream)
    assert np.array_equal(tile, tma.host_copy(view, stream)[2:6, 16:24])


# --- rejections ---


def test_memory_and_tile_are_checked_before_the_driver_is_used():
    """These rejections need neither a context nor the hardware."""
    with pytest.raises(ValueError, match="not pageable host memory"):
        StridedMemoryView.from_any_interface(np.zeros(16, np.float32), -1).as_tensor_map((4,))
    with pytest.raises(TypeError, match="box_dim is missing"):
        StridedMemoryView.from_any_interface(np.zeros(16, np.float32), -1).as_tensor_map()


def test_misaligned_memory_is_rejected(view):
    shifted = StridedMemoryView.from_buffer(view.exporting_obj[4:], (16,), dtype=F32)
    with pytest.raises(ValueError, match=r"address 0x[0-9a-f]+4 is not aligned for a tensor map; .* of 16 bytes"):
        shifted.as_tensor_map((4,))


@pytest.mark.parametrize(
    ("shape", "strides", "arguments", "error", "message"),
    [
        ((), None, {"box_dim": ()}, ValueError, "1 to 5 axes, but the view has 0"),
        ((2,) * 6, None, {"box_dim": (2,) * 6}, ValueError, "1 to 5 axes, but the view has 6"),
        ((0, 16), None, {"box_dim": (1, 16)}, ValueError, r"axis 0 of shape \(0, 16\) has 0"),
        ((4, 16), (16, 2), {"box_dim": (4, 16)}, ValueError, "elements of the last axis must be contiguous"),
        ((4, 16), (18, 1), {"box_dim": (4, 16)}, ValueError, "axis 0 must be a multiple of 16 bytes .* not 72 bytes"),
        ((4, 16), None, {"box_dim": (4,)}, ValueError, "one entry for each of the 2 axes, not 1"),
        ((4, 16), None, {"box_dim": (0, 16)}, ValueError, "entries from 1 to 256"),
        ((4, 16), None, {"box_dim": (4, 257)}, ValueError, "entries from 1 to 256"),
        ((4, 16), None, {"box_dim": (4, -16)}, ValueError, "entries from 1 to 256"),
        ((4, 16), None, {"box_dim": (4, 7)}, ValueError, "multiple of 16 bytes, not 28: 7 elements of FLOAT32"),
        ((4, 16), None, {"element_strides": (1,)}, ValueError, "element_strides must have one entry"),
        ((4, 16), None, {"element_strides": (1, 9)}, ValueError, "entries from 1 to 8"),
        ((4, 16), None, {"element_strides": (0, 1)}, ValueError, "entries from 1 to 8"),
        ((4, 16), None, {"element_strides": (-1, 1)}, OverflowError, "must not be negative"),
        ((4, 16), None, {"swizzle": TensorMapSwizzle.SWIZZLE_32B}, ValueError, "at most 32 bytes, not 64"),
        ((4, 16), None, {"interleave": TensorMapInterleave.INTERLEAVE_16B}, ValueError, "3 to 5 axes"),
        (
            (2, 4, 16),
            None,
            {"box_dim": (1, 1, 8), "interleave": TensorMapInterleave.INTERLEAVE_32B},
            ValueError,
            "needs swizzle=SWIZZLE_32B",
        ),
        (
            (4, 16),
            None,
            {"data_type": np.int32, "oob_fill": TensorMapOOBFill.NAN_REQUEST_ZERO_FMA},
            ValueError,
            "needs floating-point elements, not INT32",
        ),
    ],
)
def test_layouts_unreadable_by_the_copy_engine_are_rejected(view, shape, strides, arguments, error, message):
    part = StridedMemoryView.from_buffer(view.exporting_obj, shape, strides, dtype=F32)
    with pytest.raises(error, match=message):
        part.as_tensor_map(**{"box_dim": (4, 16), **arguments})


def test_negative_strides_are_rejected(device):
    pinned = LegacyPinnedMemoryResource().allocate(4096)
    array = np.from_dlpack(pinned).view(np.float32).reshape(32, 32)[::-1]
    view = StridedMemoryView.from_array_interface(array).view(dtype=F32)
    assert view.is_device_accessible
    with pytest.raises(OverflowError, match="axis 0 has -32"):
        view.as_tensor_map((4, 16))


def test_strides_of_axes_with_one_element_do_not_matter(view, stream):
    one = StridedMemoryView.from_buffer(view.exporting_obj, (1, 10), (10, 1), dtype=F32)
    tile = tma.load_tile(one.as_tensor_map((2, 12)), (0, 0), (2, 12), F32, stream)
    assert tile.tolist() == [[*range(10), 0, 0], [0] * 12]


def test_current_context_is_required(view):
    message = r"^a tensor map needs a current context; call Device\.set_current\(\) first$"
    with pytest.raises(RuntimeError, match=message):
        in_thread(lambda: view.as_tensor_map((4, 16)))


@pytest.mark.requires(devices=2)
def test_memory_of_another_device_is_rejected(devices, view):
    devices[1].set_current()
    try:
        with pytest.raises(ValueError, match="needs memory on the current device, 1, not on device 0"):
            view.as_tensor_map((4, 16))
    finally:
        devices[0].set_current()


@pytest.mark.parametrize(("own", "is_rejected"), [((2, 1), True), ((2, 0), False), ((1, 0), False), ((13, 0), False)])
def test_memory_with_a_foreign_dlpack_device_is_rejected(own, is_rejected):
    class View:
        def __dlpack_device__(self):
            return own

    if is_rejected:
        with pytest.raises(ValueError, match="copying needs memory on .* 0, not on device 1"):
            _require_view_device(View(), 0, "copying")
    else:
        assert _require_view_device(View(), 0, "copying") is None


def test_private_factories_accept_only_views(view):
    assert "tiled" in repr(TensorMapDescriptor._from_tiled(view, [4, 16]))
    for call in (
        lambda: TensorMapDescriptor._from_tiled(np.zeros(3), (4,)),
        lambda: TensorMapDescriptor._from_im2col(None, (0,), (0,), 8, 8),
        lambda: TensorMapDescriptor._from_im2col_wide(view.exporting_obj, 0, 0, 8, 8),
    ):
        with pytest.raises(TypeError, match="view must be a StridedMemoryView"):
            call()


# --- tiles ---


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_tiles_of_any_rank(stream, rank):
    shape, tile = (3, 5, 4, 6, 16)[-rank:], (2, 3, 2, 4, 8)[-rank:]
    array = np.random.default_rng(rank).random(shape, dtype=np.float32)
    descriptor = tma.on_device(array, stream).as_tensor_map(tile)
    corner = (1, 2, 1, 2, 4)[-rank:]
    expected = array[tuple(slice(c, c + t) for c, t in zip(corner, tile, strict=True))]
    assert np.array_equal(tma.load_tile(descriptor, corner, tile, F32, stream), expected)


@pytest.mark.parametrize("corner", [(-2, -4), (62, 92), (-4, 92), (64, 0), (0, 96), (1000, -1000)])
def test_elements_outside_are_loaded_as_zero_and_not_stored(view, stream, corner):
    """Kernels may load a tile at negative coordinates, but not store one there."""
    array = tma.host_copy(view, stream)
    padded = np.pad(array, 2000)
    rows, columns = slice(corner[0] + 2000, corner[0] + 2008), slice(corner[1] + 2000, corner[1] + 2016)
    descriptor = view.as_tensor_map((8, 16))
    assert np.array_equal(tma.load_tile(descriptor, corner, (8, 16), F32, stream), padded[rows, columns])
    if min(corner) >= 0:
        tma.store_tile(descriptor, corner, np.full((8, 16), -1, np.float32), stream)
        padded[rows, columns] = -1
    assert np.array_equal(tma.host_copy(view, stream), padded[2000:-2000, 2000:-2000])


@pytest.mark.parametrize(("kind", "corner"), [("load", (-4, 94)), ("store", (8, 34)), ("store", (-1, 0))])
def test_tiles_are_16_byte_aligned_and_not_stored_out_of_bounds(kind, corner):
    """Such a kernel ends by an illegal instruction, which loses the context: it runs in a child process."""
    child = Child()
    try:
        assert child.call(tma.error_of, kind, corner) == "CUDA_ERROR_ILLEGAL_INSTRUCTION"
    finally:
        child.stop()


def test_elements_outside_may_be_loaded_as_nan(view, stream):
    descriptor = view.as_tensor_map((4, 16), oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA)
    tile = tma.load_tile(descriptor, (62, 0), (4, 16), F32, stream)
    assert np.isnan(tile[2:]).all() and not np.isnan(tile[:2]).any()


def test_element_strides_skip_rows(view, stream):
    descriptor = view.as_tensor_map((8, 16), element_strides=(3, 1))
    tile = tma.load_tile(descriptor, (2, 16), (3, 16), F32, stream)
    assert np.array_equal(tile, tma.host_copy(view, stream)[2:10:3, 16:32])


@pytest.mark.parametrize("swizzle", list(TensorMapSwizzle))
def test_swizzled_tiles_have_their_chunks_permuted(view, stream, swizzle):
    width = 4 * max(2, 1 << swizzle)
    tile = tma.load_tile(view.as_tensor_map((16, width), swizzle=swizzle), (8, 32), (16, width), F32, stream)
    chunks = tma.host_copy(view, stream)[8:24, 32 : 32 + width].reshape(-1, 4)
    order = np.arange(len(chunks))
    order ^= (order >> 3) & ((1 << swizzle) - 1)
    expected = np.empty_like(chunks)
    expected[order] = chunks
    assert np.array_equal(tile.reshape(-1, 4), expected)


def test_storing_a_swizzled_tile_restores_the_order(view, stream):
    descriptor = view.as_tensor_map((16, 32), swizzle=TensorMapSwizzle.SWIZZLE_128B)
    before = tma.host_copy(view, stream)
    tile = tma.load_tile(descriptor, (16, 32), (16, 32), F32, stream)
    tma.store_tile(descriptor, (0, 0), tile, stream)
    assert np.array_equal(tma.host_copy(view, stream)[:16, :32], before[16:32, 32:64])


def test_tiles_are_loaded_from_a_part_of_each_row(stream):
    array = np.arange(20 * 24, dtype=np.float32).reshape(20, 24)
    whole = tma.on_device(array, stream)
    part = whole.view(whole._layout[2:, 4:18])
    tile = tma.load_tile(part.as_tensor_map((4, 16)), (1, 4), (4, 16), F32, stream)
    assert np.array_equal(tile[:, :10], array[3:7, 8:18])
    assert not tile[:, 10:].any()


@pytest.mark.parametrize(("offsets", "steps"), [((0, 0), (1, 1)), ((2, 1), (1, 1)), ((1, 2), (1, 2)), ((0, 1), (2, 2))])
def test_columns_have_the_pixels_of_a_convolution(image, stream, offsets, steps):
    """A 3 by 3 convolution with a border of 1: the pixel box begins at -1 and ends one before the last pixel."""
    pixels = 12
    descriptor = TensorMapDescriptor._from_im2col(image, (-1, -1), (-1, -1), 8, pixels, element_strides=(1, *steps, 1))
    columns = tma.load_columns(descriptor, (0, -1, -1, 0), offsets, (pixels, 8), F32, stream)
    padded = np.pad(tma.host_copy(image, stream), ((0, 1), (1, 3), (1, 3), (0, 0)))
    taken = [(n, y, x) for n in range(2) for y in range(0, 6, steps[0]) for x in range(0, 7, steps[1])]
    expected = [padded[n, y + offsets[0], x + offsets[1]] for n, y, x in taken[:pixels]]
    assert np.array_equal(columns, expected)


def test_bad_arguments_of_columns_are_rejected(image, view):
    make = TensorMapDescriptor._from_im2col
    for arguments, message in (
        ((view, (), (), 8, 16), "3 to 5 axes, but the view has 2"),
        ((image, (0,), (0, 0), 8, 16), "pixel_box_lower_corner must have 2 entries"),
        ((image, (0, 0), (0, 0, 0), 8, 16), "pixel_box_upper_corner must have 2 entries"),
        ((image, (0, 128), (0, 0), 8, 16), "entries from -128 to 127"),
        ((image, (5, 0), (-1, 0), 8, 16), "the pixel box is empty"),
        ((image, (0, 0), (0, 0), 257, 16), "channels_per_pixel must be from 1 to 256"),
        ((image, (0, 0), (0, 0), 8, 1025), "pixels_per_column must be from 1 to 1024"),
    ):
        with pytest.raises(ValueError, match=message):
            make(*arguments)
    with pytest.raises(ValueError, match="element_strides must have one entry for each of the 4 axes"):
        make(image, (0, 0), (0, 0), 8, 16, element_strides=(1, 1))
    with pytest.raises(TypeError, match="channels_per_pixel must be"):
        make(image, (0, 0), (0, 0), 8.0, 16)


@pytest.mark.requires(cuda=(12, 8))
def test_wide_columns_are_encoded_and_bad_arguments_rejected(image):
    make = TensorMapDescriptor._from_im2col_wide
    for arguments, options, message in (
        ((0, 0, 8, 16), {"swizzle": TensorMapSwizzle.NONE}, "need swizzle=SWIZZLE_64B or SWIZZLE_128B"),
        ((-40000, 0, 8, 16), {}, "pixel_box_lower_corner_width must be from -32768 to 32767"),
        ((7, 0, 8, 16), {}, "the pixel box is empty"),
        ((0, 0, 64, 16), {}, "at most 128 bytes, not 256"),
    ):
        with pytest.raises(ValueError, match=message):
            make(image, *arguments, **options)
    with pytest.raises(TypeError, match="mode must be a TensorMapIm2ColWideMode"):
        make(image, 0, 0, 8, 16, mode=1)
    # Drivers also encode this mode for devices that lack it.
    assert (
        repr(make(image, 0, 0, 8, 16))
        == "TensorMapDescriptor(im2col_wide, rank=4, dtype=FLOAT32, swizzle=SWIZZLE_128B)"
    )


# --- other memory ---


def test_replaced_address_is_read_and_its_memory_kept(view, stream):
    descriptor = view.as_tensor_map((4, 16))
    other = tma.on_device(-np.ones((64, 96), np.float32), stream)
    count = sys.getrefcount(other)
    descriptor.replace_address(other)
    assert sys.getrefcount(other) == count + 1
    assert (tma.load_tile(descriptor, (0, 0), (4, 16), F32, stream) == -1).all()
    descriptor.replace_address(view.exporting_obj)  # a buffer
    assert sys.getrefcount(other) == count
    assert tma.load_tile(descriptor, (0, 0), (4, 16), F32, stream)[0, 5] == 5
    assert isinstance(view.exporting_obj, Buffer)


def test_bad_addresses_are_rejected(view):
    descriptor = view.as_tensor_map((4, 16))
    with pytest.raises(BufferError, match="neither DLPack nor"):
        descriptor.replace_address(3)
    with pytest.raises(ValueError, match="not pageable host memory"):
        descriptor.replace_address(np.zeros(4))
    with pytest.raises(ValueError, match="multiple of 16 bytes"):
        descriptor.replace_address(view.exporting_obj[8:])


@pytest.mark.requires(devices=2)
def test_address_cannot_be_replaced_in_another_context(devices, view):
    descriptor = view.as_tensor_map((4, 16))
    devices[1].set_current()
    try:
        with pytest.raises(RuntimeError, match="the current context must be the one"):
            descriptor.replace_address(view)
        assert descriptor.device == devices[0]
    finally:
        devices[0].set_current()


# --- launches ---


def test_kernels_stream_tiles_through_shared_memory(stream):
    array = np.arange(96 * 160, dtype=np.float32).reshape(96, 160)
    source, target = tma.on_device(array, stream), tma.on_device(np.zeros_like(array), stream)
    maps = [view.as_tensor_map((32, 32)) for view in (source, target)]
    launch(stream, LaunchConfig(grid=3, block=32), tma.kernels().get_kernel("double_tiles"), *maps, 5)
    assert np.array_equal(tma.host_copy(target, stream), 2 * array)


def test_descriptor_is_copied_by_launches_and_graphs(view, stream):
    other = tma.on_device(-np.ones((64, 96), np.float32), stream)
    descriptor = view.as_tensor_map((4, 16))
    out = Device().allocate(256, stream=stream)
    kernel = tma.kernels().get_kernel("load_tile")
    builder = stream.create_graph_builder()
    builder.begin_building()
    launch(builder, LaunchConfig(grid=1, block=1, shmem_size=2048), kernel, descriptor, 2, tma.place(0, 0), out, 256)
    graph = builder.end_building().complete()
    descriptor.replace_address(other)
    graph.launch(stream)
    tile = np.empty((4, 16), np.float32)
    out.copy_to(tile, stream=stream)
    stream.sync()
    assert np.array_equal(tile, tma.host_copy(view, stream)[:4, :16])


@pytest.mark.requires(cuda=(12, 4))
def test_parameter_of_another_size_is_rejected(view, stream):
    kernel = tma.kernels().get_kernel("load_tile")
    config = LaunchConfig(grid=1, block=1)
    with pytest.raises(TypeError, match=r"parameter 2 'axes' is an int; got TensorMapDescriptor"):
        launch(stream, config, kernel, view.as_tensor_map((4, 16)), view.as_tensor_map((4, 16)), tma.place(0), 0, 0)


def test_param_holder_accepts_a_descriptor(view):
    import ctypes

    descriptor = view.as_tensor_map((4, 16))
    cells = (ctypes.c_void_p * 2).from_address((holder := ParamHolder((descriptor, 7))).ptr)
    assert len(ctypes.string_at(cells[0], 128).rstrip(b"\0")) > 8
    assert ctypes.c_int64.from_address(cells[1]).value == 7
    del holder


@pytest.mark.requires(cuda=(13, 5))
def test_allocation_class_is_set(view, device):
    tensor_map = view.as_tensor_map((8, 32))
    assert tensor_map.set_allocation_class("small") == "small"
    assert tensor_map.set_allocation_class("auto") in ("small", "large")
    if device.properties.tensor_map_large_tensor_min_size == 2**31 - 1:  # it has no effect
        assert tensor_map.set_allocation_class("large") == "small"


def test_wrong_allocation_classes_are_rejected(view):
    tensor_map = view.as_tensor_map((8, 32))
    for wrong in (1, "huge"):
        with pytest.raises(ValueError, match="not a valid allocation class; it must be 'auto', 'large' or 'small'"):
            tensor_map.set_allocation_class(wrong)
    with no_context(), pytest.raises(RuntimeError, match="a tensor map needs a current context"):
        tensor_map.set_allocation_class("small")


@pytest.mark.requires(software=True)
def test_allocation_class_needs_a_new_driver():
    program = (
        "import numpy as np\nfrom cuda.core import Device, LegacyPinnedMemoryResource\nDevice().set_current()\n"
        "view = LegacyPinnedMemoryResource().allocate(512).view((8, 16), dtype=np.float32)\n"
        "view.as_tensor_map((4, 16)).set_allocation_class('large')\n"
    )
    variables = {"CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DRIVER_VERSION": "13.4"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, timeout=60)
    assert "cuTensorMapSetAllocationClass needs" in done.stderr and "13.5" in done.stderr, done.stderr
