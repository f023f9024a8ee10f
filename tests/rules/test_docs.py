# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The API pages have every public name, once, and no other."""

from __future__ import annotations

import importlib
import re
from itertools import takewhile
from pathlib import Path

import pytest

import cuda.core

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EMULATOR = ROOT / "emulator"


def directives() -> list[tuple[str, str, str]]:
    """Return the entries of the API pages: the directive, the name with its module, and the lines below."""
    found = []
    for page in sorted((DOCS / "api").glob("*.rst")):
        module = None
        pattern = r"^\.\. (\w+):: (\S+)\n((?:   .*\n)*)"
        for directive, name, below in re.findall(pattern, page.read_text(), re.MULTILINE):
            if directive in ("module", "currentmodule"):
                module = name
            elif directive.startswith("auto") or directive in ("data", "exception"):
                found.append((directive, name if name.startswith("cuda.") else f"{module}.{name}", below))
    return found


def documented() -> list[str]:
    """Return the names that the API pages describe, with their modules."""
    return [name for _, name, _ in directives()]


def named(name: str) -> object:
    """Return the object that a page describes."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def is_method(name: str, value: object) -> bool:
    if name.startswith("_") or not (callable(value) or hasattr(type(value), "__get__")):
        return False
    return bool(value.__doc__) and not value.__doc__.startswith("Alias for field")  # from a named tuple


def public() -> set[str]:
    """Return the public names of ``cuda.core``, without its submodules."""
    return {f"cuda.core.{name}" for name in cuda.core.__all__}


def test_every_public_name_is_documented():
    assert public() - set(documented()) == set()


def test_every_public_type_is_documented():
    from cuda.core import typing

    assert {f"cuda.core.typing.{name}" for name in typing.__all__} - set(documented()) == set()


def test_every_public_name_of_system_is_documented():
    from cuda.core import system
    from cuda.core.system import _device, typing

    named = {f"cuda.core.system.{name}" for name in set(system.__all__) - set(system.exceptions.__all__)}
    parts = {f"cuda.core.system._device.{name}" for name in _device.__all__ if name not in system.__all__}
    enums = {f"cuda.core.system.typing.{name}" for name in typing.__all__}
    assert (named | parts | enums) - set(documented()) == set()


def test_every_public_name_of_the_driver_interface_is_documented():
    from cuda.core import driver
    from cuda.core.driver import compiler

    named = {f"cuda.core.driver.{name}" for name in driver.__all__}
    named |= {f"cuda.core.driver.compiler.{name}" for name in compiler.__all__ if not hasattr(driver, name)}
    assert named - set(documented()) == set()


def test_every_public_name_of_the_software_device_is_documented():
    import cuda.emulator

    names = {f"cuda.emulator.{name}" for name in cuda.emulator.__all__}
    assert names == {name for name in documented() if name.startswith("cuda.emulator.")}


@pytest.mark.requires(source=True)
def test_every_variable_of_the_software_device_is_documented():
    config = (ROOT / "emulator" / "src" / "config.cpp").read_text()
    read = set(re.findall(r'\b(?:take(?:_text|_version)?|variable)\("(\w+)"', config))
    page = (DOCS / "guide" / "software-device-reference.md").read_text()
    assert "DEVICES" in read and read == set(re.findall(r"^\| `CUDA_EMULATOR_(\w+)` \|", page, re.MULTILINE))


def test_every_documented_name_exists():
    for name in documented():
        assert named(name) is not None, name


def test_members_from_private_bases_are_documented():
    classes = [(named(name), below) for directive, name, below in directives() if directive == "autoclass"]
    described = {named(name) for directive, name, _ in directives() if directive in ("autoclass", "autoexception")}
    for cls, below in classes:
        bases = list(takewhile(lambda base: base not in described, cls.__mro__[1:]))
        bases = [base for base in bases if base.__module__.startswith("cuda.core")]
        members = {name for base in bases for name, value in vars(base).items() if is_method(name, value)}
        if members - set(vars(cls)):
            assert ":inherited-members:" in below, (cls, members)


def test_no_name_is_documented_twice():
    names = documented()
    assert len(names) == len(set(names))


def test_every_design_note_and_guide_has_a_title():
    for page in DOCS.rglob("*.md"):
        if "_build" not in page.parts:
            assert page.read_text().startswith("# "), page


# Folders that pages leave out of the paths that they name.
FOLDERS = [
    ROOT / folder
    for folder in ("", "docs", "cuda/core", "emulator", "emulator/src", "emulator/cuda/emulator", "tests/fuzz")
]
FILE = re.compile(r"[\w.*-]+(/[\w.*-]+)+/?|[\w*-]+\.(py|pyx|pxi|pxd|hpp|md|txt)")
# Files of other packages, and files that a build generates.
FOREIGN = {"docs/_build/html", "pycuda-helpers.hpp", "cynvml.pxd", "entry_prototypes.hpp", "driver_types.hpp"}


def pages() -> list[Path]:
    found = [*DOCS.rglob("*.md"), *(ROOT / "cuda").rglob("*.md"), *EMULATOR.rglob("*.md"), ROOT / "README.md"]
    return [page for page in sorted(found) if not {"_build", "build"} & set(page.relative_to(ROOT).parts)]


@pytest.fixture(scope="module")
def words() -> set[str]:
    """The names of files and modules, and all words of the sources that begin with an underscore."""
    folders = (ROOT / "cuda", EMULATOR / "cuda", EMULATOR / "src")
    suffixes = (".py", ".pyx", ".pxi", ".pxd", ".hpp", ".cpp")
    sources = [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes]
    found = {
        name
        for path in [*sources, *(ROOT / "tests").rglob("*.py"), *(EMULATOR / "tests").rglob("*.py")]
        for name in (path.stem, path.name)
    }
    found.update(word for path in sources for word in re.findall(r"\b_\w+", path.read_text()))
    return found


@pytest.mark.requires(source=True)
@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_modules_that_pages_name_exist(page, words):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for name in set(re.findall(r"(?<![{\w}])`([^`\n ]+)`", text)) - FOREIGN:
        if FILE.fullmatch(name):
            ends = ("", ".py", ".pyx", ".pxi", ".md")
            assert name in words or any(list(folder.glob(name + end)) for folder in FOLDERS for end in ends), name
        elif re.fullmatch(r"_[a-zA-Z]\w*", name):
            assert name in words, name


# The directories that paths in the guide for contributors are relative to.
ROOTS = (ROOT, ROOT / "cuda" / "core", EMULATOR, DOCS)
PATH = re.compile(r"`([\w.]+(?:/[\w.]+)+)`")


@pytest.mark.parametrize("path", sorted(set(PATH.findall((DOCS / "contributing.md").read_text()))))
def test_paths_in_the_guide_for_contributors_exist(path):
    below = (root / candidate for root in ROOTS for candidate in (path, f"{path}.md"))
    assert any(found.exists() for found in below), path
