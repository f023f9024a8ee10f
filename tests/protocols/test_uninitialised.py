# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Objects that ``__new__`` alone has made: each use of each member is refused in words, or works."""

import dataclasses
import functools
import warnings

import pytest

from cuda.core._utils.cuda_utils import CUDAError
from fuzz import arguments, surface
from support import public

pytestmark = pytest.mark.requires(device=True, nvrtc=True)

# What an object says of itself when nothing has set it up.
REFUSALS = (CUDAError, RuntimeError, TypeError, ValueError, OverflowError, BufferError, OSError, NotImplementedError)
# Classes that are Python's own, with Python's own refusals.
PYTHONS = (BaseException, str, int, tuple)
# Not yet: their objects raise AttributeError.
OPEN = ("cuda.core.graph.", "cuda.core.system.", "cuda.core.driver.", "cuda.core.texture.", "cuda.core._tensor_map.")


@functools.cache
def classes() -> dict:
    """Return the public classes, and all that can be reached from the samples, by name."""
    from cuda.core import Device

    Device(0).set_current()
    found = {surface.name_of(cls): cls for _, cls in public.classes()} | surface.Subjects().types
    return {name: cls for name, cls in sorted(found.items()) if not issubclass(cls, PYTHONS)}


def problems(cls: type) -> list[str]:
    """Return what the members of an uninitialized object raise that they should not."""
    try:
        empty = cls.__new__(cls)
    except TypeError:
        return []  # refused at once
    found = []
    own = [] if dataclasses.is_dataclass(cls) else ["__repr__", "__hash__", "__eq__", "__reduce__"]
    for member in [*own, *surface.members_of(cls)]:
        try:
            value = getattr(empty, member)
            if member == "__eq__":
                value(3)
            elif callable(value) and not isinstance(value, type):
                arguments.call(value)
        except REFUSALS as error:
            if "NoneType' object" in str(error):
                found.append(f"{member}: {error}")
        except AttributeError as error:
            # A class method says so of its argument, which need not be what this object is.
            if member != "from_cuda_array_interface":
                found.append(f"{member}: {error}")
        except Exception as error:
            found.append(f"{member}: {type(error).__name__}: {error}")
    return found


def test_every_member_of_an_uninitialised_object_is_refused_in_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = {name: cls for name, cls in classes().items() if not name.startswith(OPEN)}
        wrong = {name: found for name, cls in chosen.items() if (found := problems(cls))}
    assert wrong == {}
    assert len(chosen) > 40
