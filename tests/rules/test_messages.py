# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""How error messages show the values that users passed."""

import re

import pytest

from support.source import CORE, core_files

pytestmark = pytest.mark.requires(source=True)

RAISE = re.compile(r"^( *)raise [^\n]*(?:\n(?:\1 +[^\n]*|\1\)[^\n]*))*", re.M)
# Names of attributes and classes, members of enums and objects of this package: their repr is short and never fails.
OURS = re.compile(r"name|names.index.|cls|choice|_NAME|node|device|self(\.\w+)*|.*\.value|.*__name__|.*\.cname")


def test_messages_show_values_by_the_function_that_never_fails():
    raw = {
        f"{path.relative_to(CORE)}: {expression}"
        for path in core_files(".py", ".pyx")
        for statement in RAISE.finditer(path.read_text())
        for expression in re.findall(r"\{([^{}]*)!r\}", statement[0])
        if not OURS.fullmatch(expression)
    }
    assert raw == set(), "write {shown(value)} of _utils/validators.py: repr fails for ints of 5,000 digits"
