# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Base classes of options, which check their fields at construction and at assignment."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import dataclass

import pytest

from cuda import core
from cuda.core._utils.cuda_utils import check_or_create_options
from cuda.core._utils.options import FrozenOptions, Options, Row, options_class, rows_of, set_values
from cuda.core.utils import CopyOptions


@options_class
class Sized(Options):
    size: int = 1
    name: str | None = None

    def __post_init__(self):
        if self.size < 0:
            raise ValueError(f"size must not be negative, not {self.size}")
        self.name = self.name or "unnamed"


def test_construction_checks_and_normalizes():
    assert Sized().name == "unnamed"
    with pytest.raises(ValueError, match="negative"):
        Sized(-1)


def test_assignment_checks_and_normalizes():
    options = Sized(2, "a")
    options.name = None
    assert options.name == "unnamed"
    with pytest.raises(ValueError, match="negative"):
        options.size = -1
    assert options == Sized(2)


def test_unknown_fields_are_refused():
    options = Sized()
    with pytest.raises(AttributeError, match="no field 'colour'; its fields are size, name"):
        options.colour = 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sizes", "Sized has no field 'sizes'; did you mean 'size'[?]"),
        ("names", "Sized has no field 'names'; did you mean 'name'[?]"),
        ("colour", "Sized has no field 'colour'; its fields are size, name"),
    ],
)
def test_the_error_of_an_unknown_field_suggests_the_nearest_one(name, message):
    with pytest.raises(TypeError, match=message):
        Sized(**{name: 1})
    with pytest.raises(TypeError, match=message):
        check_or_create_options(Sized, {name: 1})
    with pytest.raises(AttributeError, match=message):
        setattr(Sized(), name, 1)


@pytest.mark.parametrize(
    "cls",
    [
        core.StreamOptions,
        core.EventOptions,
        core.ProgramOptions,
        core.LinkerOptions,
        core.DeviceMemoryResourceOptions,
        core.PinnedMemoryResourceOptions,
        core.ManagedMemoryResourceOptions,
        core.VirtualMemoryResourceOptions,
        CopyOptions,
    ],
)
def test_every_options_class_suggests_the_nearest_field(cls):
    name = next(iter(cls.__dataclass_fields__))
    with pytest.raises(TypeError, match=f"{cls.__name__} has no field '{name}_'; did you mean .*'{name}'"):
        cls(**{f"{name}_": None})


def test_options_compare_by_value_and_are_unhashable():
    assert Sized(1) == Sized(1) != Sized(2)
    with pytest.raises(TypeError):
        hash(Sized())
    assert repr(Sized(1)) == "Sized(size=1, name='unnamed')"


def test_bare_base_accepts_everything():
    @options_class
    class Bare(Options):
        field: int = 0

    bare = Bare(1)
    bare.field = "text"
    assert bare.field == "text"


def test_copies_are_independent():
    options = Sized(2, "a")
    twin = copy.copy(options)
    twin.size = 3
    assert (options.size, twin.size, twin.name, type(twin)) == (2, 3, "a", Sized)


def test_fields_that_cannot_be_written_out_are_described():
    options = Sized(1)
    options.__dict__["name"] = {"number": 10**5000}
    assert repr(options) == "Sized(size=1, name=a dict that cannot be written out)"


@options_class
class Mixed(Options):
    """A required field, and one with metadata beside its default."""

    shape: tuple[int, ...]
    fill: object = Row(None, {"doc": "What fills it."})


@options_class
class Point(FrozenOptions):
    x: int = 0
    y: int = 0

    def __post_init__(self):
        self.__dict__["x"] = int(self.x)


@pytest.mark.parametrize(
    ("values", "names", "message"),
    [
        ((), {}, "Mixed needs 'shape'"),
        ((1, 2, 3), {}, "Mixed has 2 fields, but 3 values were given"),
        ((1,), {"shape": 2}, "Mixed got two values for 'shape'"),
        ((), {"shap": 2}, "Mixed has no field 'shap'; did you mean 'shape'[?]"),
        ((1,), {"size": 2}, "Mixed has no field 'size'; its fields are shape, fill"),
    ],
)
def test_wrong_arguments_are_refused(values, names, message):
    with pytest.raises(TypeError, match=message):
        Mixed(*values, **names)


def test_field_without_a_default_comes_first():
    with pytest.raises(TypeError, match="a field of Late without a default follows one that has a default"):

        @options_class
        class Late(Options):
            first: int = 1
            second: int


def test_options_work_with_the_functions_for_dataclasses():
    options = Mixed((1,), fill=2)
    assert dataclasses.is_dataclass(Mixed) and dataclasses.is_dataclass(options)
    shape, fill = dataclasses.fields(Mixed)
    assert (shape.name, shape.type, shape.default) == ("shape", tuple[int, ...], dataclasses.MISSING)
    assert (fill.name, fill.default, fill.metadata["doc"]) == ("fill", None, "What fills it.")
    assert dataclasses.asdict(options) == {"shape": (1,), "fill": 2}
    assert dataclasses.astuple(options) == ((1,), 2)
    assert dataclasses.replace(options, fill=3) == Mixed((1,), 3)
    assert not Mixed.__dataclass_params__.frozen and Point.__dataclass_params__.frozen
    assert [row.name for row in rows_of(Mixed)] == ["shape", "fill"]
    assert str(inspect.signature(Mixed)) == "(shape: tuple[int, ...], fill: object = None) -> None"
    match options:
        case Mixed(extent, value):
            assert (extent, value) == ((1,), 2)
    assert pickle.loads(pickle.dumps(options)) == options == copy.deepcopy(options)


def test_frozen_options_are_hashed_and_not_changed():
    point = Point(1, y=2)
    assert {point: 1}[Point(1, 2)] == 1 and point != Point(2, 2)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    assert pickle.loads(pickle.dumps(point)) == point


def test_subclasses_of_users_may_be_dataclasses_or_plain():
    @dataclass
    class Named(Sized):
        unit: str = "bytes"

    class Plain(Sized):
        def __post_init__(self):
            super().__post_init__()
            self.name = self.name.upper()

    class Made(Sized):
        def __init__(self, text):
            super().__init__(len(text), text)

    named = Named(3, unit="pages")
    assert (named.size, named.unit, named.name) == (3, "pages", "unnamed")
    with pytest.raises(ValueError, match="negative"):
        named.size = -1
    with pytest.raises(AttributeError, match="Named has no field 'units'; did you mean 'unit'[?]"):
        named.units = 1
    assert Plain(1, "a").name == "A" and Plain(1) != Sized(1)
    assert vars(Made("abc")) == {"size": 3, "name": "abc"}
    assert str(inspect.signature(Made)) == "(text)"
    assert [field.name for field in dataclasses.fields(Plain)] == ["size", "name"]


def test_decorated_subclass_adds_fields():
    @options_class
    class More(Sized):
        unit: str = "bytes"

    assert repr(More(2, unit="pages")) == f"{More.__qualname__}(size=2, name='unnamed', unit='pages')"


def test_values_can_be_set_at_once():
    options = Sized()
    set_values(options, {"size": -1, "name": None})
    assert options.size == -1


def test_objects_that_were_not_initialized_have_a_repr():
    assert repr(Sized.__new__(Sized)) == "<Sized, not initialized>"
    assert Sized.__new__(Sized) != Sized()


def test_the_error_of_an_unknown_keyword_of_a_launch_configuration_suggests_the_nearest_one():
    for make in (core.LaunchConfig, lambda **names: core.LaunchConfig(1, block=2, **names)):
        with pytest.raises(TypeError, match="LaunchConfig has no field 'gird'; did you mean 'grid'[?]"):
            make(gird=1)
    with pytest.raises(TypeError, match="positional"):
        core.LaunchConfig(*range(1, 9), block=1)
    with pytest.raises(ValueError, match="grid"):
        core.LaunchConfig(grid=0, block=1)


def test_values_are_set_as_attributes():
    """In Python 3.13, values that were only put into the dict were not read: each field had its default."""
    options = core.StreamOptions(priority=-5)
    assert options.priority == options.__dict__["priority"] == -5
