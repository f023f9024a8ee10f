# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tensor maps of interleaved layouts, with channels in slices, and the conversions of elements by the copy engine.

An array of shape (N, C / 8, H, W, 8) of two-byte channels is viewed without its last axis, whose 16 bytes the engine
treats as one element: the coordinates along W count them, and a copy takes one slice of channels.
"""

import functools

import numpy as np
import pytest

import support.tensor_maps as tma
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, TensorMapDescriptor, launch
from cuda.core.utils import StridedMemoryView
from support.contract import TensorMapDataType, TensorMapInterleave, TensorMapOOBFill, TensorMapSwizzle

pytestmark = pytest.mark.requires(compute=(9, 0))

# The kernels wait for all bytes; with a limited number of attempts a wrong number of bytes fails instead of hanging.
SOURCE = tma.SOURCE.replace("while (!done)", "for (int tries = 0; !done && tries < 20000; ++tries)")
assert SOURCE != tma.SOURCE
SLICES = {16: TensorMapInterleave.INTERLEAVE_16B, 32: TensorMapInterleave.INTERLEAVE_32B}


@functools.cache
def code():
    return Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{Device().arch}")).compile("cubin")


def load(name, tensor_map, coordinates, size, stream, *more) -> np.ndarray:
    """Return the bytes that arrive in shared memory."""
    out = Device().allocate(size, stream=stream)
    config = LaunchConfig(grid=1, block=1, shmem_size=size + 1024)
    axes = () if more else (len(coordinates),)
    launch(stream, config, code().get_kernel(name), tensor_map, *axes, tma.place(*coordinates), *more, out, size)
    data = np.empty(size, np.uint8)
    out.copy_to(data, stream=stream)
    stream.sync()
    return data


def slices_of(shape, width, dtype, stream):
    """Return an array with an axis of ``width`` bytes after ``shape``, and a device view without that axis."""
    count = width // np.dtype(dtype).itemsize
    array = (np.arange(1, 1 + np.prod(shape) * count) % 60000).astype(dtype).reshape(*shape, count)
    buffer = Device().allocate(array.nbytes, stream=stream)
    buffer.copy_from(array, stream=stream)
    strides = tuple(stride // array.itemsize for stride in array.strides[:-2]) + (1,)
    return array, StridedMemoryView.from_buffer(buffer, shape, strides, dtype=array.dtype)


def part(array, corner, extents):
    """Return the slices that begin at a corner, with zeros for those outside."""
    axes = np.ix_(*[np.arange(c, c + n) for c, n in zip(corner, extents, strict=True)])
    is_inside = True
    for axis, size in zip(axes, array.shape, strict=False):
        is_inside = is_inside & (axis >= 0) & (axis < size)
    found = array[tuple(np.clip(axis, 0, size - 1) for axis, size in zip(axes, array.shape, strict=False))]
    return np.where(is_inside[..., None], found, 0).astype(array.dtype)


def swizzled(chunks: np.ndarray) -> np.ndarray:
    """Return bytes in the order of the swizzle of 32 bytes."""
    chunks = chunks.reshape(-1, 16)
    order = np.arange(len(chunks))
    out = np.empty_like(chunks)
    out[order ^ (order >> 3 & 1)] = chunks
    return out.ravel()


@pytest.mark.parametrize("width", SLICES)
@pytest.mark.parametrize("dtype", ["uint16", "float32", "uint8"])
@pytest.mark.parametrize("shape", [(4, 3, 40), (3, 3, 5, 40), (2, 3, 4, 5, 40)], ids=len)
def test_tiles_have_one_slice_of_channels(device, stream, shape, dtype, width):
    array, view = slices_of(shape, width, dtype, stream)
    rank = len(shape)
    box = {3: (2, 8, 16), 4: (2, 8, 3, 16), 5: (1, 8, 2, 3, 16)}[rank]
    swizzle = TensorMapSwizzle.SWIZZLE_32B if width == 32 else TensorMapSwizzle.NONE
    descriptor = view.as_tensor_map(box, interleave=SLICES[width], swizzle=swizzle)
    extents = (box[0], 1, *box[2:])
    size = int(np.prod(extents)) * width
    for corner in (
        (0,) * rank,
        (1, 2, *(1,) * (rank - 2)),
        (0, 1, *(0,) * (rank - 3), -3),
        (0, -1, *(0,) * (rank - 2)),
    ):
        expected = np.ascontiguousarray(part(array, corner, extents)).view(np.uint8).ravel()
        read = load("load_tile", descriptor, corner, size, stream)
        assert np.array_equal(read, swizzled(expected) if width == 32 else expected), corner
    last = tuple(extent - 1 for extent in shape)
    expected = np.ascontiguousarray(part(array, last, extents)).view(np.uint8).ravel()
    read = load("load_tile", descriptor, last, size, stream)
    assert np.array_equal(read, swizzled(expected) if width == 32 else expected)


def test_element_strides_apply_to_all_axes_but_the_slice_axis(device, stream):
    array, view = slices_of((6, 3, 40), 16, "uint16", stream)
    descriptor = view.as_tensor_map((4, 8, 16), element_strides=(2, 3, 2), interleave=SLICES[16])
    read = load("load_tile", descriptor, (1, 1, 4), 2 * 8 * 16, stream)
    assert np.array_equal(read.view(np.uint16).reshape(2, 8, 8), array[1:5:2, 1, 4:20:2])


@pytest.mark.parametrize("width", SLICES)
def test_columns_have_the_pixels_along_w_and_h(device, stream, width):
    array, view = slices_of((2, 3, 5, 8), width, "uint16", stream)
    swizzle = TensorMapSwizzle.SWIZZLE_32B if width == 32 else TensorMapSwizzle.NONE
    descriptor = TensorMapDescriptor._from_im2col(
        view, (-1, -1), (-1, -1), width // 2, 20, interleave=SLICES[width], swizzle=swizzle
    )
    read = load("load_columns", descriptor, (1, 2, 0, 1), 20 * width, stream, 0, 0)
    # W goes from -1 to 6, H from -1 to 3.
    pixels = [(0, x) for x in range(1, 7)] + [(y, x) for y in (1, 2) for x in range(-1, 7)]
    padded = np.pad(array[1, 2], ((1, 1), (1, 1), (0, 0)))
    expected = np.array([padded[y + 1, x + 1] for y, x in pixels[:20]]).view(np.uint8).ravel()
    assert np.array_equal(read, swizzled(expected) if width == 32 else expected)


def test_tfloat32_rounds_to_ten_bits(device, stream):
    pairs = {
        0x3F800000: 0x3F800000, 0x3F801000: 0x3F800000, 0x3F800FFF: 0x3F800000, 0x3F801001: 0x3F802000,
        0x3F803000: 0x3F804000, 0x3F802FFF: 0x3F802000, 0xBF801000: 0xBF800000, 0xBF803000: 0xBF804000,
        0x00000001: 0x00000000, 0x007FFFFF: 0x00800000, 0x807FFFFF: 0x80800000, 0x7F7FFFFF: 0x7F800000,
        0x7F800000: 0x7F800000, 0xFF800000: 0xFF800000, 0x7F800001: 0x7FFFE000, 0xFFC12345: 0x7FFFE000,
    }  # fmt: skip
    words, rounded = list(pairs), list(pairs.values())
    view = tma.on_device(np.array(words, np.uint32).view(np.float32), stream)
    for data_type in (TensorMapDataType.TFLOAT32, TensorMapDataType.TFLOAT32_FTZ):
        descriptor = view.as_tensor_map((16,), data_type=data_type)
        assert load("load_tile", descriptor, (0,), 64, stream).view(np.uint32).tolist() == rounded
    for data_type in (TensorMapDataType.FLOAT32, TensorMapDataType.FLOAT32_FTZ):
        descriptor = view.as_tensor_map((16,), data_type=data_type)
        assert load("load_tile", descriptor, (0,), 64, stream).view(np.uint32).tolist() == words


@pytest.mark.parametrize("data_type", ["FLOAT16", "BFLOAT16", "FLOAT32", "TFLOAT32", "FLOAT64"])
def test_elements_outside_are_loaded_as_one_pattern_of_nan(device, stream, data_type):
    view = tma.on_device(np.zeros(256, np.uint8), stream)
    item = {"FLOAT16": 2, "BFLOAT16": 2, "FLOAT64": 8}.get(data_type, 4)
    view = StridedMemoryView.from_buffer(view.exporting_obj, (256 // item,), dtype=np.dtype(f"u{item}"))
    descriptor = view.as_tensor_map(
        (128 // item,), data_type=TensorMapDataType[data_type], oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA
    )
    read = load("load_tile", descriptor, (192 // item,), 128, stream)
    assert read[:64].tolist() == [0] * 64
    assert read[64:].view(np.uint16).tolist() == [0x7FF7] * 32


def test_tiles_larger_than_shared_memory_are_rejected(device, stream):
    view = tma.on_device(np.zeros((8, 512), np.float32), stream)
    view.as_tensor_map((224, 256))
    with pytest.raises(
        ValueError, match="box_dim must make at most 232448 bytes, not 233472: 58368 elements of FLOAT32"
    ):
        view.as_tensor_map((228, 256))
    view.as_tensor_map((256, 256), element_strides=(2, 1))
    image = tma.on_device(np.zeros((2, 6, 7, 64), np.float32), stream)
    with pytest.raises(ValueError, match="channels_per_pixel and pixels_per_column must make at most 232448 bytes"):
        TensorMapDescriptor._from_im2col(image, (0, 0), (0, 0), 64, 1024)
    with pytest.raises(ValueError, match="channels_per_pixel must make a multiple of 16 bytes, not 8: 2 elements"):
        TensorMapDescriptor._from_im2col(image, (0, 0), (0, 0), 2, 16)
    with pytest.raises(ValueError, match="the last entry of box_dim must make a multiple of 16 bytes, not 4"):
        view_3 = tma.on_device(np.zeros((2, 4, 64), np.float32), stream)
        view_3.as_tensor_map((1, 4, 1), interleave=SLICES[16])
