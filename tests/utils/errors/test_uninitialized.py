# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Objects whose ``__init__`` did not run."""

import pytest

from cuda.core._utils.attribute_errors import raise_if_uninitialized


@raise_if_uninitialized("_value")
class Plain:
    def __init__(self):
        self._value = 1


@raise_if_uninitialized("_value")
class Slotted:
    __slots__ = ("_value",)

    def __init__(self):
        self._value = 1


class Derived(Slotted):
    pass


@pytest.mark.parametrize("cls", [Plain, Slotted, Derived])
def test_uninitialized_objects_say_so(cls):
    assert cls()._value == 1
    with pytest.raises(RuntimeError, match=f"this {cls.__name__} was not initialized"):
        cls.__new__(cls)._value  # noqa: B018


class Shown(Slotted):
    __slots__ = ("_other",)

    def __repr__(self):
        return f"Shown({self._value})"

    def _repr_html_(self):
        return f"<b>{self._value}</b>"


@raise_if_uninitialized("_value")
class Grown(Plain):
    def __init_subclass__(cls):
        cls.was_called = True

    def __repr__(self):
        raise ValueError("of its own")


def test_text_of_uninitialized_objects_says_so():
    assert repr(Shown()) == "Shown(1)"
    assert repr(Shown.__new__(Shown)) == "<Shown, not initialized>"
    assert (Shown()._repr_html_(), Shown.__new__(Shown)._repr_html_()) == ("<b>1</b>", "<p>Shown, not initialized</p>")
    assert Shown.__repr__.__qualname__ == "Shown.__repr__"
    with pytest.raises(ValueError, match="of its own"):
        repr(Grown())
    assert type("Later", (Grown,), {}).was_called


@pytest.mark.parametrize("cls", [Plain, Slotted])
@pytest.mark.parametrize("make", [lambda cls: cls(), lambda cls: cls.__new__(cls)])
def test_errors_of_other_missing_names_are_unchanged(cls, make):
    with pytest.raises(AttributeError, match=f"'{cls.__name__}' object has no attribute 'other'"):
        make(cls).other  # noqa: B018


def test_attribute_of_the_class_is_found():
    assert Plain._value is Plain.__dict__["_value"]
