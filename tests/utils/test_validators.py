# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of values against a set of choices."""

import pytest

from cuda.core._utils.validators import check_str_enum, format_or_list
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
