# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Imports at the first use; ``docs/design/imports.md`` has the reasons and figures."""

from __future__ import annotations

import sys

__all__ = ["Deferred", "deferred_names"]


class Deferred:
    """A module below, imported when a name of it is used for the first time.

    The name is a literal, which the test of layers reads like any other import.

    Parameters
    ----------
    name : str
        The full name of the module, such as ``"cuda.core._compile._nvvm"``.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str):
        return getattr(_module(self._name), attribute)

    def __repr__(self):
        return f"<module {self._name!r}, imported at its first use>"


def deferred_names(package: str, homes: dict[str, str], modules=(), root: str | None = None):
    """Return the ``__getattr__`` of a package whose names are fetched from their modules at their first use.

    Parameters
    ----------
    package : str
        The name of the package.
    homes : dict
        The home of each name, below ``root``.
    modules : collection of str
        Modules and packages below ``root`` that are reached as attributes without an import.
    root : str, optional
        The package that holds the homes. If None, the package itself.
    """
    root = root or package

    def fetch(name: str):
        if name in homes:
            value = getattr(_module(f"{root}.{homes[name]}"), name)
        elif name in modules:
            return _module(f"{root}.{name}")
        else:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        setattr(sys.modules[package], name, value)
        return value

    return fetch


def _module(name: str):
    __import__(name)
    return sys.modules[name]
