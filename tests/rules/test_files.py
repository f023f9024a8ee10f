# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What modules declare, and what none may hold."""

import re
from collections import Counter

import pytest

from support.source import CORE, ROOT, core_files

pytestmark = pytest.mark.requires(source=True)


def test_cuda_is_a_namespace_package():
    assert not (ROOT / "cuda" / "__init__.py").exists()


def test_no_source_calls_the_runtime_bindings():
    wrong = [
        str(path) for path in core_files(".py", ".pyx") if re.search(r"cyruntime|runtime\.cuda\w+\(", path.read_text())
    ]
    assert wrong == []


def test_private_modules_declare_what_they_export():
    silent = [
        str(path.relative_to(CORE))
        for path in core_files(".py", ".pyx")
        if path.name != "__init__.py"
        and re.search(r"^(class|def|cdef class) [A-Za-z]", path.read_text(), re.M)
        and path.parent.name not in ("_handles",)
        and "__all__" not in path.read_text()
    ]
    assert silent == []


# Packages that fetch their names at their first use, from a table: docs/design/imports.md.
DEFERRED = (CORE, CORE / "_memory", CORE / "utils")
GATHERED = '__all__ = [name for name in dir() if not name.startswith("_")]'


def test_packages_only_gather_what_their_modules_export():
    wrong = []
    for path in core_files(".py"):
        # NVML's lists its own, aside.
        if path.name == "__init__.py" and path.parent not in (*DEFERRED, CORE / "system"):
            text = re.sub(r'"""(.|\n)*?"""', "", path.read_text())
            wrong += [
                f"{path.relative_to(CORE)}: {line}"
                for line in text.splitlines()
                if not re.fullmatch(r"(#.*|from cuda\.core[\w.]* import \*)?", line) and line != GATHERED
            ]
    assert wrong == []


# Private modules that a folder may have; more of them are given a folder of their own, named by what they do.
MOST_MODULES = 15
# Names that users' tracebacks and other packages have, and NVML, which has one file per topic.
MORE_MODULES = {"": 23, "system": 23}


def private_modules():
    """Return the number of private modules of each folder: public ones are where users import them."""
    counts = Counter()
    for path in core_files(".py", ".pyx"):
        parts = path.relative_to(CORE).with_suffix("").parts
        if path.name not in ("__init__.py", "__main__.py") and any(part.startswith("_") for part in parts):
            counts["/".join(parts[:-1])] += 1
    return counts


def test_folders_have_few_modules():
    counts = private_modules()
    assert {f: n for f, n in counts.items() if n > MORE_MODULES.get(f, MOST_MODULES)} == {}


def test_folders_with_more_modules_need_them():
    counts = private_modules()
    assert {folder: counts[folder] for folder in MORE_MODULES} == MORE_MODULES


INSIDES = re.compile(
    r"\b(PyErr_(Fetch|Restore|GetRaisedException|SetRaisedException)|ob_item|ob_digit|long_value|_Py\w+|PY_VERSION_HEX"
    r"|tp_(new|call|dict|flags|vectorcall\w*))\b"
)


def test_what_relies_on_the_insides_of_python_stands_in_one_file():
    places = {
        str(path.relative_to(CORE)) for path in core_files(".pyx", ".pxd", ".hpp") if INSIDES.search(path.read_text())
    }
    assert places == {"_utils/cpython.hpp"}


def test_no_module_writes_names_into_itself():
    # The package, the aliases of types and the errors of NVML come at first use: docs/design/imports.md.
    lazy = {"__init__.py", "typing.py", "system/exceptions.py"}
    found = [str(path.relative_to(CORE)) for path in core_files(".py", ".pyx") if "globals()" in path.read_text()]
    assert set(found) <= lazy


def test_locks_are_reentrant():
    # A finalizer may run in the middle of a locked block, and want the same lock on the same thread.
    own = {"_utils/waiting.py"}  # whose blocks make no objects
    others = ("graph/", "system/", "driver/", "texture/")
    plain = {
        str(path.relative_to(CORE)) for path in core_files(".py", ".pyx") if "threading.Lock()" in path.read_text()
    }
    assert {place for place in plain if not place.startswith(others)} <= own


def test_what_the_commands_of_the_readme_and_the_examples_write_is_ignored():
    """So that the status of a clone stays clean."""
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    written = [f"{name}/" for name in re.findall(r"python3 -m venv (\S+)", (ROOT / "README.md").read_text())]
    for path in sorted((ROOT / "examples").glob("*.py")):
        written += re.findall(r'if len\(sys\.argv\) > 1 else "([^"]+\.\w+)"', path.read_text())
    assert len(written) >= 5
    assert set(written) - set(ignored) == set()
