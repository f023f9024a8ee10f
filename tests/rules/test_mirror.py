# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The path of a test follows from the path of the code, so that both are found from either."""

from pathlib import Path

import pytest

from support.source import CORE, core_files

TESTS = Path(__file__).parents[1]
# Modules whose tests are elsewhere, and why.
ELSEWHERE = {
    "_native/_cuda_core.pyx": "cython/test_handles.py",  # tests it by an extension, which they compile
    "_native/_cuda_core.pyx": "protocols/test_objects.py",  # tests all classes that derive from its class
}
MODULES = [path.relative_to(CORE) for path in core_files(".py", ".pyx") if path.name != "__init__.py"]


def path_of_test(module: Path) -> str:
    """Return the path of a module's tests: ``memory/copying/test_fills.py`` for ``_memory/_copies.pyx``."""
    *folders, name = (part.strip("_") for part in module.with_suffix("").parts)
    return ELSEWHERE.get(module.as_posix()) or "/".join([*folders, f"test_{name}.py"])


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_module_has_a_test_at_the_mirrored_path(module):
    assert (TESTS / path_of_test(module)).exists(), f"there is no tests/{path_of_test(module)}"


def test_modules_with_tests_elsewhere_exist():
    assert set(ELSEWHERE) <= {module.as_posix() for module in MODULES}
