# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Run an unmodified PyCUDA program, with its ``pycuda`` imports served by this package.

python -m cuda.core.driver program.py [arguments]
python -m cuda.core.driver -m module [arguments]
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import os
import runpy
import sys

from cuda.core.driver import _constants

__all__ = ["main"]

PACKAGE = "pycuda"
_OURS = "cuda.core.driver"


class _ClassicModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import ``pycuda`` and its modules from this package, even if that package is installed."""

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a classic module, or None for other modules."""
        if name.partition(".")[0] != PACKAGE:
            return None
        if name != PACKAGE and importlib.util.find_spec(native_module_name(name)) is None:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name == PACKAGE)

    def create_module(self, spec):
        """Return None, so that Python creates the module."""

    def exec_module(self, module) -> None:
        """Replace the new module with this package's module."""
        if module.__name__ == PACKAGE:
            for name in ("VERSION", "VERSION_STATUS", "VERSION_TEXT"):
                setattr(module, name, getattr(_constants, name))
        else:
            sys.modules[module.__name__] = importlib.import_module(native_module_name(module.__name__))


def native_module_name(name: str) -> str:
    """Return this package's name for a classic module."""
    rest = name.removeprefix(PACKAGE)
    return _OURS if rest == ".driver" else _OURS + rest


_finder = _ClassicModules()


def use_classic_names() -> None:
    """Make this package's modules importable under their classic names in this process."""
    if _finder not in sys.meta_path:
        forget_classic_names()
        sys.meta_path.insert(0, _finder)


def forget_classic_names() -> None:
    """Undo :func:`use_classic_names`, and remove modules imported under classic names from ``sys.modules``."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def main(arguments: list[str]) -> None:
    """Run a program or, with ``-m``, a module, as the Python interpreter would.

    Parameters
    ----------
    arguments : list of str
        The program path, or ``-m`` and a module name, followed by the program's own arguments.

    Raises
    ------
    SystemExit
        If the arguments name neither a program that exists nor a module.
    """
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if is_module else arguments
    if not arguments or arguments[0].startswith("-"):
        raise SystemExit((__doc__ or "").strip())
    if not is_module and not os.path.exists(arguments[0]):
        raise SystemExit(f"python -m cuda.core.driver: there is no program {arguments[0]!r}")
    use_classic_names()
    sys.argv[:] = arguments
    if is_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
