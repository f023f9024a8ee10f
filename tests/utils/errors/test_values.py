# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of properties without a value are also AttributeErrors, and otherwise unchanged."""

import inspect
import pickle
import traceback

import pytest
from cuda.bindings import driver

from cuda.core import Device
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils import attribute_errors as values


class Damaged(CUDAError, ValueError):
    """An error of the driver for a wrong value."""


class Late(RuntimeError):
    """An exception with a field of its own."""


@values.hasattr_safe
class Subject:
    """Properties that have no value, for various reasons."""

    def __init__(self):
        self.asked = 0

    @property
    def closed(self):
        """The text."""
        self.asked += 1
        raise RuntimeError("this Subject is closed")

    @property
    def failed(self):
        raise OSError(5, "of the disk")

    @property
    def caused(self):
        try:
            raise KeyError("x")
        except KeyError as error:
            raise ValueError("no x") from error

    @property
    def number(self):
        return self._number

    @number.setter
    def number(self, value):
        self._number = value

    @number.deleter
    def number(self):
        del self._number


def test_hasattr_is_false_for_a_property_without_a_value():
    subject = Subject()
    assert not hasattr(subject, "closed")
    assert getattr(subject, "closed", 3) == 3
    assert subject.asked == 2
    with pytest.raises(OSError, match="of the disk"):
        hasattr(subject, "failed")


def test_the_exception_keeps_its_class_and_its_text():
    with pytest.raises(RuntimeError, match="this Subject is closed") as caught:
        Subject().closed  # noqa: B018
    error = caught.value
    assert isinstance(error, AttributeError)
    assert (type(error).__name__, type(error).__module__) == ("RuntimeError", "builtins")
    text = "".join(traceback.format_exception(error))
    assert text.endswith("RuntimeError: this Subject is closed\n") and error.name is None
    assert "During handling" not in text and "in closed" in text


def test_the_exception_keeps_its_cause():
    with pytest.raises(ValueError, match="no x") as caught:
        Subject().caused  # noqa: B018
    assert isinstance(caught.value.__cause__, KeyError)


def test_values_setters_and_docstrings_are_unchanged():
    subject = Subject()
    subject.number = 4
    assert subject.number == 4
    del subject.number
    assert not hasattr(subject, "number")
    assert Subject.closed.__doc__ == "The text."


def test_restated_exceptions_can_be_pickled():
    error = Late("later", 3)
    error.log = "the log"
    again = pickle.loads(pickle.dumps(values.as_attribute_error(error)))
    assert isinstance(again, (Late, AttributeError))
    assert (again.args, again.log, type(again).__name__) == (("later", 3), "the log", "Late")
    assert isinstance(again, Late) and isinstance(again, AttributeError)


@pytest.mark.parametrize(
    "error",
    [OSError(5), RecursionError(), AttributeError("x"), UnicodeDecodeError("ascii", b"", 0, 1, "x"), KeyError(1)],
    ids=repr,
)
def test_other_errors_are_not_restated(error):
    assert values.as_attribute_error(error) is error


def test_classes_to_restate_can_be_chosen():
    assert isinstance(values.as_attribute_error(KeyError(1), (KeyError,)), AttributeError)
    assert not isinstance(values.as_attribute_error(RuntimeError(), (KeyError,)), AttributeError)


def test_errors_of_the_driver_keep_the_name_of_their_code():
    error = values.as_attribute_error(Damaged("text", code=200, name="CUDA_ERROR_INVALID_IMAGE"))
    again = pickle.loads(pickle.dumps(error))
    for kept in (error, again):
        assert isinstance(kept, AttributeError) and isinstance(kept, CUDAError)
        assert (kept.name, str(kept)) == ("CUDA_ERROR_INVALID_IMAGE", "text")


class Descriptor:
    """Like descriptors of extension types, whose docstrings begin with the type of the value."""

    __objclass__ = Late

    def __init__(self, doc):
        self.__name__, self.__qualname__, self.__doc__ = "size", "Late.size", doc

    def __get__(self, subject, cls=None):
        return 7


@pytest.mark.parametrize(
    ("annotation", "cls"),
    [
        ("int", int),
        ("tuple[int, int]", tuple),
        ("Late | None", Late),
        ("None | list[int]", list),
        ("Device", Device),
        ("typing.Literal['a']", object),
        ("driver.CUstream", driver.CUstream),
        ("nowhere.Class", object),
        ("no expression", object),
    ],
)
def test_getters_are_annotated_with_the_class_of_the_value(annotation, cls):
    get = values.Getter(Descriptor(f"size: {annotation}\n\nThe size."))
    assert get.__annotations__ == {"return": cls}
    assert (get(None), get.__name__, get.__qualname__, get.__module__) == (7, "size", "Late.size", __name__)
    assert values.Getter(Descriptor(None)).__annotations__ == {"return": object}


@values.hasattr_safe
class Annotated:
    """Properties with and without a type."""

    @property
    def untyped(self):
        return 3

    @property
    @values.completed_as(str)
    def named(self) -> "NoSuchClass":  # noqa: F821
        return "x"

    @property
    def typed(self) -> int:
        return 4


def test_getters_of_python_classes_are_annotated_with_a_class():
    found = {name: vars(Annotated)[name].fget.__annotations__ for name in ("untyped", "named", "typed")}
    assert found == {
        "untyped": {"return": object},
        "named": {"return": str},
        "typed": Annotated.typed.fget.__wrapped__.__annotations__,
    }
    assert inspect.signature(Annotated.named.fget).return_annotation == "NoSuchClass"


class Cached(values.CachedProperty):
    """A descriptor without ``__set__``."""

    convert = bytes

    def __get__(self, subject, cls):
        return self if subject is None else b"3"


def test_cached_properties_are_instances_of_property():
    cls = type("Holder", (), {"text": Cached()})
    assert isinstance(cls.text, property) and type(cls.text) is Cached and not inspect.isdatadescriptor(cls.text)
    assert cls.text.fget(cls()) == b"3" and cls.text.fget.__annotations__ == {"return": bytes}
    assert values.typed(lambda subject: 3, int.from_bytes).__annotations__ == {"return": object}
