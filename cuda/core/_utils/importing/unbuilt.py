# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The import error for a package without its extensions, such as a checkout that was not built in place."""

from __future__ import annotations

import os
import sys

__all__ = ["diagnosis"]


def diagnosis(package_directory: str) -> tuple[str, str]:
    """Return why a module of the package in this directory cannot be imported, and what to do."""
    root = os.path.dirname(os.path.dirname(package_directory))
    if os.path.exists(os.path.join(root, "setup.py")):
        return (
            f"cuda.core was found in the source checkout {root}, which is not built for this Python",
            "to use an installed cuda.core, leave the checkout or start Python with -P (such as "
            "`python -P -m cuda.core`); to use the checkout, run `python setup.py build_ext --inplace` in it",
        )
    version = ".".join(map(str, sys.version_info[:2]))
    return (
        f"the installation of cuda.core in {package_directory} is incomplete, or was made for another Python than "
        f"{version}",
        "install it again: python -m pip install --force-reinstall --no-deps cuda-core",
    )
