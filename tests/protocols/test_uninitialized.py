# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Uninitialized objects, which ``__new__`` alone created: each member works, or raises an error; none crashes."""

import dataclasses
import functools
import warnings

import pytest

from cuda.core import CUDAError, StreamOptions
from fuzz import arguments, surface
from support import public

pytestmark = pytest.mark.requires(device=True, nvrtc=True)

# The exceptions that a member of an uninitialized object may raise, such as the AttributeError of an unset attribute.
ERRORS = (AttributeError, CUDAError, RuntimeError, TypeError, ValueError, OverflowError, BufferError, OSError)
# Subclasses of these are left out: their members are Python's own. Fields of uninitialized dataclasses are not set.
BUILTINS = (BaseException, str, int, tuple, StreamOptions.__base__)  # the last is the base of all options
# The errors of these may be about None, which their unset attributes are.
UNSET = ("cuda.core.graph.", "cuda.core.system.", "cuda.core.driver.", "cuda.core.texture.", "cuda.core._tensor_map.")


@functools.cache
def classes() -> dict:
    """Return the public classes, and the classes of objects reachable from the samples, by name."""
    from cuda.core import Device

    Device(0).set_current()
    found = {surface.name_of(cls): cls for _, cls in public.classes()} | surface.Subjects().types
    return {name: cls for name, cls in sorted(found.items()) if not issubclass(cls, BUILTINS)}


def problems(cls: type) -> list[str]:
    """Return the errors of an uninitialized object's members that do not say why the member fails."""
    try:
        empty = cls.__new__(cls)
    except TypeError:
        return []  # __new__ alone raises
    found = []
    own = [] if dataclasses.is_dataclass(cls) else ["__repr__", "__hash__", "__eq__", "__reduce__"]
    for member in [*own, *surface.members_of(cls)]:
        try:
            value = getattr(empty, member)
            if member == "__eq__":
                value(3)
            elif callable(value) and not isinstance(value, type):
                arguments.call(value)
        except ERRORS as error:
            if "NoneType' object" in str(error) and not cls.__module__.startswith(UNSET):
                found.append(f"{member}: {error}")
        except Exception as error:
            found.append(f"{member}: {type(error).__name__}: {error}")
    return found


def test_uninitialized_object_members_work_or_raise_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = {name: found for name, cls in classes().items() if (found := problems(cls))}
    assert wrong == {}
    assert len(classes()) > 40
