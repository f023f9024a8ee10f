# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache key of options: equal for equal values of equal types, and None for values that may change."""

from pathlib import Path

import pytest

from cuda.core._compile._option_key import option_key


class Options:
    pass


@pytest.mark.parametrize(
    "values",
    [{}, {"a": 1}, {"a": "1", "b": True}, {"a": Path("x")}, {"a": [("N", "1"), "M"]}, {"a": ("x", "y")}],
    ids=str,
)
def test_equal_values_have_equal_keys(values):
    assert option_key(Options, values) == option_key(Options, dict(values))
    assert hash(option_key(Options, values)) is not None


def test_none_counts_as_not_set():
    assert option_key(Options, {"a": None, "b": 1}) == option_key(Options, {"b": 1})


def test_equal_values_that_render_to_different_flags_have_different_keys():
    keys = {option_key(Options, {"a": value}) for value in (1, True, "1", [1], (1,))}
    assert len(keys) == 5


def test_class_is_part_of_the_key():
    assert option_key(Options, {"a": 1}) != option_key(object, {"a": 1})


@pytest.mark.parametrize("value", [1.5, b"x", {}, [b"x"], [("a", 1)], [["a"]], NotImplemented], ids=repr)
def test_values_of_other_types_have_no_key(value):
    assert option_key(Options, {"a": value}) is None
