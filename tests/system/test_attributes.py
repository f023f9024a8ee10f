# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Declarations of attributes, and checks of arguments."""

import pickle

import pytest

from cuda.core.system import _attributes


class Number:
    def __index__(self):
        return 3


def test_ints_are_checked():
    assert _attributes.check_int("n", Number()) == 3
    assert _attributes.check_int("n", 4, 5) == 4
    with pytest.raises(ValueError, match=r"n must be in the range \[0, 5\), not 5"):
        _attributes.check_int("n", 5, 5)
    with pytest.raises(ValueError, match="n must be at least 0, not -1"):
        _attributes.check_int("n", -1)
    with pytest.raises(TypeError, match="n must be an int, not float"):
        _attributes.check_int("n", 1.0)


def test_items_convert_the_items_of_a_sequence():
    items = _attributes.Items([1, 2, 3], str)
    assert list(items) == ["1", "2", "3"] and len(items) == 3 and items[-1] == "3"
    assert repr(items) == "Items(['1', '2', '3'])"
    with pytest.raises(TypeError, match="idx must be an int, not str"):
        items["a"]


def test_views_name_their_device():
    view = _attributes.DeviceView("a device")
    assert repr(view) == "<DeviceView of 'a device'>"


def test_constant_is_read_once_and_cached_in_the_instance():
    calls = []

    class View:
        _handle = 7
        value = _attributes.Constant(lambda handle: calls.append(handle) or len(calls), "A number.")

    view = View()
    assert (view.value, view.value) == (1, 1) and calls == [7] and vars(view) == {"value": 1}
    assert isinstance(View.value, property) and View.value.__doc__ == "A number."


class View:
    """Properties without a value, for various reasons."""

    @_attributes.nvml_property
    def unknown(self) -> str:
        """The text."""
        try:
            raise KeyError(3)
        except KeyError as error:
            raise ValueError("no name for 3") from error

    @_attributes.nvml_property
    def lost(self) -> str:
        raise OSError(5, "of the bus")

    @_attributes.nvml_property
    def mode(self) -> int:
        return self._mode

    @mode.setter
    def mode(self, mode):
        self._mode = mode


def test_hasattr_is_false_for_a_property_without_a_value():
    view = View()
    assert not hasattr(view, "unknown") and View.unknown.__doc__ == "The text."
    with pytest.raises(OSError, match="of the bus"):
        hasattr(view, "lost")
    view.mode = 3
    assert view.mode == 3


def test_missing_property_error_keeps_its_class_text_and_cause():
    with pytest.raises(ValueError, match="^no name for 3$") as caught:
        View().unknown  # noqa: B018
    assert isinstance(caught.value.__cause__, KeyError) and caught.traceback[-1].name == "unknown"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.args) == (type(caught.value), caught.value.args)


def test_text_must_be_a_str_or_bytes():
    assert _attributes.check_text("uuid", b"GPU-1") == _attributes.check_text("uuid", "GPU-1") == "GPU-1"
    with pytest.raises(TypeError, match="uuid must be a str or bytes, not int"):
        _attributes.check_text("uuid", 1)
    with pytest.raises(ValueError, match="uuid must have Unicode characters only"):
        _attributes.check_text("uuid", "GPU-\ud800")
    with pytest.raises(ValueError, match="uuid must have no null character"):
        _attributes.check_text("uuid", "GPU-\0")
