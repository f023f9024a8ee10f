# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What modules must declare, and what they must not contain."""

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


# Packages that import their names at the first use, from a table: docs/design/imports.md.
DEFERRED = (CORE, CORE / "_memory", CORE / "utils")
REEXPORTED = '__all__ = [name for name in dir() if not name.startswith("_")]'


def test_packages_only_reexport_names_of_their_modules():
    wrong = []
    for path in core_files(".py"):
        # `system` does not belong to the layers, and lists its names itself.
        if path.name == "__init__.py" and path.parent not in (*DEFERRED, CORE / "system"):
            text = re.sub(r'"""(.|\n)*?"""', "", path.read_text())
            wrong += [
                f"{path.relative_to(CORE)}: {line}"
                for line in text.splitlines()
                if not re.fullmatch(r"(#.*|from cuda\.core[\w.]* import \*)?", line) and line != REEXPORTED
            ]
    assert wrong == []


# Private modules that a folder may have; more of them get a folder of their own, named by what they do.
MOST_MODULES = 15
# The top folder, whose module names other packages import, and NVML, with one file per topic.
MORE_MODULES = {"": 23, "system": 23}


def private_modules():
    """Return the number of private modules of each folder. Public ones do not count: users decide their places."""
    counts = Counter()
    for path in core_files(".py", ".pyx"):
        parts = path.relative_to(CORE).with_suffix("").parts
        if path.name not in ("__init__.py", "__main__.py") and any(part.startswith("_") for part in parts):
            counts["/".join(parts[:-1])] += 1
    return counts


def test_folders_have_few_modules():
    counts = private_modules()
    assert {f: n for f, n in counts.items() if n > MORE_MODULES.get(f, MOST_MODULES)} == {}


def test_exceptions_to_the_limit_of_modules_are_exact():
    counts = private_modules()
    assert {folder: counts[folder] for folder in MORE_MODULES} == MORE_MODULES


def test_only_modules_with_lazy_names_use_globals():
    # Packages, type aliases and NVML's errors define names at the first use: docs/design/imports.md.
    lazy = {"__init__.py", "typing.py", "system/exceptions.py"}
    found = [str(path.relative_to(CORE)) for path in core_files(".py", ".pyx") if "globals()" in path.read_text()]
    assert set(found) <= lazy


def test_locks_are_reentrant():
    # A finalizer may run inside a locked block, and acquire the same lock on the same thread.
    own = {"_utils/host_wait.py"}  # its blocks create no objects, so no finalizer runs there
    others = ("graph/", "system/", "driver/", "texture/")
    plain = {
        str(path.relative_to(CORE)) for path in core_files(".py", ".pyx") if "threading.Lock()" in path.read_text()
    }
    assert {place for place in plain if not place.startswith(others)} <= own


def test_git_ignores_files_that_readme_commands_and_examples_write():
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    written = [f"{name}/" for name in re.findall(r"python3 -m venv (\S+)", (ROOT / "README.md").read_text())]
    for path in sorted((ROOT / "examples").glob("*.py")):
        written += re.findall(r'if len\(sys\.argv\) > 1 else "([^"]+\.\w+)"', path.read_text())
    assert len(written) >= 5
    assert set(written) - set(ignored) == set()
