# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Run a program with debug information in the kernels: ``python -m cuda.core.driver.debug program.py arguments``."""

from __future__ import annotations

import os
import runpy
import sys

from cuda.core._classic import list_argument
from cuda.core.driver._checks import path_argument
from cuda.core.driver._context import set_debugging

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Run a program as the Python interpreter would, with debugging turned on.

    Parameters
    ----------
    arguments : list of str
        The program path, followed by the program's arguments.

    Raises
    ------
    SystemExit
        If ``arguments`` is empty.
    """
    arguments = [path_argument("each of arguments", item) for item in list_argument("arguments", arguments)]
    if not arguments:
        raise SystemExit("usage: python -m cuda.core.driver.debug program.py [arguments]")
    set_debugging()
    sys.argv[:] = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    runpy.run_path(arguments[0], run_name="__main__")


def __dir__():
    return list(__all__)


if __name__ == "__main__":
    main(sys.argv[1:])
