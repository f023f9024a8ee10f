# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The text of an array: its type, shape, place, and first and last values."""

import numpy as np
import pytest

from cuda.core import Buffer, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cuda.core.utils import StridedMemoryView


def test_small_arrays_are_shown_in_one_line(device):
    array = device.to_device(np.arange(4, dtype=np.float32))
    assert repr(array) == "<StridedMemoryView (4,) float32 on device 0: [0., 1., 2., 3.]>"
    assert repr(device.to_device(np.array(7))) == "<StridedMemoryView () int64 on device 0: 7>"
    assert repr(array[:0]) == "<StridedMemoryView (0,) float32 on device 0: []>"


def test_host_arrays_are_shown(device):
    view = StridedMemoryView.from_any_interface(np.arange(3), -1)
    assert repr(view) == "<StridedMemoryView (3,) int64 on the host: [0, 1, 2]>"


def test_first_and_last_values_of_large_arrays_are_shown(device):
    array = device.to_device(np.arange(1000, dtype=np.int32))
    assert repr(array) == "<StridedMemoryView (1000,) int32 on device 0: [  0,   1,   2, ..., 997, 998, 999]>"
    text = repr(array.reshape(100, 10)[:, ::-1])
    assert text.startswith("<StridedMemoryView (100, 10) int32 on device 0:\n[[  9,   8,   7, ...,   2,   1,   0],")
    assert text.endswith("[999, 998, 997, ..., 992, 991, 990]]>")


@pytest.mark.parametrize("shape", [(7, 100), (100, 7), (8, 9, 2), (5, 4, 5, 3), (65,), (1, 65)])
def test_text_has_the_values_that_numpy_shows(device, shape):
    host = np.arange(np.prod(shape)).reshape(shape)
    edge = 3 if len(shape) < 3 else 1
    shown = np.array2string(host, separator=", ", threshold=0, edgeitems=edge)
    text = repr(device.to_device(host)).partition(":")[2].strip(" \n>")
    assert text.split() == shown.split()


def test_values_with_many_axes_are_not_shown(device):
    array = device.zeros((3,) * 5, np.int8)
    assert repr(array) == "<StridedMemoryView (3, 3, 3, 3, 3) int8 on device 0>"


def test_values_of_pending_work_are_shown(device, stream):
    array = device.zeros(2, np.int32)
    add = Program('extern "C" __global__ void add(int* x) { x[threadIdx.x] += 5; }', "c++").compile("cubin")
    launch(stream, LaunchConfig(grid=1, block=2), add.get_kernel("add"), array)
    assert "[5, 5]" in repr(array)


def test_text_does_not_disturb_a_capture(device, stream):
    array = device.zeros(2, np.int32)
    builder = stream.create_graph_builder().begin_building()
    with stream.use():
        assert repr(array) == "<StridedMemoryView (2,) int32 on device 0>"
    array.fill(3, stream=builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    assert array.tolist(stream=stream) == [3, 3]


def test_memory_of_an_unknown_owner_is_not_read(device):
    foreign = Buffer.from_handle(0x1000, 8).view(2, np.int32)
    assert repr(foreign).startswith("StridedMemoryView(ptr=4096,")


def test_untyped_views_show_their_layout(device, stream):
    untyped = StridedMemoryView.from_buffer(device.allocate(8, stream=stream), (2,), itemsize=4)
    assert repr(untyped).startswith("StridedMemoryView(ptr=")
    page_locked = LegacyPinnedMemoryResource().allocate(2).view(2, np.uint8)
    page_locked.fill(1)
    assert repr(page_locked).endswith(": [1, 1]>")
