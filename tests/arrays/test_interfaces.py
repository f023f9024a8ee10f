# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Entries that both array interfaces share, read for views; test_array_copies.py has the same tests for copies."""

import numpy as np
import pytest

from cuda.core.utils import StridedMemoryView
from support.tensors import ArrayInterface, CudaInterface

VIEWS = {
    "host": lambda **entries: StridedMemoryView.from_array_interface(ArrayInterface(np.zeros(4), **entries)),
    "cuda": lambda **entries: StridedMemoryView.from_any_interface(CudaInterface(np.zeros(4), **entries), -1),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize(
    ("entries", "error", "message"),
    [
        ({"shape": (-4,)}, ValueError, "must not have negative extents"),
        ({"shape": (4.0,)}, TypeError, "shape must be a tuple of int, but has a float"),
        ({"shape": (10**5000,)}, OverflowError, "an int of 16610 bits"),
        ({"shape": (2**62, 4)}, ValueError, "larger than the address space"),
        ({"typestr": "<f" + 20 * "8"}, BufferError, "'typestr' must be like"),
        ({"typestr": "<U" + 19 * "9"}, BufferError, "'typestr' must be like"),
        ({"data": (2**64, False)}, OverflowError, "from 0 to 2..64 - 1, not 18446744073709551616"),
        ({"data": ("a", False)}, TypeError, "address in the entry 'data' must be an int"),
        ({"data": 5}, BufferError, "'data' must be a tuple"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_wrong_entries_are_rejected(device, view, entries, error, message):
    with pytest.raises(error, match=message):
        view(**entries)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_address_none_is_a_null_pointer(device, view):
    assert view(shape=(0,), data=(None, False)).ptr == 0
