# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The source files of the package, for the tests in ``rules``."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ROOT / "cuda" / "core"


def core_files(*suffixes: str) -> list[Path]:
    """Return the source files of the package with these suffixes."""
    return sorted(path for path in CORE.rglob("*") if path.suffix in suffixes and "__pycache__" not in path.parts)


def generator_of_stubs():
    """Return the module that writes the type stubs, which is in the checkout but not in the installed package."""
    spec = importlib.util.spec_from_file_location("stubs", ROOT / ".ci" / "stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
