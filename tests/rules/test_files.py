# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What modules declare, and what none may hold."""

import re

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


def test_packages_compute_nothing_in_their_init():
    allowed = re.compile(
        r'\s*(#.*|"""[^"]*"""|from [\w.]+ import .*|import [\w.]+.*|\)|[\w, ]+,?(\s*# .*)?|__all__ = .*|"[\w]+",|\]|)$'
    )
    wrong = []
    for path in core_files(".py"):
        # The package itself fetches names at their first use: docs/design/imports.md.
        if path.name == "__init__.py" and path.parent != CORE:
            text = re.sub(r'"""(.|\n)*?"""', "", path.read_text())
            wrong += [f"{path.relative_to(CORE)}: {line}" for line in text.splitlines() if not allowed.match(line)]
    assert wrong == []


INSIDES = re.compile(
    r"\b(PyErr_(Fetch|Restore|GetRaisedException|SetRaisedException)|ob_item|ob_digit|long_value|_Py\w+|PY_VERSION_HEX"
    r"|tp_(new|call|dict|flags|vectorcall\w*))\b"
)


def test_what_relies_on_the_insides_of_python_stands_in_one_file():
    places = {
        str(path.relative_to(CORE)) for path in core_files(".pyx", ".pxd", ".hpp") if INSIDES.search(path.read_text())
    }
    assert places == {"_utils/cpython.hpp"}
