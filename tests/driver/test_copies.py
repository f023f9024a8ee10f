# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between host and devices, 2D and 3D copies, and fills."""

import array
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cuda.core.driver as drv

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize(
    "source",
    [
        np.arange(24, dtype=np.float32),
        np.arange(24, dtype=np.int16).reshape(4, 6),
        np.asfortranarray(np.arange(24.0).reshape(4, 6)),
        np.zeros(4, dtype="M8[s]"),
        np.zeros(3, [("a", "i4"), ("b", "f8")]),
        b"some bytes",
        bytearray(b"more bytes"),
        array.array("i", [1, 2, 3]),
        memoryview(b"a view"),
        np.float32(2.5),
    ],
    ids=lambda source: type(source).__name__,
)
def test_objects_with_the_buffer_protocol_are_copied(source):
    size = memoryview(source).nbytes if not isinstance(source, np.ndarray) else source.nbytes
    memory = drv.mem_alloc(size)
    drv.memcpy_htod(memory, source)
    result = np.empty(size, np.uint8)
    drv.memcpy_dtoh(result, memory)
    expected = source.tobytes("A") if isinstance(source, np.ndarray) else bytes(source)
    assert result.tobytes() == expected


def test_copies_begin_at_any_address():
    memory = drv.to_device(np.arange(8, dtype=np.int32))
    result = np.empty(2, np.int32)
    drv.memcpy_dtoh(result, int(memory) + 8)
    assert result.tolist() == [2, 3]


def test_asynchronous_copies_keep_the_order_of_their_stream():
    stream, source = drv.Stream(), np.arange(1000.0)
    memory, other = drv.mem_alloc(source.nbytes), drv.mem_alloc(source.nbytes)
    result = np.empty_like(source)
    drv.memcpy_htod_async(memory, source, stream)
    drv.memcpy_dtod_async(other, memory, source.nbytes, stream)
    drv.memcpy_dtoh_async(result, other, stream=stream)
    stream.synchronize()
    assert (result == source).all()


def test_asynchronous_copies_keep_the_host_memory():
    source = np.arange(16.0)
    alive = weakref.ref(source)
    stream, memory = drv.Stream(), drv.mem_alloc(source.nbytes)
    drv.memcpy_htod_async(memory, source, stream)
    del source
    gc.collect()
    assert alive() is not None
    stream.synchronize()
    gc.collect()
    assert alive() is None


def test_copies_within_and_between_devices():
    source = drv.to_device(np.arange(4.0))
    target = drv.mem_alloc(32)
    drv.memcpy_dtod(target, source, 32)
    assert drv.from_device(target, 4, float).tolist() == [0, 1, 2, 3]
    context = drv.Context.get_current()
    for copy in (drv.memcpy_peer, drv.memcpy_peer_async):
        drv.memset_d8(target, 0, 32)
        copy(target, source, 32, context, context)
        drv.Context.synchronize()
        assert drv.from_device(target, 4, float).tolist() == [0, 1, 2, 3]
    with pytest.raises(TypeError, match="context must be a Context"):
        drv.memcpy_peer(target, source, 32, 1)


def test_copies_between_given_contexts_need_no_current_one():
    source, target, context = drv.to_device(np.arange(4.0)), drv.mem_alloc(32), drv.Context.get_current()

    def copies():
        assert drv.Context.get_current() is None
        for copy in (drv.memcpy_peer, drv.memcpy_peer_async):
            copy(target, source, 32, context, context)
            with pytest.raises(drv.LogicError, match="no context is current"):
                copy(target, source, 32, context)
            with pytest.raises(drv.LogicError, match="destination"):
                copy(target, source, 33, context, context)
        return drv.Context.get_current()

    with ThreadPoolExecutor(1) as elsewhere:  # no context is current in a new thread
        assert elsewhere.submit(copies).result() is None
    drv.Context.synchronize()
    assert drv.from_device(target, 4, float).tolist() == [0, 1, 2, 3]


def test_arrays_with_gaps_are_rejected_except_by_to_device():
    gappy = np.arange(16.0)[::2]
    memory = drv.mem_alloc(128)
    for copy in (drv.memcpy_htod, drv.memcpy_htod_async):
        with pytest.raises(ValueError, match="not contiguous"):
            copy(memory, gappy)
    with pytest.raises(ValueError, match="is not contiguous"):
        drv.memcpy_htod(memory, memoryview(b"abcdef")[::2])
    assert drv.from_device(drv.to_device(gappy), 8, float).tolist() == gappy.tolist()


def test_destinations_must_be_writable():
    memory, readonly = drv.mem_alloc(8), np.zeros(8, np.uint8)
    readonly.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        drv.memcpy_dtoh(readonly, memory)
    with pytest.raises(ValueError, match="is read-only"):
        drv.memcpy_dtoh(b"12345678", memory)


def test_python_objects_are_not_copied():
    with pytest.raises(TypeError, match="Python objects"):
        drv.memcpy_htod(drv.mem_alloc(64), np.array([{}]))
    with pytest.raises(TypeError):
        drv.memcpy_htod(drv.mem_alloc(64), 5)


def test_copies_past_the_end_of_an_allocation_are_rejected():
    memory, host = drv.mem_alloc(8), np.zeros(9, np.uint8)
    for copy in (
        lambda: drv.memcpy_htod(memory, host),
        lambda: drv.memcpy_dtoh(host, memory),
        lambda: drv.memcpy_htod_async(memory, host),
        lambda: drv.memcpy_dtoh_async(host, memory),
        lambda: drv.memcpy_dtod(memory, memory, 9),
        lambda: drv.memcpy_peer(memory, memory, 9),
        lambda: drv.memset_d32(memory, 0, 3),
        lambda: drv.memset_d2d8(memory, 4, 0, 4, 3),
    ):
        with pytest.raises(drv.LogicError, match="invalid argument - the (source|destination) has 8 bytes"):
            copy()
    with pytest.raises(drv.LogicError, match="must not be negative"):
        drv.memcpy_dtod(memory, memory, -1)


def test_copies_of_nothing_do_nothing():
    empty = np.empty(0)
    assert drv.memcpy_htod(drv.mem_alloc(1), empty) is None
    assert drv.memcpy_dtoh(bytearray(), drv.mem_alloc(1)) is None


def test_from_device_returns_the_given_shape_and_order():
    source = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    memory = drv.to_device(source)
    assert (drv.from_device(memory, (2, 3), float, order="F") == source).all()
    like = drv.from_device_like(memory, source)
    assert like.flags.f_contiguous and (like == source).all()


@pytest.mark.parametrize(("bits", "data"), [(8, 0xA5), (16, 0xA5B6), (32, 0xA5B6C7D8), (8, -1)])
def test_memory_is_filled(bits, data):
    width = bits // 8
    memory = drv.to_device(np.zeros(8 * width, np.uint8))
    expected = [data % (1 << bits)] * 4 + [0] * 4
    getattr(drv, f"memset_d{bits}")(memory, data, 4)
    assert drv.from_device(memory, 8, f"u{width}").tolist() == expected
    getattr(drv, f"memset_d{bits}_async")(memory, 0, size=8, stream=drv.Stream())
    drv.Context.synchronize()
    assert not drv.from_device(memory, 8, f"u{width}").any()


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_rows_with_a_pitch_are_filled(bits):
    width = bits // 8
    memory = drv.to_device(np.zeros(12, f"u{width}"))
    getattr(drv, f"memset_d2d{bits}")(memory, 4 * width, 7, 2, 3)
    expected = np.array([[7, 7, 0, 0]] * 3)
    assert (drv.from_device(memory, (3, 4), f"u{width}") == expected).all()
    getattr(drv, f"memset_d2d{bits}_async")(memory, 4 * width, 0, 2, 3, drv.Stream())
    drv.Context.synchronize()
    assert not drv.from_device(memory, 12, f"u{width}").any()


def test_fills_need_a_number_that_fits_and_a_count():
    memory = drv.mem_alloc(8)
    with pytest.raises(drv.LogicError, match="must fit in 8 bits"):
        drv.memset_d8(memory, 256, 1)
    with pytest.raises(TypeError):
        drv.memset_d8(memory, 1.5, 1)
    with pytest.raises(TypeError, match="as either count or size"):
        drv.memset_d8(memory, 0)


@pytest.mark.parametrize(
    ("fill", "rows", "bits"),
    [
        (drv.memset_d8, drv.memset_d2d8, 8),
        (drv.memset_d16, drv.memset_d2d16, 16),
        (drv.memset_d32, drv.memset_d2d32, 32),
        (drv.memset_d8_async, drv.memset_d2d8_async, 8),
        (drv.memset_d16_async, drv.memset_d2d16_async, 16),
        (drv.memset_d32_async, drv.memset_d2d32_async, 32),
    ],
)
def test_fills_change_only_the_given_elements(context, fill, rows, bits):
    width, value = bits // 8, (1 << bits) - 3
    memory = drv.mem_alloc(64)
    fill(memory, 0, 64 // width)
    fill(memory, value, 3)
    host = drv.from_device(memory, 64 // width, f"u{width}")
    assert host.tolist() == [value] * 3 + [0] * (64 // width - 3)
    fill(memory, 0, 64 // width)
    rows(memory, 16, value, 2, 3)
    host = drv.from_device(memory, (4, 16 // width), f"u{width}")
    assert (host[:3, :2] == value).all() and not host[3].any() and not host[:, 2:].any()


def image(kind=np.float32):
    return np.arange(6 * 8, dtype=kind).reshape(6, 8)


@pytest.mark.parametrize("call", ["aligned", "unaligned", "keyword", "stream", "stream keyword"])
def test_part_of_an_image_is_copied(call):
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


def test_invalid_sources_and_destinations_are_rejected():
    with pytest.raises(ValueError, match="is read-only"):
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
def test_volume_is_copied(kind, has_stream, context):
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
