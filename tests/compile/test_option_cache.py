# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache of checked options, which equal options share, and others do not."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from cuda.core import ProgramOptions
from cuda.core._compile import _option_cache
from cuda.core._compile._option_cache import checked_values_of


@pytest.mark.parametrize(
    "values",
    [
        {}, {"arch": "sm_90"}, {"arch": "sm_90", "debug": True}, {"include_path": ["a", "b"]},
        {"include_path": ("a", Path("b"))}, {"include_path": Path("b")}, {"diag_suppress": [1, 2]},
        {"define_macro": [("A", "1"), "B"]}, {"define_macro": ("A", "1")}, {"name": None}, {"std": None},
    ],
    ids=str,
)  # fmt: skip
def test_equal_options_share_their_entry(values):
    one, other = ProgramOptions(**values), ProgramOptions(**copy.deepcopy(values))
    assert one == other
    assert vars(one) == vars(other)
    assert checked_values_of(one) is checked_values_of(other)
    assert (
        checked_values_of(copy.copy(one))
        is checked_values_of(pickle.loads(pickle.dumps(one)))
        is checked_values_of(replace(one))
    )


@pytest.mark.parametrize(
    "one, other",
    [
        ({"debug": True}, {"debug": 1}),
        ({"split_compile": True}, {"split_compile": 1}),
        ({"include_path": ["a"]}, {"include_path": ("a",)}),
        ({"include_path": "a"}, {"include_path": ["a"]}),
        ({"include_path": "a"}, {"include_path": Path("a")}),
        ({"define_macro": ("A", "1")}, {"define_macro": ["A", "1"]}),
        ({"define_macro": [("A", "1")]}, {"define_macro": ["A", "1"]}),
        ({"arch": "sm_90"}, {"std": "sm_90"}),
    ],
    ids=str,
)
def test_different_options_have_different_entries(one, other):
    assert checked_values_of(ProgramOptions(**one)) is not checked_values_of(ProgramOptions(**other))


def test_options_hold_the_lists_of_the_user():
    paths = ["a"]
    assert ProgramOptions(include_path=["a"]).include_path == paths
    assert ProgramOptions(include_path=paths).include_path is paths


def test_an_assignment_changes_the_entry():
    options = ProgramOptions(arch="sm_90", debug=True)
    before = checked_values_of(options)
    options.debug = False
    assert checked_values_of(options) is not before
    options.debug = True
    assert checked_values_of(options).values["debug"] is True


def test_a_change_of_a_list_changes_the_entry():
    options = ProgramOptions(include_path=["a"])
    before = checked_values_of(options)
    options.include_path.append("b")
    assert checked_values_of(options).values["include_path"] == ["a", "b"]
    assert before.values["include_path"] == ["a"]
    assert checked_values_of(ProgramOptions(include_path=["a"])) is before


def test_a_list_that_became_wrong_is_refused():
    options = ProgramOptions(extra_sources=[("a", "source")])
    options.extra_sources.append(("b", ""))
    with pytest.raises(ValueError, match="the source of 'b'"):
        checked_values_of(options)


def test_a_value_that_equals_a_valid_one_is_checked_itself():
    ProgramOptions(max_register_count=1, diag_error=(1,))
    for wrong in ({"max_register_count": True}, {"max_register_count": 1.0}, {"diag_error": (1.0,)}):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            ProgramOptions(**wrong)


def test_values_that_may_change_are_not_cached():
    class Place:
        def __fspath__(self):
            return "a"

    assert checked_values_of(ProgramOptions(include_path=Place())) is None
    assert checked_values_of(ProgramOptions(include_path=[Place()])) is None


def test_a_subclass_makes_its_own_checks():
    class Strict(ProgramOptions):
        def __post_init__(self):
            super().__post_init__()
            if self.debug:
                raise ValueError("no debugging")

    ProgramOptions(debug=True)
    for _ in range(2):
        with pytest.raises(ValueError, match="no debugging"):
            Strict(debug=True)


def test_the_number_of_cached_options_is_limited(monkeypatch):
    monkeypatch.setattr(_option_cache, "_cache", {})
    monkeypatch.setattr(_option_cache, "_CAPACITY", 2)
    for number in range(5):
        assert ProgramOptions(name=f"program {number}").name == f"program {number}"
    assert len(_option_cache._cache) == 1
