# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Run an unmodified PyCUDA program: its imports of ``pycuda`` find the modules of this package.

python -m cuda.core.driver program.py [arguments]
python -m cuda.core.driver -m module [arguments]
"""

from __future__ import annotations

import os
import runpy
import sys

from cuda.core.driver._classic_names import use_classic_names

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Run a program, or with ``-m`` a module, as the Python interpreter would.

    Parameters
    ----------
    arguments : list of str
        The path of the program, or ``-m`` and the name of a module, then its own arguments.

    Raises
    ------
    SystemExit
        If there is neither a path nor a module.
    """
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if is_module else arguments
    if not arguments or arguments[0].startswith("-"):
        raise SystemExit((__doc__ or "").strip())
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
