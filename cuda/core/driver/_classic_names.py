# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The names that programs of the classic style import: ``pycuda.driver`` for this package, and so on.

Nothing has these names until :func:`use_classic_names` is called, which only the runner of unchanged programs does.
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
    """Finds ``pycuda`` and its modules here, also where that package is installed."""

    def find_spec(self, name, path=None, target=None):
        """Return where a module is; None for those of others."""
        if name.partition(".")[0] != PACKAGE:
            return None
        if name != PACKAGE and importlib.util.find_spec(ours(name)) is None:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name == PACKAGE)

    def create_module(self, spec):
        """Leave it to Python to make a module."""

    def exec_module(self, module) -> None:
        """Put the module of this package in the place of the new one."""
        if module.__name__ == PACKAGE:
            for name in ("VERSION", "VERSION_STATUS", "VERSION_TEXT"):
                setattr(module, name, getattr(_constants, name))
        else:
            sys.modules[module.__name__] = importlib.import_module(ours(module.__name__))


def ours(name: str) -> str:
    """Return the name here of a module of the classic interface."""
    rest = name.removeprefix(PACKAGE)
    return _OURS if rest == ".driver" else _OURS + rest


_finder = _ClassicModules()


def use_classic_names() -> None:
    """Let this process find the modules here by their classic names."""
    if _finder not in sys.meta_path:
        forget_classic_names()
        sys.meta_path.insert(0, _finder)


def forget_classic_names() -> None:
    """End :func:`use_classic_names`, and forget modules that were imported by such names."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
