# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Imports at first use; ``docs/design/imports.md`` has the reasons and measurements."""

from __future__ import annotations

import os
import sys

from cuda.core._utils.importing.unbuilt import diagnosis

__all__ = ["Deferred", "deferred_names"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Deferred:
    """A stand-in for a module of a lower layer, which is imported at the first access to an attribute.

    Parameters
    ----------
    name : str
        The full name of the module, such as ``"cuda.core._compile._nvvm"``; a literal, because the test of layers finds
        imports in the source.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str):
        return getattr(_module(self._name), attribute)

    def __repr__(self):
        return f"<module {self._name!r}, imported at its first use>"


def deferred_names(package: str, homes: dict[str, str], modules=(), root: str | None = None):
    """Return the ``__getattr__`` of a package whose names are imported from their modules at first access.

    Parameters
    ----------
    package : str
        The name of the package or module.
    homes : dict
        For each name, the module that defines it, relative to ``root``.
    modules : collection of str
        Modules and packages, relative to ``root``, that are accessible as attributes without an import.
    root : str, optional
        The package that contains these modules. If None, ``package``.
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
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("cuda.core."):
            raise
        raise ModuleNotFoundError(": ".join(diagnosis(_PACKAGE)), name=error.name) from None
    return sys.modules[name]
