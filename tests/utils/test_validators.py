# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of values against a set of choices."""

import pytest

from cuda.core._utils.validators import check_address, check_str_enum, format_or_list, shown
from cuda.core.typing import SourceCodeType


@pytest.mark.parametrize("value", ["ptx", "PTX", "Ptx", SourceCodeType.PTX])
def test_check_str_enum_returns_the_member(value):
    assert check_str_enum(value, SourceCodeType) is SourceCodeType.PTX


@pytest.mark.parametrize("value", ["fortran", "", 3, None, b"ptx"])
def test_check_str_enum_lists_the_choices(value):
    with pytest.raises(ValueError, match=r"SourceCodeType; it must be 'c\+\+', 'nvvm' or 'ptx'"):
        check_str_enum(value, SourceCodeType)


def test_check_str_enum_takes_none_where_allowed():
    assert check_str_enum(None, SourceCodeType, allow_none=True) is None
    with pytest.raises(ValueError):
        check_str_enum("", SourceCodeType, allow_none=True)


@pytest.mark.parametrize(
    ("values", "text"),
    [([], ""), (["a"], "'a'"), (["a", "b"], "'a' or 'b'"), (["a", "b", "c"], "'a', 'b' or 'c'"), ((1, 2), "1 or 2")],
)
def test_format_or_list(values, text):
    assert format_or_list(values) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        ("a", "'a'"),
        (-(10**5000), "an int of 16610 bits"),
        ((1, 10**5000), "(1, an int of 16610 bits)"),
        ({1: 10**5000}, "a dict with a long int"),
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
