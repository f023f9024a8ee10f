# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The sources of the software device: includes between directories, unique names, and imports."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from graphlib import TopologicalSorter

import pytest

from support.paths import ROOT, SOURCES

pytestmark = pytest.mark.requires(source=True)

FILES = sorted(path for path in SOURCES.rglob("*") if path.suffix in {".cpp", ".hpp"})
# Each directory may include the ones before it; "" stands for the files beside the directories.
ORDER = ["", "exec", "front", "state", "abi"]


def folder_of(path):
    parts = path.relative_to(SOURCES).parts
    return parts[0] if len(parts) > 1 else ""


def included(path):
    """Yield the sources a file includes, without generated headers and headers for kernels."""
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        for folder in (path.parent, SOURCES):
            found = (folder / name).resolve()
            if found.is_relative_to(SOURCES) and found.exists():
                yield found
                break


def test_directories_include_lower_directories_only():
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
    """A unit is a source with its header. Two units that use each other need an interface in a third unit."""
    follows = defaultdict(set)
    for path in FILES:
        follows[path.stem] |= {other.stem for other in included(path)} - {path.stem}
    assert len(list(TopologicalSorter(follows).static_order())) >= len(follows)  # raises CycleError for a cycle


def test_importing_the_package_does_not_import_cuda_core():
    code = "import cuda.emulator, sys; print([name for name in sys.modules if name.startswith('cuda.core')])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_suite_uses_only_public_modules_of_cuda_core():
    texts = {path.name: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    assert len(texts) > 80
    private = re.compile(r"cuda\.core(?:\.\w+)*\._\w+")
    assert {name: found for name, text in texts.items() if (found := private.findall(text))} == {}
