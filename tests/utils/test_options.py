# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Options are valid at any time."""

import copy
from dataclasses import dataclass

import pytest

from cuda import core
from cuda.core._utils.cuda_utils import check_or_create_options
from cuda.core._utils.options import Options
from cuda.core.utils import CopyOptions


@dataclass
class Sized(Options):
    size: int = 1
    name: str | None = None

    def __post_init__(self):
        if self.size < 0:
            raise ValueError(f"size must not be negative, not {self.size}")
        self.name = self.name or "unnamed"


def test_construction_checks_and_normalises():
    assert Sized().name == "unnamed"
    with pytest.raises(ValueError, match="negative"):
        Sized(-1)


def test_assignment_checks_and_normalises():
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
def test_a_typo_is_told_with_what_was_meant(name, message):
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
def test_every_options_class_tells_a_typo(cls):
    name = next(iter(cls.__dataclass_fields__))
    with pytest.raises(TypeError, match=f"{cls.__name__} has no field '{name}_'; did you mean .*'{name}'"):
        cls(**{f"{name}_": None})


def test_options_compare_by_value_and_are_unhashable():
    assert Sized(1) == Sized(1) != Sized(2)
    with pytest.raises(TypeError):
        hash(Sized())
    assert repr(Sized(1)) == "Sized(size=1, name='unnamed')"


def test_bare_base_accepts_everything():
    @dataclass
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
