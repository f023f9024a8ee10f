# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The table of compiler options."""

from dataclasses import dataclass

import pytest

from cuda.core._utils import option_table
from cuda.core._utils.cache_root import cache_root
from cuda.core._utils.option_table import each, elsewhere, option, switch, toggle, value
from cuda.core._utils.options import Options


@option_table.document_options
@dataclass
class Flags(Options):
    """Some flags."""

    plain: object = None
    fast: bool | None = option("Be fast.", one=switch("-fast"), two=toggle("-fast", "1", "0"))
    level: int | None = option("The level.", one=value("-level"))
    paths: list[str] | None = option("Paths.", one=each("-I").touching("reads"), two=elsewhere())
    early: bool | None = option("Comes early.", one=switch("-early", lambda: 7, after="fast"))
    strict: bool | None = option("Be strict.", two=toggle("-strict"))


def test_rows_are_rendered_in_order():
    flags = Flags(fast=True, level=3, paths=("a", "b"), early=True)
    assert option_table.render_options(flags, "one") == ["-fast", "-early=7", "-level=3", "-I=a", "-I=b"]
    assert option_table.render_options(flags, "two") == ["-fast=1"]


def test_none_says_nothing():
    assert option_table.render_options(Flags(), "one") == []
    assert option_table.render_options(Flags(fast=False, early=False), "one") == []
    assert option_table.render_options(Flags(fast=False), "two") == ["-fast=0"]


def test_refusal():
    assert option_table.refused_options(Flags(fast=True, level=1, early=True), "two") == ["level", "early"]
    assert option_table.refused_options(Flags(level=0, early=False), "two") == ["level"]
    assert option_table.refused_options(Flags(strict=False), "one") == ["strict"]
    assert option_table.refused_options(Flags(plain=5, paths=["a"]), "two") == []


@pytest.mark.parametrize("wrong", [{"fast": "yes"}, {"level": 1.5}, {"level": True}, {"paths": [None]}, {"strict": ()}])
def test_types_are_checked(wrong):
    with pytest.raises(TypeError, match=next(iter(wrong))):
        option_table.check_options(Flags(**wrong))


def test_types_that_are_right():
    assert option_table.check_options(Flags(fast=1, level="3", paths="a", early=False)) is None


def test_null_character():
    with pytest.raises(ValueError, match="paths contains a null character"):
        option_table.render_options(Flags(paths="a\0"), "one")


def test_base_renderer_is_abstract():
    with pytest.raises(NotImplementedError):
        option_table.Renderer("-x").render(1)


def test_documentation():
    assert "Some flags." in Flags.__doc__
    assert "fast : bool | None\n        Be fast." in Flags.__doc__
    assert "plain :" not in Flags.__doc__


def test_cache_root(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert str(cache_root()) == "/caches/cuda-python"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert str(cache_root()) == "/home/me/.cache/cuda-python"


def test_cache_root_on_windows(monkeypatch):
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert str(cache_root()) == "/local/cuda-python"


def test_options_that_touch_files():
    assert option_table.options_with_files(Flags(paths=["a"], fast=True), "one", "reads", "writes") == ["paths"]
    assert option_table.options_with_files(Flags(paths=["a"]), "one", "writes") == []
    assert option_table.options_with_files(Flags(paths=["a"]), "two", "reads") == []
    assert option_table.options_with_files(Flags(), "one", "reads") == []


def test_options_without_arguments():
    assert option_table.options_elsewhere(Flags(paths=["a"], fast=True), "two") == {"paths": ["a"]}
    assert option_table.options_elsewhere(Flags(paths=["a"]), "one") == {}


def test_construction_is_like_that_of_any_dataclass():
    assert Flags(1, True) == Flags(plain=1, fast=True)
    assert list(vars(Flags(strict=True, fast=False))) == list(vars(Flags()))
    with pytest.raises(TypeError, match="no_such"):
        Flags(no_such=1)
    with pytest.raises(TypeError, match="fast"):
        Flags(1, True, fast=True)
