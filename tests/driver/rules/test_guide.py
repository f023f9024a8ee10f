# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The import lines in the guide to the classic interface exist; ``tests/docs`` runs its programs."""

import re

from support.pages import DOCS


def test_table_of_import_lines_has_modules_that_exist():
    text = (DOCS / "guide" / "classic.md").read_text()
    rows = re.findall(r"^\| `(?:import|from) pycuda.*? \| (.*) \|$", text, re.MULTILINE)
    assert len(rows) >= 5
    for row in rows:
        for statement in re.findall(r"`((?:import|from) [^`]*)`", row):
            exec(statement, {})
