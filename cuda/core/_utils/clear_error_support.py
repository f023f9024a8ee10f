# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Type checks whose error messages name the expected type."""

from __future__ import annotations

__all__ = ["assert_type", "assert_type_str_or_bytes_like", "raise_code_path_meant_to_be_unreachable"]


def assert_type(obj, expected_type) -> None:
    """Raise TypeError unless ``obj`` is an instance of ``expected_type``, a type or a tuple of types."""
    if not isinstance(obj, expected_type):
        expected = expected_type if isinstance(expected_type, tuple) else (expected_type,)
        names = " or ".join([kind.__name__ for kind in expected])
        raise TypeError(f"expected type {names}, not {type(obj).__name__}")


def assert_type_str_or_bytes_like(obj) -> None:
    """Raise TypeError unless ``obj`` is a str, bytes or bytearray."""
    assert_type(obj, (str, bytes, bytearray))


def raise_code_path_meant_to_be_unreachable() -> None:
    """Raise RuntimeError, in a branch that cannot be reached."""
    raise RuntimeError("this code path is meant to be unreachable")
