# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Which elements of host memory refer to Python objects."""

import ctypes

import numpy as np
import pytest

from cuda.core._memory._copies import holds_objects


class Offset(ctypes.Structure):
    _fields_ = (("Offset", ctypes.c_int), ("x:O:y", ctypes.c_int))


class WithObject(Offset):
    _fields_ = (("plain", ctypes.c_int), ("items", ctypes.py_object * 2))


class Either(ctypes.Union):
    _fields_ = (("number", ctypes.c_long), ("nested", WithObject))


class NoDtype:
    """An exporter without a dtype, whose format describes the elements."""


@pytest.mark.parametrize(
    "exporter", [Offset(), (Offset * 3)(), memoryview((Offset * 3)()), (ctypes.POINTER(ctypes.py_object) * 2)()]
)
def test_ctypes_with_an_o_in_a_name_or_with_pointers_are_plain(exporter):
    assert not holds_objects(exporter, memoryview(exporter).format.encode())


@pytest.mark.parametrize("exporter", [WithObject(), (WithObject * 2 * 2)(), Either(), (ctypes.py_object * 2)()])
def test_ctypes_with_a_py_object_anywhere_are_not_plain(exporter):
    assert holds_objects(exporter, b"")


@pytest.mark.parametrize(("text", "expected"), [(b"O", True), (b"T{<i:Offset:O:x:}", True), (b"T{<i:Offset:}", False)])
def test_names_of_fields_in_formats_are_ignored(text, expected):
    assert holds_objects(NoDtype(), text) is expected


def test_the_dtype_of_numpy_arrays_decides():
    assert holds_objects(np.zeros(2, "O,i4"), b"")
    assert not holds_objects(np.zeros(2, [("Offset", "i4")]), b"T{i:Offset:}")
