# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments, and the text of values in messages."""

import numpy as np
import pytest

from cuda.core._utils.validators import (
    check_address,
    check_path,
    dtype_argument,
    int_argument,
    iterator_of,
    list_argument,
    name_bytes,
    shown,
)
from cuda.core.typing import SourceCodeType
from support.contract import check_str_enum, format_or_list


@pytest.mark.parametrize("value", ["ptx", "PTX", "Ptx", SourceCodeType.PTX])
def test_check_str_enum_returns_the_member(value):
    assert check_str_enum(value, SourceCodeType) is SourceCodeType.PTX


@pytest.mark.parametrize("value", ["fortran", "", 3, None, b"ptx"])
def test_check_str_enum_lists_the_choices(value):
    with pytest.raises(ValueError, match=r"SourceCodeType; it must be 'c\+\+', 'nvvm' or 'ptx'"):
        check_str_enum(value, SourceCodeType)


def test_check_str_enum_accepts_none_where_allowed():
    assert check_str_enum(None, SourceCodeType, allow_none=True) is None
    with pytest.raises(ValueError):
        check_str_enum("", SourceCodeType, allow_none=True)


@pytest.mark.parametrize(
    ("values", "text"),
    [([], ""), (["a"], "'a'"), (["a", "b"], "'a' or 'b'"), (["a", "b", "c"], "'a', 'b' or 'c'"), ((1, 2), "1 or 2")],
)
def test_format_or_list(values, text):
    assert format_or_list(values) == text


def nested(depth):
    inner = []
    for _ in range(depth):
        inner = [inner]
    return inner


class Unwritten:
    def __repr__(self):
        raise KeyError("repr")


def test_values_whose_repr_fails_are_shown_by_their_class():
    assert shown(Unwritten()) == "a Unwritten that cannot be written out"


@pytest.mark.parametrize("value", [1.5, "1", None, [1]])
def test_non_ints_are_rejected_by_name(value):
    assert int_argument("axis", True) == 1
    with pytest.raises(TypeError, match=f"axis must be an int, not {type(value).__name__}"):
        int_argument("axis", value)


def test_items_are_returned_as_a_list():
    assert list_argument("items", (1, 2)) == [1, 2] == list(iterator_of([1, 2]))
    with pytest.raises(TypeError, match="items must be a list, not int"):
        list_argument("items", 3)
    with pytest.raises(TypeError, match="not iterable"):
        iterator_of(3)


def test_released_memoryview_raises_its_own_error():
    view = memoryview(b"ab")
    view.release()
    for _ in range(100):  # CPython compiles functions again after some calls
        with pytest.raises(ValueError, match="released memoryview"):
            list_argument("items", view)


@pytest.mark.parametrize(("name", "why"), [("a\0b", "no null character"), (b"\0", "no null"), ("\ud800", "Unicode")])
def test_names_impossible_in_c_are_rejected(name, why):
    assert name_bytes("name", "\u00e9") == "\u00e9".encode()
    with pytest.raises(ValueError, match=f"name must have {why}"):
        name_bytes("name", name)


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_impossible_paths_are_rejected(path):
    check_path("path", "a/\udcff")
    with pytest.raises(ValueError, match="path must have no null characters"):
        check_path("path", path)


@pytest.mark.parametrize("value", ["\ud800", {1: 2}, 10**5000, object()], ids=lambda value: type(value).__name__)
def test_non_dtypes_are_rejected_by_name(value):
    assert dtype_argument("f4") is np.dtype("f4")
    with pytest.raises(TypeError, match="dtype must be a numpy.dtype"):
        dtype_argument(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        ("a", "'a'"),
        (-(10**5000), "an int of 16610 bits"),
        ((1, 10**5000), "(1, an int of 16610 bits)"),
        ({1: 10**5000}, "a dict that cannot be written out"),
        ((1, [10**5000]), "a tuple that cannot be written out"),
        (nested(100_000), "a list that cannot be written out"),
        ("x" * 1000, f"'{'x' * 199}..."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_shown_whatever_the_length_of_their_ints(value, text):
    assert shown(value) == text


@pytest.mark.parametrize(("value", "error"), [(-1, OverflowError), (1 << 64, OverflowError), (1.5, TypeError)])
def test_addresses_fit_64_bits(value, error):
    assert check_address("handle", 2**64 - 1) == 2**64 - 1
    with pytest.raises(error, match="handle must be"):
        check_address("handle", value)
