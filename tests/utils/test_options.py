# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Options classes, which check their fields at construction and when they are used."""

import copy
import dataclasses
import inspect
import pickle
import weakref
from dataclasses import dataclass, field

import pytest

from cuda import core
from cuda.core._utils.options import Options, options
from cuda.core.utils import CopyOptions
from support.contract import check_or_create_options


@options
class Sized(Options):
    size: int = 1
    name: str | None = None

    def _check(self):
        if self.size < 0:
            raise ValueError(f"size must not be negative, not {self.size}")
        self.name = self.name or "unnamed"


def test_construction_checks_and_normalizes():
    assert Sized().name == "unnamed"
    with pytest.raises(ValueError, match="negative"):
        Sized(-1)


def test_assigned_fields_are_checked_when_the_options_are_used():
    sized = Sized(2, "a")
    sized.name = None
    assert check_or_create_options(Sized, sized) is sized
    assert sized.name == "unnamed"
    sized.size = -1
    with pytest.raises(ValueError, match="negative"):
        check_or_create_options(Sized, sized)


def test_unknown_fields_are_rejected():
    with pytest.raises(AttributeError, match="color"):
        Sized().color = 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sizes", "Sized has no field 'sizes'; did you mean 'size'[?]"),
        ("names", "Sized has no field 'names'; did you mean 'name'[?]"),
        ("color", "Sized has no field 'color'; its fields are size, name"),
    ],
)
def test_error_of_an_unknown_field_suggests_the_nearest_one(name, message):
    with pytest.raises(TypeError, match=message):
        Sized(**{name: 1})
    with pytest.raises(TypeError, match=message):
        check_or_create_options(Sized, {name: 1})


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
    @options
    class Bare(Options):
        field: int = 0

    bare = Bare(1)
    bare.field = "text"
    assert bare.field == "text"


def test_copies_are_independent():
    sized = Sized(2, "a")
    twin = copy.copy(sized)
    twin.size = 3
    assert (sized.size, twin.size, twin.name, type(twin)) == (2, 3, "a", Sized)


def test_fields_that_cannot_be_written_out_are_described():
    sized = Sized(1)
    sized.name = {"number": 10**5000}
    assert repr(sized) == "Sized(size=1, name=a dict that cannot be written out)"


@options
class Mixed(Options):
    """A required field, and one with metadata beside its default."""

    shape: tuple[int, ...]
    fill: object = field(default=None, metadata={"doc": "What fills it."})


@options(frozen=True)
class Point(Options):
    x: int = 0
    y: int = 0

    def _check(self):
        self.__dict__["x"] = int(self.x)


@pytest.mark.parametrize(
    ("values", "names", "message"),
    [
        ((), {}, "shape"),
        ((1, 2, 3), {}, "positional"),
        ((1,), {"shape": 2}, "shape"),
        ((), {"shap": 2}, "Mixed has no field 'shap'; did you mean 'shape'[?]"),
        ((1,), {"size": 2}, "Mixed has no field 'size'; its fields are shape, fill"),
    ],
)
def test_wrong_arguments_are_rejected(values, names, message):
    with pytest.raises(TypeError, match=message):
        Mixed(*values, **names)


def test_errors_of_a_check_stay_as_they_are():
    with pytest.raises(TypeError, match="not supported between"):
        Sized("1")


def test_options_work_with_the_functions_for_dataclasses():
    mixed = Mixed((1,), fill=2)
    assert dataclasses.is_dataclass(Mixed) and dataclasses.is_dataclass(mixed)
    shape, fill = dataclasses.fields(Mixed)
    assert (shape.name, shape.type, shape.default) == ("shape", tuple[int, ...], dataclasses.MISSING)
    assert (fill.name, fill.default, fill.metadata["doc"]) == ("fill", None, "What fills it.")
    assert dataclasses.asdict(mixed) == {"shape": (1,), "fill": 2}
    assert dataclasses.astuple(mixed) == ((1,), 2)
    assert dataclasses.replace(mixed, fill=3) == Mixed((1,), 3)
    assert not Mixed.__dataclass_params__.frozen and Point.__dataclass_params__.frozen
    assert weakref.ref(mixed)() is mixed
    assert str(inspect.signature(Mixed)) == "(shape: tuple[int, ...], fill: object = None) -> None"
    match mixed:
        case Mixed(extent, value):
            assert (extent, value) == ((1,), 2)
    assert pickle.loads(pickle.dumps(mixed)) == mixed == copy.deepcopy(mixed)


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
    named.size = -1
    with pytest.raises(ValueError, match="negative"):
        check_or_create_options(Sized, named)
    assert Plain(1, "a").name == "A" and Plain(1) != Sized(1)
    assert dataclasses.asdict(Made("abc")) == {"size": 3, "name": "abc"}
    assert str(inspect.signature(Made)) == "(text)"
    assert [field.name for field in dataclasses.fields(Plain)] == ["size", "name"]


def test_decorated_subclass_adds_fields():
    @options
    class More(Sized):
        unit: str = "bytes"

    assert repr(More(2, unit="pages")) == f"{More.__qualname__}(size=2, name='unnamed', unit='pages')"


def test_uninitialized_objects_have_a_repr():
    assert repr(Sized.__new__(Sized)) == "<Sized, not initialized>"
    assert Sized.__new__(Sized) != Sized()


def test_unknown_launch_config_keyword_suggests_the_nearest_one():
    for make in (core.LaunchConfig, lambda **names: core.LaunchConfig(1, block=2, **names)):
        with pytest.raises(TypeError, match="LaunchConfig has no field 'gird'; did you mean 'grid'[?]"):
            make(gird=1)
    with pytest.raises(TypeError, match="positional"):
        core.LaunchConfig(*range(1, 11), block=1)
    with pytest.raises(ValueError, match="grid"):
        core.LaunchConfig(grid=0, block=1)
