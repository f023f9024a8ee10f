# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Ranges of memory: the two members that are kept as objects, and what growing and closing do to them."""

import threading

import numpy as np
import pytest

from cuda.core import Buffer

ARRAY = np.zeros(64, np.uint8)


@pytest.fixture
def buffer():
    return Buffer.from_handle(ARRAY.ctypes.data, 64, owner=ARRAY)


def test_members_are_the_same_objects_at_each_reading(buffer):
    assert buffer.handle is buffer.handle
    assert (int(buffer.handle), buffer.size) == (ARRAY.ctypes.data, 64)


def test_members_follow_growth_and_closing(buffer):
    buffer._size = 32
    assert buffer.size == 32
    buffer.close()
    assert (int(buffer.handle), buffer.size, buffer.is_closed) == (0, 0, True)


def test_members_are_read_only(buffer):
    for name in ("handle", "size"):
        with pytest.raises(AttributeError):
            setattr(buffer, name, 1)


def test_members_outlive_the_buffer(buffer):
    handle, size = buffer.handle, buffer.size
    del buffer
    assert (int(handle), size) == (ARRAY.ctypes.data, 64)


def test_a_part_does_not_grow(buffer):
    with pytest.raises(RuntimeError, match="cannot grow"):
        buffer[8:]._size = 16


def test_threads_that_close_and_read_see_one_of_two_sizes(buffer):
    sizes = set()
    reader = threading.Thread(target=lambda: sizes.update(buffer.size for _ in range(2000)))
    reader.start()
    buffer.close()
    reader.join()
    assert sizes <= {0, 64}
