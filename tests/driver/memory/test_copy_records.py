# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies of two and three dimensions."""

import numpy as np
import pytest

import cuda.core.driver as drv

pytestmark = pytest.mark.usefixtures("context")


def image(kind=np.float32):
    return np.arange(6 * 8, dtype=kind).reshape(6, 8)


@pytest.mark.parametrize("call", ["aligned", "unaligned", "keyword", "stream", "stream keyword"])
def test_a_part_of_an_image_is_copied(call):
    source, stream = image(), drv.Stream()
    memory, pitch = drv.mem_alloc_pitch(16, 3, 4)
    copy = drv.Memcpy2D()
    assert copy.height == copy.src_x_in_bytes == copy.dst_memory_type == 0
    copy.set_src_host(source)
    copy.set_dst_device(memory)
    copy.src_x_in_bytes, copy.src_y, copy.src_pitch = 8, 1, source.strides[0]
    copy.dst_pitch, copy.width_in_bytes, copy.height = pitch, 16, 3
    run = {
        "aligned": copy, "unaligned": lambda: copy(False), "keyword": lambda: copy(aligned=True),
        "stream": lambda: copy(stream), "stream keyword": lambda: copy(stream=stream),
    }[call]  # fmt: skip
    run()
    stream.synchronize()
    rows = drv.from_device(memory, (3, pitch // 4), np.float32)
    assert (rows[:, :4] == source[1:4, 2:6]).all()
    assert copy.src_memory_type == drv.memory_type.HOST and copy.dst_memory_type == drv.memory_type.DEVICE
    assert copy.dst_device == int(memory) and "height=3" in repr(copy)


def test_buffers_may_have_gaps():
    source, target = image()[:, ::1][:, 1:5], np.zeros((6, 8), np.float32)
    memory = drv.mem_alloc(6 * 16)
    copy = drv.Memcpy2D()
    copy.set_src_host(source)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = source.strides[0], 16, 16, 6
    copy(aligned=False)
    back = drv.Memcpy2D()
    back.set_src_device(int(memory))
    back.set_dst_host(target)
    back.src_pitch, back.dst_pitch, back.width_in_bytes, back.height = 16, 32, 16, 6
    back()
    assert (target[:, :4] == source).all() and not target[:, 4:].any()


def test_invalid_sources_and_destinations_are_refused():
    with pytest.raises(ValueError, match="cannot be written to"):
        drv.Memcpy2D().set_dst_host(b"bytes")
    with pytest.raises(TypeError):
        drv.Memcpy2D().set_src_host(5)
    with pytest.raises(drv.LogicError, match="cuMemcpy2D failed"):
        copy = drv.Memcpy2D()
        copy.width_in_bytes = copy.height = 4
        copy()


def test_unified_addresses_are_copied():
    source, target = drv.pagelocked_zeros((2, 4), np.uint8), drv.pagelocked_zeros((2, 4), np.uint8)
    source[...] = 7
    copy = drv.Memcpy2D()
    copy.set_src_unified(source)
    copy.set_dst_unified(target)
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 4
    copy.height = 2
    copy()
    assert (target == 7).all() and copy.src_memory_type == drv.memory_type.UNIFIED


@pytest.mark.parametrize("kind", [drv.Memcpy3D, drv.Memcpy3DPeer])
@pytest.mark.parametrize("has_stream", [False, True])
def test_a_volume_is_copied(kind, has_stream, context):
    source = np.arange(2 * 3 * 4, dtype=np.int32).reshape(2, 3, 4)
    memory, stream = drv.mem_alloc(source.nbytes), drv.Stream()
    copy = kind()
    copy.set_src_host(source)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.src_height, copy.dst_pitch, copy.dst_height = 16, 3, 8, 2
    copy.src_x_in_bytes, copy.src_y, copy.src_z = 4, 1, 0
    copy.width_in_bytes, copy.height, copy.depth = 8, 2, 2
    if kind is drv.Memcpy3DPeer:
        copy.set_src_context(context)
        copy.set_dst_context(context)
        with pytest.raises(TypeError, match="context must be a Context"):
            copy.set_src_context(None)
    copy(stream) if has_stream else copy()
    drv.Context.synchronize()
    assert (drv.from_device(memory, (2, 2, 2), np.int32) == source[:, 1:, 1:3]).all()


@pytest.mark.parametrize("kind", [drv.Memcpy2D, drv.Memcpy3D])
def test_fields_must_be_ints_from_0(kind):
    memory = drv.mem_alloc(64)
    for value, error, text in [
        (-1, drv.LogicError, "must be from 0 to .*, not -1"),
        (2**63, drv.LogicError, "must be from 0 to"),
        ("4", TypeError, "width_in_bytes must be an int, not str"),
        (1.5, TypeError, "width_in_bytes must be an int, not float"),
        (None, TypeError, "width_in_bytes must be an int, not NoneType"),
    ]:
        copy = kind()
        copy.set_src_device(memory)
        copy.set_dst_device(memory)
        copy.height = 1
        copy.width_in_bytes = value
        with pytest.raises(error, match=text):
            copy()
