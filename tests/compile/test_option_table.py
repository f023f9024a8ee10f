# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The table of compiler options."""

from dataclasses import fields

import pytest

from cuda.core._compile import _option_table
from cuda.core._compile._option_table import (
    each,
    forward,
    ignored,
    no_argument,
    number,
    option,
    setting,
    switch,
    toggle,
    value,
)
from cuda.core._utils.options import Options, options


@_option_table.document_options
@options
class Flags(Options):
    """Some flags."""

    plain: object = None
    fast: bool | None = option("Be fast.", one=switch("-fast"), two=toggle("-fast", "1", "0"))
    level: int | None = option("The level.", one=value("-level"))
    paths: list[str] | None = option("Paths.", one=each("-I").uses_files("reads"), two=no_argument())
    early: bool | None = option("Comes early.", one=switch("-early", lambda: 7, after="fast"))
    strict: bool | None = option("Be strict.", two=toggle("-strict"))


def test_rows_are_rendered_in_order():
    flags = Flags(fast=True, level=3, paths=("a", "b"), early=True)
    assert _option_table.render_options(flags, "one") == ["-fast", "-early=7", "-level=3", "-I=a", "-I=b"]
    assert _option_table.render_options(flags, "two") == ["-fast=1"]


def test_none_and_false_switches_render_no_argument():
    assert _option_table.render_options(Flags(), "one") == []
    assert _option_table.render_options(Flags(fast=False, early=False), "one") == []
    assert _option_table.render_options(Flags(fast=False), "two") == ["-fast=0"]


def test_options_without_a_renderer_are_rejected():
    assert _option_table.unsupported_options(Flags(fast=True, level=1, early=True), "two") == ["level", "early"]
    assert _option_table.unsupported_options(Flags(level=0, early=False), "two") == ["level"]
    assert _option_table.unsupported_options(Flags(strict=False), "one") == ["strict"]
    assert _option_table.unsupported_options(Flags(plain=5, paths=["a"]), "two") == []


@pytest.mark.parametrize("wrong", [{"fast": "yes"}, {"level": 1.5}, {"level": True}, {"paths": [None]}, {"strict": ()}])
def test_types_are_checked(wrong):
    with pytest.raises(TypeError, match=next(iter(wrong))):
        _option_table.check_options(Flags(**wrong))


def test_values_of_right_types_are_accepted():
    assert _option_table.check_options(Flags(fast=1, level="3", paths="a", early=False)) is None


def test_null_character_is_rejected():
    with pytest.raises(ValueError, match="paths contains a null character"):
        _option_table.render_options(Flags(paths="a\0"), "one")


def test_base_renderer_is_abstract():
    with pytest.raises(NotImplementedError):
        _option_table.Renderer("-x").render(1)


def test_documentation_is_made_from_the_rows():
    assert "Some flags." in Flags.__doc__
    assert "fast : bool | None\n        Be fast." in Flags.__doc__
    assert "plain :" not in Flags.__doc__


@options
class MoreFlags(Options):
    """Flags with versions, numbers, settings, and values forwarded to another table."""

    level: int | None = option("The level.", one=number("-O", join="", since=(13, 1)), two=setting("LEVEL"))
    threads: int | None = option("Threads.", one=number("-j", takes_bool=True), three=forward(int))
    loud: bool | None = option("Be loud.", one=switch("-v", since=(12, 0)), two=setting("LOUD", int, True))
    late: str | bool | None = option("When.", one=value("-t", takes_bool=True, since=(13, 2)), three=forward())
    old: bool | None = option("Old.", one=toggle("-old"), two=ignored())


def test_numbers_are_rendered():
    assert _option_table.render_options(MoreFlags(level=3, threads=2), "one") == ["-O3", "-j=2"]
    assert _option_table.render_options(MoreFlags(threads=True), "one") == ["-j=1"]


@pytest.mark.parametrize("wrong", [{"level": True}, {"level": "3"}, {"threads": "2"}, {"threads": 1.5}])
def test_non_numbers_are_rejected(wrong):
    with pytest.raises(TypeError, match=f"{next(iter(wrong))} must be an int or None"):
        _option_table.check_options(MoreFlags(**wrong))


def test_settings_are_rendered_as_pairs():
    assert _option_table.render_options(MoreFlags(level=0, loud=True), "two") == [("LEVEL", 0), ("LOUD", 1)]
    assert _option_table.render_options(MoreFlags(loud=False), "two") == []


def test_ignored_options_are_listed():
    assert _option_table.ignored_options(MoreFlags(old=False, level=1), "two") == ["old"]
    assert _option_table.ignored_options(MoreFlags(), "two") == []
    assert _option_table.unsupported_options(MoreFlags(old=True), "two") == []


def test_forwarded_options_are_converted():
    assert _option_table.forwarded_options(MoreFlags(threads=True, late="x", level=1), "three") == {
        "threads": 1,
        "late": "x",
    }


def test_options_newer_than_the_compiler_are_listed():
    flags = MoreFlags(level=0, loud=True, late="x")
    assert _option_table.newer_options(flags, "one", (13, 1)) == [("late", (13, 2))]
    assert _option_table.newer_options(flags, "one", (13, 2)) == []
    assert _option_table.newer_options(flags, "one", (11, 8)) == [
        ("level", (13, 1)),
        ("loud", (12, 0)),
        ("late", (13, 2)),
    ]
    assert _option_table.newer_options(MoreFlags(loud=False), "one", (11, 8)) == []


def test_options_that_read_or_write_files_are_listed():
    assert _option_table.options_with_files(Flags(paths=["a"], fast=True), "one", "reads", "writes") == ["paths"]
    assert _option_table.options_with_files(Flags(paths=["a"]), "one", "writes") == []
    assert _option_table.options_with_files(Flags(paths=["a"]), "two", "reads") == []
    assert _option_table.options_with_files(Flags(), "one", "reads") == []


def test_options_handled_elsewhere_are_listed():
    assert _option_table.options_without_argument(Flags(paths=["a"], fast=True), "two") == {"paths": ["a"]}
    assert _option_table.options_without_argument(Flags(paths=["a"]), "one") == {}


def test_construction_works_as_for_any_dataclass():
    assert Flags(1, True) == Flags(plain=1, fast=True)
    assert [field.name for field in fields(Flags)][:3] == ["plain", "fast", "level"]
    with pytest.raises(TypeError, match="no_such"):
        Flags(no_such=1)
    with pytest.raises(TypeError, match="fast"):
        Flags(1, True, fast=True)
