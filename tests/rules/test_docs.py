# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The API pages have every public name, once, and no other."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import cuda.core

DOCS = Path(__file__).resolve().parents[2] / "docs"


def documented() -> list[str]:
    """Return the names that the API pages describe, with their modules."""
    names = []
    for page in sorted((DOCS / "api").glob("*.rst")):
        text = page.read_text()
        module = re.search(r"^\.\. currentmodule:: (\S+)", text, re.MULTILINE)[1]
        for name in re.findall(r"^\.\. (?:auto\w+|data):: (\S+)", text, re.MULTILINE):
            names.append(name if name.startswith("cuda.") else f"{module}.{name}")
    return names


def public() -> set[str]:
    """Return the public names of ``cuda.core``, without its submodules."""
    return {f"cuda.core.{name}" for name in cuda.core.__all__}


def test_every_public_name_is_documented():
    assert public() - set(documented()) == set()


def test_every_public_name_of_system_is_documented():
    from cuda.core import system
    from cuda.core.system import _device, typing

    named = {f"cuda.core.system.{name}" for name in set(system.__all__) - set(system.exceptions.__all__)}
    parts = {f"cuda.core.system._device.{name}" for name in _device.__all__ if name not in system.__all__}
    enums = {f"cuda.core.system.typing.{name}" for name in typing.__all__}
    assert (named | parts | enums) - set(documented()) == set()


def test_every_public_name_of_the_classic_interface_is_documented():
    import inspect

    from cuda.core import driver
    from cuda.core.driver import compiler

    modules = {name for name, value in vars(driver).items() if inspect.ismodule(value)}
    named = {f"cuda.core.driver.{name}" for name in vars(driver) if not name.startswith("_") and name not in modules}
    named |= {f"cuda.core.driver.compiler.{name}" for name in compiler.__all__ if not hasattr(driver, name)}
    assert named - set(documented()) == set()


def test_every_documented_name_exists():
    for name in documented():
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_no_name_is_documented_twice():
    names = documented()
    assert len(names) == len(set(names))


def test_every_design_note_and_guide_has_a_title():
    for page in DOCS.rglob("*.md"):
        if page.parent.name != "changes" and "_build" not in page.parts:
            assert page.read_text().startswith("# "), page
