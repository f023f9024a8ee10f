# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The sources of the software device: which folder may include which, and unique names."""

import re
from collections import defaultdict

import pytest

from support.source import ROOT, circles

pytestmark = pytest.mark.requires(source=True)

SOURCES = ROOT / "cuda" / "emulator" / "src"
FILES = sorted(path for path in SOURCES.rglob("*") if path.suffix in {".cpp", ".hpp"})
# Folders, each of which may include those before it; "" stands for the files beside the folders.
ORDER = ["", "exec", "front", "state", "abi"]


def folder_of(path):
    parts = path.relative_to(SOURCES).parts
    return parts[0] if len(parts) > 1 else ""


def included(path):
    """Yield the sources that a file includes, without generated headers and headers for kernels."""
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        for folder in (path.parent, SOURCES):
            found = (folder / name).resolve()
            if found.is_relative_to(SOURCES) and found.exists():
                yield found
                break


def test_folders_include_lower_folders_only():
    assert {folder_of(path) for path in FILES} == set(ORDER)
    wrong = [
        f"{path.relative_to(SOURCES)} includes {other.relative_to(SOURCES)}"
        for path in FILES
        for other in included(path)
        if ORDER.index(folder_of(other)) > ORDER.index(folder_of(path))
    ]
    assert wrong == []


def test_no_two_files_have_the_same_name():
    folders = defaultdict(set)
    for path in FILES:
        folders[path.stem].add(str(path.parent.relative_to(SOURCES)))
    assert {stem: sorted(where) for stem, where in folders.items() if len(where) > 1} == {}


def test_no_two_classes_have_the_same_name():
    places = defaultdict(set)
    for path in FILES:
        if path.suffix == ".hpp":
            for name in re.findall(
                r"^(?:class|struct|enum class|enum) (\w+)\b(?!::)[^;]*$", path.read_text(), re.MULTILINE
            ):
                places[name].add(path.name)
    assert {name: sorted(where) for name, where in places.items() if len(where) > 1} == {}


def test_units_include_each_other_without_cycles():
    """A unit is a source with its header. Two units that use each other need an interface in a third one."""
    follows = defaultdict(set)
    for path in FILES:
        follows[path.stem] |= {other.stem for other in included(path)} - {path.stem}
    assert circles(follows) == []
