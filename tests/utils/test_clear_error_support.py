# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks whose errors name the expected value."""

import pytest

from support.contract import (
    assert_type,
    assert_type_str_or_bytes_like,
    raise_code_path_meant_to_be_unreachable,
)


def test_assert_type():
    assert assert_type(1, int) is None
    assert assert_type("a", (int, str)) is None
    with pytest.raises(TypeError, match="expected type str, not int"):
        assert_type(1, str)
    with pytest.raises(TypeError, match="int or str, not float"):
        assert_type(1.0, (int, str))


def test_assert_type_str_or_bytes_like():
    for good in ("a", b"a", bytearray(b"a")):
        assert assert_type_str_or_bytes_like(good) is None
    for bad in (memoryview(b"a"), 1, None):
        with pytest.raises(TypeError, match="bytearray"):
            assert_type_str_or_bytes_like(bad)


def test_unreachable():
    with pytest.raises(RuntimeError, match="unreachable"):
        raise_code_path_meant_to_be_unreachable()
