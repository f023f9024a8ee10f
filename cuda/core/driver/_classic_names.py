# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The module names of the classic interface: ``pycuda.driver`` for this package, and so on.

They cannot be imported until :func:`use_classic_names` is called, which only ``python -m cuda.core.driver`` does.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys

from cuda.core.driver import _constants

__all__ = ["forget_classic_names", "use_classic_names"]

PACKAGE = "pycuda"
_OURS = "cuda.core.driver"


class _ClassicModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import ``pycuda`` and its modules from this package, even if that package is installed."""

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module of the classic interface; None for other modules."""
        if name.partition(".")[0] != PACKAGE:
            return None
        if name != PACKAGE and importlib.util.find_spec(ours(name)) is None:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name == PACKAGE)

    def create_module(self, spec):
        """Return None, so that Python creates the module."""

    def exec_module(self, module) -> None:
        """Replace the new module by the module of this package."""
        if module.__name__ == PACKAGE:
            for name in ("VERSION", "VERSION_STATUS", "VERSION_TEXT"):
                setattr(module, name, getattr(_constants, name))
        else:
            sys.modules[module.__name__] = importlib.import_module(ours(module.__name__))


def ours(name: str) -> str:
    """Return the name of the module of this package for a module of the classic interface."""
    rest = name.removeprefix(PACKAGE)
    return _OURS if rest == ".driver" else _OURS + rest


_finder = _ClassicModules()


def use_classic_names() -> None:
    """Make the modules of this package importable by their classic names, in this process."""
    if _finder not in sys.meta_path:
        forget_classic_names()
        sys.meta_path.insert(0, _finder)


def forget_classic_names() -> None:
    """Undo :func:`use_classic_names`, and drop modules that were imported by classic names from ``sys.modules``."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
