# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The public interface, found by walking the modules whose names are public."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import cuda.core


def modules() -> list[str]:
    """Return the names of the public modules, the package first.

    Without ``cuda.core.experimental``, which repeats them, and without modules whose import makes a context current.
    """
    found = pkgutil.walk_packages(cuda.core.__path__, "cuda.core.", onerror=lambda name: None)
    names = [info.name for info in found if "._" not in info.name]
    excluded = ("experimental", "autoinit", "autoprimaryctx")
    return ["cuda.core", *(name for name in names if not name.endswith(excluded))]


def names(module: str) -> list[str]:
    """Return the public names of a module."""
    home = importlib.import_module(module)
    return list(getattr(home, "__all__", None) or (name for name in vars(home) if not name.startswith("_")))


def values() -> Iterator[tuple[str, object]]:
    """Yield each public object with its name, once."""
    seen = set()
    for module in modules():
        for name in names(module):
            value = getattr(importlib.import_module(module), name)
            if not inspect.ismodule(value) and id(value) not in seen:
                seen.add(id(value))
                yield f"{module}.{name}", value


def classes() -> list[tuple[str, type]]:
    """Return the public classes that this package defines, with their names."""
    return [(name, value) for name, value in values() if isinstance(value, type) and _is_ours(value)]


def methods(cls: type) -> Iterator[tuple[str, object]]:
    """Yield the public methods of a class that it, or a base class of this package, defines."""
    for name in dir(cls):
        owner = next((base for base in cls.__mro__ if name in base.__dict__), object)
        # None for names of other libraries, which raise with a hint.
        if not name.startswith("_") and _is_ours(owner) and callable(method := getattr(cls, name, None)):
            yield name, method


def _is_ours(cls: type) -> bool:
    return cls.__module__.startswith("cuda.core")
