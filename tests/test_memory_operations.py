# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory operations: values that streams write and wait for."""

import struct
import threading

import numpy as np
import pytest

from cuda.core import CUDAError, LegacyPinnedMemoryResource, MemoryOperation, NotSupportedError, VirtualMemoryResource
from cuda.core._memory_operations import packed_operations
from cuda.core.graph import GraphDefinition
from cuda.core.utils import StridedMemoryView
from support.memory import HostMemoryResource


def read(array, stream):
    """Return the elements of a page-locked array after the work of a stream."""
    stream.sync()
    return np.asarray(array).tolist()


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(np.int32, 7), (np.int32, -7), (np.uint32, 2**32 - 1), (np.int64, -(2**63)), (np.uint64, 2**64 - 1)],
)  # fmt: skip
def test_streams_write_values(device, stream, dtype, value):
    array = device.zeros(3, dtype, pinned=True)
    stream.write_value(array[1:], value)
    assert read(array, stream) == [0, value, 0]


def test_buffers_and_addresses_are_32_bits_unless_told_otherwise(device, stream):
    array = device.zeros(4, np.uint32, pinned=True)
    stream.write_value(array.exporting_obj, 1)
    stream.write_value(array.ptr + 4, 2)
    stream.write_value(array.ptr + 8, 3 << 32 | 4, bits=64)
    assert read(array, stream) == [1, 2, 4, 3]


@pytest.mark.parametrize(
    ("condition", "start", "other", "wanted"),
    [(">=", 0, 5, 5), ("==", 0, 3, 3), ("&", 1, 6, 4), ("nor", -1, 1, 1), (">=", -1, 0, 0)],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_streams_wait_for_values(device, dtype, condition, start, other, wanted):
    first, second = device.create_stream(), device.create_stream()
    flag = device.empty((), dtype, pinned=True)
    np.asarray(flag)[...] = start
    out = device.zeros(1, np.int32, stream=second)
    second.wait_value(flag, wanted, condition)
    out.fill(1, stream=second)
    assert not second.is_done
    first.write_value(flag, other)
    assert out.to_host(stream=second).tolist() == [1]


def test_host_ends_a_wait(device, stream):
    flag = device.zeros((), np.int32, pinned=True)
    stream.wait_value(flag, 1)
    threading.Timer(0.02, lambda: np.asarray(flag).fill(1)).start()
    stream.sync()
    assert np.asarray(flag) == 1


def test_operations_run_in_one_batch(device, stream):
    array = device.zeros(4, np.int32, pinned=True)
    stream.run_operations(
        MemoryOperation.write(array, 1),
        MemoryOperation.barrier("device"),
        MemoryOperation.wait(array, 1, "=="),
        MemoryOperation.write(array[1], 2),
        MemoryOperation.write(array.ptr + 8, 3 << 32 | 4, bits=64),
    )
    assert read(array, stream) == [1, 2, 4, 3]


def test_operations_are_captured(device, stream):
    array = device.zeros(2, np.int32, pinned=True)
    builder = device.create_graph_builder().begin_building()
    builder.stream.write_value(array, 5)
    builder.stream.run_operations(MemoryOperation.wait(array, 5), MemoryOperation.write(array[1], 6))
    builder.end_building().complete().launch(stream)
    assert read(array, stream) == [5, 6]


@pytest.mark.requires(software=True)
def test_flushes_need_support(device, stream):
    array = device.zeros(1, np.int32, pinned=True)
    with pytest.raises(NotSupportedError):
        stream.run_operations(MemoryOperation.flush())
    with pytest.raises(NotSupportedError):
        stream.wait_value(array, 0, flush=True)


def test_nodes_run_operations(device, stream):
    array = device.zeros(2, np.int32, pinned=True)
    graph = GraphDefinition()
    graph.memory_operations(MemoryOperation.write(array, 1)).memory_operations(
        MemoryOperation.wait(array, 1), MemoryOperation.write(array[1], 2)
    )
    graph.instantiate().launch(stream)
    assert read(array, stream) == [1, 2]


def test_operations_are_packed_as_the_driver_reads_them():
    content = packed_operations([
        MemoryOperation.write(16, -1), MemoryOperation.write(16, 1, bits=64),
        MemoryOperation.wait(32, 2, "nor", flush=True), MemoryOperation.wait(32, 2, bits=64),
        MemoryOperation.barrier(), MemoryOperation.barrier("device"), MemoryOperation.flush(),
    ])  # fmt: skip
    found = [struct.unpack_from("=i4xQQI", content, 48 * index) for index in range(4)]
    assert found == [(2, 16, 2**32 - 1, 0), (5, 16, 1, 0), (1, 32, 2, 3 | 1 << 30), (4, 32, 2, 0)]
    assert [struct.unpack_from("=iI", content, 48 * index) for index in range(4, 7)] == [(6, 0), (6, 1), (3, 0)]
    assert len(content) == 7 * 48


def test_operations_show_themselves():
    assert repr(MemoryOperation.wait(4096, 3)) == "<MemoryOperation wait for 0x1000 >= 3>"
    assert repr(MemoryOperation.barrier()) == "<MemoryOperation barrier of the system>"
    with pytest.raises(RuntimeError, match=r"use write\(\)"):
        MemoryOperation()


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((3, 1), ValueError, "a multiple of 4 bytes"),
        ((4, 1, 64), ValueError, "a multiple of 8 bytes"),
        ((4, 1, 16), ValueError, "bits must be 32 or 64"),
        ((4, 2**32), OverflowError, "must fit 32 bits"),
        ((4, -(2**31) - 1), OverflowError, "must fit 32 bits"),
        ((4, 1.5), TypeError, "value must be an int"),
        (("4", 1), TypeError, "target must be"),
        ((-4, 1), OverflowError, "target"),
    ],
)
def test_wrong_operations_are_rejected(device, stream, arguments, error, text):
    target, value, bits = (*arguments, None)[:3]
    for attempt in (MemoryOperation.write, MemoryOperation.wait, stream.write_value, stream.wait_value):
        with pytest.raises(error, match=text):
            attempt(target, value, bits=bits)


def test_wrong_conditions_scopes_and_elements_are_rejected(device, stream):
    with pytest.raises(ValueError, match="condition"):
        stream.wait_value(4096, 1, "<")
    with pytest.raises(ValueError, match="scope"):
        MemoryOperation.barrier("world")
    with pytest.raises(ValueError, match="bits must be 32 or 64, not 8"):
        stream.write_value(device.zeros(1, np.int8, pinned=True), 1)
    with pytest.raises(TypeError, match="MemoryOperation objects, not int"):
        stream.run_operations(3)
    with pytest.raises(ValueError, match="at least one"):
        stream.run_operations()
    with pytest.raises(TypeError, match="MemoryOperation objects, not int"):
        GraphDefinition().memory_operations(3)


def test_closed_objects_are_rejected(device, stream):
    buffer = LegacyPinnedMemoryResource().allocate(8)
    buffer.close()
    with pytest.raises(RuntimeError, match="target must be an open Buffer"):
        stream.write_value(buffer, 1)
    array = device.zeros(1, np.int32, pinned=True)
    other = device.create_stream()
    other.close()
    for attempt in (other.write_value, other.wait_value):
        with pytest.raises(RuntimeError, match="closed"):
            attempt(array, 1)
    with pytest.raises(RuntimeError, match="closed"):
        other.run_operations(MemoryOperation.barrier())


def test_memory_that_no_device_accesses_is_rejected(stream):
    with HostMemoryResource().allocate(8) as buffer, pytest.raises(Exception, match="INVALID_VALUE|NOT_SUPPORTED"):
        stream.write_value(buffer, 1)


@pytest.mark.parametrize("operation", [MemoryOperation.write, MemoryOperation.wait])
def test_pool_memory_is_rejected(device, stream, operation):
    array, flag = device.zeros(1, np.int32, stream=stream), device.zeros(1, np.int32, pinned=True)
    with pytest.raises(CUDAError, match=r"need page-locked memory, such as device.zeros\(\.\.\., pinned=True\)"):
        # The first operation is valid, and does not run either.
        stream.run_operations(MemoryOperation.write(flag, 1), operation(array, 1))
    assert read(flag, stream) == [0]


@pytest.mark.requires(software=True)
def test_nodes_reject_pool_memory(device, stream):
    array = device.zeros(1, np.int32, stream=stream)
    with pytest.raises(CUDAError, match=r"INVALID_VALUE[^$]*need page-locked memory"):
        GraphDefinition().memory_operations(MemoryOperation.write(array, 1))
    with pytest.raises(CUDAError, match=r"INVALID_VALUE[^$]*fewer than 256 operations"):
        GraphDefinition().memory_operations(*[MemoryOperation.barrier()] * 257)


@pytest.mark.requires(vmm=True)
def test_operations_run_in_virtual_memory(device, stream):
    with VirtualMemoryResource(device).allocate(1, stream=stream) as buffer:
        stream.write_value(buffer, 7)
        stream.wait_value(buffer, 7, "==")
        out = np.zeros(1, np.int32)
        buffer.view((-1,), np.int32)[:1].to_host(out, stream=stream)
    assert out.tolist() == [7]


def test_targets_without_room_are_rejected(device, stream):
    array = device.zeros(4, np.int32, pinned=True)
    buffer = LegacyPinnedMemoryResource().allocate(16)
    for attempt in (stream.write_value, stream.wait_value):
        for target, bits, size in (
            (array[4:], None, 0),
            (array[3:], 64, 4),
            (buffer[4:6], None, 2),
            (array[:2:2], 64, 4),
        ):
            with pytest.raises(ValueError, match=f"at least . bytes, not {size}|multiple of 8"):
                attempt(target, 1, bits=bits)
    stream.write_value(array[::2], 3)
    stream.write_value(array[2:4], 4 << 32 | 5, bits=64)
    assert read(array, stream) == [3, 0, 5, 4]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_non_integer_elements_need_their_bits(device, stream, dtype):
    array = device.zeros(1, np.int64, pinned=True)
    view = np.asarray(array).view(dtype)
    target = StridedMemoryView.from_any_interface(view, stream_ptr=-1)
    for attempt in (stream.write_value, stream.wait_value):
        with pytest.raises(TypeError, match="must have integers as elements"):
            attempt(target, 1)
    stream.write_value(target, 1 << 23 | 1, bits=32)
    assert read(array, stream) == [1 << 23 | 1]


def test_read_only_views_are_not_written(device, stream):
    array = device.zeros(1, np.int32, pinned=True)
    view = np.asarray(array)
    view.flags.writeable = False
    target = StridedMemoryView.from_any_interface(view, stream_ptr=-1)
    with pytest.raises(ValueError, match="read-only"):
        stream.write_value(target, 1)
    stream.wait_value(target, 0, "==")
    stream.sync()


@pytest.mark.requires(software=True, cuda=(13, 1))
@pytest.mark.parametrize(("operation", "expected"), [("add", 12 + 10), ("and", 12 & 10), ("or", 12 | 10)])
@pytest.mark.parametrize("dtype", [np.int32, np.uint64])
def test_reduction_combines_the_value(device, stream, operation, expected, dtype):
    target = device.zeros((), dtype, pinned=True)
    np.asarray(target)[...] = 12
    stream.run_operations(MemoryOperation.reduce(target, 10, operation))
    stream.sync()
    assert np.asarray(target) == expected


@pytest.mark.requires(software=True, cuda=(13, 1))
def test_reductions_are_nodes(device, stream):
    target = device.zeros((), np.int32, pinned=True)
    definition = GraphDefinition()
    reduction = MemoryOperation.reduce(target, -3)
    assert "add -3 to" in repr(reduction)
    definition.memory_operations(reduction)
    graph = definition.instantiate()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert np.asarray(target) == -6


def test_reductions_are_checked(device):
    target = device.zeros((), np.int32, pinned=True)
    with pytest.raises(ValueError, match="is not a valid operation"):
        MemoryOperation.reduce(target, 1, "xor")
    with pytest.raises(ValueError, match="read-only"):
        frozen = np.zeros(1, np.int32)
        frozen.flags.writeable = False
        MemoryOperation.reduce(StridedMemoryView.from_any_interface(frozen, stream_ptr=-1), 1)
